/* fixture.h -- a fixture's bytes, writable. */
#ifndef TRAIL_TEST_DOCTOR_FIXTURE_H
#define TRAIL_TEST_DOCTOR_FIXTURE_H

#include "test.h"
#include "core/trace/elf.h"

struct fixture_file {
    uint8_t *bytes;
    size_t size;
    struct trail_elf elf;
};

static inline struct fixture_file fixture_read(const char *name)
{
    char path[1024];
    struct fixture_file file;
    snprintf(path, sizeof(path), "%s/tests/fixtures/elf/%s", TEST_SOURCE_DIR, name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    assert_int_equal(fseek(stream, 0, SEEK_END), 0);
    long end = ftell(stream);
    assert_true(end > 0);
    rewind(stream);
    file.size = (size_t)end;
    file.bytes = malloc(file.size);
    assert_non_null(file.bytes);
    assert_int_equal(fread(file.bytes, 1, file.size, stream), file.size);
    fclose(stream);
    assert_true(trail_elf_parse(file.bytes, file.size, &file.elf));
    return file;
}

#endif
