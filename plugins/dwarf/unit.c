/* unit.c -- unit headers, and the forms of attributes. */
#include "unit.h"

#include "constants.h"

#define FAR_APART (64u << 10) /* bytes of a unit that has pages of its own */
#define ROOT_SIZE 512u        /* bytes in which a header and a root DIE mostly end */

/* What a header holds behind its length. */
static bool read_fields(const uint8_t *at, const uint8_t *end, bool is_big,
                        struct unit *unit)
{
    struct form_sizes *sizes = &unit->sizes;
    uint16_t version = bytes_u16(at, is_big);
    at += 2;
    sizes->version = version <= 5 ? (uint8_t)version : 0;
    unit->type = DW_UT_compile;
    unit->dwo_id = 0;
    if (version < 5) {
        unit->abbrevs = bytes_number(at, sizes->offset, is_big);
        at += sizes->offset;
        sizes->address = *at++;
    } else {
        unit->type = at[0];
        sizes->address = at[1];
        unit->abbrevs = bytes_number(at + 2, sizes->offset, is_big);
        at += 2 + sizes->offset;
        size_t more = 0;
        if (unit->type == DW_UT_skeleton || unit->type == DW_UT_split_compile)
            more = 8;
        else if (unit->type == DW_UT_type || unit->type == DW_UT_split_type)
            more = 8u + sizes->offset;
        if (more > bytes_left(at, end))
            return false;
        if (more == 8)
            unit->dwo_id = bytes_u64(at, is_big);
        at += more;
    }
    unit->die = unit->end - bytes_left(at, end);
    return sizes->version >= 2 && (sizes->address == 8 || sizes->address == 4);
}

enum unit_state unit_read_header(const struct dwarf_set *set, uint64_t offset,
                                 struct unit *unit_ret)
{
    const struct dwarf_bytes info = set->file.sections[DWARF_INFO];
    if (offset >= info.size || info.size - offset < 12)
        return UNIT_END;
    const uint8_t *at = info.at + offset, *end = info.at + info.size;
    bool is_big = set->is_big_endian;
    struct unit unit = { .offset = offset, .sizes.offset = 4 };
    uint64_t length = bytes_u32(at, is_big);
    at += 4;
    if (length == UINT32_MAX) {
        length = bytes_u64(at, is_big);
        at += 8;
        unit.sizes.offset = 8;
    }
    if (length > bytes_left(at, end) || length < 7u + unit.sizes.offset)
        return UNIT_END;
    end = at + length;
    unit.end = (uint64_t)(end - info.at);
    bool is_readable = read_fields(at, end, is_big, &unit) &&
                       unit.abbrevs < set->file.sections[DWARF_ABBREV].size;
    *unit_ret = unit;
    return is_readable ? UNIT_READABLE : UNIT_UNREADABLE;
}

enum unit_state unit_read_next(const struct dwarf_set *set, struct unit *unit)
{
    const struct dwarf_bytes info = set->file.sections[DWARF_INFO];
    uint64_t offset = unit->end;
    if (offset - unit->offset >= FAR_APART && offset < info.size) {
        uint64_t left = info.size - offset;
        set_will_read(set, info.at + offset,
                      left < ROOT_SIZE ? (size_t)left : ROOT_SIZE);
    }
    return unit_read_header(set, offset, unit);
}

bool set_list_units(struct dwarf_set *set)
{
    struct unit unit = { .offset = 0, .end = 0 };
    enum unit_state state;
    if (set->are_units_listed)
        return true;
    set->units.count = 0;
    while ((state = unit_read_next(set, &unit)) != UNIT_END) {
        if (state != UNIT_READABLE)
            continue;
        if (!vector_room(&set->units, 1))
            return false;
        set->units.at[set->units.count++] = unit;
    }
    set->are_units_listed = true;
    return true;
}

