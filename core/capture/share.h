/* share.h -- what packed stacks share: entries that came up lately, and the outer
 * frames of the previous stack.
 *
 * An entry is remembered as a place: where in the modules' code it is, and its kind, in
 * one word, so that equal words mean equal entries even after a module has gone and
 * another has come to its addresses. Both ends of a stream keep the same places.
 *
 * Signals: async-signal-safe.
 */
#ifndef TRAIL_SHARE_H
#define TRAIL_SHARE_H

#include "backtrail/pack.h"

/* ---- places -------------------------------------------------------------- */

/* Bit 63 set and 62 clear: bits 60 and 61 are the kind's number, the lower ones the
 * offset in the modules' code laid end to end. Otherwise the address of a return that
 * is in no module. Zero: an entry that is not remembered, and equals no other. */
#define TRAIL_PLACE_KIND_AT 60
#define TRAIL_PLACE_FLAT    (UINT64_C(1) << 63)
#define TRAIL_PLACE_OFFSET  ((UINT64_C(1) << TRAIL_PLACE_KIND_AT) - 1)

static inline bool trail_place_is_flat(uint64_t place)
{
    return place >> 62 == 2;
}

static inline uint64_t trail_place_flat(uint64_t offset, unsigned kind)
{
    return TRAIL_PLACE_FLAT | (uint64_t)kind << TRAIL_PLACE_KIND_AT | offset;
}

/* Of an address in no module. */
static inline uint64_t trail_place_outside(uint64_t address, unsigned kind)
{
    return kind || trail_place_is_flat(address) ? 0 : address;
}

static inline unsigned trail_place_kind(uint64_t place)
{
    return trail_place_is_flat(place) ? (unsigned)(place >> TRAIL_PLACE_KIND_AT) & 3
                                      : 0;
}

/* ---- what came up lately ------------------------------------------------- */

#define TRAIL_RECENT 256

struct trail_recent {
    uint64_t places[TRAIL_RECENT];
    uint8_t slots[TRAIL_RECENT]; /* by a hash of a place, where it was last put */
    uint32_t count;              /* entries put; beyond TRAIL_RECENT modulo that */
};

/* Where the next one goes. */
static inline uint8_t trail_recent_next(const struct trail_recent *recent)
{
    return (uint8_t)recent->count;
}

static inline bool trail_recent_has(const struct trail_recent *recent, uint8_t at)
{
    return at < recent->count;
}

void trail_recent_put(struct trail_recent *recent, uint64_t place);
/* Where it was put last, as far as that is known. */
bool trail_recent_find(const struct trail_recent *recent, uint64_t place,
                       uint8_t *at_ret);

/* ---- the previous stack -------------------------------------------------- */

#define TRAIL_SHARE_MOST 127 /* frames, so that their number takes a byte */

/* What is in a struct trail_pack_stream. */
struct trail_share {
    struct trail_recent recent;
    uint64_t previous[TRAIL_SHARE_MOST]; /* its outermost entries, innermost first */
    uint32_t previous_count;
};

static inline struct trail_share *trail_share_of(struct trail_pack_stream *stream)
{
    _Static_assert(sizeof(struct trail_share) <= sizeof(*stream), "it has to fit");
    return (struct trail_share *)(void *)stream;
}

/* The stack that came now becomes the previous one: `own` entries that were put, and
 * outside of them the last `shared` of the previous one. */
void trail_share_end(struct trail_share *share, uint32_t own, uint32_t shared);

#endif
