/* files.h -- symbol files, found by name and checked by id: the routes.
 *
 * The key is compared, never assumed: a file whose id is another is refused, and both
 * ids are told.
 */
#ifndef TRAIL_FILES_H
#define TRAIL_FILES_H

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

#define TRAIL_SYMBOL_FILE_LIMIT ((size_t)64 << 30) /* bytes mapped of one file */

/* A file that is held open for a symbolizer. */
struct trail_symbol_file {
    struct trail_source source; /* source.handle points here */
    struct trail_os_file file;
    char path[1024];
    struct trail_symbol_file *next; /* of the same image */
};

/* What is looked for. */
struct trail_wanted {
    struct trail_text id; /* empty: any */
    uint32_t role;
    uint32_t crc;
    bool has_crc; /* compared only if there is no id */
};

/* Why nothing was found; kept for the gap. */
struct trail_search {
    bool mismatch;    /* something was there, of another id */
    char detail[512]; /* one line */
};

/* Open `path` if it is what is wanted. TRAIL_NOT_FOUND: no such file; TRAIL_REFUSED: it
 * is something else, and `search` says what. */
enum trail_status trail_symbol_file_open(const char *path, uint32_t route,
                                         const struct trail_wanted *wanted,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret);
/* A source that is memory of this process. */
enum trail_status trail_symbol_file_memory(const char *name, const uint8_t *bytes,
                                           size_t size,
                                           struct trail_symbol_file **file_ret);
void trail_symbol_file_close(struct trail_symbol_file *file); /* NULL is fine */

/* The id that the bytes of a file carry, of whichever format; false: none. */
bool trail_symbol_file_id(const uint8_t *bytes, size_t size, struct trail_text *id_ret);

/* Two hex digits a byte, terminated; cut to fit. */
void trail_hex(struct trail_text bytes, char *hex_ret, size_t size);

#endif
