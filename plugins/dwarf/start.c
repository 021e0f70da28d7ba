/* start.c -- takes a unit in hand. */
#include "start.h"

#include "split.h"

/* Compile the abbreviations of the unit in hand, unless the table is the last one. */
static bool take_abbrevs(struct worker *worker)
{
    struct unit_context *context = &worker->unit;
    struct abbrevs *abbrevs = &worker->abbrevs;
    struct dwarf_bytes section = context->sections[DWARF_ABBREV];
    const struct unit *unit = &context->unit;
    context->abbrevs = abbrevs;
    if (abbrevs->section == section.at && abbrevs->offset == unit->abbrevs &&
        memcmp(&abbrevs->sizes, &unit->sizes, sizeof(unit->sizes)) == 0)
        return true;
    if (unit->abbrevs >= section.size) { /* of a part of a package */
        abbrevs->by_code.count = 0;
        abbrevs->offset = UINT64_MAX;
        return true;
    }
    size_t read = abbrevs_compile(abbrevs, section, unit->abbrevs, unit->sizes, 0);
    if (!read)
        return worker_no_memory(worker);
    return worker_spend(worker, read);
}

/* Go over to the other half; what the skeleton's root DIE says goes on to hold. */
static void take_half(struct unit_context *context, const struct split_half *half)
{
    struct unit_context skeleton = *context;
    unit_context_init(context, half->set, NULL, &half->unit);
    context->is_split = true;
    context->low_pc = skeleton.low_pc;
    context->addr_base = skeleton.addr_base;
    context->gnu_ranges_base = skeleton.gnu_ranges_base;
    context->lines = skeleton.lines;
    context->has_lines = skeleton.has_lines;
    context->directory = skeleton.directory;
    static const enum dwarf_section of_skeleton[] = { DWARF_LINE, DWARF_LINE_STR,
                                                      DWARF_RANGES, DWARF_ADDR };
    for (size_t i = 0; i < sizeof(of_skeleton) / sizeof(*of_skeleton); i++) {
        enum dwarf_section section = of_skeleton[i];
        context->sections[section] = skeleton.sections[section];
        context->texts[section] = skeleton.texts[section];
    }
    context->sections[DWARF_ABBREV] = half->abbrevs;
    context->sections[DWARF_STR_OFFSETS] = half->str_offsets;
    context->sections[DWARF_RNGLISTS] = half->rnglists;
}

/* The root of a split unit must not undo what its skeleton says. */
static const uint8_t *read_split_root(struct unit_context *context)
{
    struct attributes root;
    uint64_t lines = context->lines, low_pc = context->low_pc;
    uint32_t directory = context->directory;
    bool has_lines = context->has_lines;
    const uint8_t *first = unit_read_root(context, &root);
    context->lines = lines;
    context->has_lines = has_lines;
    context->low_pc = low_pc;
    if (directory)
        context->directory = directory;
    return first;
}

/* Whoever takes a unit in hand reads it to its end. */
static void tell_of_unit(const struct unit_context *context)
{
    const struct unit *unit = &context->unit;
    set_will_read(context->set, context->sections[DWARF_INFO].at + unit->offset,
                  (size_t)(unit->end - unit->offset));
}

/* Go over to the other half of a split unit, if there is one. */
static bool start_half(struct worker *worker, const struct attributes *root,
                       const uint8_t **first_ret)
{
    struct unit_context *context = &worker->unit;
    if (worker->unit_index == NO_UNIT) {
        const struct unit *unit;
        if (!set_list_units(&worker->image->main))
            return worker_no_memory(worker);
        unit = set_unit_of(&worker->image->main, context->unit.offset);
        worker->unit_index = (uint32_t)(unit - worker->image->main.units.at);
    }
    const struct split_half *half = split_find(worker, worker->unit_index, root);
    if (!half)
        return false;
    if (half->state != SPLIT_FOUND)
        return true;
    take_half(context, half);
    tell_of_unit(context);
    if (!take_abbrevs(worker))
        return false;
    *first_ret = read_split_root(context);
    return true;
}

static bool start(struct worker *worker, const struct unit *unit, uint32_t index,
                  const uint8_t **first_ret)
{
    struct dwarf *image = worker->image;
    struct attributes root;
    const struct dwarf_set *alt =
        image->alt.file.sections[DWARF_INFO].size ? &image->alt : NULL;
    worker->unit_index = index;
    unit_context_init(&worker->unit, &image->main, alt, unit);
    tell_of_unit(&worker->unit);
    if (!take_abbrevs(worker))
        return false;
    *first_ret = unit_read_root(&worker->unit, &root);
    if (*first_ret || !split_may_be(unit) || !has_slot(&root, SLOT_DWO_NAME))
        return true;
    return start_half(worker, &root, first_ret);
}

bool start_unit(struct worker *worker, uint32_t index, const uint8_t **first_ret)
{
    return start(worker, &worker->image->main.units.at[index], index, first_ret);
}

bool start_unit_alone(struct worker *worker, const struct unit *unit,
                      const uint8_t **first_ret)
{
    return start(worker, unit, NO_UNIT, first_ret);
}

bool start_is_incomplete(const struct worker *worker)
{
    const struct split_half *halves = worker->image->halves;
    return halves && worker->unit_index != NO_UNIT &&
           halves[worker->unit_index].state == SPLIT_MISSING;
}
