/* abbrevs.c -- abbreviations, compiled. */
#include "abbrevs.h"

#include "constants.h"

#define CODE_MAX (UINT64_C(1) << 20) /* of an abbreviation; producers count from 1 */

/* Of forms that are as large in every unit; 0x00 and 0x02 are not given out. */
static const int8_t fixed_sizes[] = {
    [DW_FORM_block2] = FORM_BLOCK2,
    [DW_FORM_block4] = FORM_BLOCK4,
    [DW_FORM_data2] = 2,
    [DW_FORM_data4] = 4,
    [DW_FORM_data8] = 8,
    [DW_FORM_string] = FORM_STRING,
    [DW_FORM_block] = FORM_BLOCK,
    [DW_FORM_block1] = FORM_BLOCK1,
    [DW_FORM_data1] = 1,
    [DW_FORM_flag] = 1,
    [DW_FORM_sdata] = FORM_LEB,
    [DW_FORM_udata] = FORM_LEB,
    [DW_FORM_ref1] = 1,
    [DW_FORM_ref2] = 2,
    [DW_FORM_ref4] = 4,
    [DW_FORM_ref8] = 8,
    [DW_FORM_ref_udata] = FORM_LEB,
    [DW_FORM_indirect] = FORM_INDIRECT,
    [DW_FORM_exprloc] = FORM_BLOCK,
    [DW_FORM_flag_present] = 0,
    [DW_FORM_strx] = FORM_LEB,
    [DW_FORM_addrx] = FORM_LEB,
    [DW_FORM_ref_sup4] = 4,
    [DW_FORM_data16] = 16,
    [DW_FORM_ref_sig8] = 8,
    [DW_FORM_implicit_const] = 0,
    [DW_FORM_loclistx] = FORM_LEB,
    [DW_FORM_rnglistx] = FORM_LEB,
    [DW_FORM_ref_sup8] = 8,
    [DW_FORM_strx1] = 1,
    [DW_FORM_strx2] = 2,
    [DW_FORM_strx3] = 3,
    [DW_FORM_strx4] = 4,
    [DW_FORM_addrx1] = 1,
    [DW_FORM_addrx2] = 2,
    [DW_FORM_addrx3] = 3,
    [DW_FORM_addrx4] = 4,
};

int form_size(uint64_t form, struct form_sizes sizes)
{
    switch (form) {
    case DW_FORM_addr:
        return sizes.address;
    case DW_FORM_ref_addr:
        return sizes.version < 3 ? sizes.address : sizes.offset;
    case DW_FORM_strp:
    case DW_FORM_line_strp:
    case DW_FORM_sec_offset:
    case DW_FORM_strp_sup:
    case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt:
        return sizes.offset;
    case DW_FORM_GNU_addr_index:
    case DW_FORM_GNU_str_index:
        return FORM_LEB;
    case 0x00:
    case 0x02:
        return FORM_UNKNOWN;
    default:
        return form < sizeof(fixed_sizes) ? fixed_sizes[form] : FORM_UNKNOWN;
    }
}

static uint8_t slot_of(uint64_t attribute, bool is_call)
{
    switch (attribute) {
    case DW_AT_name:
        return SLOT_NAME;
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
        return SLOT_LINKAGE;
    case DW_AT_low_pc: /* gcc 4 to 10: the return address of a call */
        return is_call ? SLOT_RETURN_PC : SLOT_LOW_PC;
    case DW_AT_high_pc:
        return SLOT_HIGH_PC;
    case DW_AT_ranges:
        return SLOT_RANGES;
    case DW_AT_abstract_origin:
        return is_call ? SLOT_TARGET : SLOT_ORIGIN;
    case DW_AT_specification:
        return SLOT_SPECIFICATION;
    case DW_AT_call_file:
        return SLOT_CALL_FILE;
    case DW_AT_call_line:
        return SLOT_CALL_LINE;
    case DW_AT_call_column:
        return SLOT_CALL_COLUMN;
    case DW_AT_stmt_list:
        return SLOT_LINES;
    case DW_AT_comp_dir:
        return SLOT_DIRECTORY;
    case DW_AT_language:
        return SLOT_LANGUAGE;
    case DW_AT_str_offsets_base:
        return SLOT_STR_BASE;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        return SLOT_ADDR_BASE;
    case DW_AT_rnglists_base:
        return SLOT_RNGLISTS_BASE;
    case DW_AT_GNU_ranges_base:
        return SLOT_GNU_RANGES_BASE;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        return SLOT_DWO_NAME;
    case DW_AT_GNU_dwo_id:
        return SLOT_DWO_ID;
    case DW_AT_call_return_pc:
        return SLOT_RETURN_PC;
    case DW_AT_call_pc:
        return SLOT_CALL_PC;
    case DW_AT_call_origin:
        return SLOT_TARGET;
    case DW_AT_call_tail_call:
    case DW_AT_GNU_tail_call:
        return SLOT_TAIL;
    default:
        return SLOT_NONE;
    }
}

