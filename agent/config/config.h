/* config.h -- the parts of the verb `config`. */
#ifndef TRAIL_AGENT_CONFIG_H
#define TRAIL_AGENT_CONFIG_H

#include <stdbool.h>

#include "core/pipeline.h"

/* Load the plugin of an entry and hold its options against the plugin's table. What is
 * wrong is told with its place in the config. */
enum trail_status config_load_entry(struct trail_pipeline *pipeline,
                                    enum trail_plugin_kind kind,
                                    const struct trail_config_entry *entry,
                                    const struct trail_plugin **plugin_ret,
                                    struct trail_option_set **set_ret,
                                    struct trail_error *err);

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
