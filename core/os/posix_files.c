/* posix_files.c -- files, directories and standard streams on POSIX systems. */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE   700

#include "core/os/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static enum trail_status fail_errno(struct trail_error *err, const char *path)
{
    int reason = errno;
    enum trail_status status = reason == ENOENT || reason == ENOTDIR ? TRAIL_NOT_FOUND
                               : reason == ENOMEM                    ? TRAIL_NO_MEMORY
                                                                     : TRAIL_IO;
    return trail_fail(err, status, "%s: %s", path, strerror(reason));
}

static void stat_fill(const struct stat *st, struct trail_os_stat *ret)
{
    *ret = (struct trail_os_stat){
        .size = st->st_size > 0 ? (uint64_t)st->st_size : 0,
        .device = (uint64_t)st->st_dev,
        .inode = (uint64_t)st->st_ino,
        .modified_ns =
            (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec,
        .changed_ns =
            (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec,
        .accessed_ns =
            (uint64_t)st->st_atim.tv_sec * 1000000000u + (uint64_t)st->st_atim.tv_nsec,
        .owner = st->st_uid,
        .regular = S_ISREG(st->st_mode),
        .directory = S_ISDIR(st->st_mode),
        .group_writable = (st->st_mode & S_IWGRP) != 0,
        .other_writable = (st->st_mode & S_IWOTH) != 0,
        .sticky = (st->st_mode & S_ISVTX) != 0,
    };
}

enum trail_status trail_os_stat_fd(int fd, struct trail_os_stat *stat_ret,
                                   struct trail_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return trail_fail(err, TRAIL_IO, "fstat: %s", strerror(errno));
    stat_fill(&st, stat_ret);
    return TRAIL_OK;
}

enum trail_status trail_os_stat_path(const char *path, struct trail_os_stat *stat_ret,
                                     struct trail_error *err)
{
    struct stat st;
    if (stat(path, &st))
        return fail_errno(err, path);
    stat_fill(&st, stat_ret);
    return TRAIL_OK;
}

/* Check that an open file is a regular one of at most `limit` bytes. */
static enum trail_status regular_size(int fd, const char *path, size_t limit,
                                      size_t *size_ret, struct trail_error *err)
{
    struct stat st;
    if (fstat(fd, &st))
        return fail_errno(err, path);
    if (S_ISDIR(st.st_mode))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is a directory", path);
    if (!S_ISREG(st.st_mode))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is not a regular file", path);
    if ((uintmax_t)st.st_size > limit)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: larger than %zu bytes", path,
                          limit);
    *size_ret = (size_t)st.st_size;
    return TRAIL_OK;
}

enum trail_status trail_os_file_map(const char *path, size_t limit,
                                    struct trail_os_file *file_ret,
                                    struct trail_error *err)
{
    struct trail_os_file file = { .fd = -1 };
    struct stat st;
    enum trail_status status = TRAIL_OK;

    /* Some devices act on being opened, so the type is looked at before, too. */
    if (stat(path, &st))
        return fail_errno(err, path);
    if (S_ISREG(st.st_mode) || S_ISDIR(st.st_mode))
        file.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    else
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: is not a regular file", path);
    if (file.fd < 0)
        return fail_errno(err, path);
    status = regular_size(file.fd, path, limit, &file.size, err);
    if (!status && file.size) {
        void *bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, file.fd, 0);
        if (bytes == MAP_FAILED)
            status = fail_errno(err, path);
        else
            file.bytes = bytes;
    }
    if (status) {
        close(file.fd);
        return status;
    }
    *file_ret = file;
    return TRAIL_OK;
}

void trail_os_file_close(struct trail_os_file *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->size);
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct trail_os_file){ .fd = -1 };
}

/* Read an open descriptor to its end. Pipes have no size, so grow by doubling. */
static enum trail_status read_all(int fd, const char *path, size_t limit,
                                  char **bytes_ret, size_t *size_ret,
                                  struct trail_error *err)
{
    size_t size = 0, room = 64u << 10;
    char *bytes = malloc(room);

    for (;;) {
        if (!bytes)
            return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", path);
        ssize_t got = read(fd, bytes + size, room - size - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            enum trail_status status = fail_errno(err, path);
            free(bytes);
            return status;
        }
        size += (size_t)got;
        if (got == 0)
            break;
        if (size > limit) {
            free(bytes);
            return trail_fail(err, TRAIL_BAD_INPUT, "%s: larger than %zu bytes", path,
                              limit);
        }
        if (size == room - 1) {
            char *grown = realloc(bytes, room *= 2);
            if (!grown)
                free(bytes);
            bytes = grown;
        }
    }
    bytes[size] = 0;
    *bytes_ret = bytes;
    *size_ret = size;
    return TRAIL_OK;
}

enum trail_status trail_os_file_read(const char *path, size_t limit, char **bytes_ret,
                                     size_t *size_ret, struct trail_error *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, path);

    struct stat st;
    enum trail_status status = TRAIL_OK;
    if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: is a directory", path);
    else
        status = read_all(fd, standard_input ? "standard input" : path, limit,
                          bytes_ret, size_ret, err);
    if (!standard_input)
        close(fd);
    return status;
}

