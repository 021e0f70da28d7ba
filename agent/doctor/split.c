/* split.c -- split debug information: which .dwo files the skeletons refer to.
 *
 * Sources: DWARF 5, 7.5 and 3.1.2; the GNU DebugFission page.
 */
#include "agent/doctor/doctor.h"

#include "core/trace/cfi_reader.h"

#define UNIT_LIMIT      ((size_t)1 << 20)
#define ATTRIBUTE_LIMIT 64u /* of a skeleton's only entry */

enum {
    DW_UT_skeleton = 4,
    DW_AT_comp_dir = 0x1b,
    DW_AT_dwo_name = 0x76,
    DW_AT_GNU_dwo_name = 0x2130,
    DW_AT_str_offsets_base = 0x72,
};

/* DW_FORM_*: those that the entry of a unit can have. */
enum {
    FORM_addr = 0x01,
    FORM_data2 = 0x05,
    FORM_data4 = 0x06,
    FORM_data8 = 0x07,
    FORM_string = 0x08,
    FORM_data1 = 0x0b,
    FORM_flag = 0x0c,
    FORM_sdata = 0x0d,
    FORM_strp = 0x0e,
    FORM_udata = 0x0f,
    FORM_sec_offset = 0x17,
    FORM_exprloc = 0x18,
    FORM_flag_present = 0x19,
    FORM_strx = 0x1a,
    FORM_addrx = 0x1b,
    FORM_data16 = 0x1e,
    FORM_line_strp = 0x1f,
    FORM_implicit_const = 0x21,
    FORM_loclistx = 0x22,
    FORM_rnglistx = 0x23,
    FORM_strx1 = 0x25,
    FORM_strx2 = 0x26,
    FORM_strx3 = 0x27,
    FORM_strx4 = 0x28,
    FORM_addrx1 = 0x29,
    FORM_addrx2 = 0x2a,
    FORM_addrx3 = 0x2b,
    FORM_addrx4 = 0x2c,
    FORM_GNU_addr_index = 0x1f01,
    FORM_GNU_str_index = 0x1f02,
};

struct sections {
    const struct trail_elf *elf;
    struct trail_text info, abbrev, str, line_str, str_offsets;
};

/* The unit under way. */
struct unit {
    size_t offset_size; /* 4 or 8 */
    uint8_t address_size;
    uint64_t abbrev, offsets_base;
    bool is_skeleton; /* its header says so */
    uint64_t name_index, directory_index;
    bool name_by_index, directory_by_index;
    struct trail_text name, directory;
};

static struct trail_cfi_reader reader_of(const struct sections *sections,
                                         struct trail_text bytes, uint64_t at)
{
    return (struct trail_cfi_reader){ .bytes = (const uint8_t *)bytes.data,
                                      .at = (size_t)at,
                                      .end = bytes.size,
                                      .little = sections->elf->little,
                                      .bad = at > bytes.size };
}

static struct trail_text string_at(struct trail_text strings, uint64_t at)
{
    if (at >= strings.size)
        return (struct trail_text){ "", 0 };
    const char *start = strings.data + at;
    const char *end = memchr(start, 0, strings.size - (size_t)at);
    return (struct trail_text){ start, end ? (size_t)(end - start) : 0 };
}

/* An inline string; empty past the end. */
static struct trail_text inline_string(struct trail_cfi_reader *reader)
{
    struct trail_text rest = { (const char *)reader->bytes, reader->end };
    struct trail_text text = string_at(rest, reader->at);
    reader->at += text.size;
    trail_cfi_fixed(reader, 1);
    return text;
}

/* The value of one attribute: a text, or a number that may be an index of one. */
struct value {
    struct trail_text text;
    uint64_t number;
    bool is_index;
};

/* Bytes of a form that always has as many; 0: it is not one of them. */
static size_t fixed_size(const struct unit *unit, uint64_t form)
{
    switch (form) {
    case FORM_data1:
    case FORM_flag:
    case FORM_strx1:
    case FORM_addrx1:
        return 1;
    case FORM_data2:
    case FORM_strx2:
    case FORM_addrx2:
        return 2;
    case FORM_strx3:
    case FORM_addrx3:
        return 3;
    case FORM_data4:
    case FORM_strx4:
    case FORM_addrx4:
        return 4;
    case FORM_data8:
        return 8;
    case FORM_addr:
        return unit->address_size;
    case FORM_sec_offset:
    case FORM_strp:
    case FORM_line_strp:
        return unit->offset_size;
    default:
        return 0;
    }
}

