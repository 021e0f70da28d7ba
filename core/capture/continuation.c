/* continuation.c -- following the chains of records that stacks go on in. */
#include "core/capture/continuation.h"

#include <errno.h>

#include "core/capture/arch.h"
#include "core/os/os.h"

/* No chain is longer: what goes on after as many records leads back. */
#define RECORDS_MOST (UINT64_C(1) << 24)

/* In a cursor's last word: it belongs to a chain. */
#define CURSOR_MARK UINT64_C(0x636f6e74696e7565)

/* Read in handlers, so never to be made when it is first used. */
static _Thread_local const struct trail_continuations *current
    __attribute__((tls_model("initial-exec")));

const struct trail_continuations *trail_continuation_set(
    const struct trail_continuations *chain)
{
    const struct trail_continuations *before = current;
    current = chain;
    return before;
}

static uintptr_t chain_first(void)
{
    const struct trail_continuations *chain = current;
    return chain ? chain->first : 0;
}

void trail_continuation_tell(struct trail_info *info, unsigned count,
                             const struct trail_continuation_hint *hint)
{
    struct trail_continuation_hint told = { count, chain_first() };
    bool ended = info->end != TRAIL_END_FULL && info->end != TRAIL_END_ERROR;
    if (hint && hint->frame_addr)
        told = *hint;
    else if (!ended || !told.frame_addr)
        told = (struct trail_continuation_hint){ 0, 0 };
    info->async_start_index = told.index;
    info->async_frame_addr = told.frame_addr;
}

/* ---- following ----------------------------------------------------------- */

/* Where a chain is followed. Loops are found as Brent does: the address is compared
 * with one that stays behind, and catches up after 1, 2, 4, ... records. */
struct place {
    uint64_t at, behind, records;
};

static bool place_start(const struct trail_control *control, struct place *place_ret)
{
    if (control->cursor) {
        *place_ret = (struct place){ .at = control->cursor->opaque[0],
                                     .behind = control->cursor->opaque[1],
                                     .records = control->cursor->opaque[2] };
        return control->cursor->opaque[3] == CURSOR_MARK;
    }
    uintptr_t first = control->frame_addr ? control->frame_addr : chain_first();
    *place_ret = (struct place){ .at = first, .behind = first };
    return true;
}

static int read_record(const struct trail_control *control, uintptr_t at,
                       struct trail_continuation *record_ret)
{
    const struct trail_continuations *chain = current;
    if (chain && chain->step)
        return chain->step(chain->arg, at, record_ret);
    if (control->copy)
        return control->copy(control->copy_arg, record_ret, at, sizeof(*record_ret));
    return trail_os_copy(at, record_ret, sizeof(*record_ret));
}

/* Go on to the record after this one; an end other than TRAIL_END_BASE: not there. */
static uint32_t advance(struct place *place, uintptr_t parent)
{
    place->at = parent;
    place->records++;
    if (parent && (parent == place->behind || place->records == RECORDS_MOST))
        return TRAIL_END_LOOP;
    if ((place->records & (place->records - 1)) == 0)
        place->behind = parent;
    return TRAIL_END_BASE;
}

struct following {
    uintptr_t *addresses;
    unsigned capacity, count;
    struct place place;
    uint32_t end;
    int error;
};

static void follow(struct following *following, const struct trail_control *control,
                   struct trail_info *info)
{
    struct place *place = &following->place;
    const struct trail_machine *machine = trail_machine_native();
    while (place->at && following->end == TRAIL_END_BASE) {
        struct trail_continuation record = { 0, 0 };
        if (following->count == following->capacity) {
            following->end = TRAIL_END_FULL;
            return;
        }
        if (place->at % sizeof(uintptr_t)) {
            following->end = TRAIL_END_BAD_FP;
            return;
        }
        following->error = read_record(control, (uintptr_t)place->at, &record);
        if (following->error) {
            following->end = TRAIL_END_UNMAPPED;
            return;
        }
        if (machine)
            record.resume &= (uintptr_t)machine->return_mask;
        if (!record.resume)
            return;
        following->addresses[following->count] = record.resume;
        if (info && info->kinds)
            info->kinds[following->count] = TRAIL_PC_CONTINUATION;
        if (info && info->trust)
            info->trust[following->count] = TRAIL_TRUST_FP;
        following->count++;
        following->end = advance(place, record.parent);
    }
}

static void info_fill(struct trail_info *info, const struct following *following)
{
    info->flags = sizeof(uintptr_t) == 8 ? TRAIL_INFO_64_BIT : 0;
    if (following->end != TRAIL_END_BASE)
        info->flags |= TRAIL_INFO_TRUNCATED;
    info->end = following->end;
    info->error = following->error;
    info->async_start_index = 0;
    info->async_frame_addr = 0;
    info->next_frame_addr = 0;
    info->cursor = (struct trail_cursor){ { 0 } };
    if (following->end == TRAIL_END_FULL) {
        const struct place *place = &following->place;
        info->next_frame_addr = (uintptr_t)place->at;
        info->cursor = (struct trail_cursor){ { place->at, place->behind,
                                                place->records, CURSOR_MARK } };
    }
}

TRAIL_OWN_CODE
unsigned trail_continuation_backtrace(uintptr_t *addresses, unsigned capacity,
                                      const struct trail_control *control,
                                      struct trail_info *info)
{
    struct following following = { .addresses = addresses,
                                   .capacity = addresses ? capacity : 0,
                                   .end = TRAIL_END_BASE };
    if (place_start(control, &following.place)) {
        follow(&following, control, info);
    } else {
        following.end = TRAIL_END_ERROR;
        following.error = EINVAL;
    }
    if (following.count < following.capacity)
        addresses[following.count] = 0;
    if (info)
        info_fill(info, &following);
    return following.count;
}

TRAIL_OWN_CODE
void trail_continuation_append(struct trail_backtrace *backtrace,
                               const struct trail_info *info)
{
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_CONTINUATION,
                                           .frame_addr = info->async_frame_addr };
    uint32_t count = backtrace->count;
    struct trail_info rest = { .size = sizeof(rest),
                               .kinds = backtrace->kinds + count,
                               .trust = backtrace->trust + count };
    if (info->end != TRAIL_END_BASE || !info->async_frame_addr ||
        info->async_frame_addr != chain_first())
        return;
    backtrace->count +=
        trail_continuation_backtrace(backtrace->addresses + count,
                                     TRAIL_MAX_FRAMES - count, &control, &rest);
    backtrace->flags |= rest.flags;
    backtrace->end = rest.end;
    backtrace->error = rest.error;
    backtrace->next_frame_addr = rest.next_frame_addr;
    backtrace->cursor = rest.cursor;
}
