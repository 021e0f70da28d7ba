/* config.h -- the parts of the verb `config`. */
#ifndef TRAIL_AGENT_CONFIG_H
#define TRAIL_AGENT_CONFIG_H

#include <stdbool.h>

#include "core/pipeline.h"

/* Print the values that count, and where each comes from, without secrets. Returns an
 * enum exit_code. */
int config_show(struct trail_pipeline *pipeline, bool json);

/* Print a config that has every key there is, with its default and what it means. The
 * same. */
int config_example(struct trail_pipeline *pipeline);

/* Whether the value of a key is not for every eye, going by the key's name. */
bool config_is_secret_name(const char *name);
/* The same by what is written there: it comes from a variable or a file. */
bool config_is_secret_text(const char *written);
/* The text with what a URL in it hides: user, password, query. The caller frees it;
 * NULL: no memory. */
char *config_mask_url(const char *text);

#endif
