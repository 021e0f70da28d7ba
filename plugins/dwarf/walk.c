/* walk.c -- one pass over the DIEs of a unit. */
#include "walk.h"

#include <stdlib.h>

#include "lines.h"
#include "owners.h"
#include "ranges.h"
#include "scopes.h"

#define DEPTH_MAX 4096 /* of DIEs in each other; what lies deeper is not read */

/* Ranges of all functions and calls of one unit; many DIEs may refer to one long list.
 * Sound units have some 100,000. */
#define INTERVALS_MAX (UINT32_C(1) << 23)

/* What is known of the DIE that a list of children belongs to. */
struct walk_level {
    uint32_t scope; /* innermost function or inlined call around it; 0: none */
    uint32_t name;  /* innermost name scope around it, index + 1; 0: none */
    bool is_name;   /* it is that name scope */
};

struct walk {
    struct worker *worker;
    const struct unit_context *unit;
    const struct filter *filter;
    enum walk_depth mode;
    bool wants_calls;
    const uint8_t *at, *end;
    struct walk_level *levels;
    unsigned depth;
    /* Intervals of the outermost function in hand end when it ends, so that a function
     * nested in it (gcc: a local lambda) does not cut them short: */
    uint32_t first_piece;
    bool is_in_function;
    unsigned function_depth;
    struct attributes attributes;
};

static void close_pieces(struct walk *walk)
{
    struct worker *worker = walk->worker;
    for (uint32_t i = walk->first_piece; i < worker->pieces.count; i++)
        worker->pieces.at[i].interval_count =
            worker->intervals.count - worker->pieces.at[i].interval;
    walk->is_in_function = false;
}

/* A range is entered if a query lies in it, or, without queries, if nobody else owns
 * it. */
static bool is_wanted(const struct walk *walk)
{
    const struct worker *worker = walk->worker;
    const struct filter *filter = walk->filter;
    uint32_t own = worker->unit_index;
    for (uint32_t i = 0; i < worker->ranges.count; i++) {
        struct relative_range range = worker->ranges.at[i];
        if (filter->count) {
            uint32_t first = filter_first(filter, range.start);
            if (first < filter->count && filter->queries[first].address < range.end)
                return true;
            continue;
        }
        uint32_t owner = owners_find(worker->image, range.start);
        if (owner == own || owner == NO_UNIT)
            return true;
    }
    return false;
}

/* Go down to the children of a DIE; `scope` and `name` hold for them. */
static bool go_down(struct walk *walk, uint32_t scope, uint32_t name, bool is_name)
{
    if (walk->depth + 1 >= DEPTH_MAX) {
        walk->at = NULL;
        return true;
    }
    walk->levels[++walk->depth] = (struct walk_level){ scope, name, is_name };
    return true;
}

static void go_up(struct walk *walk)
{
    const struct walk_level *level = &walk->levels[walk->depth--];
    const uint8_t *info = walk->unit->sections[DWARF_INFO].at;
    if (level->is_name)
        walk->worker->name_scopes.of.at[level->name - 1].end =
            (uint64_t)(walk->at - info);
    if (walk->is_in_function && walk->depth == walk->function_depth)
        close_pieces(walk);
}

/* Note the DIE at `offset` as one that names what lies in it, and go down. */
static bool go_down_named(struct walk *walk, uint64_t offset, uint32_t scope)
{
    struct worker *worker = walk->worker;
    uint32_t outer = walk->levels[walk->depth].name;
    if (walk->mode == WALK_SHALLOW)
        return go_down(walk, scope, 0, false);
    uint32_t name = scopes_note(&worker->name_scopes, offset, 0, outer, false);
    return name ? go_down(walk, scope, name, true) : worker_no_memory(worker);
}

/* Past the children of a DIE whose attributes begin at `walk->at`. */
static bool jump(struct walk *walk, const struct abbrev *abbrev, uint64_t offset)
{
    struct worker *worker = walk->worker;
    const uint8_t *info = walk->unit->sections[DWARF_INFO].at;
    const uint8_t *next = die_sibling(walk->unit, abbrev, walk->at, walk->end);
    if (!next) {
        walk->at = die_skip(walk->unit, abbrev, walk->at, walk->end);
        next = walk->at ? die_skip_children(walk->unit, walk->at, walk->end) : NULL;
    }
    walk->at = next;
    if (!next || walk->mode == WALK_SHALLOW ||
        (abbrev->class != DIE_FUNCTION && abbrev->class != DIE_TYPE))
        return true;
    return scopes_note(&worker->name_scopes, offset, (uint64_t)(next - info),
                       walk->levels[walk->depth].name, true) ||
           worker_no_memory(worker);
}

