/* steady.h -- the figures that one process gives, in rounds of taking turns. */
#ifndef TRAIL_BENCH_STEADY_H
#define TRAIL_BENCH_STEADY_H

enum { STEADY_FIGURES = 12 };

/* Names of figure `index` < STEADY_FIGURES and of the peer it compares with. */
const char *steady_name(unsigned index);
const char *steady_peer(unsigned index);

/* Measure them all and print a line each on standard output: index, our time in
 * nanoseconds, the peer's, and how often ours goes into it. None for a peer that is
 * missing. */
void steady_print(void);

#endif
