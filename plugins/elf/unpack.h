/* unpack.h -- a whole packed stream, into memory of exactly the size that it has. */
#ifndef ELF_UNPACK_H
#define ELF_UNPACK_H

#include "backtrail/base.h"

/* Errors: TRAIL_BAD_INPUT: it is damaged, or gives more or less than `to_size` bytes;
 *         TRAIL_NO_MEMORY.
 */
enum trail_status unpack_zlib(const uint8_t *from, size_t from_size, uint8_t *to,
                              size_t to_size);
enum trail_status unpack_zstd(const uint8_t *from, size_t from_size, uint8_t *to,
                              size_t to_size);

#endif
