/* unpack.c -- getting stacks back from few bytes, which may come from anywhere. */
#include "core/capture/pack_format.h"
#include "core/capture/pack_modules.h"
#include "core/capture/share.h"

struct unpacking {
    struct trail_pack_reader in;
    const struct trail_pack_table *table;
    struct trail_unpacked *to;
    struct trail_recent *recent;
    unsigned kind;   /* of the next entry */
    bool kind_given; /* by a code of its own */
    uint64_t base;   /* offset of the last entry that lies in a module */
    uint32_t module; /* of the last one */
    struct trail_error *err;
};

static enum trail_status malformed(const struct unpacking *unpacking, const char *what)
{
    return trail_fail(unpacking->err, TRAIL_BAD_INPUT, "packed stack: %s", what);
}

/* One more entry. */
static void give(struct unpacking *unpacking, uint64_t address, unsigned kind,
                 uint32_t module)
{
    struct trail_unpacked *to = unpacking->to;
    if (to->count < to->capacity) {
        if (to->addresses)
            to->addresses[to->count] = address;
        if (to->kinds)
            to->kinds[to->count] = trail_pack_kinds[kind];
        if (to->modules)
            to->modules[to->count] = module;
        to->count++;
    }
    to->packed_count++;
    unpacking->kind = trail_pack_kind(TRAIL_PC_RETURN);
    unpacking->kind_given = false;
}

static enum trail_status give_place(struct unpacking *unpacking, uint64_t place)
{
    uint64_t flat = place & TRAIL_PLACE_OFFSET;
    if (!place)
        return malformed(unpacking, "it repeats what cannot be repeated");
    if (!trail_place_is_flat(place)) {
        give(unpacking, place, 0, UINT32_MAX);
        return TRAIL_OK;
    }
    uint32_t number =
        trail_pack_table_of_flat(unpacking->table, flat, unpacking->module);
    const struct trail_pack_segment *segment =
        trail_pack_table_segment(unpacking->table, number);
    if (!segment)
        return trail_fail(unpacking->err, TRAIL_NOT_FOUND,
                          "packed stack: its module is not in the table; read all that "
                          "trail_pack_table_write wrote until the stack was packed");
    unpacking->module = number;
    unpacking->base = flat;
    give(unpacking, segment->start + (flat - segment->flat), trail_place_kind(place),
         number);
    return TRAIL_OK;
}

/* ---- entries ------------------------------------------------------------- */

static enum trail_status unpack_addresses(struct unpacking *unpacking)
{
    struct trail_pack_reader *in = &unpacking->in;
    while (in->at < in->end) {
        uint64_t address;
        if (in->end - in->at > 2 && in->at[0] == TRAIL_ABS_KIND_0 &&
            in->at[1] == TRAIL_ABS_KIND_1) {
            unpacking->kind = in->at[2];
            if (unpacking->kind == 0 || unpacking->kind >= TRAIL_KINDS)
                return malformed(unpacking, "an entry of a kind that there is not");
            in->at += 3;
        }
        if (!trail_leb_get(in, &address))
            return malformed(unpacking, "it ends in the middle of an address");
        give(unpacking, address, unpacking->kind, UINT32_MAX);
    }
    return TRAIL_OK;
}

static enum trail_status unpack_run(struct unpacking *unpacking, uint8_t at,
                                    unsigned length)
{
    if (unpacking->kind_given)
        return malformed(unpacking, "a kind for what has one");
    for (; length > 0; length--, at++) {
        if (!trail_recent_has(unpacking->recent, at))
            return malformed(unpacking, "it repeats what never was");
        uint64_t place = unpacking->recent->places[at];
        enum trail_status status = give_place(unpacking, place);
        if (status)
            return status;
        trail_recent_put(unpacking->recent, place);
    }
    return TRAIL_OK;
}

static enum trail_status unpack_address(struct unpacking *unpacking)
{
    uint64_t address;
    if (!trail_leb_get(&unpacking->in, &address))
        return malformed(unpacking, "it ends in the middle of an address");
    trail_recent_put(unpacking->recent, trail_place_outside(address, unpacking->kind));
    give(unpacking, address, unpacking->kind, UINT32_MAX);
    return TRAIL_OK;
}

static enum trail_status unpack_delta(struct unpacking *unpacking, uint8_t code)
{
    unsigned more = code >= TRAIL_CODE_DELTA_4 ? 3 : code >= TRAIL_CODE_DELTA_3 ? 2 : 1;
    static const uint8_t firsts[] = { 0, TRAIL_CODE_DELTA_2, TRAIL_CODE_DELTA_3,
                                      TRAIL_CODE_DELTA_4 };
    uint64_t number = (uint64_t)code - firsts[more];
    for (; more > 0; more--) {
        uint8_t byte;
        if (!trail_byte_get(&unpacking->in, &byte))
            return malformed(unpacking, "it ends in the middle of an entry");
        number = number << 8 | byte;
    }
    uint64_t flat = unpacking->base + trail_unzigzag(number);
    if (flat >= TRAIL_FLAT_LIMIT)
        return malformed(unpacking, "an entry outside of all code");
    uint64_t place = trail_place_flat(flat, unpacking->kind);
    enum trail_status status = give_place(unpacking, place);
    if (!status)
        trail_recent_put(unpacking->recent, place);
    return status;
}

