/* output.c -- see output.h. */
#define _DEFAULT_SOURCE /* flock */

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "output.h"

/* Another process holds the lock for one batch; longer than this it is stuck. */
#define LOCK_WAIT_NS 5000000000u
/* How long between two tries: short at first, since files that rotate often are gone by
 * the time a patient writer looks again. */
#define LOCK_SLICE_MIN_NS 20000
#define LOCK_SLICE_MAX_NS 2000000
#define NAME_EXTRA_MAX    24 /* "." and a number, terminated */

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- opening ------------------------------------------------------------ */

static const char *kind_name(mode_t mode)
{
    if (S_ISLNK(mode))
        return "a symbolic link";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    if (S_ISDIR(mode))
        return "a directory";
    return "a device";
}

static enum trail_status refuse_kind(const char *path, mode_t mode,
                                     struct trail_error *err)
{
    return trail_fail(
        err, TRAIL_REFUSED,
        "%s: is %s; the file sink writes to regular files only, so name one", path,
        kind_name(mode));
}

static enum trail_status explain_missing(const char *path, struct trail_error *err)
{
    const char *slash = strrchr(path, '/');
    int size = slash ? (int)(slash - path) : 1;
    const char *directory = slash ? path : ".";

    return trail_fail(err, TRAIL_IO, "%s: no such directory; make it: mkdir -p '%.*s'",
                      path, size, directory);
}

static enum trail_status explain_open(const char *path, int error,
                                      struct trail_error *err)
{
    struct stat found;

    if (lstat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return refuse_kind(path, found.st_mode, err);
    if (error == ENOENT)
        return explain_missing(path, err);
    if (error == EACCES)
        return trail_fail(err, TRAIL_IO, "%s: %s; user %ld must be able to write there",
                          path, strerror(error), (long)geteuid());
    return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(error));
}

/* Who owns the file can read what we write: in a folder such as /tmp, somebody else may
 * have been there first. */
static enum trail_status check_file(const char *path, int fd, struct trail_error *err)
{
    struct stat found;

    if (fstat(fd, &found))
        return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(found.st_mode))
        return refuse_kind(path, found.st_mode, err);
    if (found.st_uid != geteuid() && found.st_uid != 0)
        return trail_fail(err, TRAIL_REFUSED,
                          "%s: belongs to user %ld, who could read the reports; "
                          "remove it or give it to user %ld",
                          path, (long)found.st_uid, (long)geteuid());
    return TRAIL_OK;
}

enum trail_status output_open(struct output *output, struct trail_error *err)
{
    /* O_NONBLOCK: a FIFO must be refused, not waited for. */
    int flags =
        O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
    int fd = open(output->path, flags, 0600);

    if (fd < 0)
        return explain_open(output->path, errno, err);
    enum trail_status status = check_file(output->path, fd, err);
    if (status) {
        close(fd);
        return status;
    }
    output_close(output);
    output->fd = fd;
    output->tail_checked = false;
    return TRAIL_OK;
}

void output_close(struct output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}

/* ---- locking ------------------------------------------------------------ */

