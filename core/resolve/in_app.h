/* in_app.h -- telling a program's own code from that of its libraries. */
#ifndef TRAIL_IN_APP_H
#define TRAIL_IN_APP_H

#include "core/resolve/resolved.h"

/* True if the frame is the application's: it lies in the main program, or in a module
 * under the main program's directory, or in one that a glob includes; no glob excludes
 * it; and it was not inlined from a header of the system or of a language's library. */
bool trail_in_app(const struct trail_policy *policy, const struct trail_trace *trace,
                  const struct trail_image *image, const struct trail_frame *frame);

/* True if `text` matches `glob`, in which * stands for any bytes and ? for one. */
bool trail_glob(const char *glob, const char *text);

#endif
