/* setup.c -- from the words of a config to plugins that are ready. */
#include "core/setup.h"

#include <stdlib.h>

#include "core/builtins.h"

/* ---- symbolizers -------------------------------------------------------- */

static void tell(const struct trail_setup *setup, enum trail_plugin_kind kind,
                 const char *name, const char *why)
{
    char what[400];
    if (!setup->told)
        return;
    snprintf(what, sizeof(what), "%s %s: %s", trail_kind_name(kind), name, why);
    setup->told(setup->arg, what);
}

static const struct trail_plugin *load(const struct trail_setup *setup,
                                       enum trail_plugin_kind kind, const char *use)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_error err;
    if (trail_registry_load(setup->registry, kind, use, &plugin, &err) == TRAIL_OK)
        return plugin;
    tell(setup, kind, use, err.text);
    return NULL;
}

enum trail_status trail_setup_options(const struct trail_config *config,
                                      const struct trail_config_entry *entry,
                                      const struct trail_plugin *plugin,
                                      struct trail_option_set **set_ret,
                                      struct trail_error *err)
{
    const struct trail_symbolizer *symbolizer = plugin->symbolizer;
    const struct trail_sink *sink = plugin->sink;
    if (symbolizer)
        return trail_config_options(config, entry, symbolizer->options,
                                    symbolizer->option_count, symbolizer->option_stride,
                                    set_ret, err);
    enum trail_status status =
        trail_config_check_style(config, entry, sink->styles, err);
    return status
               ? status
               : trail_config_options(config, entry, sink->options, sink->option_count,
                                      sink->option_stride, set_ret, err);
}

/* Set the plugin up with the options of its entry. */
static enum trail_status make_link(const struct trail_setup *setup,
                                   const struct trail_config_entry *entry,
                                   const struct trail_plugin *plugin,
                                   struct trail_link *link_ret,
                                   struct trail_option_set **options_ret,
                                   struct trail_error *err)
{
    const struct trail_symbolizer *table = plugin->symbolizer;
    struct trail_option_set *set = NULL;
    void *state = NULL;
    struct trail_error why = { "" };
    const struct trail_call call = { .size = sizeof(call), .threads = 1 };

    enum trail_status status =
        trail_setup_options(setup->config, entry, plugin, &set, err);
    if (!status)
        status = table->create(&call, trail_option_set_view(set), &state, &why);
    if (status && why.text[0])
        trail_config_blame(setup->config, entry, status, why.text, err);
    if (status) {
        trail_option_set_destroy(set);
        return status;
    }
    *options_ret = set;
    *link_ret = (struct trail_link){ .plugin = plugin, .state = state };
    return TRAIL_OK;
}

static enum trail_status add_link(const struct trail_setup *setup,
                                  const struct trail_config_entry *entry,
                                  const struct trail_plugin *plugin,
                                  struct trail_setup_links *links,
                                  struct trail_error *err)
{
    enum trail_status status = make_link(setup, entry, plugin, &links->at[links->count],
                                         &links->options[links->count], err);
    links->count += !status;
    return status;
}

/* An entry that says which plugin to use, and nothing else. */
static struct trail_config_entry bare_entry(const char *name)
{
    return (struct trail_config_entry){ .use = (char *)(uintptr_t)name,
                                        .name = (char *)(uintptr_t)name,
                                        .place = "symbolizers" };
}

struct trail_setup_later {
    struct trail_setup setup;
    const char *name; /* the registry's */
    struct trail_link *link;
    struct trail_option_set **options;
};

/* Nobody asked for this one: if it cannot be set up, the others serve; and it may turn
 * out to be a sink. */
static enum trail_status load_later(void *arg, struct trail_link *link)
{
    const struct trail_setup_later *later = arg;
    const struct trail_config_entry entry = bare_entry(later->name);
    const struct trail_plugin *plugin = NULL;
    struct trail_error why = { "" };
    enum trail_status status =
        trail_registry_load(later->setup.registry, TRAIL_KIND_SYMBOLIZER, later->name,
                            &plugin, &why);
    if (status == TRAIL_NOT_FOUND)
        return status;
    if (!status)
        status =
            make_link(&later->setup, &entry, plugin, later->link, later->options, &why);
    if (status)
        tell(&later->setup, TRAIL_KIND_SYMBOLIZER, later->name, why.text);
    else
        *link = *later->link;
    return status;
}

