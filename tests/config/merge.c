/* merge.c -- several files as one configuration: what counts, and whose mistake it is.
 */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/memory.h"

#define AGENT  "/etc/trail/agent.json"
#define FIRST  "/etc/trail/agent.json.d/10-first.json"
#define SECOND "/etc/trail/agent.json.d/20-second.json"

static void later_files_override_earlier_ones_key_by_key(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"app\": { \"name\": \"a\", \"version\": \"1\" }, \"symbols\": { "
                 "\"debuginfod\": { \"timeout\": \"1s\" } } }" },
        { FIRST, "{ \"app\": { \"name\": \"b\" }, \"state\": \"/s\" }" },
        { SECOND,
          "{ \"app\": { \"name\": \"c\" }, \"symbols\": { \"store\": \"/t\" } }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->app_name, "c");
    assert_string_equal(config->app_version, "1");
    assert_string_equal(config->state, "/s");
    assert_string_equal(config->store, "/t");
    assert_int_equal(config->debuginfod_timeout_ns, 1000000000);
    trail_config_destroy(config);
}

static void a_list_of_texts_is_replaced(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT,
          "{ \"in_app\": { \"include\": [ \"a\", \"b\" ], \"exclude\": [ \"x\" ] "
          "} }" },
        { FIRST, "{ \"in_app\": { \"include\": [ \"c\" ] } }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->in_app_include[0], "c");
    assert_null(config->in_app_include[1]);
    assert_string_equal(config->in_app_exclude[0], "x");
    trail_config_destroy(config);
}

static void an_entry_goes_over_the_earlier_one_of_its_name(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"sinks\": [ { \"use\": \"stderr\" },"
                 " { \"use\": \"http\", \"name\": \"hq\", \"url\": \"u\" } ] }" },
        { FIRST, "{ \"sinks\": [ { \"use\": \"file\", \"path\": \"p\" },"
                 " { \"name\": \"hq\", \"style\": \"json\" },"
                 " { \"name\": \"stderr\", \"full\": true } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 3);
    const struct trail_config_entry *sinks = config->sinks;
    assert_string_equal(sinks[0].use, "stderr");
    assert_true(sinks[0].full); /* known by its plugin, where it has no name */
    assert_string_equal(sinks[1].name, "hq");
    assert_int_equal(sinks[1].style, 1);
    assert_non_null(json_object_get(sinks[1].object, "url"));
    assert_string_equal(sinks[2].use, "file");
    trail_config_destroy(config);
}

static void an_entry_that_names_another_plugin_takes_nothing_over(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT,
          "{ \"sinks\": [ { \"use\": \"http\", \"name\": \"hq\", \"url\": \"u\" },"
          " { \"use\": \"stderr\" } ] }" },
        { FIRST,
          "{ \"sinks\": [ { \"use\": \"file\", \"name\": \"hq\", \"path\": \"p\" "
          "} ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 2);
    assert_string_equal(config->sinks[0].use, "file");
    assert_null(json_object_get(config->sinks[0].object, "url"));
    trail_config_destroy(config);
}

static void an_entry_that_has_a_name_goes_by_no_other(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"sinks\": [ { \"use\": \"http\", \"name\": \"hq\" } ] }" },
        { FIRST, "{ \"sinks\": [ { \"use\": \"http\", \"name\": \"http\" } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 2);
    assert_string_equal(config->sinks[0].name, "hq");
    trail_config_destroy(config);
}

static void an_empty_list_empties_what_came_before(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"sinks\": [ { \"use\": \"http\" }, { \"use\": \"file\" } ],"
                 " \"symbolizers\": [ { \"use\": \"a\" } ] }" },
        { FIRST, "{ \"sinks\": [], \"symbolizers\": [] }" },
        { SECOND, "{ \"sinks\": [ { \"use\": \"stderr\" } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 1);
    assert_string_equal(config->sinks[0].use, "stderr");
    assert_int_equal(config->symbolizer_count, 0);
    assert_true(config->symbolizers_given);
    trail_config_destroy(config);
}

static void an_entry_that_is_not_enabled_is_left_out_and_renames_no_other(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"sinks\": [ { \"use\": \"file\" }, { \"use\": \"file\" },"
                 " { \"use\": \"http\", \"name\": \"hq\" } ] }" },
        { FIRST, "{ \"sinks\": [ { \"name\": \"file\", \"enabled\": false },"
                 " { \"name\": \"hq\", \"enabled\": true } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 2);
    assert_string_equal(config->sinks[0].name, "file#2");
    assert_string_equal(config->sinks[0].place, "sinks[1]");
    assert_string_equal(config->sinks[1].name, "hq");
    trail_config_destroy(config);
}

