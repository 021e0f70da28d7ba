/* owners.c -- which unit an address belongs to. */
#include "owners.h"

#include <stdlib.h>

#include "constants.h"
#include "ranges.h"
#include "start.h"
#include "walk.h"

struct claims {
    VECTOR(struct claim) of;
};

/* The first owned stretch that ends behind `address`; the number of all: none. */
static uint32_t find_stretch(const struct dwarf *image, uint32_t address)
{
    uint32_t low = 0, high = image->owners.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (image->owners.at[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t owners_find(const struct dwarf *image, uint32_t address)
{
    uint32_t found = find_stretch(image, address);
    return found < image->owners.count && image->owners.at[found].start <= address
               ? image->owners.at[found].unit
               : NO_UNIT;
}

bool owners_stretch(const struct dwarf *image, uint32_t address, uint32_t unit,
                    uint32_t *end_ret)
{
    uint32_t found = find_stretch(image, address);
    *end_ret = UINT32_MAX;
    if (found == image->owners.count)
        return false;
    const struct claim *owner = &image->owners.at[found];
    bool is_inside = owner->start <= address;
    *end_ret = is_inside ? owner->end : owner->start;
    return is_inside && owner->unit == unit;
}

/* ---- claims settled -------------------------------------------------- */

static int compare_claims(const void *one, const void *other)
{
    const struct claim *a = one, *b = other;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->unit < b->unit ? -1 : a->unit > b->unit;
}

/* A heap of claims, the lowest unit on top. */
static void heap_push(struct claim *heap, uint32_t count, struct claim claim)
{
    uint32_t at = count;
    for (; at && heap[(at - 1) / 2].unit > claim.unit; at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = claim;
}

static void heap_pop(struct claim *heap, uint32_t count) /* after it */
{
    struct claim last = heap[count];
    uint32_t at = 0, child;
    while ((child = 2 * at + 1) < count) {
        if (child + 1 < count && heap[child + 1].unit < heap[child].unit)
            child++;
        if (heap[child].unit >= last.unit)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

static bool give(struct dwarf *image, uint32_t start, uint32_t end, uint32_t unit)
{
    struct claim *last =
        image->owners.count ? &image->owners.at[image->owners.count - 1] : NULL;
    if (last && last->end == start && last->unit == unit) {
        last->end = end;
        return true;
    }
    if (!vector_room(&image->owners, 1))
        return false;
    image->owners.at[image->owners.count++] = (struct claim){ start, end, unit };
    return true;
}

static bool sweep(struct dwarf *image, const struct claim *claim, uint32_t count,
                  struct claim *heap)
{
    uint32_t held = 0, next = 0, at = 0;
    for (;;) {
        while (held && heap[0].end <= at)
            heap_pop(heap, --held);
        if (!held) {
            if (next == count)
                return true;
            if (claim[next].start > at)
                at = claim[next].start;
        }
        for (; next < count && claim[next].start <= at; next++)
            heap_push(heap, held++, claim[next]);
        if (heap[0].end <= at)
            continue;
        uint32_t end = heap[0].end;
        if (next < count && claim[next].start < end)
            end = claim[next].start;
        if (!give(image, at, end, heap[0].unit))
            return false;
        at = end;
    }
}

/* Turn claims into owners. */
static bool settle(struct worker *worker, const struct claims *claims)
{
    struct dwarf *image = worker->image;
    image->owners.count = 0;
    if (!claims->of.count)
        return true;
    struct claim *heap = malloc((claims->of.count + 1) * sizeof(*heap));
    qsort(claims->of.at, claims->of.count, sizeof(*claims->of.at), compare_claims);
    bool is_done = heap && sweep(image, claims->of.at, claims->of.count, heap);
    free(heap);
    return is_done || worker_no_memory(worker);
}

/* ---- .debug_aranges (DWARF 5, 6.1.2) --------------------------------- */

/* What is left of the section, and of the set in hand. */
struct aranges {
    const struct dwarf *image;
    const uint8_t *next;     /* set */
    const uint8_t *at, *end; /* tuples of this one; NULL: unreadable */
    uint64_t unit;           /* offset of the unit */
    uint64_t start, stop;    /* the range in hand */
    unsigned size;           /* of an address */
};

/* Read the header of a set. False: there is no further one. */
static bool open_set(struct aranges *aranges)
{
    const struct dwarf *image = aranges->image;
    struct dwarf_bytes section = image->main.file.sections[DWARF_ARANGES];
    const uint8_t *start = aranges->next, *at = start;
    const uint8_t *end = section.at + section.size;
    bool is_big = image->input.is_big_endian;
    unsigned offset_size = 4;
    aranges->at = NULL;
    if (bytes_left(at, end) < 12)
        return false;
    uint64_t length = bytes_u32(at, is_big);
    at += 4;
    if (length == UINT32_MAX) {
        length = bytes_u64(at, is_big);
        at += 8;
        offset_size = 8;
    }
    if (length > bytes_left(at, end) || length < 4 + offset_size)
        return false;
    aranges->next = aranges->end = at + length;
    aranges->unit = bytes_number(at + 2, offset_size, is_big);
    aranges->size = at[2 + offset_size];
    size_t header = bytes_left(start, at) + 4 + offset_size;
    if (aranges->size != 8 && aranges->size != 4)
        return true;
    size_t tuple = 2 * (size_t)aranges->size; /* tuples begin at a multiple of this */
    header = (header + tuple - 1) / tuple * tuple;
    if (header <= bytes_left(start, aranges->end))
        aranges->at = start + header;
    return true;
}

/* The next live range. */
static bool next_arange(struct aranges *aranges)
{
    bool is_big = aranges->image->input.is_big_endian;
    for (;;) {
        unsigned size = aranges->size;
        while (aranges->at && bytes_left(aranges->at, aranges->end) >= 2 * size) {
            aranges->start = bytes_number(aranges->at, size, is_big);
            aranges->stop =
                aranges->start + bytes_number(aranges->at + size, size, is_big);
            aranges->at += 2 * size;
            if (dwarf_is_live(aranges->image, aranges->start, aranges->stop))
                return true;
        }
        if (!open_set(aranges))
            return false;
    }
}

static struct aranges begin_aranges(const struct dwarf *image)
{
    struct dwarf_bytes section = image->main.file.sections[DWARF_ARANGES];
    set_will_read(&image->main, section.at, section.size);
    return (struct aranges){ .image = image, .next = section.at };
}

static uint32_t unit_at(const struct dwarf *image, uint64_t offset)
{
    const struct unit *unit = set_unit_of(&image->main, offset);
    return unit && unit->offset == offset ? (uint32_t)(unit - image->main.units.at)
                                          : NO_UNIT;
}

static bool add_claim(struct worker *worker, struct claims *claims, struct claim claim)
{
    if (!vector_room(&claims->of, 1))
        return worker_no_memory(worker);
    claims->of.at[claims->of.count++] = claim;
    return true;
}

/* Add what the hint says of the units that `is_asked` tells; NULL: of all. Those that
 * it speaks of become 2. */
static bool claim_by_hint(struct worker *worker, struct claims *claims,
                          uint8_t *is_asked)
{
    const struct dwarf *image = worker->image;
    struct aranges aranges = begin_aranges(image);
    if (!aranges.next)
        return true;
    while (next_arange(&aranges)) {
        uint32_t unit = unit_at(image, aranges.unit);
        if (unit == NO_UNIT || (is_asked && !is_asked[unit]))
            continue;
        struct claim claim = { (uint32_t)(aranges.start - image->low),
                               (uint32_t)(aranges.stop - image->low), unit };
        if (!add_claim(worker, claims, claim))
            return false;
        if (is_asked)
            is_asked[unit] = 2;
    }
    return true;
}

bool owners_read_hint(struct worker *worker)
{
    struct claims claims = { 0 };
    if (!dwarf_list_units(worker->image))
        return worker_no_memory(worker);
    bool is_done = claim_by_hint(worker, &claims, NULL) && settle(worker, &claims);
    if (is_done)
        worker->image->owners_state = OWNERS_OF_HINT;
    vector_free(&claims.of);
    return is_done;
}

/* ---- root DIEs ------------------------------------------------------- */

/* Read where the unit says its code lies into worker->ranges. `says_ret`: it does
 * say. */
static bool read_root_ranges(struct worker *worker, const struct unit *unit,
                             bool *says_ret)
{
    const struct dwarf *image = worker->image;
    struct dwarf_bytes info = image->main.file.sections[DWARF_INFO];
    const uint8_t *at = info.at + unit->die, *end = info.at + unit->end;
    struct unit_context context;
    struct attributes root;
    uint64_t code = bytes_uleb(&at, end);
    worker->ranges.count = 0;
    *says_ret = true; /* an empty unit has none to ask for */
    if (!code)
        return true;
    size_t read =
        abbrevs_compile(&worker->root_abbrevs, image->main.file.sections[DWARF_ABBREV],
                        unit->abbrevs, unit->sizes, code);
    if (!read)
        return worker_no_memory(worker);
    if (!worker_spend(worker, read))
        return false;
    unit_context_init(&context, &image->main, NULL, unit);
    context.abbrevs = &worker->root_abbrevs;
    unit_read_root(&context, &root);
    *says_ret = has_slot(&root, SLOT_RANGES) || has_slot(&root, SLOT_HIGH_PC);
    return ranges_read(worker, &context, &root);
}

/* What root DIEs point into. */
static void tell_of_roots(const struct dwarf_set *set)
{
    static const enum dwarf_section pointed_into[] = { DWARF_ABBREV, DWARF_RANGES,
                                                       DWARF_RNGLISTS };
    for (size_t i = 0; i < sizeof(pointed_into) / sizeof(*pointed_into); i++) {
        struct dwarf_bytes section = set->file.sections[pointed_into[i]];
        set_will_read(set, section.at, section.size);
    }
}

static bool claim_by_root(struct worker *worker, struct claims *claims, uint32_t unit,
                          bool *says_ret)
{
    const struct dwarf *image = worker->image;
    if (!read_root_ranges(worker, &image->main.units.at[unit], says_ret))
        return false;
    for (uint32_t i = 0; i < worker->ranges.count; i++)
        if (!add_claim(worker, claims,
                       (struct claim){ worker->ranges.at[i].start,
                                       worker->ranges.at[i].end, unit }))
            return false;
    return true;
}

/* A unit that does not say where its code lies: where its functions do. */
static bool claim_by_functions(struct worker *worker, struct claims *claims,
                               uint32_t unit)
{
    const struct filter all = { 0 };
    const uint8_t *first;
    worker->line.numbers.count = 0;
    if (!start_unit(worker, unit, &first) ||
        !walk_unit(worker, first, &all, WALK_SHALLOW, false))
        return worker_gave_up_unit(worker);
    for (uint32_t i = 0; i < worker->pieces.count; i++)
        if (!add_claim(worker, claims,
                       (struct claim){ worker->pieces.at[i].start,
                                       worker->pieces.at[i].end, unit }))
            return false;
    return true;
}

bool owners_read_all(struct worker *worker)
{
    struct dwarf *image = worker->image;
    if (!dwarf_list_units(image))
        return worker_no_memory(worker);
    uint32_t count = image->main.units.count;
    struct claims claims = { 0 };
    tell_of_roots(&image->main);
    /* by unit: 0: its root DIE said where its code lies; 1: it did not; 2: the hint did
     * instead */
    uint8_t *is_asked = calloc(count + 1u, 1);
    bool is_done = is_asked || worker_no_memory(worker);
    image->owners.count = 0; /* nobody owns anything while functions are looked at */
    for (uint32_t i = 0; is_done && i < count; i++) {
        bool says = true;
        if (unit_has_code(&image->main.units.at[i]))
            is_done = claim_by_root(worker, &claims, i, &says);
        is_asked[i] = !says;
    }
    is_done = is_done && claim_by_hint(worker, &claims, is_asked);
    for (uint32_t i = 0; is_done && i < count; i++)
        is_done = is_asked[i] != 1 || claim_by_functions(worker, &claims, i);
    is_done = is_done && settle(worker, &claims);
    image->owners_state = is_done ? OWNERS_COMPLETE : OWNERS_UNREAD;
    free(is_asked);
    vector_free(&claims.of);
    return is_done;
}

/* The unit with the lowest offset that the hint names. */
static bool find_by_hint(const struct dwarf *image, uint64_t address,
                         struct unit *unit_ret)
{
    struct aranges aranges = begin_aranges(image);
    uint64_t found = UINT64_MAX;
    while (aranges.next && next_arange(&aranges))
        if (address >= aranges.start && address < aranges.stop && aranges.unit < found)
            found = aranges.unit;
    return unit_read_header(&image->main, found, unit_ret) == UNIT_READABLE;
}

bool owners_find_alone(struct worker *worker, uint32_t address, struct unit *unit_ret,
                       bool *is_found_ret)
{
    const struct dwarf *image = worker->image;
    enum unit_state state;
    bool says;
    *is_found_ret = find_by_hint(image, image->low + address, unit_ret);
    if (*is_found_ret)
        return true;
    tell_of_roots(&image->main);
    *unit_ret = (struct unit){ .offset = 0, .end = 0 };
    while ((state = unit_read_next(&image->main, unit_ret)) != UNIT_END) {
        if (state != UNIT_READABLE || !unit_has_code(unit_ret))
            continue;
        if (!read_root_ranges(worker, unit_ret, &says))
            return false;
        for (uint32_t i = 0; i < worker->ranges.count && !*is_found_ret; i++)
            *is_found_ret = worker->ranges.at[i].start <= address &&
                            address < worker->ranges.at[i].end;
        if (*is_found_ret)
            return true;
    }
    return true;
}
