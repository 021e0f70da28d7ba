/* cfi_reader.h -- what the readers of call frame information share: integers and
 * encoded pointers, read forward from untrusted bytes.
 */
#ifndef TRAIL_CFI_READER_H
#define TRAIL_CFI_READER_H

#include "core/trace/eh_frame.h"

#define TRAIL_CFI_POINTER_OMITTED 0xff /* DW_EH_PE_omit */

/* Reads forward; past the end everything is 0, and `bad` sticks. */
struct trail_cfi_reader {
    const uint8_t *bytes;
    size_t at, end;
    bool little, bad;
};

static inline uint8_t trail_cfi_byte(struct trail_cfi_reader *reader)
{
    if (reader->bad || reader->at >= reader->end) {
        reader->bad = true;
        return 0;
    }
    return reader->bytes[reader->at++];
}
/* An integer of `width` <= 8 bytes. */
uint64_t trail_cfi_fixed(struct trail_cfi_reader *reader, size_t width);
/* LEB128; bits above the 64th are dropped. */
uint64_t trail_cfi_uleb(struct trail_cfi_reader *reader);
int64_t trail_cfi_sleb(struct trail_cfi_reader *reader);
/* As trail_cfi_pointer (eh_frame.h). */
uint64_t trail_cfi_read_pointer(const struct trail_cfi *cfi, uint8_t encoding,
                                uint64_t function, struct trail_cfi_reader *reader);

#endif
