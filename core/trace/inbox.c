/* inbox.c -- the directory where raw traces wait for who resolves them. */
#include "core/trace/inbox.h"

#include <errno.h>

static const char system_inbox[] = "/var/lib/backtrail/inbox";

/* ---- where it is --------------------------------------------------------- */

static enum trail_status join(const char *directory, const char *name, char *path_ret,
                              size_t size, struct trail_error *err)
{
    int length = snprintf(path_ret, size, "%s%s", directory, name);
    if (length < 0 || (size_t)length >= size)
        return trail_fail(err, TRAIL_BAD_INPUT, "inbox: %.80s...: the path is too long",
                          directory);
    return TRAIL_OK;
}

static enum trail_status find_user(char *path_ret, size_t size, struct trail_error *err)
{
    const char *state = trail_os_environment("XDG_STATE_HOME");
    const char *home = trail_os_environment("HOME");
    enum trail_status status;

    if (state && state[0] == '/')
        status = join(state, "/backtrail/inbox", path_ret, size, err);
    else if (home && home[0] == '/')
        status = join(home, "/.local/state/backtrail/inbox", path_ret, size, err);
    else
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "inbox: no $HOME to make one in; set BACKTRAIL_INBOX");
    return status ? status : trail_os_directory_make(path_ret, 0700, err);
}

enum trail_status trail_inbox_find(char *path_ret, size_t size, struct trail_error *err)
{
    const char *named = trail_os_environment("BACKTRAIL_INBOX");
    if (named && named[0])
        return join(named, "", path_ret, size, err);
    if (trail_os_directory_takes(system_inbox))
        return join(system_inbox, "", path_ret, size, err);
    return find_user(path_ret, size, err);
}

enum trail_status trail_inbox_open(const char *path, uint64_t free_size,
                                   struct trail_inbox *inbox_ret,
                                   struct trail_error *err)
{
    struct trail_inbox *inbox = inbox_ret;
    enum trail_status status;

    inbox->is_open = false;
    status = path ? join(path, "", inbox->path, sizeof(inbox->path), err)
                  : trail_inbox_find(inbox->path, sizeof(inbox->path), err);
    if (!status)
        status = trail_os_directory_hold(inbox->path, &inbox->held, err);
    if (status)
        return status;
    inbox->free_size = free_size ? free_size : TRAIL_INBOX_FREE_SIZE;
    inbox->left_size = TRAIL_INBOX_CAP_SIZE;
    inbox->is_open = true;
    return TRAIL_OK;
}

void trail_inbox_close(struct trail_inbox *inbox)
{
    if (inbox->is_open)
        trail_os_directory_release(&inbox->held);
    inbox->is_open = false;
}

/* ---- files --------------------------------------------------------------- */

static void name_of(const uint8_t id[16], const char *begin, const char *end,
                    char name_ret[40])
{
    size_t size = strlen(begin);
    memcpy(name_ret, begin, size);
    for (size_t i = 0; i < 16; i++) {
        name_ret[size++] = "0123456789abcdef"[id[i] >> 4];
        name_ret[size++] = "0123456789abcdef"[id[i] & 15];
    }
    memcpy(name_ret + size, end, strlen(end) + 1);
}

int trail_inbox_begin(struct trail_inbox *inbox, const uint8_t id[16],
                      struct trail_inbox_file *file_ret)
{
    file_ret->fd = -1;
    file_ret->size = 0;
    if (!inbox->is_open)
        return ENOENT;
    if (inbox->left_size == 0)
        return EDQUOT;
    name_of(id, "", ".trace", file_ret->name);
    name_of(id, ".", ".part", file_ret->part);
    int fd = trail_os_directory_create(&inbox->held, inbox->path, file_ret->part);
    for (unsigned i = 0; i < TRAIL_OS_SPARES && (fd == -EMFILE || fd == -ENFILE); i++) {
        trail_os_directory_spend(&inbox->held);
        fd = trail_os_directory_create(&inbox->held, inbox->path, file_ret->part);
    }
    if (fd < 0)
        return -fd;
    file_ret->fd = fd;
    if (trail_os_directory_free(&inbox->held) < inbox->free_size) {
        trail_inbox_drop(inbox, file_ret);
        return ENOSPC;
    }
    return 0;
}

int trail_inbox_write(struct trail_inbox *inbox, struct trail_inbox_file *file,
                      const void *bytes, size_t size)
{
    size_t written;
    if (size > inbox->left_size)
        return EDQUOT;
    int error = trail_os_write_all(file->fd, bytes, size, &written);
    file->size += written;
    inbox->left_size -= written;
    return error;
}

int trail_inbox_keep(struct trail_inbox *inbox, struct trail_inbox_file *file,
                     bool durable)
{
    int error = durable ? trail_os_sync(file->fd) : 0;
    trail_os_close(file->fd);
    file->fd = -1;
    int renamed = trail_os_directory_rename(&inbox->held, file->part, file->name);
    if (renamed)
        trail_os_directory_unlink(&inbox->held, file->part);
    return renamed ? renamed : error;
}

void trail_inbox_drop(struct trail_inbox *inbox, struct trail_inbox_file *file)
{
    if (file->fd < 0)
        return;
    trail_os_close(file->fd);
    file->fd = -1;
    trail_os_directory_unlink(&inbox->held, file->part);
}
