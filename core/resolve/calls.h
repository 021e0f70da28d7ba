/* calls.h -- what symbolizers and symbol files say of the calls in a module: what is
 * called where, and which return addresses follow no call.
 *
 * Addresses are link-time, and those of returns as they are on the stack.
 */
#ifndef TRAIL_CALLS_H
#define TRAIL_CALLS_H

#include "core/resolve/resolver.h"

/* A call that debug information tells of. */
struct trail_known_call {
    uint64_t return_address;
    uint64_t target;     /* where the called function starts; 0: not told */
    const char *linkage; /* its name for the linker; "": not told */
    bool tail;
};

struct trail_known_calls {
    struct trail_known_call *at; /* by return address */
    size_t count;
};

/* The calls made before `count` return addresses. The first symbolizer that knows any
 * tells them; where none does there are none, which is no error. Everything lies in the
 * arena.
 *
 * Errors: TRAIL_NO_MEMORY.
 */
enum trail_status trail_calls_before(struct trail_resolver *resolver,
                                     const struct trail_target *target,
                                     const uint64_t *addresses, size_t count,
                                     unsigned flags, struct trail_arena *arena,
                                     struct trail_known_calls *calls_ret);
/* The same of the tail calls of the function that starts at an address. */
enum trail_status trail_calls_tails(struct trail_resolver *resolver,
                                    const struct trail_target *target,
                                    uint64_t function_start, unsigned flags,
                                    struct trail_arena *arena,
                                    struct trail_known_calls *calls_ret);

/* Where the functions of a name are that a module defines. */
struct trail_defined {
    uint64_t start; /* of the first of them; 0: there is none */
    bool several;   /* there is another elsewhere, or one that is chosen at load time */
};

/* Looks in the symbol tables of the module's files. */
struct trail_defined trail_calls_defined(struct trail_resolver *resolver,
                                         const struct trail_target *target,
                                         const char *linkage, unsigned flags);

/* Set landings_ret[i] where the code before return address i is known, and makes no
 * call: nothing that is there called what returns to it. */
void trail_calls_landings(struct trail_resolver *resolver,
                          const struct trail_target *target, const uint64_t *addresses,
                          size_t count, unsigned flags, bool *landings_ret);

#endif
