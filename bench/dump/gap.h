/* gap.h -- what the program that is held tells who measures. */
#ifndef TRAIL_BENCH_GAP_H
#define TRAIL_BENCH_GAP_H

#include <stdint.h>

/* In a file that both have mapped. */
struct gap {
    volatile uint64_t running; /* its running thread does */
    volatile uint64_t blocked; /* threads that wait at the end of their stack */
    volatile uint64_t clear;   /* set: forget what was seen, then set to 0 */
    volatile uint64_t most_ns; /* that the running thread stood still at once */
};

#endif
