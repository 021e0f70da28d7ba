/* abbrevs.h -- abbreviations (DWARF 5, 7.5.3), compiled: a DIE that nobody asks about
 * is then one addition, or one jump to its sibling.
 */
#ifndef DWARF_ABBREVS_H
#define DWARF_ABBREVS_H

#include "bytes.h"
#include "dwarf.h"
#include "vector.h"

/* What a walk does with a DIE. */
enum die_class {
    DIE_BAD,  /* no such abbreviation, or one of unknown form */
    DIE_SKIP, /* types and data: code below them is rare, but possible */
    DIE_ENTER,
    DIE_FUNCTION,
    DIE_INLINED,
    DIE_CALL,  /* a call site */
    DIE_SCOPE, /* a namespace or a module */
    DIE_TYPE,  /* a class, structure or union: skipped, but functions are named by it */
};

/* Attributes that are looked at. */
enum attribute_slot {
    SLOT_NONE,
    SLOT_NAME,
    SLOT_LINKAGE,
    SLOT_LOW_PC,
    SLOT_HIGH_PC,
    SLOT_RANGES,
    SLOT_ORIGIN,
    SLOT_SPECIFICATION,
    SLOT_CALL_FILE,
    SLOT_CALL_LINE,
    SLOT_CALL_COLUMN,
    SLOT_LINES,
    SLOT_DIRECTORY,
    SLOT_LANGUAGE,
    SLOT_STR_BASE,
    SLOT_ADDR_BASE,
    SLOT_RNGLISTS_BASE,
    SLOT_GNU_RANGES_BASE,
    SLOT_DWO_NAME,
    SLOT_DWO_ID,
    SLOT_RETURN_PC,
    SLOT_CALL_PC,
    SLOT_TARGET,
    SLOT_TAIL,
    SLOTS
};

/* How an attribute lies in the DIE: sizes from 0, and what has to be looked at. */
enum form_size {
    FORM_LEB = -1,
    FORM_BLOCK1 = -2,
    FORM_BLOCK2 = -3,
    FORM_BLOCK4 = -4,
    FORM_BLOCK = -5,
    FORM_STRING = -6,
    FORM_INDIRECT = -7,
    FORM_UNKNOWN = -8,
};

/* Sizes that depend on the unit. */
struct form_sizes {
    uint8_t offset, address, version;
};

/* Bytes of a form, or one of enum form_size. */
int form_size(uint64_t form, struct form_sizes sizes);

/* An attribute that is looked at, or bytes that are not. */
struct attribute_spec {
    uint16_t form; /* FORM_PLAIN: `size` bytes that nobody asks about */
    uint8_t slot;
    int16_t size;     /* bytes, or enum form_size */
    int64_t implicit; /* of DW_FORM_implicit_const */
};
#define FORM_PLAIN 0xffffu

/* 16 bytes, so that a table stays close to the core. */
struct abbrev {
    uint8_t class;
    uint8_t has_children : 1;
    uint8_t has_code : 1; /* DW_AT_low_pc or DW_AT_ranges */
    uint8_t op_count, spec_count;
    int16_t fixed_size;     /* of all attributes; -1: they vary */
    int16_t sibling_offset; /* of a DW_AT_sibling of 4 bytes; -1: none there */
    uint32_t op, spec;
};

/* Zero it to start; `offset` UINT64_MAX: empty. */
struct abbrevs {
    const uint8_t *section; /* the one that `offset` is in */
    uint64_t offset;
    struct form_sizes sizes;
    VECTOR(struct abbrev) by_code;
    VECTOR(int16_t) ops; /* sizes to add up, or enum form_size */
    VECTOR(struct attribute_spec) specs;
};

/* Compile the table at `offset` of `section`, or, with `only` not 0, that one entry,
 * which is all that a root DIE needs. Damage ends the table. Returns the bytes read; 0:
 * out of memory. */
size_t abbrevs_compile(struct abbrevs *abbrevs, struct dwarf_bytes section,
                       uint64_t offset, struct form_sizes sizes, uint64_t only);
void abbrevs_deinit(struct abbrevs *abbrevs);

static inline const struct abbrev *abbrevs_find(const struct abbrevs *abbrevs,
                                                uint64_t code)
{
    return code < abbrevs->by_code.count ? &abbrevs->by_code.at[code] : NULL;
}

#endif
