/* load.c -- the schema: what a configuration may say, and its defaults. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "config/config.h"
#include "config/document.h"
#include "config/entries.h"
#include "config/read.h"
#include "core/os/os.h"

#define DEBUGINFOD_TIMEOUT_NS (UINT64_C(5) * 1000000000)

static enum trail_status load_app(struct trail_config *config,
                                  const struct trail_config_value *top,
                                  struct trail_error *err)
{
    static const char *const known[] = { "name", "version", NULL };
    struct trail_config_value app = trail_config_member(top, "app");
    struct trail_config_value name = trail_config_member(&app, "name");
    struct trail_config_value version = trail_config_member(&app, "version");

    enum trail_status status = trail_config_check_keys(&app, known, err);
    if (!status)
        status =
            trail_config_read_text(&name, TRAIL_OPTION_TEXT, &config->app_name, err);
    if (!status)
        status = trail_config_read_text(&version, TRAIL_OPTION_TEXT,
                                        &config->app_version, err);
    return status;
}

static enum trail_status load_plugins(struct trail_config *config,
                                      const struct trail_config_value *top,
                                      struct trail_error *err)
{
    static const char *const known[] = { "path", NULL };
    struct trail_config_value plugins = trail_config_member(top, "plugins");
    struct trail_config_value path = trail_config_member(&plugins, "path");

    enum trail_status status = trail_config_check_keys(&plugins, known, err);
    if (!status)
        status = trail_config_read_list(&path, TRAIL_OPTION_PATH, &config->plugin_paths,
                                        err);
    return status;
}

static enum trail_status check_urls(const struct trail_config_value *urls, char **list,
                                    struct trail_error *err)
{
    for (size_t i = 0; list[i]; i++) {
        struct trail_config_value url = trail_config_element(urls, i);
        if (strncmp(list[i], "http://", 7) != 0 && strncmp(list[i], "https://", 8) != 0)
            return trail_config_fail(&url, err,
                                     "not a URL; it has to start with https:// or "
                                     "http://");
    }
    return TRAIL_OK;
}

static enum trail_status load_debuginfod(struct trail_config *config,
                                         const struct trail_config_value *symbols,
                                         struct trail_error *err)
{
    static const char *const known[] = { "urls", "timeout", NULL };
    struct trail_config_value debuginfod = trail_config_member(symbols, "debuginfod");
    struct trail_config_value urls = trail_config_member(&debuginfod, "urls");
    struct trail_config_value timeout = trail_config_member(&debuginfod, "timeout");

    enum trail_status status = trail_config_check_keys(&debuginfod, known, err);
    if (!status)
        status = trail_config_read_list(&urls, TRAIL_OPTION_TEXT,
                                        &config->debuginfod_urls, err);
    if (!status)
        status = check_urls(&urls, config->debuginfod_urls, err);
    if (!status)
        status = trail_config_read_number(&timeout, TRAIL_OPTION_DURATION,
                                          &config->debuginfod_timeout_ns, err);
    return status;
}

static enum trail_status load_symbols(struct trail_config *config,
                                      const struct trail_config_value *top,
                                      struct trail_error *err)
{
    static const char *const known[] = { "directories", "store", "debuginfod", NULL };
    struct trail_config_value symbols = trail_config_member(top, "symbols");
    struct trail_config_value directories =
        trail_config_member(&symbols, "directories");
    struct trail_config_value store = trail_config_member(&symbols, "store");

    enum trail_status status = trail_config_check_keys(&symbols, known, err);
    if (!status)
        status = trail_config_read_list(&directories, TRAIL_OPTION_PATH,
                                        &config->symbol_directories, err);
    if (!status)
        status = trail_config_read_text(&store, TRAIL_OPTION_PATH, &config->store, err);
    if (!status)
        status = load_debuginfod(config, &symbols, err);
    return status;
}

static enum trail_status load_in_app(struct trail_config *config,
                                     const struct trail_config_value *top,
                                     struct trail_error *err)
{
    static const char *const known[] = { "include", "exclude", NULL };
    struct trail_config_value in_app = trail_config_member(top, "in_app");
    struct trail_config_value include = trail_config_member(&in_app, "include");
    struct trail_config_value exclude = trail_config_member(&in_app, "exclude");

    enum trail_status status = trail_config_check_keys(&in_app, known, err);
    if (!status)
        status = trail_config_read_list(&include, TRAIL_OPTION_TEXT,
                                        &config->in_app_include, err);
    if (!status)
        status = trail_config_read_list(&exclude, TRAIL_OPTION_TEXT,
                                        &config->in_app_exclude, err);
    return status;
}

static enum trail_status load_entries(struct trail_config *config,
                                      const struct trail_config_value *top,
                                      struct trail_error *err)
{
    struct trail_config_value symbolizers = trail_config_member(top, "symbolizers");
    struct trail_config_value sinks = trail_config_member(top, "sinks");

    config->symbolizers_given = symbolizers.json != NULL;
    enum trail_status status =
        trail_config_entries_load(&symbolizers, TRAIL_KIND_SYMBOLIZER,
                                  &config->symbolizers, &config->symbolizer_count, err);
    if (status)
        return status;
    if (sinks.json)
        return trail_config_entries_load(&sinks, TRAIL_KIND_SINK, &config->sinks,
                                         &config->sink_count, err);
    return trail_config_entries_default(&config->sinks, &config->sink_count, err);
}

static enum trail_status load_all(struct trail_config *config, struct trail_error *err)
{
    static const char *const known[] = { "app",     "state", "plugins", "symbolizers",
                                         "symbols", "sinks", "in_app",  NULL };
    struct trail_config_value top = trail_config_top(config->document);
    struct trail_config_value state = trail_config_member(&top, "state");

    enum trail_status status = trail_config_check_keys(&top, known, err);
    if (!status)
        status = load_app(config, &top, err);
    if (!status)
        status = trail_config_read_text(&state, TRAIL_OPTION_PATH, &config->state, err);
    if (!status)
        status = load_plugins(config, &top, err);
    if (!status)
        status = load_entries(config, &top, err);
    if (!status)
        status = load_symbols(config, &top, err);
    if (!status)
        status = load_in_app(config, &top, err);
    return status;
}

enum trail_status trail_config_parse(const char *text, size_t size, const char *name,
                                     const char *directory,
                                     struct trail_config **config_ret,
                                     struct trail_error *err)
{
    struct trail_config *config = calloc(1, sizeof(*config));
    enum trail_status status = TRAIL_NO_MEMORY;

    if (!config)
        return trail_fail(err, status, "out of memory");
    config->debuginfod_timeout_ns = DEBUGINFOD_TIMEOUT_NS;
    config->file = strdup(name);
    config->app_name = strdup("");
    config->app_version = strdup("");
    if (!config->file || !config->app_name || !config->app_version) {
        trail_fail(err, status, "out of memory");
        goto out;
    }
    status = trail_config_document_create(text, size, name, directory,
                                          &config->document, err);
    if (!status)
        status = load_all(config, err);
    if (status)
        goto out;
    *config_ret = config;
    config = NULL;
out:
    trail_config_destroy(config);
    return status;
}

/* The directory that a path names a file in; the caller frees it. It is made absolute
 * where it can be: so it means the same after a chdir, and what starts from it is not
 * taken for relative to it again. */
