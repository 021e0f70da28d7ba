/* busy.h -- a child whose threads never rest; whoever looks sees that they go on. */
#ifndef TRAIL_TEST_BUSY_H
#define TRAIL_TEST_BUSY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BUSY_THREADS 4

struct busy {
    pid_t pid;
    volatile uint64_t *counts; /* one for each thread, shared; the last is of signals */
};

/* It ends with its parent. `starts_more`: one of its threads starts and ends others all
 * the time. */
void busy_start(struct busy *busy, bool starts_more);
/* Wait until each of its threads has gone on; fails if it is traced, or has ended. */
void busy_assert_goes_on(const struct busy *busy);
/* How many real-time signals (SIGRTMIN) its handler has seen. */
uint64_t busy_signals(const struct busy *busy);
void busy_end(struct busy *busy);

#endif
