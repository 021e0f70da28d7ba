/* core_file.h -- a core file as a raw trace. */
#ifndef TRAIL_AGENT_OUTSIDE_CORE_FILE_H
#define TRAIL_AGENT_OUTSIDE_CORE_FILE_H

#include "agent/outside/core_images.h"

/* Errors: as of trail_target_core and outside_core_images.
 * Owns:   the caller frees *text_ret. */
enum trail_status outside_core_text(const char *path,
                                    const struct outside_places *places,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err);

#endif
