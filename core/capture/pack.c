/* pack.c -- putting stacks into few bytes. */
#include "core/capture/pack_format.h"
#include "core/capture/pack_modules.h"
#include "core/capture/share.h"
#include "core/os/os.h"

/* A stack on its way into bytes. */
struct packing {
    uint8_t *at, *end; /* room that is left */
    const uintptr_t *addresses;
    const uint8_t *kinds; /* NULL: the first is a current pc, the others return */
    unsigned count;
    bool first_is_current;       /* the head says so */
    struct trail_recent *recent; /* NULL: addresses by themselves */
    struct trail_pack_seen seen; /* modules met so far */
    uint64_t base;               /* offset of the last entry that lies in a module */
};

static unsigned kind_at(const struct packing *packing, unsigned index)
{
    if (packing->kinds)
        return trail_pack_kind(packing->kinds[index]);
    return trail_pack_kind(index ? TRAIL_PC_RETURN : TRAIL_PC_CURRENT);
}

/* The kind that an entry has where nothing is said of it. */
static unsigned kind_expected(const struct packing *packing, unsigned index)
{
    return trail_pack_kind(index == 0 && packing->first_is_current ? TRAIL_PC_CURRENT
                                                                   : TRAIL_PC_RETURN);
}

static uint64_t place_at(struct packing *packing, unsigned index)
{
    unsigned kind = kind_at(packing, index);
    uint64_t flat, address = packing->addresses[index];
    bool follows_call = trail_pack_kinds[kind] == TRAIL_PC_RETURN;
    if (trail_pack_flat(&packing->seen, address, follows_call, &flat))
        return trail_place_flat(flat, kind);
    return trail_place_outside(address, kind);
}

/* All of it or nothing. */
static bool put(struct packing *packing, const uint8_t *bytes, size_t size)
{
    if (size > (size_t)(packing->end - packing->at))
        return false;
    memcpy(packing->at, bytes, size);
    packing->at += size;
    return true;
}

/* ---- addresses by themselves --------------------------------------------- */

static unsigned pack_addresses(struct packing *packing)
{
    for (unsigned i = 0; i < packing->count; i++) {
        uint8_t bytes[3 + TRAIL_LEB_MOST];
        size_t size = 0;
        if (kind_at(packing, i) != kind_expected(packing, i)) {
            bytes[size++] = TRAIL_ABS_KIND_0;
            bytes[size++] = TRAIL_ABS_KIND_1;
            bytes[size++] = (uint8_t)kind_at(packing, i);
        }
        size += trail_leb_put(bytes + size, packing->addresses[i]);
        if (!put(packing, bytes, size))
            return i;
    }
    return packing->count;
}

/* ---- differences --------------------------------------------------------- */

static void remember(struct packing *packing, uint64_t place)
{
    trail_recent_put(packing->recent, place);
    if (trail_place_is_flat(place))
        packing->base = place & TRAIL_PLACE_OFFSET;
}

/* The bytes of a difference; 0: it is too large for any. */
static size_t delta_bytes(uint64_t difference, uint8_t bytes_ret[4])
{
    static const struct {
        uint8_t first;
        uint32_t firsts;
        uint8_t more; /* bytes */
    } codes[] = { { TRAIL_CODE_DELTA_2, TRAIL_CODE_DELTA_3 - TRAIL_CODE_DELTA_2, 1 },
                  { TRAIL_CODE_DELTA_3, TRAIL_CODE_DELTA_4 - TRAIL_CODE_DELTA_3, 2 },
                  { TRAIL_CODE_DELTA_4, 0x100 - TRAIL_CODE_DELTA_4, 3 } };
    uint64_t number = trail_zigzag(difference);
    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        unsigned shift = 8u * codes[i].more;
        if (number >= (uint64_t)codes[i].firsts << shift)
            continue;
        bytes_ret[0] = (uint8_t)(codes[i].first + (number >> shift));
        for (unsigned j = 1; j <= codes[i].more; j++)
            bytes_ret[j] = (uint8_t)(number >> (shift - 8 * j));
        return codes[i].more + 1u;
    }
    return 0;
}

