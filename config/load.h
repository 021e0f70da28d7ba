/* load.h -- loading from wherever texts may come from: what trail_config_load does with
 * files and the environment, tests do with memory.
 */
#ifndef TRAIL_CONFIG_LOAD_H
#define TRAIL_CONFIG_LOAD_H

#include "config/gather.h"
#include "config/variables.h"

struct trail_config_input {
    const char *text; /* of the file itself */
    size_t size;
    const char *name, *directory; /* in messages; for relative paths and "${dir}" */
    const char *path;             /* PATH.d has its drop-ins; NULL: there are none */
    const struct trail_config_files *files;
    const struct trail_config_variable *variables; /* in order of key */
    size_t variable_count;
    const char *variable_directory; /* where relative paths in variables start */
};

/* The status is that of the first mistake; each is noted. */
enum trail_status trail_config_load_input(const struct trail_config_input *input,
                                          struct trail_config **config_ret,
                                          struct trail_config_mistakes *mistakes);

#endif