static char *directory_of(const char *path)
{
    char real[4096];
    const char *slash = strrchr(path, '/');
    char *named = slash == path ? strdup("/")
                  : slash       ? strndup(path, (size_t)(slash - path))
                                : strdup(".");
    if (!named || !trail_os_path_real(named, real, sizeof(real)))
        return named;
    free(named);
    return strdup(real);
}

/* The operating system's reason, with the file named as in every other message. */
static enum trail_status fail_read(const char *path, enum trail_status status,
                                   const struct trail_error *why,
                                   struct trail_error *err)
{
    size_t size = strlen(path);
    bool named = strncmp(why->text, path, size) == 0 && why->text[size] == ':';
    if (strcmp(path, "-") == 0)
        trail_fail(err, status, "%s", why->text);
    else
        trail_config_fail_file(path, err, "%s",
                               named ? why->text + size + 2 : "cannot be read");
    return status;
}

enum trail_status trail_config_load(const char *path, struct trail_config **config_ret,
                                    struct trail_error *err)
{
    struct trail_error why = { "" };
    char *text = NULL, *directory = NULL;
    size_t size = 0;

    if (!path)
        return trail_config_parse("{}", 2, "(defaults)", ".", config_ret, err);
    enum trail_status status =
        trail_os_file_read(path, TRAIL_CONFIG_SIZE_LIMIT, &text, &size, &why);
    if (status)
        return fail_read(path, status, &why, err);
    directory = directory_of(path);
    if (!directory)
        status = trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    else
        status = trail_config_parse(text, size,
                                    strcmp(path, "-") == 0 ? "standard input" : path,
                                    directory, config_ret, err);
    free(directory);
    free(text);
    return status;
}

void trail_config_destroy(struct trail_config *config)
{
    if (!config)
        return;
    trail_config_entries_free(config->symbolizers, config->symbolizer_count);
    trail_config_entries_free(config->sinks, config->sink_count);
    trail_config_list_free(config->plugin_paths);
    trail_config_list_free(config->symbol_directories);
    trail_config_list_free(config->debuginfod_urls);
    trail_config_list_free(config->in_app_include);
    trail_config_list_free(config->in_app_exclude);
    trail_config_document_destroy(config->document);
    free(config->app_name);
    free(config->app_version);
    free(config->state);
    free(config->store);
    free(config->file);
    free(config);
}