static bool put_plain(struct packing *packing, unsigned index, uint64_t place)
{
    uint8_t bytes[2 + TRAIL_LEB_MOST];
    size_t size = 0, more = 0;
    unsigned kind = kind_at(packing, index);
    if (kind != kind_expected(packing, index))
        bytes[size++] = (uint8_t)(TRAIL_CODE_KIND + kind - 1);
    if (trail_place_is_flat(place))
        more = delta_bytes((place & TRAIL_PLACE_OFFSET) - packing->base, bytes + size);
    if (!more) {
        place = trail_place_outside(packing->addresses[index], kind);
        bytes[size++] = TRAIL_CODE_ADDRESS;
        more = trail_leb_put(bytes + size, packing->addresses[index]);
    }
    if (!put(packing, bytes, size + more))
        return false;
    remember(packing, place);
    return true;
}

/* How many entries from `index` on, `most` at most, came up in this order from `at` on.
 * They are put. */
static unsigned put_run(struct packing *packing, unsigned index, uint8_t at,
                        unsigned most)
{
    unsigned length = 0;
    while (length < most && index + length < packing->count) {
        uint64_t place = place_at(packing, index + length);
        if (!place || !trail_recent_has(packing->recent, at) ||
            packing->recent->places[at] != place)
            break;
        remember(packing, place);
        length++;
        at++;
    }
    return length;
}

/* Put what came up lately; how many entries that were, 0: none, or no room. */
static unsigned put_recent(struct packing *packing, unsigned index, uint64_t place)
{
    size_t room = (size_t)(packing->end - packing->at);
    uint8_t at, bytes[2];
    if (!trail_recent_find(packing->recent, place, &at))
        return 0;
    uint8_t back = (uint8_t)(trail_recent_next(packing->recent) - at);
    bool near = back >= 1 && back <= TRAIL_CODE_BACK_MOST;
    if (room < (near ? 1 : 2))
        return 0;
    unsigned length = put_run(packing, index, at, room < 2 ? 1 : TRAIL_CODE_RUN_MOST);
    bytes[0] = (uint8_t)(TRAIL_CODE_RUN + length - 1);
    bytes[1] = at;
    if (length == 1 && near)
        bytes[0] = (uint8_t)(TRAIL_CODE_BACK + back - 1);
    put(packing, bytes, length == 1 && near ? 1 : 2);
    return length;
}

static unsigned pack_differences(struct packing *packing)
{
    unsigned index = 0;
    while (index < packing->count) {
        uint64_t place = place_at(packing, index);
        unsigned length = put_recent(packing, index, place);
        if (!length && !put_plain(packing, index, place))
            break;
        index += length ? length : 1;
    }
    return index;
}

/* ---- sharing ------------------------------------------------------------- */

/* How many outer frames are those of the previous stack. */
static unsigned shared_frames(struct packing *packing, const struct trail_share *share)
{
    unsigned most =
        packing->count < share->previous_count ? packing->count : share->previous_count;
    unsigned shared = 0;
    while (shared < most) {
        uint64_t place = place_at(packing, packing->count - 1 - shared);
        if (!place || place != share->previous[share->previous_count - 1 - shared])
            break;
        shared++;
    }
    return shared;
}

/* The byte that says how many outer frames are shared, and the others. Those that are
 * shared lie outside of all others: where these do not fit, there are none. */
static unsigned pack_shared(struct packing *packing, struct trail_share *share)
{
    uint8_t *shared_at = packing->at++;
    packing->recent = &share->recent;
    unsigned count = packing->count, shared = shared_frames(packing, share);
    packing->count -= shared;
    unsigned own = pack_differences(packing);
    if (own < packing->count)
        shared = 0;
    packing->count = count;
    *shared_at = (uint8_t)shared;
    trail_share_end(share, own, shared);
    return own + shared;
}

/* Without anything packed before; `share`, if there is one, remembers. */
static unsigned pack_fresh(struct packing *packing, struct trail_share *share)
{
    struct trail_recent alone;
    packing->recent = share ? &share->recent : &alone;
    memset(packing->recent->slots, 0, sizeof(packing->recent->slots));
    packing->recent->count = 0;
    unsigned own = pack_differences(packing);
    if (share) {
        share->previous_count = 0;
        trail_share_end(share, own, 0);
    }
    return own;
}

