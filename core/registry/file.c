/* file.c -- a plugin's file: whether it can be trusted, its bytes, and their hash. */
#include "core/registry/file.h"
#include "core/os/os.h"

#include <stdlib.h>
#include <sha2.h>

#define PATH_SIZE  4096
#define SHORT_SIZE 80

const char *trail_path_short(const char *path)
{
    size_t size = strlen(path);

    return size > SHORT_SIZE ? path + size - SHORT_SIZE : path;
}

/* ---- trust -------------------------------------------------------------- */

static bool owner_trusted(const struct trail_os_stat *stat)
{
    return stat->owner == 0 || stat->owner == trail_os_user();
}

static bool writable_by_others(const struct trail_os_stat *stat)
{
    return stat->group_writable || stat->other_writable;
}

static enum trail_status check_file(const struct trail_os_stat *stat,
                                    struct trail_error *err)
{
    if (!owner_trusted(stat))
        return trail_fail(err, TRAIL_REFUSED,
                          "belongs to user %u, neither root nor you; chown it",
                          stat->owner);
    if (writable_by_others(stat))
        return trail_fail(err, TRAIL_REFUSED,
                          "can be written by others; chmod go-w it");
    return TRAIL_OK;
}

/* The directory that holds `path`. A sticky bit is no excuse: where others can add
 * files, they could have put this name there first. */
static enum trail_status check_directory(const char *path, struct trail_error *err)
{
    char directory[PATH_SIZE];
    struct trail_os_stat stat;
    const char *slash = strrchr(path, '/');
    size_t size = slash ? (size_t)(slash - path) : 0;

    if (size >= sizeof(directory))
        return trail_fail(err, TRAIL_REFUSED, "its path is too long");
    snprintf(directory, sizeof(directory), "%.*s", (int)size, path);
    if (size == 0)
        snprintf(directory, sizeof(directory), "%s", slash ? "/" : ".");

    enum trail_status status = trail_os_stat_path(directory, &stat, err);
    if (status)
        return status;
    if (!owner_trusted(&stat))
        return trail_fail(err, TRAIL_REFUSED,
                          "its directory %s belongs to user %u, neither root nor you; "
                          "chown it",
                          trail_path_short(directory), stat.owner);
    if (writable_by_others(&stat))
        return trail_fail(err, TRAIL_REFUSED,
                          "its directory %s can be written by others; chmod go-w it",
                          trail_path_short(directory));
    return TRAIL_OK;
}

/* Check where the name lies, and where the file behind it does, if it is a link. */
static enum trail_status check_place(const char *path, struct trail_error *err)
{
    char real[PATH_SIZE];

    enum trail_status status = check_directory(path, err);
    if (!status && trail_os_path_real(path, real, sizeof(real)))
        status = check_directory(real, err);
    return status;
}

/* ---- bytes -------------------------------------------------------------- */

static void hash_bytes(const uint8_t *bytes, size_t size,
                       char hash_ret[TRAIL_HASH_SIZE])
{
    SHA2_CTX context;

    SHA256Init(&context);
    SHA256Update(&context, bytes, size);
    SHA256End(&context, hash_ret);
}

/* The words of the system's message behind "PATH: ". */
static void drop_path(const char *path, struct trail_error *err)
{
    const char *reason = err ? trail_os_reason(err->text, path) : NULL;

    if (reason)
        memmove(err->text, reason, strlen(reason) + 1);
}

static enum trail_status take_copy(struct trail_plugin_file *file,
                                   struct trail_error *err)
{
    file->copy = malloc(file->size + 1);
    if (!file->copy)
        return trail_fail(err, TRAIL_NO_MEMORY, "%zu bytes do not fit in memory",
                          file->size);
    if (file->size)
        memcpy(file->copy, file->bytes, file->size);
    file->bytes = file->copy;
    trail_os_file_close(&file->mapped);
    hash_bytes(file->bytes, file->size, file->hash);
    return TRAIL_OK;
}

enum trail_status trail_plugin_file_check(const char *path,
                                          struct trail_os_stat *stat_ret,
                                          struct trail_error *err)
{
    enum trail_status status = check_place(path, err);
    if (!status)
        status = trail_os_stat_path(path, stat_ret, err);
    if (!status)
        status = check_file(stat_ret, err);
    return status;
}

enum trail_status trail_plugin_file_open(const char *path,
                                         enum trail_plugin_file_use use,
                                         struct trail_plugin_file *file_ret,
                                         struct trail_error *err)
{
    struct trail_plugin_file file = { .mapped.fd = -1 };

    enum trail_status status = check_place(path, err);
    if (!status) {
        status = trail_os_file_map(path, TRAIL_PLUGIN_SIZE_LIMIT, &file.mapped, err);
        if (status)
            drop_path(path, err);
    }
    if (!status)
        status = trail_os_stat_fd(file.mapped.fd, &file.stat, err);
    if (!status)
        status = check_file(&file.stat, err);
    if (!status) {
        file.bytes = file.mapped.bytes;
        file.size = file.mapped.size;
        if (use == TRAIL_PLUGIN_FILE_TAKE)
            status = take_copy(&file, err);
    }
    if (status)
        trail_plugin_file_close(&file);
    else
        *file_ret = file;
    return status;
}

void trail_plugin_file_close(struct trail_plugin_file *file)
{
    free(file->copy);
    trail_os_file_close(&file->mapped);
    *file = (struct trail_plugin_file){ .mapped.fd = -1 };
}

bool trail_plugin_file_own(const struct trail_os_stat *stat)
{
    return stat->owner == trail_os_user() && !writable_by_others(stat);
}

bool trail_plugin_file_same(const struct trail_plugin_file *file, const char *path)
{
    struct trail_os_file mapped = { .fd = -1 };
    struct trail_os_stat stat;
    bool same = false;

    if (trail_os_file_map(path, TRAIL_PLUGIN_SIZE_LIMIT, &mapped, NULL))
        return false;
    if (!trail_os_stat_fd(mapped.fd, &stat, NULL))
        same = trail_plugin_file_own(&stat) && mapped.size == file->size &&
               (mapped.size == 0 || memcmp(mapped.bytes, file->bytes, file->size) == 0);
    trail_os_file_close(&mapped);
    return same;
}
