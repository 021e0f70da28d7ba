/* peers.h -- those who capture stacks, ours and others', in one form. */
#ifndef TRAIL_BENCH_PEERS_H
#define TRAIL_BENCH_PEERS_H

#include <stdint.h>

/* Writes `most` entries at most, innermost first, and says how many. */
typedef unsigned capture_fn(uintptr_t *entries_ret, unsigned most);

enum peer_id {
    PEER_OURS,      /* as trail_backtrace comes: remembering */
    PEER_OURS_FULL, /* walking all of the stack each time */
    PEER_OURS_FP,   /* following frame pointers, checked */
    PEER_NOTHING,   /* what calling and timing itself costs */
    PEER_UNCHECKED, /* frame pointers, believing all of them */
    PEER_GLIBC,     /* backtrace() */
    PEER_LIBGCC,    /* _Unwind_Backtrace() */
    PEER_LIBUNWIND, /* unw_backtrace() */
    PEER_ABSEIL,    /* absl::GetStackTrace() */
    PEERS,
};

struct peer {
    const char *name;
    capture_fn *capture; /* NULL: it is not installed */
    const char *library; /* what it is loaded from; NULL: it is here anyway */
};

extern struct peer peers[PEERS];

/* Load those that are not here. Kept apart from the program's own symbols: libunwind
 * would take the place of backtrace() and of _Unwind_*. */
void peers_load(void);

#endif
