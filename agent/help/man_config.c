/* man_config.c -- the man page of the config file: the host's keys from the loader's
 * table, the plugins' options from the tables that they carry.
 */
#include "agent/help/help.h"

#include "agent/plugin_table.h"
#include "agent/help/roff.h"
#include "config/keys.h"

static void print_key(FILE *to, const struct trail_config_key *key)
{
    roff_tag_long(to);
    roff_font(to, 'B', key->path);
    fputs(" (", to);
    roff_font(to, 'R', key->type);
    if (key->fallback) {
        fputs(", default ", to);
        roff_font(to, 'R', key->fallback[0] ? key->fallback : "\"\"");
    }
    fputs(")\n", to);
    roff_text(to, key->help, strlen(key->help));
}

static void print_bound(FILE *to, const char *what, const char *bound)
{
    if (!bound)
        return;
    fprintf(to, ", %s ", what);
    roff_font(to, 'R', bound);
}

static void print_option(FILE *to, const struct trail_option_spec *spec)
{
    roff_tag_long(to);
    roff_font(to, 'B', spec->key);
    fputs(" (", to);
    roff_font(to, 'R', plugin_option_form(spec));
    if (spec->flags & TRAIL_OPTION_REQUIRED)
        fputs(", required", to);
    else if (spec->default_value) {
        fputs(", default ", to);
        roff_font(to, 'R', spec->default_value[0] ? spec->default_value : "\"\"");
    }
    print_bound(to, "at least", spec->least);
    print_bound(to, "at most", spec->most);
    fputs(")\n", to);
    roff_text(to, spec->help, strlen(spec->help));
}

static void print_plugin(FILE *to, const struct trail_plugin *plugin)
{
    struct plugin_table table = plugin_table_of(plugin);
    if (!plugin->symbolizer && !plugin->sink)
        return; /* it was refused */
    fputs(".SS The ", to);
    roff_font(to, 'R', trail_kind_name(plugin->kind));
    putc(' ', to);
    roff_font(to, 'R', plugin->name);
    putc('\n', to);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct trail_option_spec spec = plugin_table_spec(&table, i);
        print_option(to, &spec);
    }
    if (!table.count)
        fputs("It takes no options.\n", to);
}

static void print_plugins(FILE *to, struct trail_registry *registry)
{
    roff_section(to, "PLUGIN OPTIONS");
    roff_paragraphs(to,
                    "Whatever else stands in an entry of \"symbolizers\" or "
                    "\"sinks\" is an option of the plugin that it names. Where a "
                    "name has dots, objects are written: rotate.size is \"rotate\": "
                    "{ \"size\": \"16MiB\" }. `backtrail plugins` lists the "
                    "options of the plugins that are installed.",
                    true);
    plugin_load_all(registry);
    for (size_t i = 0; i < trail_registry_count(registry); i++)
        print_plugin(to, trail_registry_at(registry, i));
}

static const struct help_line values[] = {
    { "size", "bytes as a number, or text with B, KiB, MiB, GiB: 4096, \"16MiB\"" },
    { "duration", "text with ns, us, ms, s, m, h: \"200ms\", \"5s\"" },
    { "path",
      "\"~/\" is the home directory; a relative path starts from the directory of the "
      "file that it stands in, or from the current one for standard input and "
      "variables" },
    { "URL", "text that starts with https:// or http:// and names a host" },
    { 0 },
};

static const struct help_line expansions[] = {
    { "${dir}", "the directory of the file that it stands in" },
    { "${env:NAME}", "an environment variable; a mistake if it is not set" },
    { "${env:NAME:-default}", "the same, or the default if it is not set or empty" },
    { "${file:PATH}",
      "what a file holds, at most 64 KiB, without its last newline: for secrets" },
    { "$${", "${ itself" },
    { 0 },
};

/* Numbered, from the least to the most. */
static const struct help_line sources[] = {
    { "1.",
      "what the file includes, in the order of its list \"include\", each before the "
      "one that includes it; a file counts once" },
    { "2.", "the file itself" },
    { "3.",
      "the drop-ins: the files *.json of the folder FILE.d beside it, in order of "
      "name; standard input has none" },
    { "4.", "variables BACKTRAIL_SET_KEY of the environment" },
    { 0 },
};

static const struct help_line merging[] = {
    { "objects", "are merged key by key" },
    { "symbolizers, sinks",
      "grow: an entry with the \"name\" of an earlier file's entry is merged into it, "
      "where that one stands, and one that has no name goes by its plugin's; an entry "
      "that names another plugin takes its place; any other is added at the end; [] "
      "empties the list; \"enabled\": false switches one entry off" },
    { "everything else", "is replaced, lists too" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    { "BACKTRAIL_SET_KEY",
      "a value over that of all files: BACKTRAIL_SET_app.name=orders; where a name has "
      "no "
      "dot, two underscores stand for one: BACKTRAIL_SET_app__name; an entry goes by "
      "its "
      "name or its number: BACKTRAIL_SET_sinks.hq.url, BACKTRAIL_SET_sinks.0.url; a "
      "set-uid program looks at none" },
    { 0 },
};

static const struct help_line files[] = {
    { "FILE.d/*.json", "drop-ins of the config file FILE" },
    { 0 },
};

static void print_list(FILE *to, const char *title, const struct help_line *line)
{
    roff_section(to, title);
    for (; line->term; line++)
        roff_line(to, line->term, line->text);
}

static void print_page(FILE *to, struct trail_registry *registry)
{
    roff_title(to, "backtrail-config", 5);
    roff_section(to, "NAME");
    fputs("backtrail\\-config \\- the configuration file of Backtrail\n", to);
    roff_section(to, "DESCRIPTION");
    roff_paragraphs(
        to,
        "One JSON object; every key may be left out. `backtrail config check FILE` "
        "tells whether a file is right. A mistake is one line with file, line, "
        "column, key and what would be right, and changes nothing. The file is "
        "UTF-8, at most 4 MiB and 32 levels deep. A key that starts with // is a "
        "comment.",
        true);
    roff_section(to, "KEYS");
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++)
        print_key(to, key);
    print_plugins(to, registry);
    print_list(to, "VALUES", values);
    print_list(to, "EXPANSIONS", expansions);
    roff_paragraphs(to,
                    "These stand in any text. What is put in is not expanded again, "
                    "and a message shows none of it but the name of a plugin or of a "
                    "file that is not there.",
                    false);
    print_list(to, "SEVERAL FILES", sources);
    roff_paragraphs(
        to,
        "From the least to the most: what a later one says goes over what "
        "an earlier one said. `backtrail config show FILE` prints what comes "
        "of it, and where each value comes from.",
        false);
    print_list(to, "MERGING", merging);
    print_list(to, "ENVIRONMENT", environment);
    print_list(to, "FILES", files);
    roff_section(to, "SEE ALSO");
    fputs("\\fBbacktrail\\fR(1),\n\\fBbacktrail\\-config\\fR(1),\n"
          "\\fBbacktrail\\-plugins\\fR(1)\n",
          to);
}

int man_print_config(FILE *to, const struct shared_options *shared)
{
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;
    const struct trail_pipeline_options setup = { .config_path = shared->config_path,
                                                  .plugin_path = shared->plugin_path,
                                                  .quiet = true };
    if (trail_pipeline_create(&setup, &pipeline, &err))
        return failure("%s", err.text);
    print_page(to, trail_pipeline_registry(pipeline));
    trail_pipeline_destroy(pipeline, 0);
    return EXIT_DONE;
}
