/* load.c -- what a configuration without mistakes comes to. */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/config_test.h"
#include "backtrail/sink.h"

/* The example of the architecture page, as it stands there. */
static const char architecture[] =
    "{\n"
    "  \"app\":         { \"name\": \"orders\", \"version\": \"2.3.1\" },\n"
    "  \"plugins\":     { \"path\": [\"${dir}/plugins\"] },\n"
    "  \"symbolizers\": [ { \"use\": \"elfdwarf\" }, { \"use\": \"macho\" },\n"
    "                   { \"use\": \"dbghelp\" }, { \"use\": \"wasi-null\" } ],\n"
    "  \"symbols\":     { \"directories\": [], \"store\": \"~/.cache/backtrail\",\n"
    "                   \"debuginfod\": { \"urls\": [], \"timeout\": \"5s\" } },\n"
    "  \"sinks\": [\n"
    "    { \"use\": \"stderr\", \"channels\": [\"crash\", \"panic\"], \"style\": "
    "\"text\" },\n"
    "    { \"use\": \"file\", \"path\": \"reports.jsonl\",\n"
    "      \"rotate\": { \"size\": \"16MiB\", \"keep\": 5 } },\n"
    "    { \"use\": \"http\", \"name\": \"hq\", \"url\": "
    "\"https://traces.example/v1/logs\",\n"
    "      \"format\": \"otlp\",\n"
    "      \"headers\": { \"Authorization\": \"Bearer ${env:HQ_TOKEN}\" } }\n"
    "  ]\n"
    "}\n";

static void assert_list(char **list, const char *first, const char *second)
{
    assert_non_null(list);
    if (!first) {
        assert_null(list[0]);
        return;
    }
    assert_string_equal(list[0], first);
    if (!second) {
        assert_null(list[1]);
        return;
    }
    assert_string_equal(list[1], second);
    assert_null(list[2]);
}

static void the_architectures_example_loads(void **unused)
{
    (void)unused;
    assert_int_equal(setenv("HOME", "/srv/ada", 1), 0);
    assert_int_equal(unsetenv("HQ_TOKEN"), 0); /* is asked for only with the options */
    struct trail_config *config = parse_good(architecture);

    assert_string_equal(config->file, "agent.json");
    assert_string_equal(config->app_name, "orders");
    assert_string_equal(config->app_version, "2.3.1");
    assert_list(config->plugin_paths, "/etc/trail/plugins", NULL);
    assert_list(config->symbol_directories, NULL, NULL);
    assert_string_equal(config->store, "/srv/ada/.cache/backtrail");
    assert_list(config->debuginfod_urls, NULL, NULL);
    assert_true(config->debuginfod_timeout_ns == UINT64_C(5000000000));
    assert_true(config->symbolizers_given);
    assert_int_equal(config->symbolizer_count, 4);
    assert_string_equal(config->symbolizers[3].use, "wasi-null");
    assert_string_equal(config->symbolizers[3].place, "symbolizers[3]");
    assert_int_equal(config->sink_count, 3);
    assert_list(config->sinks[0].channels, "crash", "panic");
    assert_int_equal(config->sinks[0].style, TRAIL_STYLE_TEXT);
    assert_null(config->sinks[1].channels);
    assert_int_equal(config->sinks[1].style, 0);
    assert_string_equal(config->sinks[2].name, "hq");
    assert_string_equal(config->sinks[2].place, "sinks[2]");
    trail_config_destroy(config);
}

static void check_defaults(const struct trail_config *config)
{
    assert_string_equal(config->app_name, "");
    assert_string_equal(config->app_version, "");
    assert_null(config->state);
    assert_null(config->store);
    assert_false(config->symbolizers_given);
    assert_int_equal(config->symbolizer_count, 0);
    assert_int_equal(config->sink_count, 1);
    assert_string_equal(config->sinks[0].use, "stderr");
    assert_string_equal(config->sinks[0].name, "stderr");
    assert_string_equal(config->sinks[0].place, "sinks[0]");
    assert_null(config->sinks[0].object);
    assert_null(config->sinks[0].channels);
    assert_list(config->plugin_paths, NULL, NULL);
    assert_list(config->symbol_directories, NULL, NULL);
    assert_list(config->debuginfod_urls, NULL, NULL);
    assert_list(config->in_app_include, NULL, NULL);
    assert_list(config->in_app_exclude, NULL, NULL);
    assert_true(config->debuginfod_timeout_ns == UINT64_C(5000000000));
}

static void without_a_file_reports_go_to_standard_error(void **unused)
{
    (void)unused;
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_ok_err(trail_config_load(NULL, &config, &err), err);
    assert_string_equal(config->file, "(defaults)");
    check_defaults(config);
    trail_config_destroy(config);
}

static void an_empty_object_is_the_defaults(void **unused)
{
    (void)unused;
    struct trail_config *config = parse_good("{}");
    check_defaults(config);
    trail_config_destroy(config);
}

