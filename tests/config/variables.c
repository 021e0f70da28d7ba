/* variables.c -- keys set by the environment, over what the files say. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "tests/config/memory.h"

#define AGENT "/etc/trail/agent.json"

static const struct trail_option_spec table[] = {
    { .type = TRAIL_OPTION_TEXT, .key = "url", .help = "" },
    { .type = TRAIL_OPTION_PATH, .key = "path", .help = "" },
    { .type = TRAIL_OPTION_BOOL, .key = "gzip", .help = "" },
    { .type = TRAIL_OPTION_COUNT, .key = "rotate.keep", .help = "" },
    { .type = TRAIL_OPTION_MAP, .key = "headers", .help = "" },
    { .type = TRAIL_OPTION_LIST, .key = "pins", .help = "" },
};

/* Set variables given as "NAME=value", NULL at the end, load, and unset them. */
static struct trail_config *load(const char *text, const char *const *set,
                                 struct trail_config_mistakes *mistakes)
{
    const struct memory_file files[] = { { AGENT, text }, { NULL, NULL } };
    struct trail_config_variable *variables = NULL;
    size_t count = 0;
    struct trail_error err = { "" };
    char name[128];
    for (const char *const *at = set; *at; at++) {
        snprintf(name, sizeof(name), "BACKTRAIL_SET_%.*s", (int)strcspn(*at, "="), *at);
        assert_int_equal(setenv(name, strchr(*at, '=') + 1, 1), 0);
    }
    assert_ok_err(trail_config_variables_read(&variables, &count, &err), err);
    struct trail_config *config = memory_load(files, variables, count, mistakes);
    trail_config_variables_free(variables, count);
    for (const char *const *at = set; *at; at++) {
        snprintf(name, sizeof(name), "BACKTRAIL_SET_%.*s", (int)strcspn(*at, "="), *at);
        assert_int_equal(unsetenv(name), 0);
    }
    return config;
}

static struct trail_config *load_good(const char *text, const char *const *set)
{
    struct trail_config_mistakes mistakes = { .told = NULL };
    struct trail_config *config = load(text, set, &mistakes);
    if (!config)
        print_error("%s\n", mistakes.first.text);
    assert_non_null(config);
    return config;
}

static void a_variable_goes_over_the_files_in_either_spelling(void **unused)
{
    (void)unused;
    static const char *const set[] = { "app.name=n", "symbols__debuginfod__timeout=2s",
                                       "in_app__include=[\"a\", \"b\"]", NULL };
    struct trail_config *config =
        load_good("{ \"app\": { \"name\": \"x\", \"version\": \"1\" } }", set);
    assert_string_equal(config->app_name, "n");
    assert_string_equal(config->app_version, "1");
    assert_int_equal(config->debuginfod_timeout_ns, 2000000000);
    assert_string_equal(config->in_app_include[1], "b");
    trail_config_destroy(config);
}

static void a_value_is_text_where_text_is_wanted_whatever_it_looks_like(void **unused)
{
    (void)unused;
    static const struct {
        const char *set, *name;
    } rows[] = {
        { "app.name=5", "5" },
        { "app.name=1.10", "1.10" },
        { "app.name=true", "true" },
        { "app.name=null", "null" },
        { "app.name=[1]", "[1]" },
        { "app.name={\"a\": 1}", "{\"a\": 1}" },
        { "app.name=\"q\"", "q" },
        { "app.name=\"q", "\"q" },
        { "app.name=", "" },
        { "app.name=a=b", "a=b" },
        { "app.name=${dir}", "/here" },
        { "app={\"name\": \"o\"}", "o" },
        { "app.name=${env:N:-d}", "d" },
    };
    assert_int_equal(unsetenv("N"), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *set[] = { rows[i].set, NULL };
        struct trail_config *config = load_good("{}", set);
        assert_string_equal(config->app_name, rows[i].name);
        trail_config_destroy(config);
    }
}

