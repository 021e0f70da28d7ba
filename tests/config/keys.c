/* keys.c -- the table of the host's keys: complete, and what the loader goes by. */
#include "config/keys.h"

#include "tests/config/config_test.h"

static void every_row_says_what_it_is(void **unused)
{
    (void)unused;
    static const char *const types[] = {
        "text",  "path",         "true|false",    "duration",        "size",
        "count", "list of text", "list of paths", "list of entries", "list of URLs"
    };
    for (const struct trail_config_key *key = trail_config_keys; key->path; key++) {
        size_t type = 0;
        while (type < 10 && strcmp(types[type], key->type) != 0)
            type++;
        assert_true(type < 10);
        assert_true(key->help[0] && key->help[strlen(key->help) - 1] != '.');
        assert_ptr_equal(trail_config_key_find(key->path), key);
        assert_int_equal(key->list, strncmp(key->type, "list", 4) == 0);
    }
    assert_null(trail_config_key_find("symbols"));
}

static void assert_names(const char *path, const char *wanted)
{
    struct trail_config_names names;
    char text[160] = "";
    trail_config_names_below(path, &names);
    for (const char *const *name = names.at; *name; name++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s ", *name);
    assert_string_equal(text, wanted);
}

static void names_of_an_object_are_found_once_and_in_order(void **unused)
{
    (void)unused;
    assert_names("", "app state plugins symbolizers symbols sinks in_app redact "
                     "agent include ");
    assert_names("symbols", "directories store debuginfod cache ");
    assert_names("symbols.debuginfod", "urls timeout ");
    assert_names("sinks[]", "use name enabled channels style full ");
    assert_names("symbolizers[]", "use name enabled ");
    assert_names("agent", "inbox socket stdin resolve drain http record kinds quota ");
    assert_names("none", "");
}

static void every_default_is_what_an_empty_file_gives(void **unused)
{
    (void)unused;
    struct trail_config *config = parse_good("{}");
    assert_string_equal(config->app_name, trail_config_key_find("app.name")->fallback);
    assert_int_equal(config->debuginfod_timeout_ns, 5000000000);
    assert_string_equal(trail_config_key_find("symbols.debuginfod.timeout")->fallback,
                        "5s");
    assert_true(config->cache_bytes == UINT64_C(2) << 30);
    assert_int_equal(config->cache_files, 256);
    assert_null(config->plugin_paths[0]);
    assert_null(config->symbol_directories[0]);
    assert_null(config->in_app_include[0]);
    assert_null(config->state);
    assert_int_equal(config->agent.resolve, 1);
    assert_int_equal(config->agent.stdin_, 0);
    assert_int_equal(config->agent.drain_ns, 10000000000);
    assert_null(config->agent.http_listen);
    trail_config_destroy(config);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_row_says_what_it_is),
    cmocka_unit_test(names_of_an_object_are_found_once_and_in_order),
    cmocka_unit_test(every_default_is_what_an_empty_file_gives),
};
TRAIL_TEST_MAIN(tests)
