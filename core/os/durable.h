/* durable.h -- part of os.h: names that last, and space that is kept.
 */
#ifndef TRAIL_OS_DURABLE_H
#define TRAIL_OS_DURABLE_H

#include "core/os/os.h"

/* Give a file another name in the same file system, replacing what has it. */
enum trail_status trail_os_file_rename(const char *from, const char *to,
                                       struct trail_error *err);
/* Have the names in a directory last over a power failure. False: they may not. */
bool trail_os_directory_sync(const char *path);
/* Make a file of `size` bytes whose space is really taken, for its owner alone. On
 * failure none is left. */
enum trail_status trail_os_file_reserve(const char *path, uint64_t size,
                                        struct trail_error *err);
/* Bytes that an ordinary user can still write at `path`; UINT64_MAX: not known. */
uint64_t trail_os_space(const char *path);
/* Remove a directory that is empty. */
enum trail_status trail_os_directory_remove(const char *path, struct trail_error *err);

/* Have trail_os_time_ns and trail_os_mono_ns say so much more than they would, for
 * tests in which days pass. Who waits until a time is to be woken afterwards. */
void trail_os_clock_shift(int64_t time_ns, uint64_t mono_ns);

#endif
