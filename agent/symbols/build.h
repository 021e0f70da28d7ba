/* build.h -- origin maps, built by the configured symbolizers. */
#ifndef TRAIL_AGENT_BUILD_H
#define TRAIL_AGENT_BUILD_H

#include "agent/module_file.h"
#include "agent/symbols/symbols.h"

/* Why it failed, in the words of a manifest, and what to do about it, "" if nothing. */
struct build_failure {
    char reason[32], remedy[256];
};

/* Build the map of a module into the file `path`, by the first symbolizer that reads it
 * and can say all that it knows. With `threads` threads; the file is the same with
 * any number. Nothing is left behind on failure. Tells progress_add() of
 * `progress_size` bytes in the end, however that is.
 *
 * Errors: TRAIL_NOT_FOUND: there is nothing to put into one, or nobody to do it;
 * TRAIL_CANCELLED: interrupt_came(); others: of reading and of writing. The text does
 * not name the module. */
enum trail_status build_map(struct symbols_session *session,
                            const struct trail_target *target, uint32_t threads,
                            const char *path, uint64_t progress_size,
                            struct build_failure *failure_ret, struct trail_error *err);

#define BUILD_THREADS_MAX 64u
/* How many threads --threads asks for, or this machine has processors; false: it asks
 * for none that there can be. */
bool build_threads(const struct symbols_options *options, uint32_t *threads_ret);

#endif
