/* image.h -- what a log's numbers are counted from: segments and symbols of an ELF
 * file. Names of code come from the symbolizers; this only turns file offsets, symbols
 * and data addresses into link-time addresses and back.
 */
#ifndef TRAIL_AGENT_LOG_IMAGE_H
#define TRAIL_AGENT_LOG_IMAGE_H

#include "core/os/os.h"
#include "core/trace/elf_tables.h"

#define LOG_IMAGE_SYMBOLS 4000000 /* symbols read of one file at most */

struct log_symbol {
    const char *name; /* in the file's bytes; terminated */
    uint64_t address, size;
};

/* An open file. Zero-initialised is closed. */
struct log_image {
    struct trail_os_file file;
    struct trail_elf elf;
    bool open, fixed; /* fixed: it runs at its link-time addresses */
    bool program;     /* it names an interpreter, as programs do, or is fixed */
    uint64_t link_start, link_end;
    bool indexed;
    struct log_symbol *symbols; /* by name */
    size_t symbol_count;
};

/* TRAIL_BAD_INPUT: no ELF file, or nothing of it is loaded. TRAIL_UNSUPPORTED: a kernel
 * module, or another object file. */
enum trail_status log_image_open(const char *path, struct log_image *image_ret,
                                 struct trail_error *err);
void log_image_close(struct log_image *image);

/* The link-time address of a byte of the file; false: it is in no segment. */
bool log_image_of_offset(const struct log_image *image, uint64_t offset,
                         uint64_t *address_ret);
/* Where .text begins; gdb tells a library's place by it. */
bool log_image_text(const struct log_image *image, uint64_t *address_ret);
/* The symbols called `name`, in order; returns how many. */
size_t log_image_symbols(struct log_image *image, struct trail_text name,
                         const struct log_symbol **first_ret);
/* The sized symbol that covers `address`; false: none. */
bool log_image_symbol_at(struct log_image *image, uint64_t address,
                         struct log_symbol *symbol_ret);

#endif
