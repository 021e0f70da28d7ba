/* file.h -- a plugin's file: whether its owner and mode can be trusted, its bytes, and
 * their hash. */
#ifndef TRAIL_REGISTRY_FILE_H
#define TRAIL_REGISTRY_FILE_H

#include <stdbool.h>
#include "core/os/os.h"

/* Largest plugin file, bytes. */
#define TRAIL_PLUGIN_SIZE_LIMIT ((size_t)64 << 20)
#define TRAIL_HASH_SIZE         65 /* SHA-256 in hex, terminated */

/* The bytes of one file, read once: record, hash and copy all come from these, so that
 * a file that changes meanwhile is seen either before or after, never in between. */
struct trail_plugin_file {
    const uint8_t *bytes;
    size_t size;
    char hash[TRAIL_HASH_SIZE]; /* "" if it was only looked at */
    struct trail_os_stat stat;
    bool is_kept; /* hash and bytes are those of the copy in the state directory */
    struct trail_os_file mapped;
    uint8_t *copy; /* what `bytes` points to; NULL: to the mapping */
};

/* How much of a file is wanted. */
enum trail_plugin_file_use {
    TRAIL_PLUGIN_FILE_LOOK, /* its bytes as they are: neither copied nor hashed */
    TRAIL_PLUGIN_FILE_TAKE,
};

/* Read the plugin file `path`, if it is a regular file that root or this user owns and
 * nobody else can write to, in a directory of which the same is true.
 *
 * Errors:   `err` says why and what helps, and names no file.
 * Owns:     the bytes are the caller's; release with trail_plugin_file_close. */
enum trail_status trail_plugin_file_open(const char *path,
                                         enum trail_plugin_file_use use,
                                         struct trail_plugin_file *file_ret,
                                         struct trail_error *err);
/* Only judge the file: its place, owner and mode. */
enum trail_status trail_plugin_file_check(const char *path,
                                          struct trail_os_stat *stat_ret,
                                          struct trail_error *err);
void trail_plugin_file_close(struct trail_plugin_file *file); /* closed is fine */

/* Whether a file is this user's own, and nobody else can write to it. */
bool trail_plugin_file_own(const struct trail_os_stat *stat);
/* Whether the file `path` holds exactly the bytes of `file`, belongs to this user, and
 * can be written by nobody else. */
bool trail_plugin_file_same(const struct trail_plugin_file *file, const char *path);

/* `path` for a message of limited length: its end, if it is long. */
const char *trail_path_short(const char *path);

#endif
