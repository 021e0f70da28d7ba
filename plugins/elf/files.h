/* files.h -- the files that a module is read from. */
#ifndef ELF_FILES_H
#define ELF_FILES_H

#include "plugins/elf/binary.h"

struct files {
    struct binary main;              /* the module itself */
    struct binary debug;             /* its separate debug file */
    struct binary alt;               /* what dwz moved out of the one with the units */
    const struct binary *with_units; /* &main, &debug, or NULL: no debug information */
};

/* Open what was given and ask the host for the rest. `files` points into itself, so it
 * stays where it is.
 *
 * Errors: TRAIL_NOT_FOUND: no program or shared object.
 */
enum trail_status files_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct files *files, struct trail_error *err);
void files_close(struct files *files); /* a zeroed one is fine */

#endif
