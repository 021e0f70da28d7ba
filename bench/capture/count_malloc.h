/* count_malloc.h -- how often the process, libraries included, has asked for memory. */
#ifndef TRAIL_BENCH_COUNT_MALLOC_H
#define TRAIL_BENCH_COUNT_MALLOC_H

unsigned long count_malloc(void);

#endif
