/* produced.h -- keeps what a test made, for tests/schema to look at. */
#ifndef TRAIL_TEST_PRODUCED_H
#define TRAIL_TEST_PRODUCED_H

#include "test.h"

/* Writes a file of its own for a text; `kind` is a schema's name. A configuration is
 * "host" if its plugins' options were not looked at, "wrong" if it was refused. Nothing
 * is kept unless ctest asks for it. */
static inline void keep_produced(const char *kind, const char *text, size_t size)
{
    static unsigned number;
    const char *test = getenv("BACKTRAIL_TEST_PRODUCED");
    char path[4096], part[4096 + 8];
    if (!test || !test[0])
        return;
    snprintf(path, sizeof(path), "%s-%u.%s.json", test, ++number, kind);
    snprintf(part, sizeof(part), "%s.part", path); /* nobody sees half of one */
    FILE *file = fopen(part, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(part, path), 0);
}

#endif
