/* walk.h -- the modules at a path: the file itself, or all ELF files below a folder. */
#ifndef TRAIL_AGENT_WALK_H
#define TRAIL_AGENT_WALK_H

#include <stdbool.h>

#include "backtrail/base.h"

#define WALK_DEPTH_LIMIT 64
#define WALK_FILE_LIMIT  1000000u /* files and folders looked at */

struct walk_file {
    char *path;
    uint64_t size; /* bytes */
    bool given;    /* the path was named: it is what the user says it is */
};

/* Zeroed is empty. */
struct walk {
    struct walk_file *at;
    size_t count, room;
    size_t looked_at;
    bool failed; /* something could not be read, which was told */
};

/* Add the file `path`, or every program, library and debug file below the folder; links
 * in it are not followed. What cannot be read is told on standard error. Only a lack of
 * memory, and more files than the limit, are errors. */
enum trail_status walk_add(struct walk *walk, const char *path,
                           struct trail_error *err);
void walk_deinit(struct walk *walk);

#endif
