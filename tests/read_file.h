/* read_file.h -- a whole file as bytes that a test may change. */
#ifndef TRAIL_TEST_READ_FILE_H
#define TRAIL_TEST_READ_FILE_H

#include "test.h"

/* The caller frees it. A file that is not there, or empty, fails the test. */
static inline uint8_t *read_file(const char *path, size_t *size_ret)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        print_error("%s cannot be read\n", path);
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long end = ftell(file);
    assert_true(end > 0);
    rewind(file);
    uint8_t *bytes = malloc((size_t)end);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, (size_t)end, file), (size_t)end);
    fclose(file);
    *size_ret = (size_t)end;
    return bytes;
}

/* The same of a file of tests/fixtures/elf. */
static inline uint8_t *read_fixture(const char *name, size_t *size_ret)
{
    char path[1024];
    snprintf(path, sizeof(path), "%s/tests/fixtures/elf/%s", TEST_SOURCE_DIR, name);
    return read_file(path, size_ret);
}

#endif
