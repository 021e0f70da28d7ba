/* origin_sections.h -- writes the sections of a map that come behind its regions. */
#ifndef TRAIL_ORIGIN_SECTIONS_H
#define TRAIL_ORIGIN_SECTIONS_H

#include "core/resolve/origin_claims.h"
#include "origin/map_write.h"

/* How wide locations and functions have to be. */
struct origin_layout trail_origin_layout(const struct trail_merged *merged);

/* Write all sections but ORIGIN_REGIONS and ORIGIN_INDEX, and set what the header says
 * of them: widths, base, info.has.
 *
 * Errors: TRAIL_NO_MEMORY; TRAIL_UNSUPPORTED: over 4 GiB of texts. Those of writing
 * stay in `writer`.
 */
enum trail_status trail_origin_sections(const struct trail_merged *merged,
                                        const struct trail_claims *claims,
                                        struct origin_map_writer *writer,
                                        struct origin_head *head,
                                        struct trail_error *err);

#endif
