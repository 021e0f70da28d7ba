/* share.c -- what packed stacks share: entries that came up lately, and the outer
 * frames of the previous stack.
 */
#include "core/capture/share.h"

static uint8_t slot_of(uint64_t place)
{
    return (uint8_t)((place * UINT64_C(0x9e3779b97f4a7c15)) >> 56);
}

void trail_recent_put(struct trail_recent *recent, uint64_t place)
{
    uint8_t at = trail_recent_next(recent);
    recent->places[at] = place;
    recent->slots[slot_of(place)] = at;
    recent->count++;
    if (recent->count == 2 * TRAIL_RECENT)
        recent->count = TRAIL_RECENT;
}

bool trail_recent_find(const struct trail_recent *recent, uint64_t place,
                       uint8_t *at_ret)
{
    uint8_t at = recent->slots[slot_of(place)];
    if (!place || !trail_recent_has(recent, at) || recent->places[at] != place)
        return false;
    *at_ret = at;
    return true;
}

void trail_share_end(struct trail_share *share, uint32_t own, uint32_t shared)
{
    uint32_t kept = own < TRAIL_SHARE_MOST - shared ? own : TRAIL_SHARE_MOST - shared;
    memmove(share->previous + kept, share->previous + share->previous_count - shared,
            shared * sizeof(share->previous[0]));
    uint8_t at = (uint8_t)(trail_recent_next(&share->recent) - kept);
    for (uint32_t i = 0; i < kept; i++)
        share->previous[i] = share->recent.places[at++];
    share->previous_count = kept + shared;
}