static bool still_there(const struct output *output)
{
    struct stat named, opened;

    return lstat(output->path, &named) == 0 && fstat(output->fd, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

static uint64_t lock_end_ns(const struct trail_sink_call *call)
{
    uint64_t end = now_ns() + LOCK_WAIT_NS;

    return call->deadline_ns && call->deadline_ns < end ? call->deadline_ns : end;
}

/* flock() itself has no time limit, hence the polling. */
static enum trail_status wait_lock(struct output *output,
                                   const struct trail_sink_call *call, uint64_t end_ns,
                                   struct trail_error *err)
{
    struct timespec slice = { .tv_nsec = LOCK_SLICE_MIN_NS };

    while (flock(output->fd, LOCK_EX | LOCK_NB)) {
        if (errno == EINTR)
            continue;
        if (errno != EWOULDBLOCK)
            return TRAIL_OK; /* a file system without locks: O_APPEND has to do */
        if (now_ns() >= end_ns || (call->stop && call->stop(call->host)))
            return trail_fail(err, TRAIL_RETRY, "%s: another process keeps it locked",
                              output->path);
        nanosleep(&slice, NULL);
        if (slice.tv_nsec < LOCK_SLICE_MAX_NS)
            slice.tv_nsec *= 2;
    }
    return TRAIL_OK;
}

enum trail_status output_lock(struct output *output, const struct trail_sink_call *call,
                              struct trail_error *err)
{
    uint64_t end_ns = lock_end_ns(call);

    do {
        /* Whatever is wrong with the path, a person can put it right: keep the batch.
         */
        if (output->fd < 0 && output_open(output, err))
            return TRAIL_RETRY;
        enum trail_status status = wait_lock(output, call, end_ns, err);
        if (status)
            return status;
        if (still_there(output))
            return TRAIL_OK;
        output_close(output); /* moved away, or rotated by the one we waited for */
    } while (now_ns() < end_ns);
    return trail_fail(err, TRAIL_RETRY, "%s: replaced again and again", output->path);
}

void output_unlock(struct output *output)
{
    if (output->fd >= 0)
        flock(output->fd, LOCK_UN);
}

/* ---- the disk ----------------------------------------------------------- */

/* A new name is safe only when its directory is on the disk too. */
static void sync_directory(const struct output *output)
{
    char *directory = strdup(output->path);
    if (!directory)
        return;
    char *slash = strrchr(directory, '/');
    if (slash)
        slash[slash == directory ? 1 : 0] = '\0';
    int fd = open(slash ? directory : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    if (fd < 0)
        return;
    fsync(fd);
    close(fd);
}

enum trail_status output_sync(struct output *output, struct trail_error *err)
{
    if (fdatasync(output->fd) == 0)
        return TRAIL_OK;
    enum trail_status status = trail_fail(err, TRAIL_RETRY, "%s: not on the disk: %s",
                                          output->path, strerror(errno));
    /* A second fdatasync of this file would succeed without having written anything. */
    output_close(output);
    return status;
}

/* ---- rotation ----------------------------------------------------------- */

static void rotated_name(const struct output *output, uint64_t number, char *name_ret,
                         size_t size)
{
    if (number == 0)
        snprintf(name_ret, size, "%s", output->path);
    else
        snprintf(name_ret, size, "%s.%llu", output->path, (unsigned long long)number);
}

static enum trail_status shift_names(const struct output *output,
                                     struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    size_t size = strlen(output->path) + NAME_EXTRA_MAX;
    char *from = malloc(size);
    char *to = malloc(size);

    if (!from || !to) {
        status = trail_fail(err, TRAIL_RETRY, "%s: no memory to rotate", output->path);
        goto out;
    }
    for (uint64_t i = output->rotate_keep; i-- > 0;) {
        rotated_name(output, i, from, size);
        rotated_name(output, i + 1, to, size);
        if (rename(from, to) && errno != ENOENT) {
            status = trail_fail(err, TRAIL_RETRY, "%s: cannot rotate to %s: %s", from,
                                to, strerror(errno));
            goto out;
        }
    }
out:
    free(to);
    free(from);
    return status;
}

enum trail_status output_rotate(struct output *output,
                                const struct trail_sink_call *call,
                                struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;

    if (output->durable)
        status = output_sync(output, err); /* it is out of reach afterwards */
    if (status)
        return status;
    if (output->rotate_keep)
        status = shift_names(output, err);
    else if (unlink(output->path) && errno != ENOENT)
        status = trail_fail(err, TRAIL_RETRY, "%s: cannot rotate: %s", output->path,
                            strerror(errno));
    if (status)
        return status;
    /* The old file no longer bears the name, so this opens and locks the new one. */
    output_unlock(output);
    status = output_lock(output, call, err);
    if (!status && output->durable)
        sync_directory(output);
    return status;
}
