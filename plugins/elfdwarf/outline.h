/* outline.h -- all that is known of a module, and the calls in it: what debug
 * information says, completed from the symbol table.
 */
#ifndef ELFDWARF_OUTLINE_H
#define ELFDWARF_OUTLINE_H

#include "image.h"

/* Write one part of everything. Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED, and whatever
 * `out` returns. */
enum trail_status outline_write(struct image *image, const struct trail_call *call,
                                uint32_t part, uint32_t parts,
                                struct trail_map_out *out);

/* Write the calls at each address. Errors: as above. */
enum trail_status outline_calls(struct image *image, const struct trail_call *call,
                                const uint64_t *addresses, size_t count,
                                struct trail_map_out *out);

#endif