static void a_relative_path_starts_from_the_current_directory(void **unused)
{
    (void)unused;
    static const char *const set[] = { "state=s", NULL };
    struct trail_config *config = load_good("{ \"state\": \"x\" }", set);
    assert_string_equal(config->state, "/here/s");
    trail_config_destroy(config);
}

static const struct trail_option *option_of(const struct trail_option_set *set,
                                            const char *key)
{
    const struct trail_option *option =
        trail_options_find(trail_option_set_view(set), key);
    assert_non_null(option);
    return option;
}

static void options_of_an_entry_are_set_by_its_name_or_number(void **unused)
{
    (void)unused;
    static const char *const set[] = {
        "sinks.hq.url=7",
        "sinks.1.gzip=false",
        "sinks.1.rotate.keep=3",
        "sinks.hq.headers.X-A=1",
        "sinks.hq.pins=[\"a\"]",
        "sinks__file__path=p",
        "sinks.hq.channels=[\"c\"]",
        NULL,
    };
    struct trail_config *config = load_good(
        "{ \"sinks\": [ { \"use\": \"file\" }, { \"use\": \"http\", \"name\": "
        "\"hq\", \"url\": \"u\", \"headers\": { \"B\": \"2\" } } ] }",
        set);
    struct trail_option_set *options = NULL;
    struct trail_error err = { "" };
    assert_int_equal(config->sink_count, 2);
    assert_string_equal(config->sinks[1].channels[0], "c");
    assert_ok_err(trail_config_options(config, &config->sinks[1], table, 6,
                                       sizeof(*table), &options, &err),
                  err);
    assert_string_equal(option_of(options, "url")->text.data, "7");
    assert_int_equal(option_of(options, "gzip")->number, 0);
    assert_int_equal(option_of(options, "rotate.keep")->number, 3);
    assert_string_equal(option_of(options, "pins")->text.data, "a");
    assert_int_equal(trail_option_set_view(options)->count, 6);
    trail_option_set_destroy(options);
    assert_ok_err(trail_config_options(config, &config->sinks[0], table, 6,
                                       sizeof(*table), &options, &err),
                  err);
    assert_string_equal(option_of(options, "path")->text.data, "/here/p");
    trail_option_set_destroy(options);
    trail_config_destroy(config);
}

static void the_sink_that_is_there_without_a_file_can_be_set(void **unused)
{
    (void)unused;
    static const char *const set[] = { "sinks.stderr.style=json", NULL };
    struct trail_config *config = load_good("{}", set);
    assert_int_equal(config->sink_count, 1);
    assert_string_equal(config->sinks[0].use, "stderr");
    assert_int_equal(config->sinks[0].style, 1);
    trail_config_destroy(config);
}

static void a_list_of_entries_works_as_in_one_more_file(void **unused)
{
    (void)unused;
    static const char *const set[] = { "sinks=[]", NULL };
    struct trail_config *config =
        load_good("{ \"sinks\": [ { \"use\": \"file\" } ] }", set);
    assert_int_equal(config->sink_count, 0);
    trail_config_destroy(config);
}

struct row {
    const char *set, *message;
};

