/* scopes.c -- one walk over a unit's DIEs makes the table of its scopes. */
#include "scopes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "backtrail/symbolizer.h"
#include "plugins/elf/code.h"
#include "plugins/elf/pace.h"
#include "text.h"

/* Bounds for damaged files, far above what compilers make. */
#define DEPTH_MAX      ((size_t)1 << 20)
#define SCOPES_MAX     ((size_t)1 << 24)
#define RANGES_PER_DIE 65536
#define RANGES_MAX     ((size_t)1 << 22) /* of a unit, dead ones too */

#define PACE_EVERY 4096u /* DIEs */

/* The walk keeps no DIEs of ancestors: at the end of a list of children the next DIE
 * lies right behind it. So each is read once, also where there is no DW_AT_sibling,
 * and 60,000 nested blocks cost 240 KB and no recursion. */
struct walk {
    Dwarf_Die die;
    const uint8_t *end; /* of the section */
    uint32_t *around;   /* per level: the scope that its DIEs lie in */
    size_t depth, capacity;
};

enum step {
    STEP_INTO,
    STEP_OVER,
};

struct range_arg {
    struct scopes *scopes;
    uint32_t index;
};

static bool walk_enter(struct walk *walk, const Dwarf_Die *child, uint32_t around)
{
    if (walk->depth == walk->capacity) {
        size_t capacity = walk->capacity ? walk->capacity * 2 : 64;
        if (capacity > DEPTH_MAX)
            return false;
        uint32_t *grown = realloc(walk->around, capacity * sizeof(*grown));
        if (!grown)
            return false;
        walk->around = grown;
        walk->capacity = capacity;
    }
    walk->around[walk->depth++] = around;
    walk->die = *child;
    return true;
}

/* `end` is the zero byte that ends a list of children: go on behind it. */
static bool walk_leave(struct walk *walk, const uint8_t *end)
{
    const uint8_t *here = end;
    while (here && here < walk->end && *here == 0) {
        here++;
        if (--walk->depth == 0)
            return false;
    }
    if (!here || here >= walk->end)
        return false;
    walk->die.addr = (void *)(uintptr_t)here;
    walk->die.abbrev = NULL;
    return true;
}

/* Go to the next DIE. False: that was the last one, or the rest cannot be read. */
static bool walk_next(struct walk *walk, enum step step, uint32_t scope)
{
    Dwarf_Die next;
    memset(&next, 0, sizeof(next));
    if (step == STEP_INTO && dwarf_child(&walk->die, &next) == 0)
        return walk_enter(walk, &next, scope);
    if (!walk->depth)
        return false;
    int result = dwarf_siblingof(&walk->die, &next);
    if (result == 1)
        return walk_leave(walk, next.addr);
    if (result != 0)
        return false;
    if ((uintptr_t)next.addr <= (uintptr_t)walk->die.addr)
        return false; /* a sibling that lies before its elder would be a circle */
    walk->die = next;
    return true;
}

/* `left` counts down the ranges that may still be looked at. */
static bool each_range(Dwarf_Die *die, const struct code *code, scope_range_fn *each,
                       void *arg, size_t *left)
{
    Dwarf_Addr base, start, end;
    ptrdiff_t offset = 0;
    for (; *left > 0; --*left) {
        offset = dwarf_ranges(die, offset, &base, &start, &end);
        if (offset <= 0)
            return true;
        if (start < end && code_holds(code, start) && !each(arg, start, end))
            return false;
    }
    return false;
}

bool scopes_ranges(Dwarf_Die *die, const struct code *code, scope_range_fn *each,
                   void *arg)
{
    size_t left = RANGES_PER_DIE;
    return each_range(die, code, each, arg, &left);
}

static bool add_range(void *arg, uint64_t start, uint64_t end)
{
    const struct range_arg *range = arg;
    /* Numbers grow along the walk, so that the inner scope has the higher rank. */
    return spans_add(&range->scopes->spans, start, end, range->index, range->index);
}

/* Put the DIE under the walk into the table. SCOPE_NONE: no room. */
static uint32_t add_scope(struct scopes *scopes, Dwarf_Die *die, uint32_t parent,
                          const struct code *code)
{
    if (scopes->count == scopes->capacity) {
        size_t capacity = scopes->capacity ? scopes->capacity * 2 : 64;
        struct scope *grown = NULL;
        if (capacity <= SCOPES_MAX)
            grown = realloc(scopes->at, capacity * sizeof(*grown));
        if (!grown)
            return SCOPE_NONE;
        scopes->at = grown;
        scopes->capacity = capacity;
    }
    struct range_arg range = { scopes, (uint32_t)scopes->count };
    scopes->at[scopes->count++] = (struct scope){ die->addr, parent };
    each_range(die, code, add_range, &range, &scopes->ranges_left);
    return range.index;
}

/* Whether functions or inlined calls may lie below a DIE of this kind. */
static bool may_hold_scopes(int tag)
{
    switch (tag) {
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_with_stmt:
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type:
        return true;
    default:
        return false;
    }
}

static enum trail_status walk_all(struct walk *walk, const struct code *code,
                                  const struct trail_call *call, struct scopes *scopes)
{
    enum step step = STEP_INTO;
    uint32_t scope = SCOPE_NONE;
    for (uint32_t seen = 1; walk_next(walk, step, scope); seen++) {
        if (seen % PACE_EVERY == 0 && pace_is_over(call))
            return TRAIL_CANCELLED;
        int tag = dwarf_tag(&walk->die);
        scope = walk->around[walk->depth - 1];
        step = may_hold_scopes(tag) ? STEP_INTO : STEP_OVER;
        if (tag != DW_TAG_subprogram && tag != DW_TAG_inlined_subroutine)
            continue;
        uint32_t parent = tag == DW_TAG_subprogram ? SCOPE_NONE : scope;
        scope = add_scope(scopes, &walk->die, parent, code);
        step = STEP_INTO;
        if (scope == SCOPE_NONE)
            return TRAIL_NO_MEMORY;
    }
    return TRAIL_OK;
}

enum trail_status scopes_build(Dwarf_Die *unit_die, const struct code *code,
                               const struct trail_call *call, struct scopes *scopes)
{
    struct text_bounds bounds = { 0 };
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit_die->cu));
    *scopes = (struct scopes){ .cu = unit_die->cu, .ranges_left = RANGES_MAX };
    if (!text_bounds_of(elf, unit_die->addr, &bounds))
        return TRAIL_OK;
    struct walk walk = { .die = *unit_die, .end = bounds.end };
    enum trail_status status = walk_all(&walk, code, call, scopes);
    free(walk.around);
    if (!status && !spans_flatten(&scopes->spans))
        status = TRAIL_NO_MEMORY;
    if (status)
        scopes_deinit(scopes);
    return status;
}

void scopes_deinit(struct scopes *scopes)
{
    free(scopes->at);
    spans_deinit(&scopes->spans);
    *scopes = (struct scopes){ 0 };
}

uint32_t scopes_find(const struct scopes *scopes, uint64_t address)
{
    const struct span *span = spans_find(&scopes->spans, address);
    return span ? span->value : SCOPE_NONE;
}

Dwarf_Die scopes_die(const struct scopes *scopes, uint32_t index)
{
    Dwarf_Die die;
    memset(&die, 0, sizeof(die));
    die.addr = scopes->at[index].die;
    die.cu = scopes->cu;
    return die;
}
