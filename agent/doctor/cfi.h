/* cfi.h -- how the code of an ELF file can be unwound: by its call frame
 * information, and by frame pointers.
 */
#ifndef TRAIL_AGENT_DOCTOR_CFI_H
#define TRAIL_AGENT_DOCTOR_CFI_H

#include "core/trace/eh_frame.h"
#include "core/trace/elf_tables.h"

/* How a stack is walked on an architecture without looking anything up. */
enum frame_chain {
    CHAIN_UNKNOWN, /* of this architecture nothing is known here */
    CHAIN_POINTER, /* a register holds the frame's address, if so compiled */
    CHAIN_RECORD,  /* the same; the frame is a pair of frame and return address */
    CHAIN_BACK,    /* every frame begins with the address of the one before: always */
    CHAIN_OPTION,  /* the same, but only if so compiled */
};

/* Of functions, or parts of them, i.e. of entries. */
struct cfi_facts {
    size_t count, damaged; /* entries that cover code; that cannot be read */
    size_t framed;         /* those that set up a frame: they can make calls */
    size_t with_pointer;   /* those of them that also set up a frame pointer */
    size_t frameless;      /* leaf functions, and those that only jump on */
    enum frame_chain chain;
    struct cfi_range *ranges; /* of code covered, sorted, not overlapping */
    size_t range_count;
};

struct cfi_range {
    uint64_t start, end;
};

/* Where the file's .eh_frame is, by its section, or by its program header if it has no
 * sections. False: it has none. */
bool cfi_of_eh_frame(const struct trail_elf *elf, struct trail_cfi *cfi_ret);
/* The same of .debug_frame; false also if that is compressed. */
bool cfi_of_debug_frame(const struct trail_elf *elf, struct trail_cfi *cfi_ret);

/* Skim all entries. False: out of memory. */
bool cfi_facts_gather(const struct trail_elf *elf, const struct trail_cfi *cfi,
                      struct cfi_facts *facts_ret);
void cfi_facts_deinit(struct cfi_facts *facts);
bool cfi_facts_cover(const struct cfi_facts *facts, uint64_t address);

#endif