enum trail_status trail_os_write(int fd, const void *bytes, size_t size)
{
    const char *at = bytes;
    while (size) {
        ssize_t done = write(fd, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return TRAIL_IO;
        at += done;
        size -= (size_t)done;
    }
    return TRAIL_OK;
}

/* ---- new files ----------------------------------------------------------- */

enum trail_status trail_os_new_file_open(const char *path, unsigned mode,
                                         struct trail_os_new_file *file_ret,
                                         struct trail_error *err)
{
    struct trail_os_new_file file = { .fd = -1 };
    size_t size = strlen(path) + sizeof(".XXXXXX");
    enum trail_status status = TRAIL_OK;

    file.path = malloc(size);
    file.beside = malloc(size);
    if (!file.path || !file.beside) {
        status = trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", path);
        goto out;
    }
    snprintf(file.path, size, "%s", path);
    snprintf(file.beside, size, "%s.XXXXXX", path);
    file.fd = mkstemp(file.beside);
    if (file.fd < 0 || fchmod(file.fd, (mode_t)mode)) {
        status = fail_errno(err, path);
        file.beside[0] = file.fd < 0 ? 0 : file.beside[0]; /* it is not ours */
        goto out;
    }
    *file_ret = file;
    file = (struct trail_os_new_file){ .fd = -1 };
out:
    trail_os_new_file_drop(&file);
    return status;
}

enum trail_status trail_os_new_file_write(struct trail_os_new_file *file,
                                          uint64_t offset, const void *bytes,
                                          size_t size, struct trail_error *err)
{
    const char *at = bytes;
    while (size) {
        ssize_t done = pwrite(file->fd, at, size, (off_t)offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return fail_errno(err, file->path);
        at += done;
        offset += (uint64_t)done;
        size -= (size_t)done;
    }
    return TRAIL_OK;
}

enum trail_status trail_os_new_file_keep(struct trail_os_new_file *file,
                                         struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    int fd = file->fd;
    file->fd = -1;
    if (close(fd) || rename(file->beside, file->path))
        status = fail_errno(err, file->path);
    else
        file->beside[0] = 0;
    trail_os_new_file_drop(file);
    return status;
}

void trail_os_new_file_drop(struct trail_os_new_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    if (file->beside && file->beside[0])
        unlink(file->beside);
    free(file->beside);
    free(file->path);
    *file = (struct trail_os_new_file){ .fd = -1 };
}

enum trail_status trail_os_file_write(const char *path, const void *bytes, size_t size,
                                      unsigned mode, struct trail_error *err)
{
    struct trail_os_new_file file;
    enum trail_status status = trail_os_new_file_open(path, mode, &file, err);
    if (status)
        return status;
    status = trail_os_new_file_write(&file, 0, bytes, size, err);
    if (status)
        trail_os_new_file_drop(&file);
    else
        status = trail_os_new_file_keep(&file, err);
    return status;
}

bool trail_os_file_sync(const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    bool is_synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0)
        close(fd);
    return is_synced;
}

enum trail_status trail_os_file_remove(const char *path, struct trail_error *err)
{
    return unlink(path) ? fail_errno(err, path) : TRAIL_OK;
}

enum trail_status trail_os_directory_make(const char *path, unsigned mode,
                                          struct trail_error *err)
{
    char part[PATH_MAX];
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof(part))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: path is empty or too long", path);

    memcpy(part, path, length + 1);
    for (size_t i = 1; i <= length; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        part[i] = 0;
        if (mkdir(part, (mode_t)mode) && errno != EEXIST)
            return fail_errno(err, part);
        part[i] = path[i];
    }
    struct stat st;
    if (stat(path, &st))
        return fail_errno(err, path);
    if (!S_ISDIR(st.st_mode))
        return trail_fail(err, TRAIL_IO, "%s: is not a directory", path);
    return TRAIL_OK;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

enum trail_status trail_os_directory_list(const char *path,
                                          enum trail_status (*entry)(void *arg,
                                                                     const char *name),
                                          void *arg, struct trail_error *err)
{
    struct dirent **names = NULL;
    enum trail_status status = TRAIL_OK;
    int count = scandir(path, &names, NULL, by_bytes);
    if (count < 0)
        return fail_errno(err, path);
    for (int i = 0; i < count; i++) {
        const char *name = names[i]->d_name;
        if (!status && strcmp(name, ".") != 0 && strcmp(name, "..") != 0)
            status = entry(arg, name);
        free(names[i]);
    }
    free(names);
    return status;
}

bool trail_os_name_matches(const char *glob, const char *name)
{
    return fnmatch(glob, name, FNM_PERIOD | FNM_NOESCAPE) == 0;
}

bool trail_os_path_real(const char *path, char *path_ret, size_t size)
{
    char *real = realpath(path, NULL);
    if (!real)
        return false;
    bool fits = strlen(real) < size;
    if (fits)
        memcpy(path_ret, real, strlen(real) + 1);
    free(real);
    return fits;
}

bool trail_os_is_terminal(int fd)
{
    return isatty(fd) == 1;
}

unsigned trail_os_terminal_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

uint32_t trail_os_user(void)
{
    return (uint32_t)geteuid();
}
