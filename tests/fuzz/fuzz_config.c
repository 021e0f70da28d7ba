/* fuzz_config.c -- any bytes as a configuration: refused in one line that names the
 * file, or loaded, and then its options are read against a table of every type. */
#include <stdlib.h>

#include "config/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct trail_option_spec table[] = {
    { TRAIL_OPTION_TEXT, 0, "url", NULL, "" },
    { TRAIL_OPTION_PATH, 0, "path", NULL, "" },
    { TRAIL_OPTION_BOOL, 0, "gzip", "true", "" },
    { TRAIL_OPTION_COUNT, 0, "rotate.keep", "5", "" },
    { TRAIL_OPTION_SIZE, 0, "rotate.size", "16MiB", "" },
    { TRAIL_OPTION_DURATION, 0, "timeout", "10s", "" },
    { TRAIL_OPTION_MAP, 0, "headers", NULL, "" },
    { TRAIL_OPTION_LIST, 0, "pins", NULL, "" },
};

/* A message is one line of UTF-8 text that begins with the file. */
static void check_message(const struct trail_error *err)
{
    if (strncmp(err->text, "f.json:", 7) != 0 || strpbrk(err->text, "\r\n\x1b"))
        abort();
}

static void check_options(const struct trail_config *config,
                          const struct trail_config_entry *entry)
{
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    if (trail_config_options(config, entry, table, sizeof(table) / sizeof(*table),
                             sizeof(*table), &set, &err)) {
        check_message(&err);
        return;
    }
    const struct trail_options *options = trail_option_set_view(set);
    for (uint32_t i = 0; i < options->count; i++) {
        const struct trail_option *option = trail_options_at(options, i);
        if (strlen(option->text.data) != option->text.size || !option->key)
            abort();
    }
    trail_option_set_destroy(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };

    if (trail_config_parse((const char *)data, size, "f.json", "/nonexistent", &config,
                           &err)) {
        check_message(&err);
        return 0;
    }
    for (size_t i = 0; i < config->symbolizer_count; i++)
        check_options(config, &config->symbolizers[i]);
    for (size_t i = 0; i < config->sink_count; i++)
        check_options(config, &config->sinks[i]);
    trail_config_destroy(config);
    return 0;
}