/* The same at once. */
static enum trail_status add_if_it_can(const struct trail_setup *setup,
                                       const char *name,
                                       struct trail_setup_links *links,
                                       struct trail_error *err)
{
    const struct trail_config_entry entry = bare_entry(name);
    const struct trail_plugin *plugin = load(setup, TRAIL_KIND_SYMBOLIZER, name);
    struct trail_error why = { "" };
    enum trail_status status =
        plugin ? add_link(setup, &entry, plugin, links, &why) : TRAIL_OK;
    if (status == TRAIL_NO_MEMORY)
        return trail_fail(err, status, "%s", why.text);
    if (status)
        tell(setup, TRAIL_KIND_SYMBOLIZER, name, why.text);
    return TRAIL_OK;
}

/* A symbolizer that the config does not name, with its options at their defaults. */
static void add_later(const struct trail_setup *setup, const char *name,
                      struct trail_setup_links *links)
{
    struct trail_setup_later *later = &links->later[links->count];
    struct trail_link *link = &links->at[links->count];
    *later = (struct trail_setup_later){ .setup = *setup,
                                         .name = name,
                                         .link = link,
                                         .options = &links->options[links->count] };
    *link = (struct trail_link){ .load = load_later, .arg = later };
    links->count++;
}

/* The one that was asked for by name: without it there is nothing to go on with. */
static enum trail_status add_only(const struct trail_setup *setup,
                                  struct trail_setup_links *links,
                                  struct trail_error *err)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_error reason = { "" };
    enum trail_status status =
        trail_registry_load(setup->registry, TRAIL_KIND_SYMBOLIZER,
                            setup->only_symbolizer, &plugin, &reason);
    if (status)
        return trail_fail(err, status, "symbolizer %s: %s", setup->only_symbolizer,
                          reason.text);
    const struct trail_config_entry entry = bare_entry(setup->only_symbolizer);
    return add_link(setup, &entry, plugin, links, err);
}

static int by_name(const void *a, const void *b)
{
    const struct trail_plugin *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static enum trail_status add_found(const struct trail_setup *setup,
                                   struct trail_setup_links *links,
                                   struct trail_error *err)
{
    size_t count = trail_registry_count(setup->registry), kept = 0;
    const struct trail_plugin **found = calloc(count + 1, sizeof(*found));
    if (!found)
        return trail_fail(err, TRAIL_NO_MEMORY, "symbolizers: out of memory");
    for (size_t i = 0; i < count; i++) {
        const struct trail_plugin *plugin = trail_registry_at(setup->registry, i);
        bool may_be = plugin->kind == TRAIL_KIND_SYMBOLIZER ||
                      (setup->loads_late && plugin->kind == 0);
        if (may_be && plugin->state != TRAIL_PLUGIN_REFUSED)
            found[kept++] = plugin;
    }
    qsort(found, kept, sizeof(*found), by_name);
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; i < kept && !status; i++) {
        if (i > 0 && strcmp(found[i - 1]->name, found[i]->name) == 0)
            continue;
        if (setup->loads_late)
            add_later(setup, found[i]->name, links);
        else
            status = add_if_it_can(setup, found[i]->name, links, err);
    }
    free(found);
    return status;
}

enum trail_status trail_setup_links(const struct trail_setup *setup,
                                    struct trail_setup_links *links_ret,
                                    struct trail_error *err)
{
    const struct trail_config *config = setup->config;
    size_t room = trail_registry_count(setup->registry) + config->symbolizer_count + 1;
    struct trail_setup_links links = {
        .at = calloc(room, sizeof(*links.at)),
        .options = calloc(room, sizeof(struct trail_option_set *)),
        .later = calloc(room, sizeof(*links.later)),
    };
    enum trail_status status = TRAIL_OK;
    if (!links.at || !links.options || !links.later)
        status = trail_fail(err, TRAIL_NO_MEMORY, "symbolizers: out of memory");
    else if (setup->only_symbolizer)
        status = add_only(setup, &links, err);
    else if (!config->symbolizers_given)
        status = add_found(setup, &links, err);
    size_t count = setup->only_symbolizer ? 0 : config->symbolizer_count;
    for (size_t i = 0; !status && i < count; i++) {
        const struct trail_config_entry *entry = &config->symbolizers[i];
        const struct trail_plugin *plugin =
            load(setup, TRAIL_KIND_SYMBOLIZER, entry->use);
        if (plugin)
            status = add_link(setup, entry, plugin, &links, err);
    }
    if (status)
        trail_setup_links_release(&links);
    else
        *links_ret = links;
    return status;
}

/* Whether the entry says more than which plugin to use, and as what. */
static bool has_options(const struct trail_config_entry *entry)
{
    bool named = json_object_get(entry->object, "name") != NULL;
    bool enabled = json_object_get(entry->object, "enabled") != NULL;
    return json_object_size(entry->object) > (size_t)1 + named + enabled;
}