static const struct row mistakes_in_keys[] = {
    { "app.nane=x", "BACKTRAIL_SET_app.nane: unknown key; did you mean \"name\"?" },
    { "apq__name=x",
      "BACKTRAIL_SET_apq__name: apq: unknown key; did you mean \"app\"?" },
    { "state.x=y", "BACKTRAIL_SET_state.x: state: expected a path, found an object" },
    { "app=x", "BACKTRAIL_SET_app: expected an object, found text; write { ... }" },
    { "=x", "BACKTRAIL_SET_: an empty step in its key; write "
            "BACKTRAIL_SET_symbols.store, or BACKTRAIL_SET_symbols__store" },
    { "app..name=x", "BACKTRAIL_SET_app..name: an empty step in its key; write "
                     "BACKTRAIL_SET_symbols.store, or BACKTRAIL_SET_symbols__store" },
    { "a.a.a.a.a.a.a.a.a.a.a.a.a=x",
      "BACKTRAIL_SET_a.a.a.a.a.a.a.a.a.a.a.a.a: too many steps in its key; write "
      "BACKTRAIL_SET_symbols.store, or BACKTRAIL_SET_symbols__store" },
    { "include=[\"x\"]", "BACKTRAIL_SET_include: a variable cannot include; name the "
                         "file in the configuration" },
    { "//app=x", "BACKTRAIL_SET_//app: a key that starts with // is a comment" },
    { "sinks.hp.url=x",
      "BACKTRAIL_SET_sinks.hp.url: no entry is called \"hp\"; did you "
      "mean \"hq\"?" },
    { "sinks.1.url=x",
      "BACKTRAIL_SET_sinks.1.url: no entry is called \"1\"; known here: "
      "hq" },
    { "symbolizers.0.use=x",
      "BACKTRAIL_SET_symbolizers.0.use: no entry is called \"0\"; none is known here" },
};

static const struct row mistakes_in_values[] = {
    { "symbols.debuginfod.timeout=soon",
      "BACKTRAIL_SET_symbols.debuginfod.timeout: \"soon\" is not a duration; write a "
      "number with ms, s, m or h as text, like \"5s\"" },
    { "in_app.include=a",
      "BACKTRAIL_SET_in_app.include: expected a list, found text; write [ ... ]" },
    { "in_app.include=[\"a\", 5]", "BACKTRAIL_SET_in_app.include: in_app.include[1]: "
                                   "expected text, found a number; put it in quotes" },
    { "sinks.hq.full=maybe", "BACKTRAIL_SET_sinks.hq.full: \"maybe\" is not true or "
                             "false; write true or false" },
    { "sinks.hq.style=loud", "BACKTRAIL_SET_sinks.hq.style: \"loud\" is not a style; "
                             "write \"json\", \"text\" or \"tracy\"" },
    { "sinks.hq=x",
      "BACKTRAIL_SET_sinks.hq: expected an object, found text; write { ... }" },
    { "state=", "BACKTRAIL_SET_state: an empty text is not a path" },
    { "app.name=a\xFF", "BACKTRAIL_SET_app.name: this is not UTF-8 text" },
    { "a\xFF\r=a", "BACKTRAIL_SET_a??: this is not UTF-8 text" },
    { "app.name=${env:NONE}",
      "BACKTRAIL_SET_app.name: environment variable NONE is not set; set it, or write "
      "${env:NONE:-default}" },
};

static void check_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *set[] = { rows[i].set, NULL };
        struct trail_config_mistakes mistakes = { .told = NULL };
        struct trail_config *config =
            load("{ \"sinks\": [ { \"use\": \"http\", \"name\": \"hq\" } ] }", set,
                 &mistakes);
        assert_string_equal(mistakes.first.text, rows[i].message);
        assert_null(config);
        assert_int_equal(mistakes.count, 1);
    }
}

static void a_key_that_does_not_exist_names_the_variable(void **unused)
{
    (void)unused;
    check_rows(mistakes_in_keys, sizeof(mistakes_in_keys) / sizeof(*mistakes_in_keys));
}

static void a_wrong_value_names_the_variable(void **unused)
{
    (void)unused;
    assert_int_equal(unsetenv("NONE"), 0);
    check_rows(mistakes_in_values,
               sizeof(mistakes_in_values) / sizeof(*mistakes_in_values));
}

static void two_variables_for_one_key_are_told(void **unused)
{
    (void)unused;
    static const char *const set[] = { "app.name=x", "app__name=y", NULL };
    struct trail_config_mistakes mistakes = { .told = NULL };
    assert_null(load("{}", set, &mistakes));
    assert_contains(mistakes.first.text, "sets the same key as BACKTRAIL_SET_app");
    assert_contains(mistakes.first.text, "; unset one of them");
    assert_int_equal(mistakes.count, 1);
}

