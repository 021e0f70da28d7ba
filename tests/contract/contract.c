/* contract.c -- a plugin loaded as the agent would load it, and its options. */
#define _XOPEN_SOURCE 700

#include "contract.h"

#include <ftw.h>
#include <sys/stat.h>

static const struct trail_option_spec *spec_at(const struct trail_option_spec *specs,
                                               uint32_t index, uint32_t stride)
{
    return (const void *)((const char *)specs + (size_t)index * stride);
}

static void load(struct contract *contract, enum trail_plugin_kind kind,
                 const char *file, const char *name)
{
    char directory[1024], state[80];
    const char *slash = strrchr(file, '/');
    struct trail_error err = { "" };

    assert_non_null(slash);
    snprintf(directory, sizeof(directory), "%.*s", (int)(slash - file), file);
    snprintf(state, sizeof(state), "%s/state", contract->root);
    const char *const directories[] = { directory };
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = 1,
                                                    .state_directory = state };
    assert_ok_err(trail_registry_create(&options, &contract->registry, &err), err);
    assert_ok_err(trail_registry_load(contract->registry, kind, name, &contract->plugin,
                                      &err),
                  err);
}

/* A value for an option that must have one, as JSON. */
static void required_value(const struct contract *contract,
                           const struct trail_option_spec *spec, char *value_ret,
                           size_t size)
{
    const char *kind =
        strrchr(spec->key, '.') ? strrchr(spec->key, '.') + 1 : spec->key;

    if (spec->type == TRAIL_OPTION_PATH)
        snprintf(value_ret, size, "\"%s/written\"", contract->root);
    else if (spec->type == TRAIL_OPTION_URL ||
             strcmp(kind, "url") == 0) /* nobody listens on the discard port */
        snprintf(value_ret, size, "\"http://127.0.0.1:9/\"");
    else if (spec->type == TRAIL_OPTION_TEXT)
        snprintf(value_ret, size, "\"x\"");
    else if (spec->type == TRAIL_OPTION_MAP)
        snprintf(value_ret, size, "{}");
    else if (spec->type == TRAIL_OPTION_LIST)
        snprintf(value_ret, size, "[]");
    else if (spec->type == TRAIL_OPTION_BOOL)
        snprintf(value_ret, size, "false");
    else if (spec->type == TRAIL_OPTION_DURATION)
        snprintf(value_ret, size, "\"1s\"");
    else
        snprintf(value_ret, size, "1");
}

/* The options go through the real loader: a default that it cannot read fails here. */
static void make_options(struct contract *contract,
                         const struct trail_option_spec *specs, uint32_t count,
                         uint32_t stride)
{
    bool sink = contract->plugin->kind == TRAIL_KIND_SINK;
    struct trail_error err = { "" };
    char text[4096], value[256];
    size_t used =
        (size_t)snprintf(text, sizeof(text), "{\"%s\":[{\"use\":\"%s\"",
                         sink ? "sinks" : "symbolizers", contract->plugin->name);

    for (uint32_t i = 0; i < count; i++) {
        const struct trail_option_spec *spec = spec_at(specs, i, stride);
        if (!(spec->flags & TRAIL_OPTION_REQUIRED))
            continue;
        required_value(contract, spec, value, sizeof(value));
        used += (size_t)snprintf(text + used, sizeof(text) - used, ",\"%s\":%s",
                                 spec->key, value);
        assert_true(used < sizeof(text));
    }
    used += (size_t)snprintf(text + used, sizeof(text) - used, "}]}");
    assert_true(used < sizeof(text));
    assert_ok_err(trail_config_parse(text, used, "contract.json", contract->root,
                                     &contract->config, &err),
                  err);
    const struct trail_config_entry *entry =
        sink ? &contract->config->sinks[0] : &contract->config->symbolizers[0];
    assert_ok_err(trail_config_options(contract->config, entry, specs, count, stride,
                                       &contract->set, &err),
                  err);
    contract->options = trail_option_set_view(contract->set);
}

void contract_open(struct contract *contract, enum trail_plugin_kind kind,
                   const char *file, const char *name)
{
    memset(contract, 0, sizeof(*contract));
    snprintf(contract->root, sizeof(contract->root), "/tmp/trail-contract-XXXXXX");
    assert_non_null(mkdtemp(contract->root));
    load(contract, kind, file, name);
    if (kind == TRAIL_KIND_SINK) {
        const struct trail_sink *sink = contract->plugin->sink;
        make_options(contract, sink->options, sink->option_count, sink->option_stride);
    } else {
        const struct trail_symbolizer *table = contract->plugin->symbolizer;
        make_options(contract, table->options, table->option_count,
                     table->option_stride);
    }
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void contract_close(struct contract *contract)
{
    trail_option_set_destroy(contract->set);
    trail_config_destroy(contract->config);
    trail_registry_destroy(contract->registry);
    assert_int_equal(nftw(contract->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

void contract_check_table(const struct trail_plugin *plugin, uint32_t abi,
                          uint32_t shape, uint32_t table_abi, uint32_t table_size)
{
    const uint32_t known = TRAIL_NEEDS_FILES | TRAIL_NEEDS_NETWORK | TRAIL_NEEDS_EXEC;

    assert_int_equal(plugin->state, TRAIL_PLUGIN_LOADED);
    assert_int_equal(plugin->abi, abi);
    assert_int_equal(plugin->shape, shape);
    assert_int_equal(table_abi, abi);
    assert_true(table_size >= 2 * sizeof(uint32_t));
    assert_int_equal(plugin->needs & ~known, 0);
    assert_string_not_equal(plugin->release, "");
}

/* Keys of a config entry that are the host's own. */
static bool is_taken(const char *key)
{
    static const char *const taken[] = { "use", "name", "channels", "style", "full" };

    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (strcmp(key, taken[i]) == 0)
            return true;
    return false;
}

void contract_check_options(const struct trail_option_spec *specs, uint32_t count,
                            uint32_t stride)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct trail_option_spec *spec = spec_at(specs, i, stride);

        assert_in_range(spec->type, TRAIL_OPTION_TEXT, TRAIL_OPTION_URL);
        assert_non_null(spec->key);
        assert_true(spec->key[0] &&
                    strspn(spec->key, "abcdefghijklmnopqrstuvwxyz"
                                      "0123456789_.") == strlen(spec->key));
        assert_false(is_taken(spec->key));
        assert_non_null(spec->help);
        assert_true(spec->help[0] && !strchr(spec->help, '\n'));
        assert_int_not_equal(spec->help[strlen(spec->help) - 1], '.');
        assert_false((spec->flags & TRAIL_OPTION_REQUIRED) && spec->default_value);
        for (uint32_t j = 0; j < i; j++)
            assert_string_not_equal(spec->key, spec_at(specs, j, stride)->key);
    }
}

uint8_t *contract_read(const char *path, size_t *size_ret)
{
    struct stat st;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    *size_ret = (size_t)st.st_size;
    uint8_t *bytes = malloc(*size_ret + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size_ret, file), *size_ret);
    fclose(file);
    return bytes;
}
