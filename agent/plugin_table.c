/* plugin_table.c -- the option tables that loaded plugins carry. */
#include "agent/plugin_table.h"

#include "config/config.h"

struct plugin_table plugin_table_of(const struct trail_plugin *plugin)
{
    if (plugin->symbolizer)
        return (struct plugin_table){ (const char *)plugin->symbolizer->options,
                                      plugin->symbolizer->option_count,
                                      plugin->symbolizer->option_stride };
    if (plugin->sink)
        return (struct plugin_table){ (const char *)plugin->sink->options,
                                      plugin->sink->option_count,
                                      plugin->sink->option_stride };
    return (struct plugin_table){ 0 };
}

const struct trail_option_spec *plugin_table_row(const struct plugin_table *table,
                                                 uint32_t index)
{
    return (const void *)(table->at + (size_t)index * table->stride);
}

struct trail_option_spec plugin_table_spec(const struct plugin_table *table,
                                           uint32_t index)
{
    return trail_config_whole_spec(plugin_table_row(table, index), table->stride);
}

const char *plugin_type_name(uint32_t type)
{
    static const char *const names[] = { "?",     "text", "path",     "true|false",
                                         "count", "size", "duration", "map",
                                         "list",  "url" };
    return type < sizeof(names) / sizeof(names[0]) ? names[type] : "?";
}

const char *plugin_option_form(const struct trail_option_spec *spec)
{
    bool words = spec->type == TRAIL_OPTION_TEXT && spec->words;
    return words ? spec->words : plugin_type_name(spec->type);
}

void plugin_load_all(struct trail_registry *registry)
{
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i), *loaded;
        if (plugin->state == TRAIL_PLUGIN_FOUND)
            trail_registry_load(registry, (enum trail_plugin_kind)plugin->kind,
                                plugin->name, &loaded, NULL);
    }
}
