/* leftover.c -- where reports go that a program could not deliver before its end. */
#include "core/deliver/leftover.h"

void trail_leftover_init(struct trail_leftover *leftover, const char *directory)
{
    struct trail_os_stat stat;
    *leftover = (struct trail_leftover){ .size = 0 };
    trail_os_mutex_init(&leftover->lock);
    if (directory && strlen(directory) < sizeof(leftover->directory) &&
        trail_os_stat_path(directory, &stat, NULL) == TRAIL_OK && stat.directory)
        memcpy(leftover->directory, directory, strlen(directory) + 1);
}

void trail_leftover_deinit(struct trail_leftover *leftover)
{
    trail_os_mutex_deinit(&leftover->lock);
}

static enum trail_status count_one(void *arg, const char *name)
{
    (void)name;
    ++*(size_t *)arg;
    return TRAIL_OK;
}

/* An inbox that others own cannot be listed; that is its agent's to bound. */
static bool is_full(struct trail_leftover *leftover, size_t size)
{
    if (leftover->count == 0) {
        leftover->present = 0;
        if (trail_os_directory_list(leftover->directory, count_one, &leftover->present,
                                    NULL))
            leftover->present = 0;
    }
    return leftover->present + leftover->count >= TRAIL_LEFTOVER_COUNT ||
           size > TRAIL_LEFTOVER_SIZE - leftover->size;
}

static bool is_id(const char *id)
{
    return strlen(id) == 32 && strspn(id, "0123456789abcdef") == 32;
}

static enum trail_status keep_locked(struct trail_leftover *leftover, const char *id,
                                     const char *text, size_t size,
                                     struct trail_error *err)
{
    char path[sizeof(leftover->directory) + 48];
    if (is_full(leftover, size))
        return trail_fail(err, TRAIL_RETRY, "%.200s: is full; does an agent run?",
                          leftover->directory);
    snprintf(path, sizeof(path), "%s/%s.trace", leftover->directory, id);
    enum trail_status status = trail_os_file_write(path, text, size, 0640, err);
    if (!status) {
        leftover->size += size;
        leftover->count++;
    }
    return status;
}

enum trail_status trail_leftover_keep(struct trail_leftover *leftover, const char *id,
                                      const char *text, size_t size,
                                      struct trail_error *err)
{
    if (!leftover->directory[0])
        return TRAIL_NOT_FOUND;
    if (!is_id(id))
        return trail_fail(err, TRAIL_BAD_INPUT, "report: its id is no name for a file");
    trail_os_mutex_lock(&leftover->lock);
    enum trail_status status = keep_locked(leftover, id, text, size, err);
    trail_os_mutex_unlock(&leftover->lock);
    return status;
}
