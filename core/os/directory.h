/* directory.h -- part of os.h: files of a directory that is held open, so that they can
 * be made when no descriptor can be had any more, and by signal handlers.
 *
 * Signals: everything but trail_os_directory_hold and _release is async-signal-safe.
 */
#ifndef TRAIL_OS_DIRECTORY_H
#define TRAIL_OS_DIRECTORY_H

#include "core/os/os.h"

#define TRAIL_OS_SPARES 2

/* A directory, and descriptors that are kept to be closed when others are needed. */
struct trail_os_held {
    int fd, spare[TRAIL_OS_SPARES]; /* -1: none */
    uint64_t device, inode;         /* by which it is known that fd still is it */
};

/* Hold the directory at `path`, which files can be made in. Descriptors are numbered 64
 * and up, out of the way of programs that count theirs. */
enum trail_status trail_os_directory_hold(const char *path,
                                          struct trail_os_held *held_ret,
                                          struct trail_error *err);
void trail_os_directory_release(struct trail_os_held *held);

/* Whether `path` is a directory that this process can make files in. */
bool trail_os_directory_takes(const char *path);

/* Let one spare descriptor go, if there is one: then another can be opened. A program
 * that closes all its descriptors may have others in their place: these are left. */
void trail_os_directory_spend(struct trail_os_held *held);
/* Make file `name` anew, for writing, with mode 0640. A descriptor, or -errno. Where
 * somebody closed the directory it is opened again, as `path`. */
int trail_os_directory_create(struct trail_os_held *held, const char *path,
                              const char *name);
/* 0, or an errno. */
int trail_os_directory_rename(struct trail_os_held *held, const char *from,
                              const char *to);
void trail_os_directory_unlink(struct trail_os_held *held, const char *name);
/* Bytes that an ordinary user can still write there; UINT64_MAX: not known. */
uint64_t trail_os_directory_free(const struct trail_os_held *held);

/* Write all of it; 0, or an errno. *written_ret is set in any case. */
int trail_os_write_all(int fd, const void *bytes, size_t size, size_t *written_ret);
/* Whether a descriptor takes a few KiB at once, within `ms`: a pipe that nobody reads
 * never does. */
bool trail_os_takes(int fd, unsigned ms);
int trail_os_sync(int fd); /* 0, or an errno */
void trail_os_close(int fd);

/* What an errno means, in the C library's usual words; "error" for rare ones. */
const char *trail_os_error_text(int error);

#endif
