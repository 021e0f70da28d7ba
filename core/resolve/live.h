/* live.h -- a module's own file, and its bytes, by way of the process that has it
 * mapped: what was removed, replaced or never had a name is still there.
 */
#ifndef TRAIL_LIVE_H
#define TRAIL_LIVE_H

#include "core/resolve/files.h"

/* Where a module is mapped. */
struct trail_live {
    int64_t pid;         /* 0: in no process that runs */
    uint64_t start, end; /* of the image, absolute */
    bool main_program;
};

/* Its file by the process's own eyes: /proc/PID/exe, its root and its mappings. The
 * first that is the one wanted is taken. `path` is what the process calls it. */
enum trail_status trail_live_file(const struct trail_live *live, const char *path,
                                  const struct trail_wanted *wanted,
                                  struct trail_search *search,
                                  struct trail_symbol_file **file_ret);
/* What the process has of it in memory, put together as a file: segments, notes and
 * exported symbols, without debug information.
 *
 * Errors: TRAIL_IO: it may not be read; TRAIL_BAD_INPUT: it is no ELF image;
 * TRAIL_REFUSED: of another id. */
enum trail_status trail_live_memory(const struct trail_live *live,
                                    const struct trail_wanted *wanted,
                                    struct trail_search *search,
                                    struct trail_symbol_file **file_ret);

#endif
