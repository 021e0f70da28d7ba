/* known.h -- what the program said of itself (include/backtrail/crash.h), for the one
 * who writes down a crash.
 *
 * Every text stands in a record of its own out of a fixed pool. A record is taken,
 * filled, and only then shown in a slot, by one exchange; what it replaces goes back
 * to the pool. So nobody waits for anybody, a signal handler may set what the code it
 * interrupted is just setting, and a reader sees the one or the other.
 *
 * Threads: safe. Signals: async-signal-safe. Memory is static, and takes up room
 * only once it is used. */
#ifndef TRAIL_KNOWN_H
#define TRAIL_KNOWN_H

#include <stdbool.h>
#include "backtrail/base.h"

/* Also in docs/wire.md. */
#define TRAIL_KNOWN_ATTRIBUTES      64
#define TRAIL_KNOWN_KEY_SIZE        64
#define TRAIL_KNOWN_VALUE_SIZE      1024
#define TRAIL_KNOWN_BREADCRUMBS     64
#define TRAIL_KNOWN_BREADCRUMB_SIZE 256

/* What the calling thread set, to be read by whoever writes it down; 0: nothing. */
uint32_t trail_known_self(void);

/* Call `each` with every attribute of the thread that trail_known_self named; of the
 * process, if that is 0. The texts are lent until it returns, and hold any bytes. */
void trail_known_attributes(uint32_t thread,
                            void (*each)(void *arg, struct trail_text key,
                                         struct trail_text value),
                            void *arg);

/* Attributes that the bounds left out, and texts that they cut. */
struct trail_known_losses {
    uint32_t attributes, cut;
};
struct trail_known_losses trail_known_losses(void);

/* Hexadecimal, terminated. */
struct trail_known_context {
    char trace_id[33], span_id[17];
};
/* False: that thread works on nothing that it named. */
bool trail_known_context(uint32_t thread, struct trail_known_context *context_ret);

/* Call `each` with the breadcrumbs that are kept, oldest first. */
void trail_known_breadcrumbs(void (*each)(void *arg, uint64_t time_ns,
                                          struct trail_text text),
                             void *arg);

/* The calling thread ends: forget what it set. A thread that ends without is forgotten
 * when its place is needed. */
void trail_known_thread_end(void);

#endif
