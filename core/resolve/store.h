/* store.h -- the store of symbol files: one folder, files called by their key, so that
 * looking one up is opening one path. The key is the id that a file carries; where it
 * carries none it is the hash of its code (trail_symbol_file_key).
 *
 *     <store>/<id>.exe       the module itself, stripped or not
 *     <store>/<id>.debug     its separate debug file, of an ELF module
 *     <store>/<id>.origin    its origin map (docs/origin-map.md)
 *
 * <id> is the id in hexadecimal, small letters, nothing before it. Files are written
 * beside and renamed in, mode 0644 in a folder of mode 0755; what else lies in the
 * folder is left alone. There is no index: removing a file removes the entry.
 */
#ifndef TRAIL_STORE_H
#define TRAIL_STORE_H

#include "backtrail/symbolizer.h"
#include "core/os/os.h"

enum trail_store_kind {
    TRAIL_STORE_EXE,
    TRAIL_STORE_DEBUG,
    TRAIL_STORE_ORIGIN,
    TRAIL_STORE_KINDS, /* how many there are */
};

/* One file of a store. */
struct trail_store_entry {
    enum trail_store_kind kind;
    char id[2 * 64 + 1]; /* in hex */
    bool by_hash;        /* of its code; only trail_store_add() says so */
    uint64_t size;       /* bytes */
    uint64_t modified_ns;
    char path[1024];
};

/* The end of the names of a kind: ".debug". */
const char *trail_store_ending(enum trail_store_kind kind);

/* Where the store is if the config does not say: ~/.cache/backtrail, or below
 * XDG_CACHE_HOME. False: there is no home, or this program is set-uid. */
bool trail_store_default(char *path_ret, size_t size);

/* The path that a file of this id has, whether it is there or not. False: no id, one of
 * over 64 bytes, or the path is too long. */
bool trail_store_path(const char *store, struct trail_text id,
                      enum trail_store_kind kind, char *path_ret, size_t size);
/* Whether anything has ever been put there: whether the folder exists. */
bool trail_store_exists(const char *store);

/* Copy the ELF file `path` into the store under its key; the folder is
 * made if it is missing. What is there already stays where it has as much debug
 * information: then `added_ret` is false, and the entry is the one that stays.
 *
 * Errors: TRAIL_NOT_FOUND, TRAIL_IO: of reading or writing; TRAIL_BAD_INPUT: it is no
 * whole ELF file, or carries no id and has no code.
 */
enum trail_status trail_store_add(const char *store, const char *path,
                                  struct trail_store_entry *entry_ret, bool *added_ret,
                                  struct trail_error *err);
/* Write the bytes that are the file of `id`. They have been checked. */
enum trail_status trail_store_put(const char *store, struct trail_text id,
                                  enum trail_store_kind kind, const void *bytes,
                                  size_t size, struct trail_error *err);

/* Call `each` with every entry, by id; it may remove the one it is given. Stops when it
 * returns false. A store that does not exist is empty. */
enum trail_status trail_store_list(const char *store,
                                   bool (*each)(void *arg,
                                                const struct trail_store_entry *entry),
                                   void *arg, struct trail_error *err);
/* TRAIL_NOT_FOUND: it has gone already. */
enum trail_status trail_store_remove(const struct trail_store_entry *entry,
                                     struct trail_error *err);

#endif
