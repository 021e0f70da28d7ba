/* files.h -- symbol files, found by name and checked by id: the routes.
 *
 * The key is compared, never assumed: a file whose id is another is refused, and both
 * ids are told.
 */
#ifndef TRAIL_FILES_H
#define TRAIL_FILES_H

#include "backtrail/symbolizer.h"
#include "core/os/os.h"
#include "core/trace/text_hash.h"

#define TRAIL_SYMBOL_FILE_LIMIT ((size_t)64 << 30) /* bytes mapped of one file */

/* How much a file tells, as far as its section table shows it. */
enum trail_symbol_rank {
    TRAIL_RANK_NOTHING,
    TRAIL_RANK_EXPORTS,     /* names of what it exports */
    TRAIL_RANK_SYMBOLS,     /* a symbol table of its own */
    TRAIL_RANK_INFORMATION, /* debug information; also where that is not known */
};

/* A file that is held open for a symbolizer. */
struct trail_symbol_file {
    struct trail_source source; /* source.handle points here */
    struct trail_os_file file;
    uint8_t *owned; /* bytes of a copy of memory, freed with the file; or NULL */
    uint32_t rank;  /* enum trail_symbol_rank */
    bool has_code;  /* false: a debug file, apart from the module */
    char path[1024];
    struct trail_symbol_file *next; /* of the same image */
};

/* What is looked for. */
struct trail_wanted {
    struct trail_text id; /* empty: any */
    uint32_t id_kind;     /* TRAIL_ID_TEXT_HASH, or any other */
    uint32_t role;
    uint32_t crc;
    bool has_crc; /* compared only if there is no id */
};

/* What a server said that was asked for a file. */
enum trail_fetch {
    TRAIL_FETCH_NONE,    /* nobody was asked, or there is none: not a failure */
    TRAIL_FETCH_REFUSED, /* it may not be had: HTTP 401, 403 */
    TRAIL_FETCH_FAILED,  /* no server, no time, a transfer that broke off */
};

/* A search, and why it found nothing; kept for the gap. */
struct trail_search {
    uint64_t until_ns; /* no server is waited for longer; 0: as it is configured */
    bool mismatch;     /* something was there, of another id */
    bool stripped;     /* the module's own file has no debug information */
    char detail[512];  /* one line */
    char passed[256];  /* a file that is damaged, and was passed over; "": none */
    enum trail_fetch fetch;
    char fetched[512]; /* one line about the fetch */
};

/* Open `path` if it is what is wanted. TRAIL_NOT_FOUND: no such file; TRAIL_REFUSED: it
 * is something else, and `search` says what. */
enum trail_status trail_symbol_file_open(const char *path, uint32_t route,
                                         const struct trail_wanted *wanted,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret);
/* A source that is memory of this process. It stays the caller's. */
enum trail_status trail_symbol_file_memory(const char *name, const uint8_t *bytes,
                                           size_t size,
                                           struct trail_symbol_file **file_ret);
void trail_symbol_file_close(struct trail_symbol_file *file); /* NULL is fine */

/* Whether it is an ELF file whose sections and segments all lie inside it. */
bool trail_symbol_file_whole(const struct trail_symbol_file *file);

/* The id that the bytes of a file carry, of whichever format; false: none. */
bool trail_symbol_file_id(const uint8_t *bytes, size_t size, struct trail_text *id_ret);

/* What stands in for the id of a module that has none (core/trace/text_hash.h); false:
 * the file has no code. */
bool trail_symbol_file_text_hash(const uint8_t *bytes, size_t size,
                                 uint8_t id_ret[TRAIL_TEXT_HASH_SIZE]);

/* What a file is kept and found by: its id, or of one with code that carries none that
 * hash, which is written to `hash`. Two builds of the same code share it. False: a file
 * that has neither. */
bool trail_symbol_file_key(const uint8_t *bytes, size_t size,
                           uint8_t hash[TRAIL_TEXT_HASH_SIZE],
                           struct trail_text *key_ret, uint32_t *id_kind_ret);

/* Two hex digits a byte, terminated; cut to fit. */
void trail_hex(struct trail_text bytes, char *hex_ret, size_t size);

#endif