static bool is_index(uint64_t form)
{
    return form == FORM_strx || form == FORM_GNU_str_index ||
           (form >= FORM_strx1 && form <= FORM_strx4);
}

/* Past a value that is no text and no number that matters; false: of no known form. */
static bool skip_value(uint64_t form, struct trail_cfi_reader *info)
{
    switch (form) {
    case FORM_flag_present:
    case FORM_implicit_const:
        return true;
    case FORM_data16:
        trail_cfi_fixed(info, 8);
        trail_cfi_fixed(info, 8);
        return true;
    case FORM_exprloc: {
        uint64_t size = trail_cfi_uleb(info);
        if (info->bad || size > info->end - info->at)
            return false;
        info->at += (size_t)size;
        return true;
    }
    default:
        return false;
    }
}

static bool read_value(const struct sections *sections, const struct unit *unit,
                       uint64_t form, struct trail_cfi_reader *info,
                       struct value *value_ret)
{
    struct value value = { .is_index = is_index(form) };
    size_t size = fixed_size(unit, form);
    if (size)
        value.number = trail_cfi_fixed(info, size);
    else if (form == FORM_udata || form == FORM_sdata || form == FORM_strx ||
             form == FORM_addrx || form == FORM_rnglistx || form == FORM_loclistx ||
             form == FORM_GNU_str_index || form == FORM_GNU_addr_index)
        value.number = trail_cfi_uleb(info);
    else if (form == FORM_string)
        value.text = inline_string(info);
    else if (!skip_value(form, info))
        return false;
    if (form == FORM_strp || form == FORM_line_strp)
        value.text = string_at(form == FORM_strp ? sections->str : sections->line_str,
                               value.number);
    *value_ret = value;
    return !info->bad;
}

static void take_value(struct unit *unit, uint64_t attribute, const struct value *value)
{
    if (attribute == DW_AT_dwo_name || attribute == DW_AT_GNU_dwo_name) {
        unit->name = value->text;
        unit->name_by_index = value->is_index;
        unit->name_index = value->number;
    } else if (attribute == DW_AT_comp_dir) {
        unit->directory = value->text;
        unit->directory_by_index = value->is_index;
        unit->directory_index = value->number;
    } else if (attribute == DW_AT_str_offsets_base) {
        unit->offsets_base = value->number;
    }
}

/* The first entry of a unit, if the first of its abbreviations describes it: a skeleton
 * has one of each. */
static bool read_entry(const struct sections *sections, struct unit *unit,
                       struct trail_cfi_reader *info)
{
    struct trail_cfi_reader abbrev =
        reader_of(sections, sections->abbrev, unit->abbrev);
    uint64_t code = trail_cfi_uleb(info);
    if (info->bad || code == 0 || trail_cfi_uleb(&abbrev) != code)
        return false;
    trail_cfi_uleb(&abbrev);     /* tag */
    trail_cfi_fixed(&abbrev, 1); /* has children */
    for (unsigned i = 0; i < ATTRIBUTE_LIMIT && !abbrev.bad; i++) {
        struct value value;
        uint64_t attribute = trail_cfi_uleb(&abbrev), form = trail_cfi_uleb(&abbrev);
        if (form == FORM_implicit_const)
            trail_cfi_sleb(&abbrev);
        if (attribute == 0 && form == 0)
            return true;
        if (!read_value(sections, unit, form, info, &value))
            return false;
        take_value(unit, attribute, &value);
    }
    return false;
}

static struct trail_text indexed(const struct sections *sections,
                                 const struct unit *unit, uint64_t index)
{
    if (index > sections->str_offsets.size)
        return (struct trail_text){ "", 0 };
    struct trail_cfi_reader offsets =
        reader_of(sections, sections->str_offsets,
                  unit->offsets_base + index * unit->offset_size);
    return string_at(sections->str, trail_cfi_fixed(&offsets, unit->offset_size));
}

