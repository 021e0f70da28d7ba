/* fixture.h -- a fixture's bytes, writable. */
#ifndef TRAIL_TEST_DOCTOR_FIXTURE_H
#define TRAIL_TEST_DOCTOR_FIXTURE_H

#include "read_file.h"
#include "core/trace/elf.h"

struct fixture_file {
    uint8_t *bytes;
    size_t size;
    struct trail_elf elf;
};

static inline struct fixture_file fixture_read(const char *name)
{
    struct fixture_file file;
    file.bytes = read_fixture(name, &file.size);
    assert_true(trail_elf_parse(file.bytes, file.size, &file.elf));
    return file;
}

#endif
