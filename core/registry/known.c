/* known.c -- plugin files that have not changed since they were hashed. */
#include "core/registry/known.h"

#include <inttypes.h>
#include <stdlib.h>

#define PATH_SIZE 4096
#define NOTE_SIZE 256 /* bytes of a note, at most */
#define NOTE_MODE 0600
/* Longer than the clock of any file system takes from one time to the next. */
#define SETTLED_NS UINT64_C(2000000000)

struct note {
    uint64_t size, modified_ns, changed_ns;
    uint64_t copy_inode, copy_changed_ns;
    char hash[TRAIL_HASH_SIZE];
};

/* False: it does not fit. */
static bool path_of_note(const char *state_directory, const struct trail_os_stat *stat,
                         char path_ret[PATH_SIZE])
{
    int size = snprintf(path_ret, PATH_SIZE, "%s/plugins/%" PRIx64 "-%" PRIx64 ".known",
                        state_directory, stat->device, stat->inode);
    return size > 0 && size < PATH_SIZE;
}

static bool path_of_copy(const char *state_directory, const char *hash,
                         char path_ret[PATH_SIZE])
{
    int size = snprintf(path_ret, PATH_SIZE, "%s/plugins/%s%s", state_directory, hash,
                        trail_os_library_suffix);
    return size > 0 && size < PATH_SIZE;
}

static bool take_number(const char **at, uint64_t *number_ret)
{
    char *end;
    *number_ret = strtoull(*at, &end, 16);
    bool is_number = end != *at && *end == ' ';
    *at = is_number ? end + 1 : end;
    return is_number;
}

/* Five numbers in hex and the hash, each with a blank behind it. */
static bool note_read(const char *text, struct note *note_ret)
{
    struct note note;
    const char *at = text;
    if (!take_number(&at, &note.size) || !take_number(&at, &note.modified_ns) ||
        !take_number(&at, &note.changed_ns) || !take_number(&at, &note.copy_inode) ||
        !take_number(&at, &note.copy_changed_ns) ||
        strspn(at, "0123456789abcdef") != TRAIL_HASH_SIZE - 1)
        return false;
    snprintf(note.hash, sizeof(note.hash), "%s", at);
    *note_ret = note;
    return true;
}

static bool note_fits(const struct note *note, const struct trail_os_stat *file,
                      const struct trail_os_stat *copy)
{
    return note->size == file->size && note->modified_ns == file->modified_ns &&
           note->changed_ns == file->changed_ns && note->size == copy->size &&
           note->copy_inode == copy->inode &&
           note->copy_changed_ns == copy->changed_ns && trail_plugin_file_own(copy);
}

static bool read_note(const char *path, struct note *note_ret)
{
    char *text = NULL;
    size_t size;
    struct trail_os_stat stat;
    bool is_read = !trail_os_stat_path(path, &stat, NULL) &&
                   trail_plugin_file_own(&stat) &&
                   !trail_os_file_read(path, NOTE_SIZE, &text, &size, NULL) &&
                   note_read(text, note_ret);
    free(text);
    return is_read;
}

bool trail_known_open(const char *path, const char *state_directory,
                      struct trail_plugin_file *file_ret)
{
    struct trail_plugin_file file = { .mapped.fd = -1, .is_kept = true };
    struct trail_os_stat copy;
    char place[PATH_SIZE];
    struct note note;
    if (state_directory[0] == '\0' || trail_plugin_file_check(path, &file.stat, NULL) ||
        !path_of_note(state_directory, &file.stat, place) || !read_note(place, &note) ||
        !path_of_copy(state_directory, note.hash, place) ||
        trail_os_file_map(place, TRAIL_PLUGIN_SIZE_LIMIT, &file.mapped, NULL))
        return false;
    if (trail_os_stat_fd(file.mapped.fd, &copy, NULL) ||
        !note_fits(&note, &file.stat, &copy)) {
        trail_os_file_close(&file.mapped);
        return false;
    }
    file.bytes = file.mapped.bytes;
    file.size = file.mapped.size;
    memcpy(file.hash, note.hash, sizeof(file.hash));
    *file_ret = file;
    return true;
}

void trail_known_add(const char *path, const char *state_directory,
                     const struct trail_plugin_file *file, const char *copy_path,
                     uint64_t now_ns)
{
    const struct trail_os_stat *stat = &file->stat;
    struct trail_os_stat now, copy;
    char place[PATH_SIZE], text[NOTE_SIZE];
    /* The bytes that were read are those of this time only if nothing changed since. */
    if (trail_os_stat_path(path, &now, NULL) || now.changed_ns != stat->changed_ns ||
        now.inode != stat->inode || now.device != stat->device ||
        stat->changed_ns + SETTLED_NS > now_ns || !trail_os_file_sync(copy_path) ||
        trail_os_stat_path(copy_path, &copy, NULL) ||
        !path_of_note(state_directory, stat, place))
        return;
    int size =
        snprintf(text, sizeof(text),
                 "%" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %" PRIx64 " %s \n",
                 stat->size, stat->modified_ns, stat->changed_ns, copy.inode,
                 copy.changed_ns, file->hash);
    trail_os_file_write(place, text, (size_t)size, NOTE_MODE, NULL);
}
