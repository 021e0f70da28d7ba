/* units.h -- sizes and durations as people write them. */
#ifndef TRAIL_CONFIG_UNITS_H
#define TRAIL_CONFIG_UNITS_H

#include "backtrail/base.h"

/* Read "4096", "4096B", "64KiB", "16MiB", "1GiB": bytes.
 *
 * Errors: TRAIL_BAD_INPUT: not a size; TRAIL_UNSUPPORTED: more than 64 bits hold. */
enum trail_status trail_parse_size(const char *text, uint64_t *size_ret);

/* Read "10ns", "500us", "200ms", "5s", "2m", "1h": nanoseconds. A unit is needed.
 *
 * Errors: TRAIL_BAD_INPUT: not a duration; TRAIL_UNSUPPORTED: more than 64 bits hold.
 */
enum trail_status trail_parse_duration(const char *text, uint64_t *duration_ns_ret);

/* Read decimal digits and nothing else.
 *
 * Errors: TRAIL_BAD_INPUT: not a whole number; TRAIL_UNSUPPORTED: too big. */
enum trail_status trail_parse_count(const char *text, uint64_t *count_ret);

#endif
