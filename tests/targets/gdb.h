/* gdb.h -- what gdb says of a stack. */
#ifndef TRAIL_TEST_GDB_H
#define TRAIL_TEST_GDB_H

#include <stdint.h>

/* Of the first thread of process or core `what`, which runs `program`: the program
 * counters of its frames, at most `capacity`. Skips the test where there is no gdb. */
unsigned gdb_pcs(const char *program, const char *what, uint64_t *pcs,
                 unsigned capacity);

#endif
