/* units.c -- the map of addresses to units; a unit is read when it is first asked for.
 */
#include "units.h"

#include <dwarf.h>
#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "plugins/elf/code.h"
#include "plugins/elf/pace.h"
#include "text.h"

#define UNITS_MAX ((size_t)1 << 20)

#define PACE_EVERY 64u /* units */

struct range_arg {
    struct units *units;
    size_t index;
};

static bool add_range(void *arg, uint64_t start, uint64_t end)
{
    const struct range_arg *range = arg;
    uint32_t index = (uint32_t)range->index;
    range->units->at[index].is_ranged = true;
    /* Where units overlap the first one has the address. */
    return spans_add(&range->units->spans, start, end, index, UINT32_MAX - index);
}

static struct unit *append(struct units *units, const Dwarf_Die *die)
{
    if (units->count == units->capacity) {
        size_t capacity = units->capacity ? units->capacity * 2 : 64;
        struct unit *grown = NULL;
        if (capacity <= UNITS_MAX)
            grown = realloc(units->at, capacity * sizeof(*grown));
        if (!grown)
            return NULL;
        units->at = grown;
        units->capacity = capacity;
    }
    struct unit *unit = &units->at[units->count++];
    *unit = (struct unit){ .die = *die };
    return unit;
}

static enum trail_status add_unit(struct units *units, Dwarf_Die *die,
                                  const struct code *code)
{
    struct unit *unit = append(units, die);
    if (!unit)
        return TRAIL_NO_MEMORY;
    struct range_arg range = { units, units->count - 1 };
    scopes_ranges(die, code, add_range, &range);
    /* One that names ranges of which none is alive need not be searched for more. */
    unit->is_ranged = unit->is_ranged || dwarf_hasattr(die, DW_AT_ranges) ||
                      dwarf_hasattr(die, DW_AT_high_pc);
    return TRAIL_OK;
}

enum trail_status units_list(Dwarf *dwarf, const struct code *code,
                             const struct trail_call *call, struct units *units)
{
    enum trail_status status = TRAIL_OK;
    Dwarf_CU *cu = NULL;
    Dwarf_Die die;
    uint8_t type;

    *units = (struct units){ 0 };
    for (uint32_t seen = 1;
         !status && dwarf_get_units(dwarf, cu, &cu, NULL, &type, &die, NULL) == 0;
         seen++) {
        if (seen % PACE_EVERY == 0 && pace_is_over(call))
            status = TRAIL_CANCELLED;
        else if (type == DW_UT_compile || type == DW_UT_skeleton)
            status = add_unit(units, &die, code);
    }
    if (!status && !spans_flatten(&units->spans))
        status = TRAIL_NO_MEMORY;
    if (status)
        units_deinit(units);
    return status;
}

void units_deinit(struct units *units)
{
    for (size_t i = 0; i < units->count; i++) {
        scopes_deinit(&units->at[i].scopes);
        lines_deinit(&units->at[i].lines);
    }
    free(units->at);
    spans_deinit(&units->spans);
    *units = (struct units){ 0 };
}

/* The unit's own DIE; for a split one that in the .dwo file, if libdw finds it. */
static Dwarf_Die whole_unit(struct unit *unit)
{
    uint8_t type = 0;
    Dwarf_Die split;
    if (dwarf_cu_info(unit->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL))
        return unit->die;
    if (type != DW_UT_skeleton)
        return unit->die;
    unit->is_incomplete = dwarf_tag(&split) != DW_TAG_compile_unit;
    return unit->is_incomplete ? unit->die : split;
}

/* A split unit has its name, and its skeleton the directory. */
static void set_names(struct unit *unit, Dwarf_Die *whole)
{
    struct text_bounds bounds = { 0 };
    struct trail_text name = text_attribute(whole, DW_AT_name, &bounds);
    unit->directory = text_attribute(whole, DW_AT_comp_dir, &bounds);
    if (!unit->directory.size)
        unit->directory = text_attribute(&unit->die, DW_AT_comp_dir, &bounds);
    unit->lines.directory = unit->directory;
    unit->lines.is_relative = name.size && name.data[0] != '/';
}

static enum trail_status read_unit(struct unit *unit, const struct code *code,
                                   const struct trail_call *call)
{
    if (unit->is_read)
        return TRAIL_OK;
    Dwarf_Die whole = whole_unit(unit);
    enum trail_status status = scopes_build(&whole, code, call, &unit->scopes);
    if (status)
        return status;
    if (!lines_read(&unit->die, code, &unit->lines)) {
        scopes_deinit(&unit->scopes);
        return TRAIL_NO_MEMORY;
    }
    set_names(unit, &whole);
    unit->is_read = true;
    return TRAIL_OK;
}

/* Units that do not say which addresses they have get those of their functions. */
static enum trail_status search_unranged(struct units *units, const struct code *code,
                                         const struct trail_call *call)
{
    for (size_t i = 0; i < units->count; i++) {
        struct unit *unit = &units->at[i];
        if (unit->is_ranged)
            continue;
        enum trail_status status = read_unit(unit, code, call);
        if (status)
            return status;
        struct range_arg range = { units, i };
        for (size_t k = 0; k < unit->scopes.spans.count; k++) {
            const struct span *span = &unit->scopes.spans.at[k];
            if (!add_range(&range, span->start, span->end))
                return TRAIL_NO_MEMORY;
        }
    }
    units->are_all_searched = true;
    return spans_flatten(&units->spans) ? TRAIL_OK : TRAIL_NO_MEMORY;
}

enum trail_status units_find(struct units *units, const struct code *code,
                             const struct trail_call *call, uint64_t address,
                             struct unit **unit_ret)
{
    const struct span *span = spans_find(&units->spans, address);
    if (!span && !units->are_all_searched) {
        enum trail_status status = search_unranged(units, code, call);
        if (status)
            return status;
        span = spans_find(&units->spans, address);
    }
    *unit_ret = NULL;
    if (!span)
        return TRAIL_OK;
    enum trail_status status = read_unit(&units->at[span->value], code, call);
    if (!status)
        *unit_ret = &units->at[span->value];
    return status;
}