static enum trail_status unpack_differences(struct unpacking *unpacking)
{
    uint8_t code, at;
    while (trail_byte_get(&unpacking->in, &code)) {
        enum trail_status status = TRAIL_OK;
        if (code >= TRAIL_CODE_DELTA_2) {
            status = unpack_delta(unpacking, code);
        } else if (code == TRAIL_CODE_ADDRESS) {
            status = unpack_address(unpacking);
        } else if (code >= TRAIL_CODE_KIND) {
            unpacking->kind = code - TRAIL_CODE_KIND + 1u;
            unpacking->kind_given = true;
            continue;
        } else if (code < TRAIL_CODE_RUN) {
            at = (uint8_t)(trail_recent_next(unpacking->recent) - code - 1);
            status = unpack_run(unpacking, at, 1);
        } else if (trail_byte_get(&unpacking->in, &at)) {
            status = unpack_run(unpacking, at, code - TRAIL_CODE_RUN + 1u);
        } else {
            status = malformed(unpacking, "it ends in the middle of an entry");
        }
        if (status)
            return status;
    }
    if (unpacking->kind_given)
        return malformed(unpacking, "it ends in the middle of an entry");
    return TRAIL_OK;
}

/* ---- whole stacks -------------------------------------------------------- */

static enum trail_status unpack_shared(struct unpacking *unpacking,
                                       struct trail_share *share)
{
    uint8_t shared;
    if (!share || !share->recent.count)
        return trail_fail(unpacking->err, TRAIL_NOT_FOUND,
                          "packed stack: it shares frames with an earlier one; unpack "
                          "its stream from the beginning");
    unpacking->recent = &share->recent;
    if (!trail_byte_get(&unpacking->in, &shared) || shared > share->previous_count)
        return malformed(unpacking, "it shares more frames than there were");
    enum trail_status status = unpack_differences(unpacking);
    uint32_t own = unpacking->to->packed_count;
    for (uint32_t i = 0; !status && i < shared; i++)
        status =
            give_place(unpacking, share->previous[share->previous_count - shared + i]);
    if (!status)
        trail_share_end(share, own, shared);
    return status;
}

static enum trail_status unpack_fresh(struct unpacking *unpacking,
                                      struct trail_share *share)
{
    struct trail_recent alone;
    unpacking->recent = share ? &share->recent : &alone;
    memset(unpacking->recent->slots, 0, sizeof(unpacking->recent->slots));
    unpacking->recent->count = 0;
    enum trail_status status = unpack_differences(unpacking);
    if (!status && share) {
        share->previous_count = 0;
        trail_share_end(share, unpacking->to->packed_count, 0);
    }
    return status;
}

static enum trail_status unpack_scheme(struct unpacking *unpacking, unsigned scheme,
                                       struct trail_share *share)
{
    switch (scheme) {
    case TRAIL_PACK_ABS:
        return unpack_addresses(unpacking);
    case TRAIL_PACK_DELTA:
        return unpack_fresh(unpacking, share);
    case TRAIL_HEAD_SHARED:
        return unpack_shared(unpacking, share);
    default:
        return malformed(unpacking, "of a scheme that there is not");
    }
}

static enum trail_status unpack_head(struct unpacking *unpacking, unsigned *scheme_ret)
{
    uint8_t head;
    if (!trail_byte_get(&unpacking->in, &head))
        return malformed(unpacking, "it is empty");
    unsigned version = head >> TRAIL_HEAD_VERSION_AT;
    if (version != TRAIL_PACK_VERSION)
        return trail_fail(unpacking->err,
                          version > TRAIL_PACK_VERSION ? TRAIL_UNSUPPORTED
                                                       : TRAIL_BAD_INPUT,
                          "packed stack: version %u; this reads version %d", version,
                          TRAIL_PACK_VERSION);
    *scheme_ret = head >> TRAIL_HEAD_SCHEME_AT & TRAIL_HEAD_SCHEMES;
    if (head & TRAIL_HEAD_CURRENT)
        unpacking->kind = trail_pack_kind(TRAIL_PC_CURRENT);
    if (head & TRAIL_HEAD_64_BIT)
        unpacking->to->flags |= TRAIL_INFO_64_BIT;
    if (head & TRAIL_HEAD_TRUNCATED)
        unpacking->to->flags |= TRAIL_INFO_TRUNCATED;
    return TRAIL_OK;
}

enum trail_status trail_unpack(const void *bytes, size_t size,
                               const struct trail_pack_table *table,
                               struct trail_pack_stream *stream,
                               struct trail_unpacked *unpacked, struct trail_error *err)
{
    struct trail_share *share = stream ? trail_share_of(stream) : NULL;
    struct unpacking unpacking = { .in = { bytes, (const uint8_t *)bytes + size },
                                   .table = table ? table : &trail_pack_own_table,
                                   .to = unpacked,
                                   .err = err };
    unsigned scheme = 0;
    unpacked->count = unpacked->packed_count = unpacked->flags = 0;
    enum trail_status status = unpack_head(&unpacking, &scheme);
    if (!status)
        status = unpack_scheme(&unpacking, scheme, share);
    if (status && share) {
        share->recent.count = 0;
        share->previous_count = 0;
    }
    if (unpacked->addresses && unpacked->count < unpacked->capacity)
        unpacked->addresses[unpacked->count] = 0;
    return status;
}
