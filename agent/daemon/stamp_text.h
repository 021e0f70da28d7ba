/* stamp_text.h -- points in time as people write and read them. */
#ifndef TRAIL_AGENT_STAMP_TEXT_H
#define TRAIL_AGENT_STAMP_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct stamp_text {
    char text[32];
};
/* "2026-11-30T12:00:00.123Z"; "-" for 0. */
struct stamp_text stamp_text(uint64_t time_ns);
/* "10m" (before now), "2026-11-30", "2026-11-30T12:00:00", both in UTC. */
bool stamp_text_read(const char *text, uint64_t *time_ns_ret);

#endif
