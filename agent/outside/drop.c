/* drop.c -- a raw trace put into an inbox. */
#include "agent/outside/drop.h"

#include <errno.h>

#include "core/trace/inbox.h"

enum trail_status outside_drop(const char *path, const uint8_t id[16], const char *text,
                               size_t size, struct trail_error *err)
{
    struct trail_inbox inbox = { .is_open = false };
    struct trail_inbox_file file;
    enum trail_status status = trail_inbox_open(path, 0, &inbox, err);
    if (status)
        return status;
    int error = trail_inbox_begin(&inbox, id, &file);
    if (!error)
        error = trail_inbox_write(&inbox, &file, text, size);
    if (!error)
        error = trail_inbox_write(&inbox, &file, "\n", 1);
    if (!error)
        error = trail_inbox_keep(&inbox, &file, true);
    if (error && file.fd >= 0)
        trail_inbox_drop(&inbox, &file);
    if (error)
        status = trail_fail(err, TRAIL_IO, "%s: the trace cannot be written: %s",
                            inbox.path, strerror(error));
    trail_inbox_close(&inbox);
    return status;
}
