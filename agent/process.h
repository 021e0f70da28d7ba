/* process.h -- the modules that are mapped in a process, each once. */
#ifndef TRAIL_AGENT_PROCESS_H
#define TRAIL_AGENT_PROCESS_H

#include <stdbool.h>

#include "backtrail/base.h"

/* A line of /proc/PID/maps. */
struct process_mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor; /* of the device */
    bool executable;
    const char *path; /* as it is written, octal escapes undone; in the line */
};
/* Take a line apart, in place. False: it is none. */
bool process_mapping_parse(char *line, struct process_mapping *mapping_ret);

/* Lent until the callback returns. */
struct process_module {
    const char *name; /* as the process sees it, "[vdso]" for the kernel's own */
    /* What opens the very file that is mapped; NULL: it is deleted, replaced or not to
     * be read, or there is none. */
    const char *opened;
    const uint8_t *bytes; /* of one that is in no file; NULL: it cannot be read */
    size_t size;
    bool vdso;
};

/* Call `each` with every module that has executable code in the process. In
 * *generated_ret is how many executable mappings of no module there are.
 *
 * Errors: TRAIL_NOT_FOUND: no such process; TRAIL_IO, TRAIL_BAD_INPUT: its mappings
 * cannot be read, or it has none. The text does not name the process. */
enum trail_status process_each_module(
    int64_t pid, void (*each)(void *arg, const struct process_module *module),
    void *arg, size_t *generated_ret, struct trail_error *err);

#endif
