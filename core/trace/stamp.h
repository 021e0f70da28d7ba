/* stamp.h -- telling which image lay at an address, by what is in memory there. */
#ifndef TRAIL_STAMP_H
#define TRAIL_STAMP_H

#include "core/os/os.h"
#include "core/trace/text_hash.h"

/* The NT_GNU_BUILD_ID of a mapped image, read from its memory; false: it has none.
 * Async-signal-safe. */
bool trail_stamp_build_id(const struct trail_os_module *module,
                          struct trail_text *id_ret);

/* What stands in for the id of a mapped image that has none; false: no code of it can
 * be read. Async-signal-safe. */
bool trail_stamp_text_hash(const struct trail_os_module *module,
                           uint8_t id_ret[TRAIL_TEXT_HASH_SIZE]);

/* A hash that tells this image from another that is mapped at the same address later:
 * of its build-id, or where there is none of its segment headers. Async-signal-safe. */
uint64_t trail_stamp_hash(const struct trail_os_module *module);

#endif
