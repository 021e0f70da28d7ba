/* elf.h -- as little of ELF as identity needs: notes and sections by name, in files of
 * every class and byte order. Everything else about ELF is libelf's, in the plugins.
 *
 * Input is untrusted. Nothing allocates, nothing is written, every function is pure
 * and async-signal-safe. Source: System V gABI, chapters 4 and 5.
 */
#ifndef TRAIL_ELF_H
#define TRAIL_ELF_H

#include <stdbool.h>
#include "backtrail/base.h"

/* A file's bytes, with its header checked. Borrows the bytes. The counts are cut to
 * the entries that lie whole inside the file, so that every index below them is good:
 * a truncated file still has the tables that survived. */
struct trail_elf {
    const uint8_t *bytes;
    size_t size;
    bool is64, little;
    bool cut;               /* its headers promise more entries than the file holds */
    uint16_t type, machine; /* e_type, e_machine */
    uint64_t phoff, shoff;
    uint16_t phentsize, shentsize;
    uint32_t phnum, shnum, shstrndx;
};

/* False: not ELF, or its header does not fit the file. */
bool trail_elf_parse(const uint8_t *bytes, size_t size, struct trail_elf *elf_ret);

/* The first note of `owner` and `type`: PT_NOTE segments first, then SHT_NOTE
 * sections (debug files keep their notes there). Reads at most twice the file's size,
 * however often its headers name the same bytes. */
bool trail_elf_note(const struct trail_elf *elf, const char *owner, uint32_t type,
                    struct trail_text *desc_ret);
/* Contents of the first section called `name`, as they lie in the file (compressed
 * ones stay compressed). False: none, SHT_NOBITS, or outside the file. */
bool trail_elf_section(const struct trail_elf *elf, const char *name,
                       struct trail_text *contents_ret);
/* The file's NT_GNU_BUILD_ID; false: none, or an empty one. */
bool trail_elf_build_id(const struct trail_elf *elf, struct trail_text *id_ret);
/* Lowest and highest link-time address of PT_LOAD segments; false: none. */
bool trail_elf_extent(const struct trail_elf *elf, uint64_t *start_ret,
                      uint64_t *end_ret);
/* The `size` bytes that a PT_LOAD segment puts at link-time `address`, as they are
 * in the file, i.e. before relocation. False: not all of them are in the file. */
bool trail_elf_at(const struct trail_elf *elf, uint64_t address, size_t size,
                  struct trail_text *bytes_ret);
/* The symbol `name` of .dynsym, if the file defines and exports it; false: it does
 * not, or the file has no section table. */
bool trail_elf_exported(const struct trail_elf *elf, const char *name,
                        uint64_t *address_ret, uint64_t *size_ret);
/* Whether the tables and what PT_LOAD segments name all lie inside the file. */
bool trail_elf_whole(const struct trail_elf *elf);
/* enum trail_arch (symbolizer.h) of e_machine and class; either byte order. */
uint32_t trail_elf_arch(const struct trail_elf *elf);

/* Look through notes as they lie in memory or in a segment. `align` is the
 * segment's p_align (4, or 8 for some 64-bit notes; other values are taken as 4). */
bool trail_elf_notes_find(const uint8_t *notes, size_t size, bool little,
                          uint64_t align, const char *owner, uint32_t type,
                          struct trail_text *desc_ret);

#endif