/* A DIE that has no code of its own, attributes from `walk->at`. */
static bool pass(struct walk *walk, const struct abbrev *abbrev, uint64_t offset)
{
    bool is_named = abbrev->class == DIE_SCOPE || abbrev->class == DIE_TYPE ||
                    abbrev->class == DIE_FUNCTION;
    bool is_entered = walk->mode == WALK_DEEP || abbrev->class == DIE_ENTER ||
                      abbrev->class == DIE_SCOPE || abbrev->class == DIE_INLINED;
    if (!abbrev->has_children) {
        walk->at = die_skip(walk->unit, abbrev, walk->at, walk->end);
        return true;
    }
    if (!is_entered)
        return jump(walk, abbrev, offset);
    walk->at = die_skip(walk->unit, abbrev, walk->at, walk->end);
    struct walk_level level = walk->levels[walk->depth];
    if (abbrev->class == DIE_FUNCTION) /* it is not wanted, nor is what it calls */
        level.scope = 0;
    if (!walk->at)
        return true;
    return is_named ? go_down_named(walk, offset, level.scope)
                    : go_down(walk, level.scope, level.name, false);
}

static bool add_scope(struct worker *worker, const struct raw_scope *scope)
{
    uint32_t number = worker->scopes.count;
    if (worker->intervals.count + worker->ranges.count > INTERVALS_MAX)
        return worker_give_up_unit(worker);
    if (!vector_room(&worker->scopes, 1) ||
        !vector_room(&worker->intervals, worker->ranges.count))
        return worker_no_memory(worker);
    worker->scopes.at[worker->scopes.count++] = *scope;
    for (uint32_t i = 0; i < worker->ranges.count; i++)
        worker->intervals.at[worker->intervals.count++] =
            (struct interval){ worker->ranges.at[i].start, worker->ranges.at[i].end,
                               number };
    return true;
}

static bool add_pieces(struct worker *worker)
{
    if (!vector_room(&worker->pieces, worker->ranges.count))
        return worker_no_memory(worker);
    for (uint32_t i = 0; i < worker->ranges.count; i++) {
        uint32_t order = worker->pieces.count;
        worker->pieces.at[worker->pieces.count++] =
            (struct piece){ .start = worker->ranges.at[i].start,
                            .end = worker->ranges.at[i].end,
                            .interval = worker->intervals.count,
                            .order = order };
    }
    return true;
}

/* Note where the function in hand begins, for those who call it. */
static bool note_place(struct walk *walk, uint64_t offset)
{
    struct worker *worker = walk->worker;
    const struct attributes *attributes = &walk->attributes;
    enum attribute_slot slot =
        has_slot(attributes, SLOT_ORIGIN) ? SLOT_ORIGIN : SLOT_SPECIFICATION;
    struct function_place place = { .die = die_number(walk->unit->set->number, offset),
                                    .completed = DIE_NONE };
    if (!worker->ranges.count)
        return true;
    if (has_slot(attributes, slot))
        place.completed =
            value_die(walk->unit, attributes->form[slot], attributes->value[slot]);
    place.start = worker->ranges.at[0].start;
    if (!vector_room(&worker->function_places, 1))
        return worker_no_memory(worker);
    worker->function_places.at[worker->function_places.count++] = place;
    return true;
}

static bool pass_function(struct walk *walk, const struct abbrev *abbrev,
                          uint64_t offset)
{
    struct worker *worker = walk->worker;
    const uint8_t *start = walk->at;
    if (!abbrev->has_code)
        return pass(walk, abbrev, offset);
    walk->at = die_read(walk->unit, abbrev, walk->at, walk->end, &walk->attributes);
    if (!walk->at)
        return true;
    if (!ranges_read(worker, walk->unit, &walk->attributes))
        return false;
    if (walk->wants_calls && !note_place(walk, offset))
        return false;
    if (!is_wanted(walk)) {
        walk->at = start;
        return pass(walk, abbrev, offset);
    }
    if (!walk->is_in_function) {
        walk->is_in_function = true;
        walk->function_depth = walk->depth;
        walk->first_piece = worker->pieces.count;
    }
    uint32_t number = worker->scopes.count;
    const struct relative_range *first = worker->ranges.at;
    if (!add_pieces(worker) ||
        !add_scope(worker, &(struct raw_scope){
                               .die = die_number(walk->unit->set->number, offset),
                               .start = first->start,
                               .size = first->end - first->start }))
        return false;
    if (abbrev->has_children)
        return go_down_named(walk, offset, number);
    if (walk->depth == walk->function_depth)
        close_pieces(walk);
    return true;
}