static void empty_lists_mean_none(void **unused)
{
    (void)unused;
    struct trail_config *config = parse_good("{\"sinks\":[],\"symbolizers\":[]}");
    assert_int_equal(config->sink_count, 0);
    assert_int_equal(config->symbolizer_count, 0);
    assert_true(config->symbolizers_given);
    trail_config_destroy(config);
}

static void every_key_of_the_schema_is_read(void **unused)
{
    (void)unused;
    struct trail_config *config = parse_good(
        "{ \"state\": \"/var/lib/trail\", \"symbols\": { \"directories\": [\"/a\", "
        "\"b\"],"
        " \"store\": \"c\", \"debuginfod\": { \"urls\": [\"https://a\", \"http://b\"],"
        " \"timeout\": \"90s\" }, \"cache\": { \"bytes\": \"64MiB\","
        " \"files\": 9 } }, \"in_app\": { \"include\": [\"*/orders*\"],"
        " \"exclude\": [\"/usr/*\", \"lib?.so\"] },"
        " \"sinks\": [ { \"use\": \"x\", \"style\": \"json\", \"full\": true },"
        " { \"use\": \"y\", \"style\": \"tracy\", \"full\": false } ] }");
    assert_string_equal(config->state, "/var/lib/trail");
    assert_list(config->symbol_directories, "/a", "/etc/trail/b");
    assert_string_equal(config->store, "/etc/trail/c");
    assert_list(config->debuginfod_urls, "https://a", "http://b");
    assert_true(config->debuginfod_timeout_ns == UINT64_C(90000000000));
    assert_int_equal(config->cache_bytes, 64 << 20);
    assert_int_equal(config->cache_files, 9);
    assert_list(config->in_app_include, "*/orders*", NULL);
    assert_list(config->in_app_exclude, "/usr/*", "lib?.so");
    assert_int_equal(config->sinks[0].style, TRAIL_STYLE_JSON);
    assert_true(config->sinks[0].full);
    assert_int_equal(config->sinks[1].style, TRAIL_STYLE_TRACY);
    assert_false(config->sinks[1].full);
    trail_config_destroy(config);
}

static void entries_without_a_name_get_one_that_is_free(void **unused)
{
    (void)unused;
    static const char *const names[] = { "file#3", "file#4", "http", "file#2",
                                         "file",   "file#5", NULL };
    struct trail_config *config =
        parse_good("{ \"sinks\": [ { \"use\": \"file\" }, { \"use\": \"file\" },"
                   " { \"use\": \"http\" }, { \"use\": \"x\", \"name\": \"file#2\" },"
                   " { \"use\": \"x\", \"name\": \"file\" }, { \"use\": \"file\" } ],"
                   " \"symbolizers\": [ { \"use\": \"file\" } ] }");
    for (size_t i = 0; names[i]; i++)
        assert_string_equal(config->sinks[i].name, names[i]);
    assert_string_equal(config->symbolizers[0].name, "file"); /* another list */
    trail_config_destroy(config);
}

static void a_long_list_is_not_a_deep_one(void **unused)
{
    (void)unused;
    char text[2048] = "{ \"sinks\": [ { \"use\": \"a\", \"b\": [[]] }";
    for (size_t i = 0; i < 60; i++)
        strncat(text, ", { \"use\": \"a\", \"b\": [] }", 30);
    strncat(text, " ] }", 5);
    struct trail_config *config = parse_good(text);
    assert_int_equal(config->sink_count, 61);
    assert_string_equal(config->sinks[60].name, "a#61");
    trail_config_destroy(config);
}

static void keys_and_texts_may_be_written_with_escapes(void **unused)
{
    (void)unused;
    struct trail_config *config = parse_good(
        "\xEF\xBB\xBF{ \"\\u0061pp\": { \"n\\u0061me\": \"a\\\"\\u20ac\\n\" } }\r\n");
    assert_string_equal(config->app_name, "a\"\xE2\x82\xAC\n");
    trail_config_destroy(config);
}

/* Every cut of a right text is a mistake, and is found without reading beyond it. */
static void no_truncated_text_loads(void **unused)
{
    (void)unused;
    for (size_t size = 0; size < sizeof(architecture) - 3; size++) {
        struct trail_config *config = NULL;
        struct trail_error err = { "" };
        char *copy = malloc(size + 1);
        assert_non_null(copy);
        memcpy(copy, architecture, size);
        copy[size] = '}'; /* not part of it */
        assert_int_equal(parse_sized(copy, size, &config, &err), TRAIL_BAD_INPUT);
        assert_null(config);
        assert_true(strncmp(err.text, "agent.json:", 11) == 0);
        free(copy);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_architectures_example_loads),
    cmocka_unit_test(without_a_file_reports_go_to_standard_error),
    cmocka_unit_test(an_empty_object_is_the_defaults),
    cmocka_unit_test(empty_lists_mean_none),
    cmocka_unit_test(every_key_of_the_schema_is_read),
    cmocka_unit_test(entries_without_a_name_get_one_that_is_free),
    cmocka_unit_test(a_long_list_is_not_a_deep_one),
    cmocka_unit_test(keys_and_texts_may_be_written_with_escapes),
    cmocka_unit_test(no_truncated_text_loads),
};
TRAIL_TEST_MAIN(tests)