const struct unit *set_unit_of(const struct dwarf_set *set, uint64_t offset)
{
    uint32_t low = 0, high = set->units.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (set->units.at[middle].end <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set->units.count && set->units.at[low].offset <= offset
               ? &set->units.at[low]
               : NULL;
}

/* ---- the root DIE ---------------------------------------------------- */

void unit_context_init(struct unit_context *context, const struct dwarf_set *set,
                       const struct dwarf_set *alt, const struct unit *unit)
{
    *context = (struct unit_context){
        .set = set, .alt = alt, .unit = *unit, .is_big_endian = set->is_big_endian
    };
    memcpy(context->sections, set->file.sections, sizeof(context->sections));
    memcpy(context->texts, set->texts, sizeof(context->texts));
    if (unit->sizes.version >= 5) { /* behind the header of the first table */
        context->str_base = context->addr_base = unit->sizes.offset == 8 ? 16 : 8;
        context->rnglists_base = unit->sizes.offset == 8 ? 20 : 12;
    }
}

static void take_bases(struct unit_context *context, const struct attributes *root)
{
    const struct {
        enum attribute_slot slot;
        uint64_t *to;
    } bases[] = {
        { SLOT_STR_BASE, &context->str_base },
        { SLOT_ADDR_BASE, &context->addr_base },
        { SLOT_RNGLISTS_BASE, &context->rnglists_base },
        { SLOT_GNU_RANGES_BASE, &context->gnu_ranges_base },
        { SLOT_LINES, &context->lines },
    };
    for (size_t i = 0; i < sizeof(bases) / sizeof(*bases); i++)
        if (has_slot(root, bases[i].slot))
            *bases[i].to = root->value[bases[i].slot];
    context->has_lines |= has_slot(root, SLOT_LINES);
}

const uint8_t *unit_read_root(struct unit_context *context,
                              struct attributes *attributes)
{
    const uint8_t *info = context->sections[DWARF_INFO].at;
    const uint8_t *at = info + context->unit.die, *end = info + context->unit.end;
    uint64_t code = bytes_uleb(&at, end);
    const struct abbrev *abbrev = abbrevs_find(context->abbrevs, code);
    attributes->have = 0;
    if (!code || !abbrev || abbrev->class == DIE_BAD)
        return NULL;
    at = die_read(context, abbrev, at, end, attributes);
    if (!at) {
        attributes->have = 0;
        return NULL;
    }
    take_bases(context, attributes); /* before what is found by them */
    if (has_slot(attributes, SLOT_LOW_PC))
        context->low_pc = value_address(context, attributes->form[SLOT_LOW_PC],
                                        attributes->value[SLOT_LOW_PC]);
    if (has_slot(attributes, SLOT_NAME))
        context->name = value_text(context, attributes->form[SLOT_NAME],
                                   attributes->value[SLOT_NAME]);
    if (has_slot(attributes, SLOT_DIRECTORY))
        context->directory = value_text(context, attributes->form[SLOT_DIRECTORY],
                                        attributes->value[SLOT_DIRECTORY]);
    return abbrev->has_children ? at : NULL;
}

/* ---- DIEs ------------------------------------------------------------ */

const uint8_t *form_skip(const uint8_t *at, const uint8_t *end, int size,
                         struct form_sizes sizes, bool is_big_endian)
{
    unsigned length_size = 0;
    uint64_t length = 0;
    if (size == FORM_INDIRECT)
        size = form_size(bytes_uleb(&at, end), sizes);
    switch (size) {
    case FORM_LEB:
        return bytes_skip_leb(at, end);
    case FORM_STRING:
        return bytes_skip_string(at, end);
    case FORM_BLOCK:
        length = bytes_uleb(&at, end);
        break;
    case FORM_BLOCK1:
    case FORM_BLOCK2:
    case FORM_BLOCK4:
        length_size = size == FORM_BLOCK1 ? 1 : size == FORM_BLOCK2 ? 2 : 4;
        if (bytes_left(at, end) < length_size)
            return NULL;
        length = bytes_number(at, length_size, is_big_endian);
        at += length_size;
        break;
    default:
        if (size < 0) /* unknown, or indirect once more */
            return NULL;
        length = (uint64_t)size;
    }
    return length <= bytes_left(at, end) ? at + length : NULL;
}

/* Read one value; NULL: it is cut short. Blocks read as 0. */
static const uint8_t *read_value(const struct unit_context *context, uint64_t form,
                                 int size, const uint8_t *at, const uint8_t *end,
                                 uint64_t *value_ret)
{
    *value_ret = 0;
    if (size > 0 && size <= 8) {
        if (UNLIKELY((size_t)size > bytes_left(at, end)))
            return NULL;
        *value_ret = bytes_number(at, (unsigned)size, context->is_big_endian);
        return at + size;
    }
    if (size == FORM_LEB) {
        *value_ret = form == DW_FORM_sdata ? (uint64_t)bytes_sleb(&at, end)
                                           : bytes_uleb(&at, end);
        return at;
    }
    if (size == 0) {
        *value_ret = 1; /* DW_FORM_flag_present */
        return at;
    }
    if (size == FORM_STRING)
        *value_ret = (uint64_t)(at - context->sections[DWARF_INFO].at);
    return form_skip(at, end, size, context->unit.sizes, context->is_big_endian);
}

const uint8_t *die_read(const struct unit_context *context, const struct abbrev *abbrev,
                        const uint8_t *at, const uint8_t *end,
                        struct attributes *attributes)
{
    const struct attribute_spec *spec = context->abbrevs->specs.at + abbrev->spec;
    attributes->have = 0;
    for (unsigned i = abbrev->spec_count; i; i--, spec++) {
        uint64_t form = spec->form, value;
        int size = spec->size;
        if (form == FORM_PLAIN) {
            if (UNLIKELY((size_t)size > bytes_left(at, end)))
                return NULL;
            at += size;
            continue;
        }
        if (UNLIKELY(size == FORM_INDIRECT)) {
            form = bytes_uleb(&at, end);
            size = form_size(form, context->unit.sizes);
        }
        at = read_value(context, form, size, at, end, &value);
        if (UNLIKELY(!at))
            return NULL;
        if (spec->slot == SLOT_NONE)
            continue;
        if (form == DW_FORM_implicit_const)
            value = (uint64_t)spec->implicit;
        attributes->value[spec->slot] = value;
        attributes->form[spec->slot] = (uint16_t)form;
        attributes->have |= 1u << spec->slot;
    }
    return at;
}

const uint8_t *die_skip_children(const struct unit_context *context, const uint8_t *at,
                                 const uint8_t *end)
{
    for (unsigned depth = 1; at < end;) {
        uint64_t code = bytes_uleb(&at, end);
        if (!code) {
            if (--depth == 0)
                return at;
            continue;
        }
        const struct abbrev *abbrev = abbrevs_find(context->abbrevs, code);
        if (UNLIKELY(!abbrev || abbrev->class == DIE_BAD))
            return NULL;
        const uint8_t *sibling =
            abbrev->has_children ? die_sibling(context, abbrev, at, end) : NULL;
        if (sibling) {
            at = sibling;
            continue;
        }
        at = die_skip(context, abbrev, at, end);
        if (!at)
            return NULL;
        depth += abbrev->has_children;
    }
    return NULL;
}

/* ---- values ---------------------------------------------------------- */

uint64_t section_element(const struct unit_context *context, enum dwarf_section section,
                         uint64_t base, uint64_t index, unsigned size)
{
    struct dwarf_bytes bytes = context->sections[section];
    if (base > bytes.size || index >= (bytes.size - base) / size)
        return UINT64_MAX;
    return bytes_number(bytes.at + base + index * size, size, context->is_big_endian);
}

uint64_t value_address(const struct unit_context *context, uint16_t form,
                       uint64_t value)
{
    if (form == DW_FORM_addr)
        return value;
    return section_element(context, DWARF_ADDR, context->addr_base, value,
                           context->unit.sizes.address);
}

uint32_t value_text(const struct unit_context *context, uint16_t form, uint64_t value)
{
    switch (form) {
    case DW_FORM_string:
        return texts_of_offset(&context->texts[DWARF_INFO], value);
    case DW_FORM_strp:
        return texts_of_offset(&context->texts[DWARF_STR], value);
    case DW_FORM_line_strp:
        return texts_of_offset(&context->texts[DWARF_LINE_STR], value);
    case DW_FORM_GNU_strp_alt:
    case DW_FORM_strp_sup:
        return context->alt ? texts_of_offset(&context->alt->texts[DWARF_STR], value)
                            : 0;
    case DW_FORM_strx:
    case DW_FORM_strx1:
    case DW_FORM_strx2:
    case DW_FORM_strx3:
    case DW_FORM_strx4:
    case DW_FORM_GNU_str_index:
        value = section_element(context, DWARF_STR_OFFSETS, context->str_base, value,
                                context->unit.sizes.offset);
        return texts_of_offset(&context->texts[DWARF_STR], value);
    default:
        return 0;
    }
}

uint64_t value_die(const struct unit_context *context, uint16_t form, uint64_t value)
{
    const struct unit *unit = &context->unit;
    if (form >= DW_FORM_ref1 && form <= DW_FORM_ref_udata)
        return value < unit->end - unit->offset
                   ? die_number(context->set->number, unit->offset + value)
                   : DIE_NONE;
    if (form == DW_FORM_ref_addr)
        return value < context->sections[DWARF_INFO].size
                   ? die_number(context->set->number, value)
                   : DIE_NONE;
    bool is_alt = form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 ||
                  form == DW_FORM_ref_sup8;
    if (is_alt && context->alt && value < context->alt->file.sections[DWARF_INFO].size)
        return die_number(context->alt->number, value);
    return DIE_NONE;
}
