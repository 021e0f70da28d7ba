/* inbox_read.c -- the agent's side of the inbox. */
#define _GNU_SOURCE

#include "agent/daemon/inbox_read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/daemon/lines_cut.h"
#include "agent/daemon/local.h"
#include "core/deliver/notice.h"
#include "core/os/os.h"
#include "core/trace/trace_read.h"

#define FILE_LIMIT  64                 /* files of one commit */
#define BATCH_SIZE  ((size_t)16 << 20) /* bytes of one, but for the last file */
#define ITEM_LIMIT  256                /* lines of one */
#define SHOWN_SIZE  65536              /* bytes kept of a file that is too large */
#define LOOK_MS     2000               /* between looks, should a notice be lost */
#define ABANDONED_S 60                 /* that a file lies beside, unfinished */

struct file {
    char name[256];
    char *bytes;
    size_t size;
    uint32_t uid;
    size_t first, end; /* its items */
};

struct inbox_read {
    char path[1024];
    struct intake *intake;
    int fd, watch; /* the directory; inotify, or -1 */
    struct local_wake wake;
    struct trail_os_thread thread;
    _Atomic bool stopping;
    struct file files[FILE_LIMIT];
    size_t file_count;
    struct intake_item items[ITEM_LIMIT];
    size_t item_count;
};

/* ---- one file ----------------------------------------------------------- */

static void reject(struct inbox_read *inbox, const struct file *file, const char *why)
{
    size_t shown = file->size < SHOWN_SIZE ? file->size : SHOWN_SIZE;
    intake_reject(inbox->intake, INTAKE_INBOX, file->name, file->uid, file->bytes,
                  shown, why);
    /* A directory, too, if there is nothing in it. */
    if (unlinkat(inbox->fd, file->name, 0) &&
        unlinkat(inbox->fd, file->name, AT_REMOVEDIR))
        trail_notice("%s/%s: cannot be removed: %s", inbox->path, file->name,
                     strerror(errno));
}

static ssize_t read_all(int fd, char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size) {
        ssize_t got = read(fd, bytes + at, size - at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -1 : (ssize_t)at;
        at += (size_t)got;
    }
    return (ssize_t)at;
}

/* What is wrong with an open file, before it is read; NULL: nothing. */
static const char *mistake_of(const struct stat *st)
{
    if (!S_ISREG(st->st_mode))
        return "is not a regular file";
    if (st->st_nlink != 1)
        return "has several names";
    if ((uint64_t)st->st_size > TRAIL_REPORT_SIZE_LIMIT)
        return "is larger than any report";
    return NULL;
}

static const char *read_open(int fd, struct file *file)
{
    struct stat st;
    if (fstat(fd, &st))
        return "cannot be looked at";
    file->uid = st.st_uid;
    const char *mistake = mistake_of(&st);
    if (mistake && !S_ISREG(st.st_mode))
        return mistake;
    file->size = mistake ? SHOWN_SIZE : (size_t)st.st_size;
    file->bytes = malloc(file->size + 1);
    if (!file->bytes)
        return "there is no memory to read it";
    ssize_t got = read_all(fd, file->bytes, file->size);
    file->size = got > 0 ? (size_t)got : 0;
    if (mistake)
        return mistake;
    if (got < 0)
        return "cannot be read";
    if (file->size > trail_trace_size_limit(file->bytes, file->size))
        return "is larger than any trace";
    return file->size ? NULL : "is empty";
}

