/* texts.h -- names by number: strings stay where they lie in their sections, and are
 * referred to by 32 bits.
 *
 * A section that has strings is given a stretch of numbers, once; a string's number is
 * the first of the stretch plus its offset in the section. Nothing is copied. Strings
 * that have to be made (a name with its scopes, a path with its directory) lie in
 * blocks of their own, numbered from TEXT_MADE on, each content once. 0 is no string.
 *
 * Limits: sections with strings fill 2 GiB of numbers in all, and made strings another.
 * A string beyond has the number 0, that is, its name is unknown.
 */
#ifndef DWARF_TEXTS_H
#define DWARF_TEXTS_H

#include "dwarf.h"
#include "vector.h"

#define TEXT_MADE UINT32_C(0x80000000)

/* A section with strings. */
struct text_stretch {
    uint32_t start, size;
    const uint8_t *bytes;
};

/* The stretches of all files of a module. */
struct text_stretches {
    VECTOR(struct text_stretch) of;
};

/* Give `bytes` a stretch; only what lies before its last zero counts, so that every
 * offset in it is that of a terminated string. False: out of memory. `stretch_ret` has
 * size 0 if there are no strings, or no numbers left. */
bool texts_add_section(struct text_stretches *stretches, struct dwarf_bytes bytes,
                       struct text_stretch *stretch_ret);

/* Strings made by one worker. Zero it to start. */
struct texts {
    const struct text_stretches *stretches;
    VECTOR(char *) blocks;
    uint32_t room, used;  /* bytes of the last block */
    VECTOR(uint32_t) set; /* open addressing; a power of two; 0: free */
    uint32_t made_count;
};

void texts_deinit(struct texts *texts);

/* NULL for 0. */
const char *texts_get(const struct texts *texts, uint32_t text);

/* The number of a string, made if there is none of this content. 0: out of memory. */
uint32_t texts_make(struct texts *texts, const char *string, size_t size);

static inline uint32_t texts_of_offset(const struct text_stretch *stretch,
                                       uint64_t offset)
{
    return offset < stretch->size ? stretch->start + (uint32_t)offset : 0;
}

#endif
