/* inbox.h -- the directory where raw traces wait for who resolves them: where it is,
 * and how a file comes into it. For all producers.
 *
 * A file is called ID.trace after the trace's id, has mode 0640, and is written beside,
 * as .ID.part, and renamed. The directory may be one that others can neither list nor
 * read. Nothing is removed here but what this process has not finished.
 *
 * Signals: async-signal-safe but for trail_inbox_find, _open and _close.
 */
#ifndef TRAIL_INBOX_H
#define TRAIL_INBOX_H

#include "core/os/os.h"

#define TRAIL_INBOX_FREE_SIZE ((uint64_t)16 << 20) /* bytes left to others */
#define TRAIL_INBOX_CAP_SIZE  ((uint64_t)64 << 20) /* bytes that a process may bring */

struct trail_inbox {
    bool is_open;
    char path[4096];
    struct trail_os_held held;
    uint64_t free_size; /* bytes that must stay free there */
    uint64_t left_size; /* bytes that this process may still bring */
};

/* Where it is: $BACKTRAIL_INBOX; or /var/lib/backtrail/inbox, if it is there and takes
 * files; or $XDG_STATE_HOME/backtrail/inbox; or ~/.local/state/backtrail/inbox. The
 * last two are made, with mode 0700. */
enum trail_status trail_inbox_find(char *path_ret, size_t size,
                                   struct trail_error *err);
/* `path` NULL: as trail_inbox_find says. `free_size` 0: TRAIL_INBOX_FREE_SIZE. */
enum trail_status trail_inbox_open(const char *path, uint64_t free_size,
                                   struct trail_inbox *inbox_ret,
                                   struct trail_error *err);
void trail_inbox_close(struct trail_inbox *inbox); /* closed is fine */

/* A file on its way in. */
struct trail_inbox_file {
    int fd;        /* -1: none */
    char name[40]; /* "ID.trace" */
    char part[40]; /* ".ID.part" */
    uint64_t size;
};

/* Begin file `id` (16 bytes). 0, or an errno: ENOSPC where too little is free, EDQUOT
 * when this process has brought all that it may. */
int trail_inbox_begin(struct trail_inbox *inbox, const uint8_t id[16],
                      struct trail_inbox_file *file_ret);
int trail_inbox_write(struct trail_inbox *inbox, struct trail_inbox_file *file,
                      const void *bytes, size_t size);
/* Have it appear; `durable`: on the disk first. */
int trail_inbox_keep(struct trail_inbox *inbox, struct trail_inbox_file *file,
                     bool durable);
void trail_inbox_drop(struct trail_inbox *inbox, struct trail_inbox_file *file);

#endif
