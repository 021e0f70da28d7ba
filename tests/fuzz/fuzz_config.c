/* fuzz_config.c -- any bytes as a configuration of several files and variables: refused
 * in one line of text, or loaded, and then its options are read against a table of
 * every type. No file of the system is included.
 *
 * A line "=== NAME" begins another file, which the first can include or, if its name
 * starts with f.json.d/, which counts after it; a line "=== $KEY" a variable for KEY.
 */
#include <stdlib.h>

#include "config/config.h"
#include "config/load.h"
#include "config/show.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PART_LIMIT 16
#define DIRECTORY  "/nonexistent/"

static const struct trail_option_spec table[] = {
    { .type = TRAIL_OPTION_TEXT, .key = "url", .help = "" },
    { .type = TRAIL_OPTION_PATH, .key = "path", .help = "" },
    { .type = TRAIL_OPTION_BOOL, .key = "gzip", .default_value = "true", .help = "" },
    { .type = TRAIL_OPTION_COUNT,
      .key = "rotate.keep",
      .default_value = "5",
      .help = "" },
    { .type = TRAIL_OPTION_SIZE,
      .key = "rotate.size",
      .default_value = "16MiB",
      .help = "" },
    { .type = TRAIL_OPTION_DURATION,
      .key = "timeout",
      .default_value = "10s",
      .help = "" },
    { .type = TRAIL_OPTION_MAP, .key = "headers", .help = "" },
    { .type = TRAIL_OPTION_LIST, .key = "pins", .help = "" },
};

/* ---- files that are cut out of the input -------------------------------- */

struct part {
    char path[128];
    const char *text;
    size_t size;
};
static struct part parts[PART_LIMIT];
static size_t part_count;
static struct trail_config_variable variables[PART_LIMIT];
static size_t variable_count;

static enum trail_status read_part(const char *path, size_t limit, char **bytes_ret,
                                   size_t *size_ret, struct trail_error *err)
{
    (void)limit;
    for (size_t i = 0; i < part_count; i++) {
        if (strcmp(parts[i].path, path) != 0)
            continue;
        *bytes_ret = calloc(1, parts[i].size + 1);
        memcpy(*bytes_ret, parts[i].text, parts[i].size);
        *size_ret = parts[i].size;
        return TRAIL_OK;
    }
    return trail_fail(err, TRAIL_NOT_FOUND, "%s: not there", path);
}

static enum trail_status list_parts(const char *path,
                                    enum trail_status (*entry)(void *arg,
                                                               const char *name),
                                    void *arg, struct trail_error *err)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < part_count; i++)
        if (strncmp(parts[i].path, path, size) == 0 && parts[i].path[size] == '/' &&
            !strchr(parts[i].path + size + 1, '/'))
            entry(arg, parts[i].path + size + 1);
    return part_count > 1 ? TRAIL_OK
                          : trail_fail(err, TRAIL_NOT_FOUND, "%s: not there", path);
}

static bool real_part(const char *path, char *path_ret, size_t size)
{
    (void)path, (void)path_ret, (void)size;
    return false;
}

static char *copy(const char *bytes, size_t size)
{
    char *text = calloc(1, size + 1);
    memcpy(text, bytes, size);
    return text;
}

static void add_part(const char *name, size_t name_size, const char *text, size_t size)
{
    bool variable = name_size && name[0] == '$';
    if (variable && variable_count < PART_LIMIT) {
        char whole[128];
        snprintf(whole, sizeof(whole), "%s%.*s", TRAIL_CONFIG_VARIABLE_PREFIX,
                 (int)name_size - 1, name + 1);
        variables[variable_count++] =
            (struct trail_config_variable){ copy(whole, strlen(whole)),
                                            copy(text, size) };
    } else if (!variable && part_count < PART_LIMIT) {
        struct part *part = &parts[part_count++];
        snprintf(part->path, sizeof(part->path), "%s%.*s", DIRECTORY, (int)name_size,
                 name);
        part->text = text;
        part->size = size;
    }
}

static void cut(const char *text, size_t size)
{
    const char *name = "f.json", *start = text;
    size_t name_size = 6;
    part_count = variable_count = 0;
    for (size_t at = 0; at < size; at++) {
        if (size - at < 5 || memcmp(text + at, "\n=== ", 5) != 0)
            continue;
        const char *line = text + at + 5;
        const char *end = memchr(line, '\n', size - at - 5);
        if (!end)
            break;
        /* Two such lines in a row: the file between them is empty. */
        add_part(name, name_size, start,
                 text + at > start ? (size_t)(text + at - start) : 0);
        name = line;
        name_size = (size_t)(end - line);
        start = end + 1;
        at = (size_t)(end - text) - 1;
    }
    add_part(name, name_size, start, (size_t)(text + size - start));
}

/* ---- what has to hold --------------------------------------------------- */

/* A message is one line of UTF-8 text, and if there is one file, begins with it. */
static void check_message(const char *line)
{
    bool alone = part_count == 1 && variable_count == 0;
    size_t bad_at;
    if (!trail_utf8_check(line, strlen(line), &bad_at))
        abort();
    if (!line[0] || strpbrk(line, "\r\n\x1b") ||
        (alone && strncmp(line, "f.json:", 7) != 0 &&
         strcmp(line, "more mistakes; mend these first") != 0))
        abort();
}

static void told(void *arg, const char *line)
{
    (void)arg;
    check_message(line);
}

static void check_options(const struct trail_config *config,
                          const struct trail_config_entry *entry)
{
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    if (trail_config_options(config, entry, table, sizeof(table) / sizeof(*table),
                             sizeof(*table), &set, &err)) {
        check_message(err.text);
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

/* An entry has a name that no other has, and a plugin. */
static void check_entries(const struct trail_config *config,
                          const struct trail_config_entry *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!entries[i].use || !entries[i].name || !entries[i].enabled)
            abort();
        for (size_t j = 0; j < i; j++)
            if (strcmp(entries[i].name, entries[j].name) == 0)
                abort();
        check_options(config, &entries[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct trail_config_files files = { read_part, list_parts, real_part };
    struct trail_config *config = NULL;
    struct trail_config_mistakes mistakes = { .told = told };

    cut((const char *)data, size);
    const struct trail_config_input input = { .text = parts[0].text,
                                              .size = parts[0].size,
                                              .name = "f.json",
                                              .directory = "/nonexistent",
                                              .path = DIRECTORY "f.json",
                                              .files = &files,
                                              .variables = variables,
                                              .variable_count = variable_count,
                                              .variable_directory = "/nonexistent" };
    enum trail_status status = trail_config_load_input(&input, &config, &mistakes);
    if ((status == TRAIL_OK) != (config != NULL) || (status != 0) != !!mistakes.count)
        abort();
    if (config) {
        check_entries(config, config->symbolizers, config->symbolizer_count);
        check_entries(config, config->sinks, config->sink_count);
    }
    trail_config_destroy(config);
    for (size_t i = 0; i < variable_count; i++) {
        free(variables[i].name);
        free(variables[i].value);
    }
    return 0;
}
