/* plugin_table.h -- the option tables that loaded plugins carry, whichever kind they
 * are.
 */
#ifndef TRAIL_AGENT_PLUGIN_TABLE_H
#define TRAIL_AGENT_PLUGIN_TABLE_H

#include "core/pipeline.h"

/* Lent by the plugin; a row is as long as the plugin's author had it. */
struct plugin_table {
    const char *at;
    uint32_t count, stride;
};
/* Empty for a plugin that is not loaded. */
struct plugin_table plugin_table_of(const struct trail_plugin *plugin);
const struct trail_option_spec *plugin_table_row(const struct plugin_table *table,
                                                 uint32_t index);
/* The same with all members, those that the plugin's author did not have as NULL. */
struct trail_option_spec plugin_table_spec(const struct plugin_table *table,
                                           uint32_t index);
/* "text", "size" ... for an enum trail_option_type. */
const char *plugin_type_name(uint32_t type);
/* What a row takes: its words, "json|otlp", or else the name of its type. */
const char *plugin_option_form(const struct trail_option_spec *spec);

/* Load every plugin that was found, which is what tells whether it is good; a refusal
 * is noted in its row of the registry. */
void plugin_load_all(struct trail_registry *registry);

#endif