/* ---- the calls ----------------------------------------------------------- */

static uint8_t head_of(const struct packing *packing, unsigned scheme, bool truncated)
{
    unsigned flags = sizeof(uintptr_t) == 8 ? TRAIL_HEAD_64_BIT : 0;
    if (packing->first_is_current)
        flags |= TRAIL_HEAD_CURRENT;
    if (truncated)
        flags |= TRAIL_HEAD_TRUNCATED;
    return (uint8_t)(TRAIL_PACK_VERSION << TRAIL_HEAD_VERSION_AT |
                     scheme << TRAIL_HEAD_SCHEME_AT | flags);
}

/* How many of the entries there was room for; *used_ret is 0 if not even for the
 * head. */
static unsigned pack_entries(struct packing *packing, enum trail_pack_scheme scheme,
                             struct trail_share *share, bool truncated,
                             size_t *used_ret)
{
    uint8_t *head = packing->at;
    bool sharing = scheme == TRAIL_PACK_DELTA && share && share->recent.count;
    unsigned packed;

    *used_ret = 0;
    if (packing->end - packing->at < (sharing ? 2 : 1) ||
        (scheme != TRAIL_PACK_ABS && scheme != TRAIL_PACK_DELTA))
        return 0;
    packing->at++;
    if (packing->count)
        packing->first_is_current =
            trail_pack_kinds[kind_at(packing, 0)] == TRAIL_PC_CURRENT;
    if (sharing)
        packed = pack_shared(packing, share);
    else if (scheme == TRAIL_PACK_DELTA)
        packed = pack_fresh(packing, share);
    else
        packed = pack_addresses(packing);
    *head = head_of(packing, sharing ? TRAIL_HEAD_SHARED : scheme,
                    truncated || packed < packing->count);
    *used_ret = (size_t)(packing->at - head);
    return packed;
}

/* trail_pack; *packed_ret is how many entries there was room for. */
static size_t pack(void *bytes, size_t size, enum trail_pack_scheme scheme,
                   struct trail_pack_stream *stream, const uintptr_t *addresses,
                   unsigned count, struct trail_info *info, unsigned *packed_ret)
{
    struct packing packing = { .at = bytes,
                               .end = (uint8_t *)bytes + size,
                               .addresses = addresses,
                               .kinds = info ? info->kinds : NULL,
                               .count = count };
    bool truncated = info && info->flags & TRAIL_INFO_TRUNCATED;
    size_t used;
    *packed_ret = pack_entries(&packing, scheme, stream ? trail_share_of(stream) : NULL,
                               truncated, &used);
    if (info && (*packed_ret < count || !used)) {
        info->flags |= TRAIL_INFO_TRUNCATED;
        info->end = TRAIL_END_FULL;
    }
    return used;
}

size_t trail_pack(void *bytes, size_t size, enum trail_pack_scheme scheme,
                  struct trail_pack_stream *stream, const uintptr_t *addresses,
                  unsigned count, struct trail_info *info)
{
    unsigned packed;
    return pack(bytes, size, scheme, stream, addresses, count, info, &packed);
}

/* The frames of others are gone by the time that a second look is taken. */
static bool is_own(const struct trail_control *control)
{
    return !control || !control->thread;
}

TRAIL_OWN_CODE
size_t trail_backtrace_packed(void *bytes, size_t size, enum trail_pack_scheme scheme,
                              struct trail_pack_stream *stream,
                              const struct trail_control *control,
                              struct trail_info *info)
{
    uintptr_t addresses[TRAIL_MAX_FRAMES];
    uint8_t kinds[TRAIL_MAX_FRAMES];
    struct trail_info walked = { .size = sizeof(walked), .kinds = kinds };
    unsigned packed,
        count = trail_backtrace(addresses, TRAIL_MAX_FRAMES, control, &walked);

    size_t used = pack(bytes, size, scheme, stream, addresses, count, &walked, &packed);
    if (info && packed < count && is_own(control)) {
        walked.kinds = NULL; /* where it goes on, the walk alone can tell */
        trail_backtrace(addresses, packed, control, &walked);
    }
    if (info) {
        walked.size = info->size;
        walked.kinds = info->kinds;
        walked.trust = info->trust;
        *info = walked;
    }
    return used;
}
