/* section.h -- hand-made .eh_frame sections, for tests. */
#ifndef TRAIL_TEST_UNWIND_SECTION_H
#define TRAIL_TEST_UNWIND_SECTION_H

#include "core/capture/cfi.h"

#define SECTION_ADDRESS 0x500000u
#define CODE_START      0x401000u
#define CODE_SIZE       0x100u

struct bytes {
    uint8_t at[4096];
    size_t size;
};

void bytes_add(struct bytes *bytes, const void *more, size_t size);
/* An integer of `width` bytes, little-endian. */
void bytes_number(struct bytes *bytes, uint64_t value, size_t width);

/* What of a section is not as usual. */
struct section_form {
    uint8_t version;          /* 0: 1 */
    const char *augmentation; /* NULL: "zR"; without a leading z no data follows */
    uint8_t address_size;     /* 0: 8 */
    uint8_t encoding;         /* DW_EH_PE of code addresses */
    uint8_t return_column;    /* 0: 16 */
    bool debug_frame, wide;   /* wide: 64-bit DWARF */
    const char *initial;      /* the CIE's instructions; NULL: rsp+8, ra at c-8 */
    size_t initial_size;
};

/* One CIE and one FDE for [CODE_START, + CODE_SIZE) with these instructions. The table
 * borrows `bytes`. */
struct trail_cfi_table section_make(const struct section_form *form,
                                    const char *instructions, size_t size,
                                    struct bytes *bytes);

#endif