/* The header of the unit at `*at`, which moves behind the unit. */
static bool read_header(const struct sections *sections, size_t *at, struct unit *unit,
                        struct trail_cfi_reader *info)
{
    *info = reader_of(sections, sections->info, *at);
    *unit = (struct unit){ .offset_size = 4 };
    uint64_t length = trail_cfi_fixed(info, 4);
    if (length == UINT32_MAX) {
        length = trail_cfi_fixed(info, 8);
        unit->offset_size = 8;
    }
    if (info->bad || length > info->end - info->at)
        return false;
    info->end = info->at + (size_t)length;
    *at = info->end;
    uint64_t version = trail_cfi_fixed(info, 2), type = 0;
    if (version >= 5) {
        type = trail_cfi_fixed(info, 1);
        unit->address_size = (uint8_t)trail_cfi_fixed(info, 1);
        unit->abbrev = trail_cfi_fixed(info, unit->offset_size);
        if (type == DW_UT_skeleton)
            trail_cfi_fixed(info, 8); /* id of the other part */
    } else {
        unit->abbrev = trail_cfi_fixed(info, unit->offset_size);
        unit->address_size = (uint8_t)trail_cfi_fixed(info, 1);
    }
    unit->is_skeleton = version >= 5 ? type == DW_UT_skeleton : version == 4;
    unit->offsets_base = 2 * unit->offset_size;
    return unit->address_size <= 8;
}

static bool is_there(const char *path)
{
    struct trail_os_stat stat;
    return trail_os_stat_path(path, &stat, NULL) == TRAIL_OK && stat.regular;
}

/* Looked for where debuggers do: below the compilation directory, and beside the
 * program. */
static void look_for(const struct unit *unit, const char *directory,
                     struct doctor_split *split)
{
    char path[1024], beside[1024];
    int name = (int)(unit->name.size < 512 ? unit->name.size : 512);
    int from = (int)(unit->directory.size < 480 ? unit->directory.size : 480);
    bool absolute = unit->name.data[0] == '/' || from == 0;
    snprintf(path, sizeof(path), "%.*s%s%.*s", absolute ? 0 : from,
             absolute ? "" : unit->directory.data, absolute ? "" : "/", name,
             unit->name.data);
    snprintf(beside, sizeof(beside), "%.480s/%.*s", directory, name, unit->name.data);
    split->count++;
    if (is_there(path) || is_there(beside))
        return;
    if (split->missing++ == 0)
        snprintf(split->example, sizeof(split->example), "%s", path);
}

bool doctor_split_read(const struct trail_elf *elf, const char *directory,
                       struct doctor_split *split_ret)
{
    struct sections sections = { .elf = elf };
    struct doctor_split split = { .count = 0 };
    struct trail_elf_section section;
    size_t at = 0;
    if (!trail_elf_section_named(elf, ".debug_info", &section) ||
        section.flags & TRAIL_ELF_COMPRESSED ||
        !trail_elf_section(elf, ".debug_info", &sections.info) ||
        !trail_elf_section(elf, ".debug_abbrev", &sections.abbrev))
        return false;
    trail_elf_section(elf, ".debug_str", &sections.str);
    trail_elf_section(elf, ".debug_line_str", &sections.line_str);
    trail_elf_section(elf, ".debug_str_offsets", &sections.str_offsets);
    for (size_t i = 0; at < sections.info.size && i < UNIT_LIMIT; i++) {
        struct unit unit;
        struct trail_cfi_reader info;
        if (!read_header(&sections, &at, &unit, &info))
            break;
        if (!unit.is_skeleton || !read_entry(&sections, &unit, &info))
            continue;
        if (unit.name_by_index)
            unit.name = indexed(&sections, &unit, unit.name_index);
        if (unit.directory_by_index)
            unit.directory = indexed(&sections, &unit, unit.directory_index);
        if (unit.name.size)
            look_for(&unit, directory, &split);
    }
    *split_ret = split;
    return split.count > 0;
}
