/* map_calls.c -- finds the calls of an origin map, by where they return to.
 *
 * A call is kept by the last byte of its instruction: a function that ends in a call
 * that never returns would otherwise have it outside of the text.
 */
#include "origin/tables.h"

struct calls {
    const struct origin_map *map;
    origin_call_fn *each;
    void *arg;
};

static uint32_t block_first(const struct origin_map *map, uint64_t block)
{
    return origin_get32(map->parts[ORIGIN_CALL_BLOCKS].at + block * 4);
}

static struct origin_call call_of(const struct origin_map *map, uint64_t index,
                                  uint64_t return_address)
{
    const struct origin_part *targets = &map->parts[ORIGIN_TARGETS];
    struct origin_call call = { .return_address = return_address };
    unsigned width = map->widths.target, address = map->widths.address;
    uint64_t packed =
        origin_get_sized(map->parts[ORIGIN_CALL_TARGETS].at + index * width, width);
    uint64_t number = packed >> 1;

    call.is_tail = packed & 1;
    if (!number || number > targets->count)
        return call;
    const uint8_t *at = targets->at + (number - 1) * (address + map->widths.text);
    uint64_t target = origin_get_sized(at, address);
    call.target = target ? map->base + target - 1 : 0;
    call.linkage =
        origin_text_at(map, origin_get_sized(at + address, map->widths.text));
    return call;
}

/* The first of the calls [first, end) of a block that is at `low` or behind it. */
static uint64_t call_from(const struct origin_map *map, uint64_t first, uint64_t end,
                          uint64_t low)
{
    const uint8_t *offsets = map->parts[ORIGIN_CALL_OFFSETS].at;
    while (first < end) {
        uint64_t middle = first + (end - first) / 2;
        if (origin_get16(offsets + middle * 2) < low)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* Calls at [from, to) of the text, which lies at `start`. False: `each` wants no more.
 * */
static bool each_in_text(const struct calls *calls, uint64_t from, uint64_t to,
                         uint64_t start)
{
    const struct origin_map *map = calls->map;
    const struct origin_part *offsets = &map->parts[ORIGIN_CALL_OFFSETS];
    uint64_t blocks = map->parts[ORIGIN_CALL_BLOCKS].count;
    uint64_t i = 0; /* only goes up, whatever the blocks say */

    for (uint64_t block = from / ORIGIN_CALLS;
         block * ORIGIN_CALLS < to && block + 1 < blocks; block++) {
        uint64_t at = block * ORIGIN_CALLS;
        uint64_t end = block_first(map, block + 1);
        end = end < offsets->count ? end : offsets->count;
        uint64_t first =
            call_from(map, block_first(map, block), end, from > at ? from - at : 0);
        i = first > i ? first : i;
        for (; i < end; i++) {
            uint64_t offset = at + origin_get16(offsets->at + i * 2);
            if (offset >= to)
                break;
            struct origin_call call = call_of(map, i, start + offset + 1);
            if (!calls->each(calls->arg, &call))
                return false;
        }
    }
    return true;
}

/* Calls whose instructions end in [from, to). */
static bool each_in(const struct calls *calls, uint64_t from, uint64_t to)
{
    const struct origin_part *pieces = &calls->map->parts[ORIGIN_PIECES];
    for (uint64_t i = 0; i < pieces->count; i++) {
        const uint8_t *piece = pieces->at + i * ORIGIN_PIECE_SIZE;
        uint64_t start = origin_get64(piece), size = origin_get64(piece + 8);
        uint64_t offset = origin_get64(piece + 16);
        uint64_t low = from > start ? from - start : 0;
        uint64_t high = to > start ? to - start : 0;
        high = high < size ? high : size;
        if (low < high &&
            !each_in_text(calls, offset + low, offset + high, start - offset))
            return false;
    }
    return true;
}

void origin_map_each_call(const struct origin_map *map, uint64_t from, uint64_t to,
                          origin_call_fn *each, void *arg)
{
    struct calls calls = { map, each, arg };
    if (from < to)
        each_in(&calls, from ? from - 1 : 0, to - 1);
}

/* ---- tail calls ---------------------------------------------------------- */

struct tails {
    origin_call_fn *each;
    void *arg;
    bool is_over;
};

static bool each_tail(void *arg, const struct origin_call *call)
{
    struct tails *tails = arg;
    if (call->is_tail)
        tails->is_over = !tails->each(tails->arg, call);
    return !tails->is_over;
}

/* Call number `index`; false: there is none. */
static bool call_at(const struct origin_map *map, uint64_t index,
                    struct origin_call *call_ret)
{
    const struct origin_part *blocks = &map->parts[ORIGIN_CALL_BLOCKS];
    const struct origin_part *pieces = &map->parts[ORIGIN_PIECES];
    uint64_t low = 0, high = blocks->count;
    if (index >= map->parts[ORIGIN_CALL_OFFSETS].count)
        return false;
    while (low < high) { /* the last block that begins with it or before */
        uint64_t middle = low + (high - low) / 2;
        if (block_first(map, middle) <= index)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t offset = (low ? low - 1 : 0) * ORIGIN_CALLS +
                      origin_get16(map->parts[ORIGIN_CALL_OFFSETS].at + index * 2);
    for (uint64_t i = 0; i < pieces->count; i++) {
        const uint8_t *piece = pieces->at + i * ORIGIN_PIECE_SIZE;
        uint64_t in_piece = offset - origin_get64(piece + 16);
        if (in_piece >= origin_get64(piece + 8))
            continue;
        *call_ret = call_of(map, index, origin_get64(piece) + in_piece + 1);
        return true;
    }
    return false;
}

/* Tail calls in parts of function `number` that lie elsewhere. */
static void each_far_tail(const struct origin_map *map, uint32_t number,
                          struct tails *tails)
{
    const struct origin_part *far = &map->parts[ORIGIN_FAR_TAILS];
    uint64_t low = 0, high = far->count;
    struct origin_call call;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (origin_get32(far->at + middle * 8) < number)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < far->count && origin_get32(far->at + low * 8) == number; low++)
        if (!call_at(map, origin_get32(far->at + low * 8 + 4), &call) ||
            !each_tail(tails, &call))
            return;
}

void origin_map_each_tail_call(const struct origin_map *map, uint64_t start,
                               origin_call_fn *each, void *arg)
{
    struct tails tails = { each, arg, false };
    struct calls calls = { map, each_tail, &tails };
    struct origin_function function;
    uint32_t number = origin_map_function_at(map, start);
    if (number && origin_map_function(map, number, &function) &&
        each_in(&calls, start, start + function.size))
        each_far_tail(map, number, &tails);
}
