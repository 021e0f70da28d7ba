/* ranges.c -- where the code of a DIE lies. */
#include "ranges.h"

#include "constants.h"

static bool add_range(struct worker *worker, uint64_t start, uint64_t end)
{
    const struct dwarf *image = worker->image;
    if (!dwarf_is_live(image, start, end))
        return true;
    if (!vector_room(&worker->ranges, 1))
        return worker_no_memory(worker);
    worker->ranges.at[worker->ranges.count++] =
        (struct relative_range){ (uint32_t)(start - image->low),
                                 (uint32_t)(end - image->low) };
    return true;
}

/* Linkers leave 0, 1, -1 or -2, as wide as an address, where they dropped what a base
 * address belonged to. Offsets on top of it may look alive. */
static bool is_tombstone(const struct unit_context *context, uint64_t base)
{
    uint64_t all_ones = context->unit.sizes.address == 8 ? UINT64_MAX : UINT32_MAX;
    return base < 2 || base >= all_ones - 1;
}

/* The same of a unit's DW_AT_low_pc, where 0 only means that there is no base. */
static bool is_dead_unit(const struct unit_context *context)
{
    return context->low_pc && is_tombstone(context, context->low_pc);
}

/* The address at `at`, as wide as the unit has them. */
static uint64_t address_at(const struct unit_context *context, const uint8_t *at)
{
    unsigned size = context->unit.sizes.address;
    return bytes_number(at, size, context->is_big_endian);
}

/* .debug_ranges, before DWARF 5. */
static bool read_old_list(struct worker *worker, const struct unit_context *context,
                          uint64_t offset)
{
    struct dwarf_bytes section = context->sections[DWARF_RANGES];
    unsigned size = context->unit.sizes.address;
    uint64_t all_ones = size == 8 ? UINT64_MAX : UINT32_MAX;
    uint64_t base = context->low_pc;
    bool is_dead = is_dead_unit(context);
    for (; offset <= section.size && section.size - offset >= 2 * size;
         offset += 2 * size) {
        uint64_t start = address_at(context, section.at + offset);
        uint64_t end = address_at(context, section.at + offset + size);
        if (!start && !end)
            return true;
        if (!worker_spend(worker, 16))
            return false;
        if (start == all_ones) {
            base = end;
            is_dead = is_tombstone(context, base);
        } else if (!is_dead && !add_range(worker, base + start, base + end)) {
            return false;
        }
    }
    return true;
}

/* One entry of .debug_rnglists in hand. */
struct list {
    const struct unit_context *context;
    const uint8_t *at, *end;
    uint64_t base;
    bool is_dead;
};

static uint64_t next_index(struct list *list)
{
    uint64_t index = bytes_uleb(&list->at, list->end);
    return section_element(list->context, DWARF_ADDR, list->context->addr_base, index,
                           list->context->unit.sizes.address);
}

static uint64_t next_address(struct list *list)
{
    unsigned size = list->context->unit.sizes.address;
    if (bytes_left(list->at, list->end) < size) {
        list->at = list->end;
        return UINT64_MAX;
    }
    list->at += size;
    return address_at(list->context, list->at - size);
}

static void set_base(struct list *list, uint64_t base)
{
    list->base = base;
    list->is_dead = is_tombstone(list->context, base);
}

/* Read the entry of `kind`: false if it is no range; an empty one if it is dropped. */
static bool next_range(struct list *list, unsigned kind, uint64_t *start_ret,
                       uint64_t *end_ret)
{
    uint64_t start = 0, end = 0;
    switch (kind) {
    case DW_RLE_base_addressx:
        set_base(list, next_index(list));
        return false;
    case DW_RLE_base_address:
        set_base(list, next_address(list));
        return false;
    case DW_RLE_startx_endx:
        start = next_index(list);
        end = next_index(list);
        break;
    case DW_RLE_startx_length:
        start = next_index(list);
        end = start + bytes_uleb(&list->at, list->end);
        break;
    case DW_RLE_offset_pair:
        start = list->base + bytes_uleb(&list->at, list->end);
        end = list->base + bytes_uleb(&list->at, list->end);
        if (list->is_dead)
            return false;
        break;
    case DW_RLE_start_end:
        start = next_address(list);
        end = next_address(list);
        break;
    default: /* DW_RLE_start_length */
        start = next_address(list);
        end = start + bytes_uleb(&list->at, list->end);
    }
    *start_ret = start;
    *end_ret = end;
    return true;
}

static bool read_list(struct worker *worker, const struct unit_context *context,
                      uint64_t offset)
{
    struct dwarf_bytes section = context->sections[DWARF_RNGLISTS];
    if (offset >= section.size)
        return true;
    struct list list = { context, section.at + offset, section.at + section.size,
                         context->low_pc, is_dead_unit(context) };
    while (list.at < list.end) {
        unsigned kind = *list.at++;
        uint64_t start, end;
        if (kind == DW_RLE_end_of_list || kind > DW_RLE_start_length)
            return true;
        if (!worker_spend(worker, 16))
            return false;
        if (next_range(&list, kind, &start, &end) && !add_range(worker, start, end))
            return false;
    }
    return true;
}

bool ranges_read(struct worker *worker, const struct unit_context *context,
                 const struct attributes *attributes)
{
    worker->ranges.count = 0;
    if (has_slot(attributes, SLOT_RANGES)) {
        uint64_t offset = attributes->value[SLOT_RANGES];
        if (context->unit.sizes.version < 5)
            return read_old_list(worker, context,
                                 offset + (context->is_split ? context->gnu_ranges_base
                                                             : 0));
        if (attributes->form[SLOT_RANGES] == DW_FORM_rnglistx) {
            uint64_t base = context->rnglists_base;
            uint64_t at = section_element(context, DWARF_RNGLISTS, base, offset,
                                          context->unit.sizes.offset);
            if (at == UINT64_MAX)
                return true;
            offset = base + at;
        }
        return read_list(worker, context, offset);
    }
    if (!has_slot(attributes, SLOT_LOW_PC) || !has_slot(attributes, SLOT_HIGH_PC))
        return true;
    uint64_t start = value_address(context, attributes->form[SLOT_LOW_PC],
                                   attributes->value[SLOT_LOW_PC]);
    uint16_t form = attributes->form[SLOT_HIGH_PC];
    uint64_t end = attributes->value[SLOT_HIGH_PC];
    end = is_address_form(form) ? value_address(context, form, end) : start + end;
    return add_range(worker, start, end);
}
