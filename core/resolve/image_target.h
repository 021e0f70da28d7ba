/* image_target.h -- a module of a trace, as something to look addresses up in. */
#ifndef TRAIL_IMAGE_TARGET_H
#define TRAIL_IMAGE_TARGET_H

#include "core/resolve/routes.h"
#include "core/trace/trace_read.h"

/* Texts are lent from the image. `live`: the process that the trace is of, which still
 * runs, so that its modules may be read from its memory; 0: there is none. */
struct trail_target trail_image_target(const struct trail_image *image, int64_t live);

#endif