static uint64_t slot_value(const struct attributes *attributes,
                           enum attribute_slot slot)
{
    return has_slot(attributes, slot) ? attributes->value[slot] : 0;
}

static bool pass_inlined(struct walk *walk, const struct abbrev *abbrev,
                         uint64_t offset)
{
    struct worker *worker = walk->worker;
    const struct attributes *attributes = &walk->attributes;
    struct walk_level level = walk->levels[walk->depth];
    if (!level.scope) /* of an abstract instance, or of a function that is not wanted */
        return walk->mode == WALK_DEEP || !abbrev->has_children
                   ? pass(walk, abbrev, offset)
                   : jump(walk, abbrev, offset);
    walk->at = die_read(walk->unit, abbrev, walk->at, walk->end, &walk->attributes);
    if (!walk->at)
        return true;
    struct raw_scope scope = {
        .die = die_number(walk->unit->set->number, offset),
        .call = lines_location(worker, slot_value(attributes, SLOT_CALL_FILE),
                               slot_value(attributes, SLOT_CALL_LINE),
                               slot_value(attributes, SLOT_CALL_COLUMN)),
        .parent = level.scope,
    };
    if (has_slot(attributes, SLOT_ORIGIN)) {
        uint64_t origin = value_die(walk->unit, attributes->form[SLOT_ORIGIN],
                                    attributes->value[SLOT_ORIGIN]);
        if (origin != DIE_NONE)
            scope.die = origin;
    }
    if (!ranges_read(worker, walk->unit, attributes))
        return false;
    if (!worker->ranges.count && !abbrev->has_children)
        return true; /* it holds no code */
    uint32_t number = worker->scopes.count;
    if (!add_scope(worker, &scope))
        return false;
    return abbrev->has_children ? go_down(walk, number, level.name, false) : true;
}

/* The address behind a call site in hand; 0: it does not say, or calls nothing
 * known. */
static uint64_t address_of_call(const struct walk *walk, bool is_tail)
{
    const struct attributes *attributes = &walk->attributes;
    enum attribute_slot slot = SLOT_RETURN_PC;
    if (!has_slot(attributes, SLOT_TARGET))
        return 0;
    if (!has_slot(attributes,
                  SLOT_RETURN_PC)) /* clang: a tail call has DW_AT_call_pc */
        slot = SLOT_CALL_PC;
    if (!has_slot(attributes, slot) || (slot == SLOT_CALL_PC && !is_tail))
        return 0;
    uint64_t address =
        value_address(walk->unit, attributes->form[slot], attributes->value[slot]);
    if (slot == SLOT_CALL_PC)
        address++;
    bool is_seen =
        address > walk->worker->image->low && address <= walk->worker->image->high;
    return is_seen ? address : 0;
}

static bool pass_call(struct walk *walk, const struct abbrev *abbrev, uint64_t offset)
{
    struct worker *worker = walk->worker;
    const struct attributes *attributes = &walk->attributes;
    const uint8_t *start = walk->at;
    if (!walk->wants_calls || !walk->levels[walk->depth].scope)
        return pass(walk, abbrev, offset);
    walk->at = die_read(walk->unit, abbrev, walk->at, walk->end, &walk->attributes);
    if (!walk->at)
        return true;
    bool is_tail = slot_value(attributes, SLOT_TAIL) != 0;
    uint64_t address = address_of_call(walk, is_tail);
    if (address) {
        if (!vector_room(&worker->calls, 1))
            return worker_no_memory(worker);
        worker->calls.at[worker->calls.count++] = (struct raw_call){
            .return_address = (uint32_t)(address - worker->image->low),
            .is_tail = is_tail,
            .scope = walk->levels[walk->depth].scope,
            .target = value_die(walk->unit, attributes->form[SLOT_TARGET],
                                attributes->value[SLOT_TARGET]),
        };
    }
    if (!abbrev->has_children)
        return true;
    walk->at = start; /* its children are parameters */
    return jump(walk, abbrev, offset);
}

