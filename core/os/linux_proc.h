/* linux_proc.h -- the files that the kernel makes. */
#ifndef TRAIL_LINUX_PROC_H
#define TRAIL_LINUX_PROC_H

#include <stdbool.h>
#include <stddef.h>

/* Read a small file of /proc, `size` - 1 bytes at most. False: it cannot be read, errno
 * says why, or is empty; the text is "" then. Async-signal-safe. */
bool trail_proc_read(const char *path, char *text_ret, size_t size);

#endif
