/* scratch.h -- a directory of its own for a test, gone when the test is over. */
#ifndef CONFIG_SCRATCH_H
#define CONFIG_SCRATCH_H

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

struct scratch {
    char directory[64];
    char paths[8][128]; /* of the files written */
    size_t count;
};

/* Setup function of cmocka: *state becomes a struct scratch. */
static inline int scratch_make(void **state)
{
    struct scratch *scratch = calloc(1, sizeof(*scratch));
    if (!scratch)
        return -1;
    snprintf(scratch->directory, sizeof(scratch->directory),
             "/tmp/trail-config-XXXXXX");
    *state = scratch;
    return mkdtemp(scratch->directory) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    struct scratch *scratch = *state;
    for (size_t i = 0; i < scratch->count; i++)
        remove(scratch->paths[i]);
    int failed = rmdir(scratch->directory);
    free(scratch);
    return failed;
}

/* Write a file and give its path, which lives as long as the scratch directory. */
static inline const char *scratch_write(struct scratch *scratch, const char *name,
                                        const void *bytes, size_t size)
{
    assert_true(scratch->count < 8);
    char whole[128], *path = scratch->paths[scratch->count++];
    snprintf(whole, sizeof(whole), "%s/%s", scratch->directory, name);
    memcpy(path, whole, sizeof(whole));
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

#endif
