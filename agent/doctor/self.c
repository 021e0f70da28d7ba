/* self.c -- the installation itself: config, plugins, state directory. */
#include "agent/doctor/doctor.h"

#include "core/setup.h"

static void check_plugin(struct doctor_report *report, struct trail_registry *registry,
                         const struct trail_plugin *plugin)
{
    const struct trail_plugin *loaded = NULL;
    struct trail_error err = { "" };
    const char *what = plugin->kind ? trail_kind_name(plugin->kind) : "plugin";
    if (plugin->state == TRAIL_PLUGIN_SHADOWED)
        return;
    if (plugin->state == TRAIL_PLUGIN_REFUSED ||
        (plugin->state == TRAIL_PLUGIN_FOUND &&
         trail_registry_load(registry, (enum trail_plugin_kind)plugin->kind,
                             plugin->name, &loaded, &err)))
        doctor_note(report, DOCTOR_BAD, what, "install it anew, or take it away",
                    "%s: %s", plugin->path,
                    plugin->reason[0] ? plugin->reason : err.text);
    else
        doctor_note(report, DOCTOR_OK, what, NULL, "%s %s%s%s", plugin->name,
                    plugin->release, plugin->path[0] ? ", " : "", plugin->path);
}

static void check_plugins(struct doctor_report *report, struct trail_registry *registry)
{
    size_t symbolizers = 0;
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        check_plugin(report, registry, plugin);
        symbolizers += plugin->kind == TRAIL_KIND_SYMBOLIZER && plugin->path[0] &&
                       plugin->state == TRAIL_PLUGIN_LOADED;
    }
    if (symbolizers == 0)
        doctor_note(report, DOCTOR_BAD, "symbolizer",
                    "say where they are with --plugin-path, $BACKTRAIL_PLUGIN_PATH or "
                    "\"plugins\": { \"path\": [...] }",
                    "no symbolizer plugin was found: nothing will have a name");
}

static void check_state(struct doctor_report *report, const struct trail_config *config)
{
    char directory[1024], probe[1100];
    struct trail_error err = { "" };
    trail_setup_state_directory(config, directory, sizeof(directory));
    snprintf(probe, sizeof(probe), "%s/doctor", directory);
    if (trail_os_directory_make(directory, 0700, &err) ||
        trail_os_file_write(probe, "", 0, 0600, &err))
        doctor_note(report, DOCTOR_BAD, "state",
                    "give another with $BACKTRAIL_STATE or \"state\" in the config",
                    "%s", err.text);
    else
        doctor_note(report, DOCTOR_OK, "state", NULL, "%s can be written", directory);
    remove(probe);
}

void doctor_examine_installation(const struct shared_options *shared,
                                 struct doctor_report *report)
{
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err = { "" };
    const struct trail_pipeline_options setup = { .config_path = shared->config_path,
                                                  .symbol_directories = shared->symbols,
                                                  .plugin_path = shared->plugin_path,
                                                  .quiet = true };
    snprintf(report->subject, sizeof(report->subject), "backtrail %s", TRAIL_VERSION);
    if (trail_pipeline_create(&setup, &pipeline, &err)) {
        doctor_note(report, DOCTOR_BAD, "config",
                    "'backtrail config check' tells more; 'config example' shows one",
                    "%s", err.text);
        return;
    }
    const struct trail_config *config = trail_pipeline_config(pipeline);
    doctor_note(report, DOCTOR_OK, "config", NULL, "%s", config->file);
    check_plugins(report, trail_pipeline_registry(pipeline));
    check_state(report, config);
    trail_pipeline_destroy(pipeline, 0);
}
