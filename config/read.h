/* read.h -- values of the document read as what they should be. A value that is not
 * given leaves the output as it was; a wrong one is TRAIL_BAD_INPUT, told with its
 * position, what was expected and what was found.
 */
#ifndef TRAIL_CONFIG_READ_H
#define TRAIL_CONFIG_READ_H

#include <stdbool.h>
#include "config/document.h"
#include "config/mistakes.h"

enum trail_status trail_config_expect_object(const struct trail_config_value *value,
                                             struct trail_error *err);
enum trail_status trail_config_expect_list(const struct trail_config_value *value,
                                           struct trail_error *err);

/* Note members of an object that are not in `known`, a NULL-terminated list. Fails only
 * if it is no object. */
enum trail_status trail_config_check_keys(const struct trail_config_value *object,
                                          const char *const *known,
                                          struct trail_config_mistakes *mistakes);

/* A value for a message, as it stands in the file: what it expands to may be a secret,
 * and is only said to be expanded. */
struct trail_config_written {
    char text[96];
};
struct trail_config_written trail_config_written(
    const struct trail_config_value *value);

/* Read one value of an enum trail_option_type that is neither MAP nor LIST.
 *
 * Owns: *text_ret, the value as written and expanded, is the caller's to free. */
enum trail_status trail_config_read_scalar(const struct trail_config_value *value,
                                           uint32_t type, char **text_ret,
                                           uint64_t *number_ret,
                                           struct trail_error *err);

/* Read a text or a path. *text_ret is freed if it is replaced. */
enum trail_status trail_config_read_text(const struct trail_config_value *value,
                                         uint32_t type, char **text_ret,
                                         struct trail_error *err);
enum trail_status trail_config_read_number(const struct trail_config_value *value,
                                           uint32_t type, uint64_t *number_ret,
                                           struct trail_error *err);

/* Read a list of texts or paths. *list_ret becomes NULL-terminated and never NULL; an
 * absent one is empty. */
enum trail_status trail_config_read_list(const struct trail_config_value *value,
                                         uint32_t type, char ***list_ret,
                                         struct trail_error *err);
/* Note every mistake in such a list, where reading it ends with the first. */
void trail_config_note_list(const struct trail_config_value *value, uint32_t type,
                            struct trail_config_mistakes *mistakes);
void trail_config_list_free(char **list); /* NULL is fine */

#endif
