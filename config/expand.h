/* expand.h -- "${dir}", "${env:NAME}", "${file:PATH}" in texts, and paths made whole.
 */
#ifndef TRAIL_CONFIG_EXPAND_H
#define TRAIL_CONFIG_EXPAND_H

#include "config/document.h"

/* Largest file that "${file:PATH}" takes in, and largest text that comes out, bytes. */
#define TRAIL_CONFIG_FILE_LIMIT (64u << 10)
#define TRAIL_CONFIG_TEXT_LIMIT (1u << 20)

/* Expand `text`; what is put in is not expanded again. Mistakes are told at `at`.
 *
 * Owns: *text_ret is the caller's to free. */
enum trail_status trail_config_expand(const struct trail_config_value *at,
                                      const char *text, char **text_ret,
                                      struct trail_error *err);

/* The same for a path: "~/" is the home directory, and a relative path starts from the
 * directory of the document. */
enum trail_status trail_config_expand_path(const struct trail_config_value *at,
                                           const char *text, char **path_ret,
                                           struct trail_error *err);

#endif
