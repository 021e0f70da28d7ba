/* made.h -- debug information put together by hand: units of DWARF 4, little-endian,
 * with code at CODE_START.
 */
#ifndef TEST_DWARF_MADE_H
#define TEST_DWARF_MADE_H

#include "plugins/dwarf/dwarf.h"
#include "test.h"

#define CODE_START 0x1000
#define CODE_END   0x9000

enum made_abbrev {
    MADE_UNIT = 1,    /* name, low, size */
    MADE_UNIT_SILENT, /* name: it does not say where its code lies */
    MADE_FUNCTION,    /* name, low, size; children */
    MADE_INLINED,     /* origin, low, size; children */
    MADE_NAMESPACE,   /* name; children */
    MADE_UNNAMED,     /* a namespace; children */
    MADE_CLASS,       /* name; children */
    MADE_INSTANCE,    /* origin, low, size: a function */
    MADE_LINK,        /* origin: a function */
    MADE_ABSTRACT,    /* name: a function */
    MADE_BROKEN,      /* a form that nobody knows */
    MADE_MANY,        /* name, ranges: a function */
};

static const uint8_t made_abbrevs[] = {
    1,    0x11, 1,    0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0,    0,    2,    0x11,
    1,    0x03, 0x08, 0,    0,    3,    0x2e, 1,    0x03, 0x08, 0x11, 0x01, 0x12,
    0x07, 0,    0,    4,    0x1d, 1,    0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0,
    0,    5,    0x39, 1,    0x03, 0x08, 0,    0,    6,    0x39, 1,    0,    0,
    7,    0x02, 1,    0x03, 0x08, 0,    0,    8,    0x2e, 0,    0x31, 0x13, 0x11,
    0x01, 0x12, 0x07, 0,    0,    9,    0x2e, 0,    0x31, 0x13, 0,    0,    10,
    0x2e, 0,    0x03, 0x08, 0,    0,    11,   0x2e, 0,    0x03, 0x7e, 0,    0,
    12,   0x2e, 0,    0x03, 0x08, 0x55, 0x17, 0,    0,    0,
};

struct made {
    uint8_t *info;
    size_t size, capacity, unit;
    uint8_t aranges[512];
    size_t aranges_size;
    const uint8_t *ranges;
    size_t ranges_size;
    struct dwarf *dwarf;
};

static inline void made_number(struct made *made, uint64_t value, unsigned size)
{
    if (made->size + size > made->capacity) {
        made->capacity = (made->size + size) * 2;
        made->info = realloc(made->info, made->capacity);
        assert_non_null(made->info);
    }
    for (unsigned i = 0; i < size; i++)
        made->info[made->size++] = (uint8_t)(value >> 8 * i);
}

static inline void made_string(struct made *made, const char *string)
{
    do
        made_number(made, (uint8_t)*string, 1);
    while (*string++);
}

static inline void made_place(struct made *made, uint64_t low, uint64_t size)
{
    made_number(made, low, 8);
    made_number(made, size, 8);
}

/* Begin a unit; `size` 0: it does not say where its code lies. */
static inline void made_begin(struct made *made, uint64_t low, uint64_t size)
{
    made->unit = made->size;
    made_number(made, 0, 4);
    made_number(made, 4, 2); /* version */
    made_number(made, 0, 4); /* abbreviations */
    made_number(made, 8, 1);
    made_number(made, size ? MADE_UNIT : MADE_UNIT_SILENT, 1);
    made_string(made, "unit");
    if (size)
        made_place(made, low, size);
}

static inline void made_up(struct made *made)
{
    made_number(made, 0, 1);
}

static inline void made_end(struct made *made)
{
    made_up(made);
    uint64_t length = made->size - made->unit - 4;
    for (unsigned i = 0; i < 4; i++)
        made->info[made->unit + i] = (uint8_t)(length >> 8 * i);
}

/* A DIE with a name. Returns its offset in its unit. */
static inline uint32_t made_named(struct made *made, enum made_abbrev abbrev,
                                  const char *name)
{
    uint32_t offset = (uint32_t)(made->size - made->unit);
    made_number(made, abbrev, 1);
    made_string(made, name);
    return offset;
}

/* A function with a list of children that follows. */
static inline uint32_t made_function(struct made *made, const char *name, uint64_t low,
                                     uint64_t size)
{
    uint32_t offset = made_named(made, MADE_FUNCTION, name);
    made_place(made, low, size);
    return offset;
}

/* One that has no children. */
static inline void made_leaf(struct made *made, const char *name, uint64_t low,
                             uint64_t size)
{
    made_function(made, name, low, size);
    made_up(made);
}

/* MADE_INLINED or MADE_INSTANCE. */
static inline void made_of(struct made *made, enum made_abbrev abbrev, uint32_t origin,
                           uint64_t low, uint64_t size)
{
    made_number(made, abbrev, 1);
    made_number(made, origin, 4);
    made_place(made, low, size);
}

/* A set of .debug_aranges that gives [low, low + size) to the unit at `unit`. */
static inline void made_hint(struct made *made, uint64_t unit, uint64_t low,
                             uint64_t size)
{
    const uint64_t fields[][2] = { { 44, 4 }, { 2, 2 }, { unit, 4 }, { 8, 1 },
                                   { 0, 1 },  { 0, 4 }, { low, 8 },  { size, 8 },
                                   { 0, 8 },  { 0, 8 } };
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (unsigned k = 0; k < fields[i][1]; k++)
            made->aranges[made->aranges_size++] = (uint8_t)(fields[i][0] >> 8 * k);
}

static inline struct dwarf *made_open(struct made *made)
{
    static const struct dwarf_range code = { CODE_START, CODE_END };
    struct dwarf_input input = { .code = &code, .code_count = 1 };
    struct trail_error err = { "" };
    input.main.sections[DWARF_INFO] = (struct dwarf_bytes){ made->info, made->size };
    input.main.sections[DWARF_ABBREV] =
        (struct dwarf_bytes){ made_abbrevs, sizeof(made_abbrevs) };
    input.main.sections[DWARF_ARANGES] =
        (struct dwarf_bytes){ made->aranges, made->aranges_size };
    input.main.sections[DWARF_RANGES] =
        (struct dwarf_bytes){ made->ranges, made->ranges_size };
    dwarf_close(made->dwarf);
    made->dwarf = NULL;
    assert_ok_err(dwarf_open(&input, &made->dwarf, &err), err);
    return made->dwarf;
}

static inline void made_close(struct made *made)
{
    dwarf_close(made->dwarf);
    free(made->info);
}

#endif
