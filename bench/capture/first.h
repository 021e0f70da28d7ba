/* first.h -- what the first captures cost: of a process, and of a thread. */
#ifndef TRAIL_BENCH_FIRST_H
#define TRAIL_BENCH_FIRST_H

#include <stdbool.h>

#include "peers.h"

/* In a fresh process: time the first capture, 32 calls deep, and print a line: its
 * nanoseconds and allocations. */
void first_print(enum peer_id peer);
/* In a fresh process: make the first capture between two system calls that first_count
 * looks for. */
void first_run_traced(enum peer_id peer);
/* System calls of a first capture in a process of `program` `--first-traced PEER`;
 * negative if it cannot be traced. */
long first_count(const char *program, enum peer_id peer);

/* Time the first capture of each of a hundred threads, where a thread begins or,
 * `deep`, 32 calls further in, and print a line: median nanoseconds, and bytes that
 * became resident per thread by three captures. */
void first_print_threads(enum peer_id peer, bool deep);

#endif
