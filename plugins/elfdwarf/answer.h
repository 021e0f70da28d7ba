/* answer.h -- puts together what is known of addresses. */
#ifndef ELFDWARF_ANSWER_H
#define ELFDWARF_ANSWER_H

#include "image.h"

/* Emit the chain of calls at each address, or nothing, by ascending index.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED, and whatever `emit` returns.
 */
enum trail_status answer_addresses(struct image *image, const struct trail_call *call,
                                   const uint64_t *addresses, size_t count,
                                   trail_emit_fn *emit, void *arg);

#endif
