/* variables.h -- keys set by the environment: BACKTRAIL_SET_symbols.store=DIR, or for a
 * shell, which knows no dots in names, BACKTRAIL_SET_symbols__store=DIR. Each works as
 * one more file with that one key.
 */
#ifndef TRAIL_CONFIG_VARIABLES_H
#define TRAIL_CONFIG_VARIABLES_H

#include "config/document.h"
#include "config/mistakes.h"

#define TRAIL_CONFIG_VARIABLE_PREFIX "BACKTRAIL_SET_"
/* Most variables, and most steps in the key of one. */
#define TRAIL_CONFIG_VARIABLE_LIMIT 256
#define TRAIL_CONFIG_STEP_LIMIT     12

/* One variable; `each` of trail_config_variables_add calls back with them. */
struct trail_config_variable {
    char *name; /* the whole of it */
    char *value;
};

/* What the environment says, in order of key; nothing in a set-uid program.
 *
 * Owns: free *variables_ret with trail_config_variables_free. */
enum trail_status trail_config_variables_read(
    struct trail_config_variable **variables_ret, size_t *count_ret,
    struct trail_error *err);
void trail_config_variables_free(struct trail_config_variable *variables, size_t count);

/* Add a part for each of `variables`; relative paths in them start from `directory`.
 * Mistakes are noted. */
void trail_config_variables_add(struct trail_config_document *whole,
                                const struct trail_config_variable *variables,
                                size_t count, const char *directory,
                                struct trail_config_mistakes *mistakes);

#endif
