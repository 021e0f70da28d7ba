/* core_images.h -- where the files are that a core was mapped from: not all cores list
 * them, and not all come from this machine.
 */
#ifndef TRAIL_AGENT_OUTSIDE_CORE_IMAGES_H
#define TRAIL_AGENT_OUTSIDE_CORE_IMAGES_H

#include "core/os/os.h"

struct trail_target; /* core/capture/target.h */

struct outside_places {
    const char *program; /* file of the program; NULL: as the core says */
    const char *root;    /* directory that the paths in the core are below; NULL: "/" */
};

/* Let the images of `target`, a core, be read from those places. In one that lists no
 * files they are found as a debugger does it: the program by its entry point, its
 * libraries by the loader's list in its memory.
 *
 * Errors: the program's file cannot be used. A library that is not there is left out.
 */
enum trail_status outside_core_images(struct trail_target *target,
                                      const struct outside_places *places,
                                      struct trail_error *err);

#endif
