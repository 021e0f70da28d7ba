/* answer.h -- puts together what is known of one address. */
#ifndef LIBDW_ANSWER_H
#define LIBDW_ANSWER_H

#include "image.h"

/* Emit the chain of calls at `address`, or nothing.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED, and whatever `emit` returns.
 */
enum trail_status answer_address(struct image *image, const struct trail_call *call,
                                 uint32_t index, uint64_t address, trail_emit_fn *emit,
                                 void *arg);

#endif
