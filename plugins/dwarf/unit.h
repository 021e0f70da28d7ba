/* unit.h -- unit headers (DWARF 5, 7.5.1), and one unit in hand: where its bytes, its
 * strings and its abbreviations are, and what its root DIE says.
 */
#ifndef DWARF_UNIT_H
#define DWARF_UNIT_H

#include "abbrevs.h"
#include "texts.h"

/* Offsets are in .debug_info. */
struct unit {
    uint64_t offset, end, die, abbrevs;
    uint64_t dwo_id; /* of a skeleton or split unit of DWARF 5 */
    uint8_t type;
    struct form_sizes sizes;
};

/* One file's sections. */
struct dwarf_set {
    struct dwarf_file file;
    struct text_stretch texts[DWARF_SECTIONS]; /* of sections that have strings */
    uint32_t number;                           /* 0: the main file */
    bool is_big_endian;
    VECTOR(struct unit) units; /* see set_list_units */
    bool are_units_listed;
    void (*will_read)(const uint8_t *bytes, size_t size); /* of dwarf_input */
};

static inline void set_will_read(const struct dwarf_set *set, const uint8_t *bytes,
                                 size_t size)
{
    if (set->will_read)
        set->will_read(bytes, size);
}

enum unit_state {
    UNIT_END,        /* no further unit can be found */
    UNIT_UNREADABLE, /* its end is known, and that is all */
    UNIT_READABLE,
};
enum unit_state unit_read_header(const struct dwarf_set *set, uint64_t offset,
                                 struct unit *unit_ret);
/* The same of the unit behind `unit`, which it replaces; all zero: of the first one. */
enum unit_state unit_read_next(const struct dwarf_set *set, struct unit *unit);

/* Fill `units`, once. False: out of memory. */
bool set_list_units(struct dwarf_set *set);
/* The unit that has the DIE at `offset`, of the list; NULL: none. */
const struct unit *set_unit_of(const struct dwarf_set *set, uint64_t offset);

/* Whether code may lie in it. */
static inline bool unit_has_code(const struct unit *unit)
{
    return unit->type != 2 && unit->type != 6; /* DW_UT_type, DW_UT_split_type */
}

/* ---- a DIE ----------------------------------------------------------- */

/* A DIE by number: the file it is in, and its offset there. */
#define DIE_NONE UINT64_MAX
static inline uint64_t die_number(uint32_t set, uint64_t offset)
{
    return (uint64_t)set << 48 | offset;
}
#define DIE_OFFSET_MASK ((UINT64_C(1) << 48) - 1)

struct attributes {
    uint64_t value[SLOTS];
    uint16_t form[SLOTS];
    uint32_t have; /* bit by slot */
};

static inline bool has_slot(const struct attributes *attributes,
                            enum attribute_slot slot)
{
    return attributes->have >> slot & 1;
}

/* A unit whose root DIE has been read. A split unit takes addresses, ranges and lines
 * from the file of its skeleton. */
struct unit_context {
    const struct dwarf_set *set; /* that its DIEs are in */
    const struct dwarf_set *alt; /* what dwz moved out; NULL: nothing */
    struct unit unit;
    const struct abbrevs *abbrevs;
    struct dwarf_bytes sections[DWARF_SECTIONS];
    struct text_stretch texts[DWARF_SECTIONS];
    uint64_t low_pc, str_base, addr_base, rnglists_base, gnu_ranges_base, lines;
    uint32_t name, directory; /* of the source file, of the compilation: texts */
    bool has_lines;
    bool is_big_endian;
    bool is_split; /* DIEs are in a .dwo or .dwp; the bases are those of the skeleton */
};

/* Start a context: all that is known before its root DIE is read. */
void unit_context_init(struct unit_context *context, const struct dwarf_set *set,
                       const struct dwarf_set *alt, const struct unit *unit);

/* Read the root DIE. `attributes` are its own. Returns where its first child begins;
 * NULL: it has none, or is damaged. */
const uint8_t *unit_read_root(struct unit_context *context,
                              struct attributes *attributes);

/* Read the attributes that have slots; returns the byte behind the DIE, or NULL: it is
 * cut short. `at` is behind its code. */
const uint8_t *die_read(const struct unit_context *context, const struct abbrev *abbrev,
                        const uint8_t *at, const uint8_t *end,
                        struct attributes *attributes);

/* The slow way past one attribute. NULL: it is cut short. */
const uint8_t *form_skip(const uint8_t *at, const uint8_t *end, int size,
                         struct form_sizes sizes, bool is_big_endian);

/* Past a DIE's attributes; NULL: it is cut short. */
static inline const uint8_t *die_skip(const struct unit_context *context,
                                      const struct abbrev *abbrev, const uint8_t *at,
                                      const uint8_t *end)
{
    if (LIKELY(abbrev->fixed_size >= 0))
        return LIKELY((size_t)abbrev->fixed_size <= bytes_left(at, end))
                   ? at + abbrev->fixed_size
                   : NULL;
    const int16_t *op = context->abbrevs->ops.at + abbrev->op;
    for (unsigned i = abbrev->op_count; i; i--) {
        int size = *op++;
        if (size >= 0) {
            if (UNLIKELY((size_t)size > bytes_left(at, end)))
                return NULL;
            at += size;
        } else if (size == FORM_BLOCK) {
            uint64_t block = bytes_uleb(&at, end);
            if (UNLIKELY(block > bytes_left(at, end)))
                return NULL;
            at += block;
        } else if (size == FORM_LEB) {
            at = bytes_skip_leb(at, end);
        } else {
            at = form_skip(at, end, size, context->abbrevs->sizes,
                           context->is_big_endian);
            if (!at)
                return NULL;
        }
    }
    return at;
}

/* Where DW_AT_sibling points, if that is known at once and lies ahead; else NULL. */
static inline const uint8_t *die_sibling(const struct unit_context *context,
                                         const struct abbrev *abbrev, const uint8_t *at,
                                         const uint8_t *end)
{
    if (abbrev->sibling_offset < 0 ||
        bytes_left(at, end) < (size_t)abbrev->sibling_offset + 4)
        return NULL;
    uint64_t offset = context->unit.offset +
                      bytes_u32(at + abbrev->sibling_offset, context->is_big_endian);
    const uint8_t *info = context->sections[DWARF_INFO].at;
    return offset > (uint64_t)(at - info) && offset <= (uint64_t)(end - info)
               ? info + offset
               : NULL;
}

/* Past all children of a DIE; `at` is at the first. NULL: they do not end. */
const uint8_t *die_skip_children(const struct unit_context *context, const uint8_t *at,
                                 const uint8_t *end);

/* What a value means, by its form. */
uint64_t value_address(const struct unit_context *context, uint16_t form,
                       uint64_t value); /* UINT64_MAX: none */
uint32_t value_text(const struct unit_context *context, uint16_t form, uint64_t value);
uint64_t value_die(const struct unit_context *context, uint16_t form, uint64_t value);
static inline bool is_address_form(uint16_t form)
{
    return form == 0x01 || form == 0x1b || (form >= 0x29 && form <= 0x2c) ||
           form == 0x1f01;
}

/* Element `index` of the table of `size`-byte numbers at `base` of a section;
 * UINT64_MAX: outside. */
uint64_t section_element(const struct unit_context *context, enum dwarf_section section,
                         uint64_t base, uint64_t index, unsigned size);

#endif
