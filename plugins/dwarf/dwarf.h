/* dwarf.h -- DWARF 2 to 5, read from the bytes of sections, whatever container they
 * came in.
 *
 * An address is answered in one of two ways. Cold: the units that a batch of addresses
 * falls in are walked once, only the functions in question are entered, and nothing is
 * kept. Warm: a unit that is asked about again is read whole, into regions of text
 * (origin/regions.h), and from then on an answer is a lookup.
 *
 * Which unit owns an address is told by the root DIEs; .debug_aranges is a hint that is
 * believed only while the unit it names knows the address. Ranges outside `code` (what
 * the linker dropped is left at 0, 1, -1 or -2) never claim anything.
 *
 * Input is untrusted. Every offset, count and depth is bounded; a chain of references
 * is followed for 16 steps; damage costs no more than the answers of the unit that has
 * it. A call does at most eight steps of work for each byte of the sections, and 2^31;
 * then it ends with TRAIL_BAD_INPUT and what it found. One unit is given up beyond 2^23
 * ranges or 2^24 rows (100 and 256 MiB; sound ones take a few). Not seen: code more
 * than 4 GiB behind the first, names beyond 2 GiB of sections with strings, DIEs more
 * than 4096 deep, more than 2^20 source files.
 *
 * Threads: one image serves one caller at a time; parts of dwarf_enumerate may run at
 * once.
 */
#ifndef DWARF_DWARF_H
#define DWARF_DWARF_H

#include <stdbool.h>

#include "backtrail/symbolizer.h"
#include "origin/regions.h"

enum dwarf_section {
    DWARF_INFO,
    DWARF_ABBREV,
    DWARF_LINE,
    DWARF_STR,
    DWARF_LINE_STR,
    DWARF_RANGES,
    DWARF_RNGLISTS,
    DWARF_ADDR,
    DWARF_STR_OFFSETS,
    DWARF_ARANGES,
    DWARF_CU_INDEX,
    DWARF_SECTIONS
};

/* ".debug_info" ... in a program; with ".dwo" behind it in a .dwo or .dwp file, but for
 * ".debug_cu_index". */
extern const char *const dwarf_section_names[DWARF_SECTIONS];

struct dwarf_bytes {
    const uint8_t *at;
    size_t size; /* 0: there is no such section */
};

/* The sections of one file, decompressed. */
struct dwarf_file {
    struct dwarf_bytes sections[DWARF_SECTIONS];
};

struct dwarf_range {
    uint64_t start, end;
};

struct dwarf_input {
    struct dwarf_file main;    /* the file that has the units, or their skeletons */
    struct dwarf_file alt;     /* what dwz moved out of it; all zero: none */
    struct dwarf_file package; /* .dwp; all zero: none */
    bool is_big_endian;
    /* Executable sections, ascending, disjoint. Copied. */
    const struct dwarf_range *code;
    size_t code_count;
    /* Fetch a .dwo by the name and the compilation directory that its skeleton gives;
     * the reader compares `id` itself. The bytes stay until dwarf_close. NULL: there
     * are none. False: not found. */
    bool (*find_dwo)(void *arg, struct trail_text name, struct trail_text directory,
                     uint64_t id, struct dwarf_file *file_ret);
    /* Told of bytes nearly all of which will be read now, in any thread. NULL: nobody
     * wants to know. */
    void (*will_read)(const uint8_t *bytes, size_t size);
    void *arg;
};

struct dwarf;

/* Borrows all bytes of `input` until dwarf_close. Reads next to nothing.
 *
 * Errors: TRAIL_NOT_FOUND: there are no units; TRAIL_NO_MEMORY.
 */
enum trail_status dwarf_open(const struct dwarf_input *input, struct dwarf **dwarf_ret,
                             struct trail_error *err);
void dwarf_close(struct dwarf *dwarf); /* NULL is fine */

/* Texts are terminated and last until dwarf_close; NULL: unknown. */
struct dwarf_function {
    /* DW_AT_name; with the names of the scopes around it ("ns::type::name") where there
     * is no linkage name. */
    const char *name;
    size_t scope_size; /* bytes of these scopes in front of the name: "ns::type::" */
    const char *linkage;
    uint64_t start, size; /* of the part that has the address; 0: inlined, or unknown */
};

struct dwarf_source {
    const char *path;      /* as it was named to the compiler */
    const char *directory; /* of the compilation, where `path` is relative to it */
};

bool dwarf_function_of(struct dwarf *dwarf, uint32_t function,
                       struct dwarf_function *function_ret);
bool dwarf_source_of(struct dwarf *dwarf, uint32_t file,
                     struct dwarf_source *source_ret);

/* What is known of one address: its frames, innermost first. */
struct dwarf_chain {
    const struct origin_frame *frames; /* `function` 0: there is only a line */
    uint32_t count;                    /* at least 1 */
    uint32_t discriminator;            /* of the innermost frame */
    bool has_line_table;               /* its unit has one */
    bool is_incomplete; /* its unit is split, and its other half missing */
};

typedef enum trail_status dwarf_chain_fn(void *arg, size_t index,
                                         const struct dwarf_chain *chain);

/* Emit a chain for each address of which something is known, by ascending index.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED, and whatever `emit` returns.
 */
enum trail_status dwarf_resolve(struct dwarf *dwarf, const struct trail_call *call,
                                const uint64_t *addresses, size_t count,
                                dwarf_chain_fn *emit, void *arg);

/* The chain of one address, from a unit that is read whole if it was not yet. Returns
 * the number of frames; 0: nothing is known, or there is no memory. */
uint32_t dwarf_lookup(struct dwarf *dwarf, uint64_t address,
                      struct origin_frame frames[ORIGIN_CHAIN_MAX]);

/* Write part `part` of `parts` of all that is known: files, functions, scopes, ranges
 * (ascending within a unit, never overlapping another's) and calls. Ids are dense from
 * 1 in each part; scope 0 and file 0 mean none. A scope's parent comes before it.
 *
 * Errors: as above, and whatever `out` returns.
 */
enum trail_status dwarf_enumerate(struct dwarf *dwarf, const struct trail_call *call,
                                  uint32_t part, uint32_t parts,
                                  struct trail_map_out *out);

/* Write the calls at the addresses: of a return address the call made there, of the
 * first address of a function its tail calls. Each once, as dwarf_enumerate writes it,
 * in the order of the units.
 *
 * Errors: as above.
 */
enum trail_status dwarf_calls(struct dwarf *dwarf, const struct trail_call *call,
                              const uint64_t *addresses, size_t count,
                              struct trail_map_out *out);

#endif
