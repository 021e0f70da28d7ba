/* module.h -- who an image of a target is, read from the target's memory. */
#ifndef TRAIL_AGENT_OUTSIDE_MODULE_H
#define TRAIL_AGENT_OUTSIDE_MODULE_H

#include "core/capture/target.h"
#include "core/trace/module_map.h"

/* All but whether it is the main program. The path is lent from the image. */
void outside_module_read(const struct trail_target *target,
                         struct trail_target_image *image,
                         struct trail_mapped *module_ret);

#endif