/* Read a file; false: it was rejected, or is gone. */
static bool read_file(struct inbox_read *inbox, const char *name, struct file *file)
{
    *file = (struct file){ .uid = UINT32_MAX };
    snprintf(file->name, sizeof(file->name), "%s", name);
    int fd = openat(inbox->fd, name,
                    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return false;
    /* No descriptors, no memory: that is not the file's fault, and passes. */
    if (fd < 0 && errno != ELOOP && errno != ENXIO && errno != EACCES)
        return false;
    const char *why = fd < 0 ? errno == ELOOP ? "is a symbolic link" : strerror(errno)
                             : read_open(fd, file);
    if (fd >= 0)
        close(fd);
    if (!why)
        return true;
    reject(inbox, file, why);
    free(file->bytes);
    file->bytes = NULL;
    return false;
}

/* ---- a batch ------------------------------------------------------------ */

/* The lines of a file as items; false: it has more than fit now. */
static bool add_items(struct inbox_read *inbox, struct file *file)
{
    size_t rest = 0, room = ITEM_LIMIT - inbox->item_count;
    size_t count = lines_cut(file->bytes, file->size, file->uid,
                             inbox->items + inbox->item_count, room, &rest);
    if (rest < file->size)
        return false;
    file->first = inbox->item_count;
    inbox->item_count += count;
    file->end = inbox->item_count;
    return true;
}

/* Whether all of a file has found its place, so that it can go. */
static bool is_settled(const struct inbox_read *inbox, const struct file *file)
{
    for (size_t i = file->first; i < file->end; i++)
        if (inbox->items[i].fate == INTAKE_LATER)
            return false;
    return true;
}

/* Take what has been read. Returns how many files could go. */
static size_t settle(struct inbox_read *inbox)
{
    size_t settled = 0;
    if (inbox->file_count)
        intake_take(inbox->intake, INTAKE_INBOX, inbox->items, inbox->item_count);
    for (size_t i = 0; i < inbox->file_count; i++) {
        struct file *file = &inbox->files[i];
        if (is_settled(inbox, file) && unlinkat(inbox->fd, file->name, 0) == 0)
            settled++;
        free(file->bytes);
    }
    inbox->file_count = inbox->item_count = 0;
    return settled;
}

/* One file that has more lines than a batch: a part after another. */
static size_t settle_long(struct inbox_read *inbox, struct file *file)
{
    size_t at = 0, rest = 0;
    bool all = true;
    while (at < file->size) {
        size_t count = lines_cut(file->bytes + at, file->size - at, file->uid,
                                 inbox->items, ITEM_LIMIT, &rest);
        intake_take(inbox->intake, INTAKE_INBOX, inbox->items, count);
        for (size_t i = 0; i < count; i++)
            all = all && inbox->items[i].fate != INTAKE_LATER;
        at += rest;
    }
    free(file->bytes);
    return all && unlinkat(inbox->fd, file->name, 0) == 0;
}

static size_t add_file(struct inbox_read *inbox, const char *name, size_t *size)
{
    struct file *file = &inbox->files[inbox->file_count];
    size_t settled = 0;
    if (!read_file(inbox, name, file))
        return 0;
    if (!add_items(inbox, file)) {
        struct file whole = *file;
        settled = settle(inbox);
        return settled + settle_long(inbox, &whole);
    }
    inbox->file_count++;
    *size += file->size;
    if (inbox->file_count == FILE_LIMIT || *size >= BATCH_SIZE) {
        *size = 0;
        settled = settle(inbox);
    }
    return settled;
}

/* ---- the directory ------------------------------------------------------ */

static bool ends_with(const char *name, const char *end)
{
    size_t size = strlen(name), end_size = strlen(end);
    return size > end_size && strcmp(name + size - end_size, end) == 0;
}

/* A file that its writer will not finish any more: it is taken as it is, cut off. */
static bool is_abandoned(const struct inbox_read *inbox, const char *name)
{
    struct stat st;
    return name[0] == '.' && ends_with(name, ".part") &&
           fstatat(inbox->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           (uint64_t)st.st_ctim.tv_sec + ABANDONED_S < trail_os_time_ns() / 1000000000u;
}

static bool is_ours(const struct inbox_read *inbox, const char *name)
{
    return (name[0] != '.' && ends_with(name, ".trace")) || is_abandoned(inbox, name);
}

/* Take all that is there. Returns how many files went. */
static size_t look(struct inbox_read *inbox)
{
    size_t settled = 0, size = 0;
    uint64_t seen = 0;
    int fd = openat(inbox->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    if (!directory && fd >= 0)
        close(fd);
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        if (atomic_load(&inbox->stopping))
            break;
        if (!is_ours(inbox, entry->d_name))
            continue;
        seen++;
        settled += add_file(inbox, entry->d_name, &size);
    }
    settled += settle(inbox);
    if (directory)
        closedir(directory);
    atomic_store(&intake_counts(inbox->intake)->inbox_waiting,
                 seen > settled ? seen - settled : 0);
    return settled;
}

static void drain_watch(int fd)
{
    char events[4096];
    while (read(fd, events, sizeof(events)) > 0)
        continue;
}

static void inbox_main(void *arg)
{
    struct inbox_read *inbox = arg;
    while (!atomic_load(&inbox->stopping)) {
        struct pollfd on[] = { { .fd = inbox->wake.read_fd, .events = POLLIN },
                               { .fd = inbox->watch, .events = POLLIN } };
        drain_watch(inbox->watch);
        if (!look(inbox) && !atomic_load(&inbox->stopping))
            poll(on, 2, LOOK_MS);
    }
}

/* ---- start and end ------------------------------------------------------ */

enum trail_status inbox_read_start(const char *path, struct intake *intake,
                                   struct inbox_read **inbox_ret,
                                   struct trail_error *err)
{
    struct inbox_read *inbox = calloc(1, sizeof(*inbox));
    if (!inbox)
        return trail_fail(err, TRAIL_NO_MEMORY, "inbox: out of memory");
    inbox->intake = intake;
    inbox->wake = (struct local_wake){ .read_fd = -1, .write_fd = -1 };
    snprintf(inbox->path, sizeof(inbox->path), "%s", path);
    inbox->watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    inbox->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    enum trail_status status = TRAIL_OK;
    if (inbox->fd < 0)
        status = trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    /* Without notices it is looked at every two seconds. */
    if (!status && inbox->watch >= 0 &&
        inotify_add_watch(inbox->watch, path, IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
        trail_notice("%s: is looked at every 2 s: %s", path, strerror(errno));
    if (!status)
        status = local_wake_open(&inbox->wake, err);
    if (!status)
        status = trail_os_thread_start(inbox_main, inbox, "inbox", &inbox->thread, err);
    if (status) {
        local_wake_close(&inbox->wake);
        if (inbox->fd >= 0)
            close(inbox->fd);
        if (inbox->watch >= 0)
            close(inbox->watch);
        free(inbox);
        return status;
    }
    *inbox_ret = inbox;
    return TRAIL_OK;
}

void inbox_read_stop(struct inbox_read *inbox)
{
    if (!inbox)
        return;
    atomic_store(&inbox->stopping, true);
    local_wake_send(&inbox->wake);
    trail_os_thread_join(inbox->thread);
    local_wake_close(&inbox->wake);
    close(inbox->fd);
    if (inbox->watch >= 0)
        close(inbox->watch);
    free(inbox);
}