static uint8_t class_of(uint64_t tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
        return DIE_FUNCTION;
    case DW_TAG_inlined_subroutine:
        return DIE_INLINED;
    case DW_TAG_call_site:
    case DW_TAG_GNU_call_site:
        return DIE_CALL;
    case DW_TAG_namespace:
    case DW_TAG_module:
        return DIE_SCOPE;
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type:
    case DW_TAG_interface_type:
    case DW_TAG_enumeration_type: /* Rust: an enum has methods */
        return DIE_TYPE;
    case DW_TAG_array_type:
    case DW_TAG_formal_parameter:
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_subroutine_type:
    case DW_TAG_variable:
    case DW_TAG_GNU_template_parameter_pack:
    case DW_TAG_GNU_formal_parameter_pack:
        return DIE_SKIP;
    default:
        return DIE_ENTER;
    }
}

/* Whether anything of such a DIE is ever looked at. */
static bool has_slots(uint64_t tag)
{
    uint8_t class = class_of(tag);
    return (class != DIE_ENTER && class != DIE_SKIP) || tag == DW_TAG_compile_unit ||
           tag == DW_TAG_partial_unit || tag == DW_TAG_skeleton_unit;
}

/* ---- compiling ------------------------------------------------------- */

/* One abbreviation in the making. */
struct making {
    struct abbrevs *abbrevs;
    struct abbrev abbrev;
    bool has_slots, is_call;
    bool is_fixed;    /* so far */
    int sum;          /* bytes so far, while it is fixed */
    int run;          /* of these, not in `ops` yet */
    bool is_too_much; /* more than can be counted */
    bool is_no_memory;
};

static void add_op(struct making *making, int op)
{
    struct abbrevs *abbrevs = making->abbrevs;
    if (!vector_room(&abbrevs->ops, 1))
        making->is_no_memory = true;
    else
        abbrevs->ops.at[abbrevs->ops.count++] = (int16_t)op;
}

static void end_run(struct making *making)
{
    for (; making->run > 0; making->run -= INT16_MAX)
        add_op(making, making->run > INT16_MAX ? INT16_MAX : making->run);
    making->run = 0;
}

static void add_spec(struct making *making, uint8_t slot, uint64_t form, int size,
                     int64_t implicit)
{
    struct abbrevs *abbrevs = making->abbrevs;
    bool is_plain = slot == SLOT_NONE && size >= 0;
    struct attribute_spec *last =
        making->abbrev.spec_count ? &abbrevs->specs.at[abbrevs->specs.count - 1] : NULL;
    if (is_plain && last && last->form == FORM_PLAIN &&
        last->size <= INT16_MAX - size) {
        last->size = (int16_t)(last->size + size);
        return;
    }
    if (making->abbrev.spec_count == UINT8_MAX) {
        making->is_too_much = true;
        return;
    }
    if (!vector_room(&abbrevs->specs, 1)) {
        making->is_no_memory = true;
        return;
    }
    abbrevs->specs.at[abbrevs->specs.count++] = (struct attribute_spec){
        .form = is_plain ? (uint16_t)FORM_PLAIN : (uint16_t)form,
        .slot = slot,
        .size = (int16_t)size,
        .implicit = implicit,
    };
    making->abbrev.spec_count++;
}

static void add_attribute(struct making *making, uint64_t attribute, uint64_t form,
                          int64_t implicit)
{
    struct abbrev *abbrev = &making->abbrev;
    int size = form_size(form, making->abbrevs->sizes);
    if (size == FORM_UNKNOWN) {
        making->is_too_much = true;
        return;
    }
    uint8_t slot =
        making->has_slots ? slot_of(attribute, making->is_call) : (uint8_t)SLOT_NONE;
    if (slot == SLOT_LOW_PC || slot == SLOT_RANGES)
        abbrev->has_code = 1;
    if (attribute == DW_AT_sibling && form == DW_FORM_ref4 && making->is_fixed &&
        making->sum <= INT16_MAX)
        abbrev->sibling_offset = (int16_t)making->sum;
    if (making->has_slots)
        add_spec(making, slot, form, size, implicit);
    if (size >= 0) {
        making->sum += size;
        making->run += size;
    } else {
        making->is_fixed = false;
        end_run(making);
        add_op(making, size);
    }
}