static void a_key_that_starts_with_slashes_is_a_comment_everywhere(void **unused)
{
    (void)unused;
    static const struct trail_option_spec table[] = {
        { .type = TRAIL_OPTION_MAP, .key = "headers", .help = "" },
    };
    static const struct memory_file files[] = {
        { AGENT, "{ \"//\": \"one\", \"//\": \"two\", \"//sinkz\": [ { \"\": 1 } ],"
                 " \"app\": { \"// name\": 1, \"name\": \"a\" },"
                 " \"sinks\": [ { \"//\": \"x\", \"use\": \"http\","
                 " \"headers\": { \"//A\": 1, \"B\": \"2\" } } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_string_equal(config->app_name, "a");
    assert_ok_err(trail_config_options(config, &config->sinks[0], table, 1,
                                       sizeof(*table), &set, &err),
                  err);
    assert_int_equal(trail_option_set_view(set)->count, 1);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
}

/* A mistake in what the second file says, or leaves out. */
struct row {
    const char *text, *message;
};

static void a_mistake_has_the_place_in_the_file_that_it_is_in(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{\n \"app\": { \"nane\": 1 } }",
          "/etc/trail/agent.json.d/10-first.json:2:11: app.nane: unknown key; did you "
          "mean "
          "\"name\"?" },
        { "{ \"state\": 5 }",
          "/etc/trail/agent.json.d/10-first.json:1:12: state: expected a "
          "path, found a number" },
        { "{ \"plugins\": [] }", "/etc/trail/agent.json.d/10-first.json:1:14: plugins: "
                                 "expected an object, found a "
                                 "list; write { ... }" },
        { "{ \"sinks\": [ { \"name\": \"hqq\", \"timeout\": \"2s\" } ] }",
          "/etc/trail/agent.json.d/10-first.json:1:14: sinks[0]: \"use\" is missing; "
          "name a "
          "plugin, like \"use\": \"stderr\"" },
        { "{ \"sinks\": [ { \"name\": \"hq\", \"style\": \"loud\" } ] }",
          "/etc/trail/agent.json.d/10-first.json:1:39: sinks[0].style: \"loud\" is not "
          "a "
          "style; write \"json\", \"text\" or \"tracy\"" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"name\": \"x\" }, { \"use\": \"b\", "
          "\"name\": \"x\" } ] }",
          "/etc/trail/agent.json.d/10-first.json:1:65: sinks[1].name: \"x\" is the "
          "name of "
          "sinks[2] already (1:36); choose another" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"name\": \"${env:HQ:-hq}\" } ] }",
          "/etc/trail/agent.json.d/10-first.json:1:36: sinks[0].name: "
          "\"${env:HQ:-hq}\" expanded is the name of sinks[1] already "
          "(trail/agent.json:3:27); choose another" },
        { "{ \"state\": \"a\", \"state\": \"b\" }",
          "/etc/trail/agent.json.d/10-first.json:1:17: state: written twice, first at "
          "1:3; "
          "remove one" },
        { "{ \"state\": \"gr\xC3\xBC\xC3\x9F\", oops }",
          "/etc/trail/agent.json.d/10-first.json:1:20: expected a key in double "
          "quotes, "
          "found oops" },
        { "", "/etc/trail/agent.json.d/10-first.json: the file is empty; write at "
              "least {}" },
    };
    assert_int_equal(unsetenv("HQ"), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct memory_file files[] = {
            { AGENT, "{ \"sinks\": [\n { \"use\": \"stderr\" },\n { \"use\": \"http\", "
                     "\"name\": \"hq\" } ] }" },
            { FIRST, rows[i].text },
            { NULL, NULL },
        };
        assert_memory_refused(files, rows[i].message);
    }
}

static void a_mistake_that_a_later_file_mends_is_none(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"state\": 5 }" },
        { FIRST, "{ \"state\": \"/s\" }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->state, "/s");
    trail_config_destroy(config);
}

static void an_option_of_a_merged_entry_is_told_where_it_stands(void **unused)
{
    (void)unused;
    static const struct trail_option_spec table[] = {
        { .type = TRAIL_OPTION_TEXT,
          .flags = TRAIL_OPTION_REQUIRED,
          .key = "url",
          .help = "where to" },
        { .type = TRAIL_OPTION_DURATION, .key = "timeout", .help = "" },
    };
    static const struct memory_file files[] = {
        { AGENT, "{ \"sinks\": [ { \"use\": \"stderr\" }, { \"use\": \"http\" } ] }" },
        { FIRST, "{ \"sinks\": [\n { \"name\": \"http\", \"timeout\": \"soon\" } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_int_equal(trail_config_options(config, &config->sinks[1], &table[1], 1,
                                          sizeof(*table), &set, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text,
                    "10-first.json:2:31: sinks[0].timeout: \"soon\" is not a");
    assert_int_equal(trail_config_options(config, &config->sinks[1], &table[0], 1,
                                          sizeof(*table), &set, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "sinks[0].timeout: plugin http has no such option");
    assert_int_equal(trail_config_options(config, &config->sinks[1], table, 2,
                                          sizeof(*table), &set, &err),
                     TRAIL_BAD_INPUT);
    assert_string_equal(err.text,
                        "trail/agent.json:1:35: sinks[1]: \"url\" is missing; "
                        "plugin http needs it: where to");
    trail_config_destroy(config);
}

static void count(void *arg, const char *line)
{
    size_t *counted = arg;
    assert_non_null(strstr(line, "agent.json"));
    (*counted)++;
}

static void every_mistake_is_told_in_one_go(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"app\": { \"a\": 1, \"b\": 2 }, \"state\": 1, \"plugins\": 5,"
                 " \"symbols\": { \"debuginfod\": { \"urls\": [ \"x\", \"y\" ],"
                 " \"timeout\": 1 } }, \"sinks\": [ { \"style\": 1 }, 7 ] }" },
        { FIRST, "{ \"c\": 1 }" },
        { NULL, NULL },
    };
    size_t counted = 0;
    struct trail_config_mistakes mistakes = { .told = count, .arg = &counted };
    assert_null(memory_load(files, NULL, 0, &mistakes));
    /* a, b, c, state, plugins, x, y, timeout, no use, style, no object */
    assert_int_equal(mistakes.count, 11);
    assert_int_equal(counted, 11);
}

static void count_lines(void *arg, const char *line)
{
    size_t *counted = arg;
    (*counted)++;
    if (*counted == TRAIL_CONFIG_MISTAKE_LIMIT + 1)
        assert_string_equal(line, "more mistakes; mend these first");
}

static void thousands_of_mistakes_are_not_told(void **unused)
{
    (void)unused;
    char text[8192];
    size_t used = (size_t)snprintf(text, sizeof(text), "{");
    for (unsigned i = 0; i < 500; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\"k%u\": 1",
                                 i ? ", " : "", i);
    snprintf(text + used, sizeof(text) - used, "}");
    const struct memory_file files[] = { { AGENT, text }, { NULL, NULL } };
    size_t counted = 0;
    struct trail_config_mistakes mistakes = { .told = count_lines, .arg = &counted };
    assert_null(memory_load(files, NULL, 0, &mistakes));
    assert_in_range(mistakes.count, TRAIL_CONFIG_MISTAKE_LIMIT + 1, 500);
    assert_int_equal(counted, TRAIL_CONFIG_MISTAKE_LIMIT + 1);
}

static void entries_of_all_files_together_are_bounded(void **unused)
{
    (void)unused;
    char text[16384];
    size_t used = (size_t)snprintf(text, sizeof(text), "{ \"sinks\": [");
    for (unsigned i = 0; i < 200; i++)
        used += (size_t)snprintf(text + used, sizeof(text) - used,
                                 "%s{ \"use\": \"stderr\" }", i ? ", " : "");
    snprintf(text + used, sizeof(text) - used, "] }");
    const struct memory_file files[] = { { AGENT, text },
                                         { FIRST, text },
                                         { NULL, NULL } };
    assert_memory_refused(files,
                          "/etc/trail/agent.json.d/10-first.json:1:12: sinks: more "
                          "than 256 entries");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(later_files_override_earlier_ones_key_by_key),
    cmocka_unit_test(a_list_of_texts_is_replaced),
    cmocka_unit_test(an_entry_goes_over_the_earlier_one_of_its_name),
    cmocka_unit_test(an_entry_that_names_another_plugin_takes_nothing_over),
    cmocka_unit_test(an_entry_that_has_a_name_goes_by_no_other),
    cmocka_unit_test(an_empty_list_empties_what_came_before),
    cmocka_unit_test(an_entry_that_is_not_enabled_is_left_out_and_renames_no_other),
    cmocka_unit_test(a_key_that_starts_with_slashes_is_a_comment_everywhere),
    cmocka_unit_test(a_mistake_has_the_place_in_the_file_that_it_is_in),
    cmocka_unit_test(a_mistake_that_a_later_file_mends_is_none),
    cmocka_unit_test(an_option_of_a_merged_entry_is_told_where_it_stands),
    cmocka_unit_test(every_mistake_is_told_in_one_go),
    cmocka_unit_test(thousands_of_mistakes_are_not_told),
    cmocka_unit_test(entries_of_all_files_together_are_bounded),
};
TRAIL_TEST_MAIN(tests)