static bool pass_die(struct walk *walk, const struct abbrev *abbrev, uint64_t offset)
{
    switch (abbrev->class) {
    case DIE_FUNCTION:
        return pass_function(walk, abbrev, offset);
    case DIE_INLINED:
        return pass_inlined(walk, abbrev, offset);
    case DIE_CALL:
        return pass_call(walk, abbrev, offset);
    default:
        return pass(walk, abbrev, offset);
    }
}

static inline bool is_plain(const struct abbrev *abbrev)
{
    return abbrev->class == DIE_SKIP || abbrev->class == DIE_ENTER;
}

/* Leave a list of children that names nothing and ends no function: most do not. */
static inline bool go_up_quickly(struct walk *walk)
{
    bool ends_function =
        walk->is_in_function && walk->depth == walk->function_depth + 1;
    if (UNLIKELY(ends_function || walk->levels[walk->depth].is_name))
        return false;
    walk->depth--;
    return true;
}

/* Past a DIE that has no code and names nothing, down to its children if they are to be
 * looked at. False: it takes more than that. */
static inline bool pass_quickly(struct walk *walk, const struct abbrev *abbrev,
                                const uint8_t **at)
{
    if (!is_plain(abbrev))
        return false;
    if (abbrev->has_children) {
        if (walk->mode != WALK_DEEP || walk->depth + 1 >= DEPTH_MAX)
            return false;
        struct walk_level level = walk->levels[walk->depth];
        level.is_name = false;
        walk->levels[++walk->depth] = level;
    }
    *at = die_skip(walk->unit, abbrev, *at, walk->end);
    return true;
}

/* Nearly all DIEs are of no interest, so the way past these is kept short. False: out
 * of memory or of work. */
static bool walk_dies(struct walk *walk)
{
    const struct unit_context *unit = walk->unit;
    const struct abbrev *abbrevs = unit->abbrevs->by_code.at;
    const uint32_t abbrev_count = unit->abbrevs->by_code.count;
    const uint8_t *info = unit->sections[DWARF_INFO].at;
    const uint8_t *at = walk->at, *end = walk->end;
    while (at && at < end) {
        const uint8_t *die = at;
        uint64_t code = *at++;
        __builtin_prefetch(die + 1024); /* jumps defeat the core's own guess */
        if (UNLIKELY(code >= 0x80)) {
            at = die;
            code = bytes_uleb(&at, end);
        }
        if (!code) {
            if (walk->depth == 0)
                return true;
            walk->at = at;
            if (!go_up_quickly(walk))
                go_up(walk);
            continue;
        }
        if (UNLIKELY(code >= abbrev_count || abbrevs[code].class == DIE_BAD))
            return true;
        const struct abbrev *abbrev = &abbrevs[code];
        if (LIKELY(pass_quickly(walk, abbrev, &at)))
            continue;
        walk->at = at;
        if (!pass_die(walk, abbrev, (uint64_t)(die - info)))
            return false;
        at = walk->at;
    }
    return true;
}

bool walk_unit(struct worker *worker, const uint8_t *at, const struct filter *filter,
               enum walk_depth depth, bool wants_calls)
{
    const struct unit *unit = &worker->unit.unit;
    struct walk walk = {
        .worker = worker,
        .unit = &worker->unit,
        .filter = filter,
        .mode = depth,
        .wants_calls = wants_calls,
        .at = at,
        .end = worker->unit.sections[DWARF_INFO].at + unit->end,
    };
    worker->intervals.count = worker->pieces.count = worker->calls.count = 0;
    worker->function_places.count = 0;
    worker->scopes.count = 0;
    worker->name_scopes.of.count = worker->name_scopes.walked_count = 0;
    worker->name_scopes.are_read = false;
    if (!worker->levels)
        worker->levels = malloc(DEPTH_MAX * sizeof(*worker->levels));
    if (!worker->levels || !vector_room(&worker->scopes, 1))
        return worker_no_memory(worker);
    walk.levels = worker->levels;
    walk.levels[0] = (struct walk_level){ 0 };
    worker->scopes.at[worker->scopes.count++] = (struct raw_scope){ 0 }; /* none */
    if (!worker_spend(worker, unit->end - unit->offset) || !walk_dies(&walk))
        return false;
    if (walk.is_in_function) /* the unit was cut short */
        close_pieces(&walk);
    worker->name_scopes.walked_count = worker->name_scopes.of.count;
    worker->name_scopes.are_read = depth == WALK_DEEP;
    return !worker->status;
}