static void a_variable_with_odd_bytes_in_its_name_leaves_a_line(void **unused)
{
    (void)unused;
    static const char *const set[] = { "a\rb=x", "a\rb=y", NULL };
    static const struct trail_config_variable twice[] = {
        { (char *)(uintptr_t) "BACKTRAIL_SET_a\r.b", (char *)(uintptr_t) "x" },
        { (char *)(uintptr_t) "BACKTRAIL_SET_a\r__b", (char *)(uintptr_t) "x" },
    };
    static const struct memory_file files[] = { { AGENT, "{}" }, { NULL, NULL } };
    struct trail_config_mistakes mistakes = { .told = NULL };
    assert_null(load("{}", set, &mistakes));
    assert_string_equal(
        mistakes.first.text,
        "BACKTRAIL_SET_a?b: unknown key; known here: app, state, "
        "plugins, symbolizers, symbols, sinks, in_app, redact, agent, include");
    mistakes = (struct trail_config_mistakes){ .told = NULL };
    assert_null(memory_load(files, twice, 2, &mistakes));
    assert_string_equal(mistakes.first.text,
                        "BACKTRAIL_SET_a?__b: sets the same key as "
                        "BACKTRAIL_SET_a\\u000d.b; unset one of "
                        "them");
}

static void a_wider_variable_counts_before_a_narrower_one(void **unused)
{
    (void)unused;
    static const char *const set[] = { "app.name=narrow",
                                       "app={\"name\":\"wide\",\"version\":\"w\"}",
                                       NULL };
    struct trail_config *config = load_good("{}", set);
    assert_string_equal(config->app_name, "narrow");
    assert_string_equal(config->app_version, "w");
    trail_config_destroy(config);
}

static void variables_are_bounded(void **unused)
{
    (void)unused;
    struct trail_config_variable *variables = NULL;
    size_t count = 0;
    struct trail_error err = { "" };
    char name[64];
    for (unsigned i = 0; i <= TRAIL_CONFIG_VARIABLE_LIMIT; i++) {
        snprintf(name, sizeof(name), "BACKTRAIL_SET_k%u", i);
        assert_int_equal(setenv(name, "x", 1), 0);
    }
    enum trail_status status = trail_config_variables_read(&variables, &count, &err);
    for (unsigned i = 0; i <= TRAIL_CONFIG_VARIABLE_LIMIT; i++) {
        snprintf(name, sizeof(name), "BACKTRAIL_SET_k%u", i);
        assert_int_equal(unsetenv(name), 0);
    }
    assert_int_equal(status, TRAIL_BAD_INPUT);
    assert_string_equal(err.text, "more than 256 variables BACKTRAIL_SET_*");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_variable_goes_over_the_files_in_either_spelling),
    cmocka_unit_test(a_value_is_text_where_text_is_wanted_whatever_it_looks_like),
    cmocka_unit_test(a_relative_path_starts_from_the_current_directory),
    cmocka_unit_test(options_of_an_entry_are_set_by_its_name_or_number),
    cmocka_unit_test(the_sink_that_is_there_without_a_file_can_be_set),
    cmocka_unit_test(a_list_of_entries_works_as_in_one_more_file),
    cmocka_unit_test(a_key_that_does_not_exist_names_the_variable),
    cmocka_unit_test(a_wrong_value_names_the_variable),
    cmocka_unit_test(two_variables_for_one_key_are_told),
    cmocka_unit_test(a_variable_with_odd_bytes_in_its_name_leaves_a_line),
    cmocka_unit_test(a_wider_variable_counts_before_a_narrower_one),
    cmocka_unit_test(variables_are_bounded),
};
TRAIL_TEST_MAIN(tests)
