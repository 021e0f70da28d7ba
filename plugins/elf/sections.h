/* sections.h -- the contents of named sections, unpacked where they are compressed.
 *
 * A section that lies plain in the file is handed out as the bytes that are there:
 * nothing is copied and nothing is touched. SHF_COMPRESSED with zlib or zstd, and the
 * older .zdebug_ sections, are unpacked. What an unpacked section may take is bounded:
 * 8 MiB and 128 times its packed size. Real debug information packs to a third or a
 * tenth, and tables of what the linker dropped to a hundredth. What says that it is
 * larger, or is not exactly as large as it says, counts as absent.
 */
#ifndef ELF_SECTIONS_H
#define ELF_SECTIONS_H

#include "plugins/elf/binary.h"

#define SECTIONS_ROOM   ((uint64_t)8 << 20)
#define SECTIONS_GROWTH 128u

/* Zero it to start. */
struct sections {
    struct sections_piece *pieces; /* what was unpacked */
};

struct section_bytes {
    const uint8_t *at;
    size_t size; /* 0: there is no such section */
};

/* The contents of ".debug_NAME" for each of `names` (which begin with ".debug_"). They
 * last until sections_deinit() and binary_close().
 *
 * Errors: TRAIL_NO_MEMORY.
 */
enum trail_status sections_read(struct sections *sections, const struct binary *binary,
                                const char *const *names, size_t count,
                                struct section_bytes *bytes_ret);

void sections_deinit(struct sections *sections);

#endif
