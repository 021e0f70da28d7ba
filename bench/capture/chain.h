/* chain.h -- stacks of distinct functions: chains as chain.sh makes them. */
#ifndef TRAIL_BENCH_CHAIN_H
#define TRAIL_BENCH_CHAIN_H

#include <stdbool.h>

enum { CHAIN_MOST = 128 };

/* Calls `run` from below as many functions as come after the one that is called. */
struct chain {
    void (*run)(struct chain *chain);
    void *arg;
    bool other_place; /* they call each other from their second place */
};

typedef long chain_fn(struct chain *chain, long sum);

/* The same functions with frame pointers, without them, and without them and with
 * padding in between. */
extern chain_fn *const chain_fp[CHAIN_MOST], *const chain_nofp[CHAIN_MOST],
                                                 *const chain_scattered[CHAIN_MOST];

/* The fifth register that a function may save, where it is not the frame pointer. */
#ifdef CHAIN_NOFP
#define CHAIN_FIFTH , "rbp"
#else
#define CHAIN_FIFTH , "r15"
#endif

#endif