/* Read the pairs of one abbreviation. False: they do not end. */
static bool read_pairs(struct making *making, const uint8_t **at, const uint8_t *end)
{
    while (*at < end) {
        uint64_t attribute = bytes_uleb(at, end), form = bytes_uleb(at, end);
        if (!attribute && !form)
            return true;
        int64_t implicit = form == DW_FORM_implicit_const ? bytes_sleb(at, end) : 0;
        if (!making->is_too_much && making->sum < INT32_MAX / 2)
            add_attribute(making, attribute, form, implicit);
    }
    return false;
}

static void skip_pairs(const uint8_t **at, const uint8_t *end)
{
    while (*at < end) {
        uint64_t attribute = bytes_uleb(at, end), form = bytes_uleb(at, end);
        if (!attribute && !form)
            return;
        if (form == DW_FORM_implicit_const)
            *at = bytes_skip_leb(*at, end);
    }
}

static bool make(struct abbrevs *abbrevs, uint64_t code, uint64_t tag,
                 const uint8_t **at, const uint8_t *end)
{
    struct making making = {
        .abbrevs = abbrevs,
        .abbrev = { .class = class_of(tag),
                    .has_children = (uint8_t)(*(*at)++ & 1) == 1,
                    .sibling_offset = -1,
                    .op = abbrevs->ops.count,
                    .spec = abbrevs->specs.count },
        .has_slots = has_slots(tag),
        .is_call = class_of(tag) == DIE_CALL,
        .is_fixed = true,
    };
    bool ends = read_pairs(&making, at, end);
    end_run(&making);
    uint32_t op_count = abbrevs->ops.count - making.abbrev.op;
    if (!ends || making.is_too_much || op_count > UINT8_MAX)
        making.abbrev.class = DIE_BAD;
    making.abbrev.op_count = (uint8_t)op_count;
    making.abbrev.fixed_size =
        making.is_fixed && making.sum <= INT16_MAX ? (int16_t)making.sum : -1;

    uint32_t count = abbrevs->by_code.count;
    if (code >= count) {
        uint32_t more = (uint32_t)code + 1 - count;
        if (!vector_room(&abbrevs->by_code, more))
            return false;
        memset(abbrevs->by_code.at + count, 0, more * sizeof(struct abbrev));
        abbrevs->by_code.count += more;
    }
    abbrevs->by_code.at[code] = making.abbrev;
    return !making.is_no_memory;
}

size_t abbrevs_compile(struct abbrevs *abbrevs, struct dwarf_bytes section,
                       uint64_t offset, struct form_sizes sizes, uint64_t only)
{
    const uint8_t *end = section.at + section.size;
    const uint8_t *start = offset < section.size ? section.at + offset : end;
    const uint8_t *at = start;
    abbrevs->section = section.at;
    abbrevs->offset = UINT64_MAX;
    abbrevs->sizes = sizes;
    abbrevs->by_code.count = abbrevs->ops.count = abbrevs->specs.count = 0;
    /* So that an entry without any points somewhere, too. */
    if (!vector_room(&abbrevs->ops, 1) || !vector_room(&abbrevs->specs, 1))
        return 0;
    while (at < end) {
        uint64_t code = bytes_uleb(&at, end), tag = bytes_uleb(&at, end);
        /* An entry takes a byte at least, so no code is higher than that. */
        if (!code || code >= CODE_MAX || code > section.size || at >= end)
            break;
        if (only && code != only) {
            at++;
            skip_pairs(&at, end);
            continue;
        }
        if (!make(abbrevs, code, tag, &at, end))
            return 0;
        if (only)
            break;
    }
    abbrevs->offset = offset;
    return bytes_left(start, at) + 1;
}

void abbrevs_deinit(struct abbrevs *abbrevs)
{
    vector_free(&abbrevs->by_code);
    vector_free(&abbrevs->ops);
    vector_free(&abbrevs->specs);
}
