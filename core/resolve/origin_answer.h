/* origin_answer.h -- answers out of an origin map, in the words of a symbolizer.
 *
 * They are those of the symbolizer that the map was made by, but for what a map does
 * not keep: discriminators; where a name came from (TRAIL_FOUND_LINKAGE_OF_SYMBOL, and
 * TRAIL_FOUND_AKA_FIRST of a function that debug information tells of); that a unit has
 * no line table (TRAIL_FOUND_NO_LINE_TABLE), if others have; and the name in the source
 * where there is a mangled one, from which it can be had. The calls of one address are
 * told by return address.
 */
#ifndef TRAIL_ORIGIN_ANSWER_H
#define TRAIL_ORIGIN_ANSWER_H

#include "backtrail/symbolizer.h"
#include "origin/map.h"

/* As resolve() of a symbolizer: emit what is known of each address, by index. The
 * source that is named is the one the map was made from. */
enum trail_status trail_origin_answer(const struct origin_map *map,
                                      const uint64_t *addresses, size_t count,
                                      trail_emit_fn *emit, void *arg);

/* As calls() of a symbolizer: the calls that return to each address, and the tail calls
 * of the function that starts there. */
enum trail_status trail_origin_calls(const struct origin_map *map,
                                     const uint64_t *addresses, size_t count,
                                     struct trail_map_out *out);

#endif
