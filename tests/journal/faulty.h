/* faulty.h -- a file system under SQLite in which a write fails, or is the last. */
#ifndef TRAIL_TEST_JOURNAL_FAULTY_H
#define TRAIL_TEST_JOURNAL_FAULTY_H

#include <stdint.h>

/* From operation `first` (from 1; writes, syncs and truncations count) on, `count` of
 * them answer `result`, an SQLITE_ code; or with result -1 this process ends there, at
 * once. */
struct faulty {
    uint64_t first, count;
    int result;
    uint64_t done; /* operations so far */
};
extern struct faulty faulty;
/* Have SQLite use it from now on. */
void faulty_install(void);

#endif
