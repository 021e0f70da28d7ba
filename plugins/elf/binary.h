/* binary.h -- one ELF file that the host lent: its headers by libelf, its contents as
 * the bytes that lie in it.
 *
 * Opening one reads its first bytes and its section headers. Nothing else is looked at
 * until it is asked for.
 */
#ifndef ELF_BINARY_H
#define ELF_BINARY_H

#include <libelf.h>
#include <stdbool.h>

#include "backtrail/symbolizer.h"

/* Zero it to start. */
struct binary {
    Elf *elf;
    struct trail_source source; /* what it is read from; lent */
    const uint8_t *bytes;       /* the whole file */
    size_t size;
    const char *names; /* of the sections */
    size_t names_size;
    uint32_t machine; /* EM_X86_64 ... */
    bool is_64, is_big_endian;
};

struct binary_section {
    const char *name;     /* terminated; "" if it cannot be read */
    const uint8_t *bytes; /* in the file; NULL: it has none there, or not all of them */
    size_t size;          /* of `bytes` */
    uint64_t address, address_size;
    uint64_t flags, entry_size;
    uint32_t number, type, link;
};

/* Borrows what `source` lends until binary_close().
 *
 * Errors: TRAIL_NOT_FOUND: not an ELF file.
 */
enum trail_status binary_open(const struct trail_source *source,
                              struct binary *binary_ret, struct trail_error *err);
void binary_close(struct binary *binary); /* a zeroed one is fine */

/* TRAIL_NOT_FOUND unless it is a program or a shared object: only their addresses are
 * final. */
enum trail_status binary_check_program(const struct binary *binary,
                                       struct trail_error *err);

/* Go on to the next section; *at is NULL to start. False: there are no more. */
bool binary_next(const struct binary *binary, Elf_Scn **at,
                 struct binary_section *section_ret);

/* The first section called `name` that has bytes in the file; false: none. */
bool binary_find(const struct binary *binary, const char *name,
                 struct binary_section *section_ret);

/* The first section of this type that has bytes in the file; false: none. */
bool binary_find_type(const struct binary *binary, uint32_t type,
                      struct binary_section *section_ret);

/* Section number `number`; false: there is none. */
bool binary_at(const struct binary *binary, uint32_t number,
               struct binary_section *section_ret);

/* Whether it has units of debug information, going by its sections. */
bool binary_has_units(const struct binary *binary);

/* The bytes of the file that are loaded at `address`, up to the end of its segment;
 * NULL: there are none. */
const uint8_t *binary_loaded(const struct binary *binary, uint64_t address,
                             size_t *size_ret);

/* The bytes of the first segment of this type; NULL: there is none in the file. */
const uint8_t *binary_segment(const struct binary *binary, uint32_t type,
                              size_t *size_ret);

/* NT_GNU_BUILD_ID; empty: none. */
struct trail_text binary_build_id(const struct binary *binary);

/* The terminated string at `offset` of `strings`; NULL: it is not all in there. */
const char *binary_string(const char *strings, size_t size, uint64_t offset);

#endif