enum trail_status trail_setup_check_options(const struct trail_setup *setup,
                                            struct trail_error *err)
{
    const struct trail_config *config = setup->config;
    enum trail_status status = TRAIL_OK;
    for (size_t i = 0; !status && i < config->symbolizer_count; i++) {
        const struct trail_config_entry *entry = &config->symbolizers[i];
        const struct trail_plugin *plugin =
            has_options(entry) ? load(setup, TRAIL_KIND_SYMBOLIZER, entry->use) : NULL;
        struct trail_option_set *set = NULL;
        if (!plugin)
            continue;
        status = trail_setup_options(config, entry, plugin, &set, err);
        trail_option_set_destroy(set);
    }
    return status;
}

void trail_setup_links_release(struct trail_setup_links *links)
{
    for (size_t i = 0; i < links->count; i++) {
        if (links->at[i].plugin)
            links->at[i].plugin->symbolizer->destroy(links->at[i].state);
        trail_option_set_destroy(links->options[i]);
    }
    free(links->at);
    free(links->options);
    free(links->later);
    *links = (struct trail_setup_links){ 0 };
}

/* ---- sinks -------------------------------------------------------------- */

/* The plugin names its option; which entry of which file it is about is ours to say. */
static enum trail_status create_sink(const struct trail_setup *setup,
                                     const struct trail_config_entry *entry,
                                     const struct trail_sink *table,
                                     const struct trail_option_set *set,
                                     void **state_ret, struct trail_error *err)
{
    struct trail_error why = { "" };
    enum trail_status status =
        table->create(trail_option_set_view(set), state_ret, &why);
    return status ? trail_config_blame(setup->config, entry, status, why.text, err)
                  : TRAIL_OK;
}

static enum trail_status add_outlet(const struct trail_setup *setup,
                                    const struct trail_config_entry *entry,
                                    const struct trail_plugin *plugin,
                                    struct trail_setup_outlets *outlets,
                                    struct trail_error *err)
{
    const struct trail_sink *table = plugin->sink;
    struct trail_option_set *set = NULL;
    void *state = NULL;
    enum trail_status status =
        trail_setup_options(setup->config, entry, plugin, &set, err);
    if (!status)
        status = create_sink(setup, entry, table, set, &state, err);
    if (status) {
        trail_option_set_destroy(set);
        return status;
    }
    outlets->options[outlets->count] = set;
    outlets->at[outlets->count++] = (struct trail_outlet){
        .plugin = plugin,
        .state = state,
        .name = entry->name,
        .channels = entry->channels,
        .style = entry->style ? entry->style : table->default_style,
        .full = entry->full,
    };
    return TRAIL_OK;
}

enum trail_status trail_setup_outlets(const struct trail_setup *setup,
                                      struct trail_setup_outlets *outlets_ret,
                                      struct trail_error *err)
{
    const struct trail_config *config = setup->config;
    size_t room = config->sink_count + 1;
    struct trail_setup_outlets outlets = {
        .at = calloc(room, sizeof(*outlets.at)),
        .options = calloc(room, sizeof(struct trail_option_set *)),
    };
    enum trail_status status = TRAIL_OK;
    if (!outlets.at || !outlets.options)
        status = trail_fail(err, TRAIL_NO_MEMORY, "sinks: out of memory");
    for (size_t i = 0; !status && i < config->sink_count; i++) {
        const struct trail_config_entry *entry = &config->sinks[i];
        const struct trail_plugin *plugin = load(setup, TRAIL_KIND_SINK, entry->use);
        struct trail_error why = { "" };
        if (plugin)
            status = add_outlet(setup, entry, plugin, &outlets, &why);
        /* A mistake in the config is an error; what the world refuses (a directory that
         * is not there) costs this sink and no other. */
        bool fatal = status == TRAIL_BAD_INPUT || status == TRAIL_NO_MEMORY;
        if (fatal)
            trail_fail(err, status, "%s", why.text);
        else if (status)
            tell(setup, TRAIL_KIND_SINK, entry->use, why.text);
        status = fatal ? status : TRAIL_OK;
    }
    if (status)
        trail_setup_outlets_release(&outlets);
    else
        *outlets_ret = outlets;
    return status;
}

void trail_setup_outlets_release(struct trail_setup_outlets *outlets)
{
    for (size_t i = 0; i < outlets->count; i++) {
        outlets->at[i].plugin->sink->destroy(outlets->at[i].state);
        trail_option_set_destroy(outlets->options[i]);
    }
    free(outlets->at);
    free(outlets->options);
    *outlets = (struct trail_setup_outlets){ 0 };
}
