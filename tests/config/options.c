/* options.c -- an entry's options against a plugin's table. */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/config_test.h"
#include "tests/config/scratch.h"

/* A table with every type, nested keys, defaults, a required one and a secret. */
static const struct trail_option_spec table[] = {
    { .type = TRAIL_OPTION_TEXT,
      .flags = TRAIL_OPTION_REQUIRED,
      .key = "url",
      .help = "where reports are sent" },
    { .type = TRAIL_OPTION_PATH, .key = "path", .help = "a file" },
    { .type = TRAIL_OPTION_BOOL,
      .key = "gzip",
      .default_value = "true",
      .help = "pack bodies" },
    { .type = TRAIL_OPTION_COUNT,
      .key = "rotate.keep",
      .default_value = "5",
      .help = "files kept" },
    { .type = TRAIL_OPTION_SIZE,
      .key = "rotate.size",
      .default_value = "16MiB",
      .help = "bytes of one file" },
    { .type = TRAIL_OPTION_DURATION,
      .key = "timeout",
      .default_value = "10s",
      .help = "of one request" },
    { .type = TRAIL_OPTION_MAP,
      .flags = TRAIL_OPTION_SECRET,
      .key = "headers",
      .help = "added to a request" },
    { .type = TRAIL_OPTION_LIST, .key = "tls.pins", .help = "keys that are trusted" },
};

static enum trail_status read_table(const char *json,
                                    const struct trail_option_spec *specs,
                                    uint32_t count, struct trail_config **config_ret,
                                    struct trail_option_set **set_ret,
                                    struct trail_error *err)
{
    *config_ret = parse_good(json);
    const struct trail_config_entry *entry = (*config_ret)->sink_count
                                                 ? &(*config_ret)->sinks[0]
                                                 : &(*config_ret)->symbolizers[0];
    return trail_config_options(*config_ret, entry, specs, count, sizeof(*specs),
                                set_ret, err);
}

/* The options of the first sink in `json`; the config goes when the set has been read.
 */
static struct trail_option_set *read_good(const char *json)
{
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(read_table(json, table, 8, &config, &set, &err), err);
    trail_config_destroy(config);
    return set;
}

static void assert_bad_table(const char *json, const struct trail_option_spec *specs,
                             uint32_t count, const char *message)
{
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_int_equal(read_table(json, specs, count, &config, &set, &err),
                     TRAIL_BAD_INPUT);
    assert_null(set);
    assert_string_equal(err.text, message);
    trail_config_destroy(config);
}

static void assert_option(const struct trail_option_set *set, uint32_t index,
                          const char *key, const char *name, const char *text,
                          uint64_t number)
{
    const struct trail_options *options = trail_option_set_view(set);
    assert_true(index < options->count);
    const struct trail_option *option = trail_options_at(options, index);
    assert_string_equal(option->key, key);
    assert_string_equal(option->name, name);
    assert_string_equal(option->text.data, text); /* terminated too */
    assert_int_equal(option->text.size, strlen(text));
    assert_true(option->number == number);
}

static void every_type_is_read_in_the_order_of_the_table(void **unused)
{
    (void)unused;
    struct trail_option_set *set = read_good(
        "{ \"sinks\": [ { \"use\": \"http\", \"name\": \"hq\", \"channels\": [\"a\"],"
        " \"style\": \"json\", \"full\": true,"
        " \"tls\": { \"pins\": [\"z\", \"y\", \"z\"] },"
        " \"headers\": { \"Z-Last.Key\": \"1\", \"A\": \"2\" }, \"timeout\": \"200ms\","
        " \"rotate\": { \"size\": 4096, \"keep\": 9223372036854775807 },"
        " \"gzip\": false, \"path\": \"out/x.log\", \"url\": \"https://a\" } ] }");
    const struct trail_options *options = trail_option_set_view(set);
    assert_int_equal(options->size, sizeof(struct trail_options));
    assert_int_equal(options->stride, sizeof(struct trail_option));
    assert_int_equal(options->count, 11);
    assert_option(set, 0, "url", "", "https://a", 0);
    assert_option(set, 1, "path", "", "/etc/trail/out/x.log", 0);
    assert_option(set, 2, "gzip", "", "false", 0);
    assert_option(set, 3, "rotate.keep", "", "9223372036854775807", INT64_MAX);
    assert_option(set, 4, "rotate.size", "", "4096", 4096);
    assert_option(set, 5, "timeout", "", "200ms", 200000000);
    assert_option(set, 6, "headers", "Z-Last.Key", "1", 0);
    assert_option(set, 7, "headers", "A", "2", 0);
    assert_option(set, 8, "tls.pins", "", "z", 0);
    assert_option(set, 9, "tls.pins", "", "y", 0);
    assert_option(set, 10, "tls.pins", "", "z", 0);
    trail_option_set_destroy(set);
}

static void defaults_fill_in_what_is_not_given(void **unused)
{
    (void)unused;
    struct trail_option_set *set =
        read_good("{ \"sinks\": [ { \"use\": \"http\", \"url\": \"x\","
                  " \"rotate\": {}, \"headers\": {} } ] }");
    assert_int_equal(trail_option_set_view(set)->count, 5);
    assert_option(set, 0, "url", "", "x", 0);
    assert_option(set, 1, "gzip", "", "true", 1);
    assert_option(set, 2, "rotate.keep", "", "5", 5);
    assert_option(set, 3, "rotate.size", "", "16MiB", 16u << 20);
    assert_option(set, 4, "timeout", "", "10s", UINT64_C(10000000000));
    assert_null(trail_options_find(trail_option_set_view(set), "path"));
    trail_option_set_destroy(set);
}

static void defaults_of_maps_lists_and_paths_are_read_as_in_the_file(void **unused)
{
    (void)unused;
    static const struct trail_option_spec specs[] = {
        { .type = TRAIL_OPTION_MAP,
          .key = "m",
          .default_value = "{ \"a\": \"${dir}\", \"b\": \"2\" }",
          .help = "" },
        { .type = TRAIL_OPTION_LIST,
          .key = "l",
          .default_value = "[\"x\", \"y\"]",
          .help = "" },
        { .type = TRAIL_OPTION_PATH,
          .key = "p",
          .default_value = "sub/file",
          .help = "" },
        { .type = TRAIL_OPTION_TEXT, .key = "t", .default_value = "", .help = "" },
    };
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(read_table("{}", specs, 4, &config, &set, &err), err);
    assert_option(set, 0, "m", "a", "/etc/trail", 0);
    assert_option(set, 1, "m", "b", "2", 0);
    assert_option(set, 2, "l", "", "x", 0);
    assert_option(set, 3, "l", "", "y", 0);
    assert_option(set, 4, "p", "", "/etc/trail/sub/file", 0);
    assert_option(set, 5, "t", "", "", 0);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
}

static void secrets_are_read_with_the_options(void **state)
{
    struct scratch *scratch = *state;
    static const char json[] =
        "{ \"sinks\": [ { \"use\": \"http\", \"url\": \"x\", \"headers\": {"
        " \"Authorization\": \"Bearer ${env:TRAIL_TOKEN}\", \"Key\": \"${file:k}\" } } "
        "] }";
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };

    assert_int_equal(unsetenv("TRAIL_TOKEN"), 0);
    assert_ok_err(trail_config_parse(json, strlen(json), "a.json", scratch->directory,
                                     &config, &err),
                  err);
    assert_int_equal(trail_config_options(config, config->sinks, table, 8,
                                          sizeof(*table), &set, &err),
                     TRAIL_BAD_INPUT);
    assert_string_equal(err.text,
                        "a.json:1:73: sinks[0].headers.Authorization: environment "
                        "variable TRAIL_TOKEN is not set; set it, or write "
                        "${env:TRAIL_TOKEN:-default}");
    assert_int_equal(setenv("TRAIL_TOKEN", "t0k", 1), 0);
    scratch_write(scratch, "k", "s3cret\n", 7);
    assert_ok_err(trail_config_options(config, config->sinks, table, 8, sizeof(*table),
                                       &set, &err),
                  err);
    assert_option(set, 5, "headers", "Authorization", "Bearer t0k", 0);
    assert_option(set, 6, "headers", "Key", "s3cret", 0);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
}

static void a_message_never_shows_what_an_expansion_gave(void **unused)
{
    (void)unused;
    assert_int_equal(setenv("TRAIL_TOKEN", "s3cret", 1), 0);
    assert_bad_table(
        "{ \"sinks\": [ { \"use\": \"http\", \"url\": \"x\","
        " \"timeout\": \"${env:TRAIL_TOKEN}\" } ] }",
        table, 8,
        "agent.json:1:54: sinks[0].timeout: \"${env:TRAIL_TOKEN}\" expanded "
        "is not a duration; write a number with ms, s, m or h as text, like "
        "\"5s\"");
}

static void numbers_and_switches_may_come_from_expansions(void **unused)
{
    (void)unused;
    assert_int_equal(setenv("TRAIL_KEEP", "7", 1), 0);
    assert_int_equal(setenv("TRAIL_GZIP", "false", 1), 0);
    struct trail_option_set *set =
        read_good("{ \"sinks\": [ { \"use\": \"http\", \"url\": \"x\","
                  " \"gzip\": \"${env:TRAIL_GZIP}\", \"rotate\": { \"keep\": "
                  "\"${env:TRAIL_KEEP}\","
                  " \"size\": \"${env:TRAIL_KEEP}KiB\" } } ] }");
    assert_option(set, 1, "gzip", "", "false", 0);
    assert_option(set, 2, "rotate.keep", "", "7", 7);
    assert_option(set, 3, "rotate.size", "", "7KiB", 7168);
    trail_option_set_destroy(set);
}

/* One wrong entry: its members after "use", and what is said of it. */
struct row {
    const char *members, *message;
};

static const struct row wrong_values[] = {
    { "\"url\": 5",
      "agent.json:2:8: sinks[0].url: expected text, found a number; put it in quotes" },
    { "\"url\": null", "agent.json:2:8: sinks[0].url: expected text, found null" },
    { "\"url\": \"x\", \"path\": []",
      "agent.json:2:21: sinks[0].path: expected a path, found a list" },
    { "\"url\": \"x\", \"path\": \"\"",
      "agent.json:2:21: sinks[0].path: an empty text is not a path" },
    { "\"url\": \"x\", \"gzip\": \"true\"",
      "agent.json:2:21: sinks[0].gzip: expected true or false, found text; leave out "
      "the quotes" },
    { "\"url\": \"x\", \"gzip\": 1",
      "agent.json:2:21: sinks[0].gzip: expected true or false, found a number" },
    { "\"url\": \"x\", \"rotate\": 5", "agent.json:2:23: sinks[0].rotate: expected an "
                                       "object, found a number; write { ... }" },
    { "\"url\": \"x\", \"rotate\": { \"keep\": -1 }",
      "agent.json:2:33: sinks[0].rotate.keep: -1 is not a count; write a whole number, "
      "0 or more" },
    { "\"url\": \"x\", \"rotate\": { \"keep\": 1.5 }",
      "agent.json:2:33: sinks[0].rotate.keep: 1.5 is not a count; write a whole "
      "number, 0 or more" },
    { "\"url\": \"x\", \"rotate\": { \"keep\": \"5\" }",
      "agent.json:2:33: sinks[0].rotate.keep: expected a whole number, found text; "
      "leave out the quotes" },
    { "\"url\": \"x\", \"rotate\": { \"size\": \"16MB\" }",
      "agent.json:2:33: sinks[0].rotate.size: \"16MB\" is not a size; write bytes or a "
      "number with KiB, MiB or GiB" },
    { "\"url\": \"x\", \"rotate\": { \"size\": -4096 }",
      "agent.json:2:33: sinks[0].rotate.size: -4096 is not a size; write bytes or a "
      "number with KiB, MiB or GiB" },
    { "\"url\": \"x\", \"rotate\": { \"size\": 1e3 }",
      "agent.json:2:33: sinks[0].rotate.size: 1e3 is not a size; write bytes or a "
      "number with KiB, MiB or GiB" },
    { "\"url\": \"x\", \"rotate\": { \"size\": \"17179869184GiB\" }",
      "agent.json:2:33: sinks[0].rotate.size: \"17179869184GiB\" is more than 64 bits "
      "hold" },
    { "\"url\": \"x\", \"rotate\": { \"size\": true }",
      "agent.json:2:33: sinks[0].rotate.size: expected a size, found true" },
    { "\"url\": \"x\", \"timeout\": 5",
      "agent.json:2:24: sinks[0].timeout: 5 is not a duration; write a number with ms, "
      "s, m or h as text, like \"5s\"" },
    { "\"url\": \"x\", \"timeout\": \"5x\"",
      "agent.json:2:24: sinks[0].timeout: \"5x\" is not a duration; write a number "
      "with ms, s, m or h as text, like \"5s\"" },
    { "\"url\": \"x\", \"headers\": []", "agent.json:2:24: sinks[0].headers: expected "
                                         "an object, found a list; write { ... }" },
    { "\"url\": \"x\", \"headers\": { \"A\": 5 }",
      "agent.json:2:31: sinks[0].headers.A: expected text, found a number; put it in "
      "quotes" },
    { "\"url\": \"x\", \"headers\": { \"A b\": {} }",
      "agent.json:2:33: sinks[0].headers.\"A b\": expected text, found an object" },
    { "\"url\": \"x\", \"tls\": { \"pins\": \"x\" }",
      "agent.json:2:30: sinks[0].tls.pins: expected a list, found text; write [ ... "
      "]" },
    { "\"url\": \"x\", \"tls\": { \"pins\": [ \"x\", 5 ] }",
      "agent.json:2:37: sinks[0].tls.pins[1]: expected text, found a number; put it in "
      "quotes" },
    { "\"url\": \"x\", \"tls\": []", "agent.json:2:20: sinks[0].tls: expected an "
                                     "object, found a list; write { ... }" },
};

static const struct row wrong_keys[] = {
    { "\"gzip\": true", "agent.json:1:14: sinks[0]: \"url\" is missing; plugin http "
                        "needs it: where reports are sent" },
    { "\"url\": \"x\", \"header\": {}",
      "agent.json:2:13: sinks[0].header: plugin http has no such option; did you mean "
      "\"headers\"?" },
    { "\"url\": \"x\", \"chanels\": []",
      "agent.json:2:13: sinks[0].chanels: plugin http has no such option; did you mean "
      "\"channels\"?" },
    { "\"url\": \"x\", \"colour\": true",
      "agent.json:2:13: sinks[0].colour: plugin http has no such option; known here: "
      "url, path, gzip, rotate, timeout, headers, tls, use, name, enabled, channels, "
      "style, "
      "full" },
    { "\"url\": \"x\", \"rotate\": { \"sise\": 1 }",
      "agent.json:2:25: sinks[0].rotate.sise: plugin http has no such option; did you "
      "mean \"size\"?" },
    { "\"url\": \"x\", \"rotate\": { \"compress\": 1 }",
      "agent.json:2:25: sinks[0].rotate.compress: plugin http has no such option; "
      "known here: keep, size" },
    { "\"url\": \"x\", \"rotate\": { \"size\": 1, \"a\": { \"b\": 1 } }",
      "agent.json:2:36: sinks[0].rotate.a: plugin http has no such option; known here: "
      "keep, size" },
    { "\"url\": \"x\", \"rotate.size\": 1",
      "agent.json:2:13: sinks[0].\"rotate.size\": a key with dots; write objects: "
      "\"rotate\": { \"size\": ... }" },
    { "\"url\": \"x\", \"rotate.\": 1",
      "agent.json:2:13: sinks[0].\"rotate.\": plugin http has no such option; did you "
      "mean \"rotate\"?" },
    { "\"url\": \"x\", \"tls\": { \"pins\": [], \"use\": \"x\" }",
      "agent.json:2:34: sinks[0].tls.use: plugin http has no such option; known here: "
      "pins" },
};

static void check_table(const struct trail_option_spec *specs, uint32_t spec_count,
                        const struct row *rows, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct trail_config *config = NULL;
        struct trail_option_set *set = NULL;
        struct trail_error err = { "" };
        char json[256];
        snprintf(json, sizeof(json), "{ \"sinks\": [ { \"use\": \"http\",\n%s } ] }",
                 rows[i].members);
        enum trail_status status =
            read_table(json, specs, spec_count, &config, &set, &err);
        trail_config_destroy(config);
        if (status == TRAIL_BAD_INPUT && strcmp(err.text, rows[i].message) == 0)
            continue;
        print_error("%s\n gives  %s\n wanted %s\n", rows[i].members, err.text,
                    rows[i].message);
        trail_option_set_destroy(set);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void wrong_values_are_told_with_what_would_be_right(void **unused)
{
    (void)unused;
    check_table(table, 8, wrong_values, sizeof(wrong_values) / sizeof(*wrong_values));
}

static void wrong_and_missing_keys_are_told(void **unused)
{
    (void)unused;
    check_table(table, 8, wrong_keys, sizeof(wrong_keys) / sizeof(*wrong_keys));
}

static const struct trail_option_spec bounded[] = {
    { .type = TRAIL_OPTION_TEXT, .key = "format", .words = "json|otlp", .help = "" },
    { .type = TRAIL_OPTION_URL, .key = "url", .help = "" },
    { .type = TRAIL_OPTION_COUNT,
      .key = "keep",
      .least = "2",
      .most = "9",
      .help = "" },
    { .type = TRAIL_OPTION_SIZE, .key = "size", .least = "1KiB", .help = "" },
    { .type = TRAIL_OPTION_DURATION, .key = "time", .most = "1h", .help = "" },
};

static const struct row not_allowed[] = {
    { "\"format\": \"xml\"",
      "agent.json:2:11: sinks[0].format: \"xml\" cannot be used; write json|otlp" },
    { "\"format\": \"jso\"",
      "agent.json:2:11: sinks[0].format: \"jso\" cannot be used; write json|otlp" },
    { "\"format\": \"\"",
      "agent.json:2:11: sinks[0].format: \"\" cannot be used; write json|otlp" },
    { "\"format\": \"${env:TRAIL_WORD}\"",
      "agent.json:2:11: sinks[0].format: \"${env:TRAIL_WORD}\" expanded cannot be "
      "used; "
      "write json|otlp" },
    { "\"url\": \"ftp://u:secret@h\"",
      "agent.json:2:8: sinks[0].url: not a URL; it has "
      "to start with https:// or http://" },
    { "\"url\": \"https:/h\"", "agent.json:2:8: sinks[0].url: not a URL; it has "
                               "to start with https:// or http://" },
    { "\"url\": \"HTTP://\"",
      "agent.json:2:8: sinks[0].url: a URL without a host; write https://HOST/PATH" },
    { "\"url\": \"https:///p\"",
      "agent.json:2:8: sinks[0].url: a URL without a host; write https://HOST/PATH" },
    { "\"url\": \"https://h/a b\"",
      "agent.json:2:8: sinks[0].url: a URL has no spaces or control characters; write "
      "%20 for a space" },
    { "\"keep\": 1",
      "agent.json:2:9: sinks[0].keep: 1 is too little; write 2 or more" },
    { "\"keep\": 10",
      "agent.json:2:9: sinks[0].keep: 10 is too much; write 9 or less" },
    { "\"size\": \"1023B\"",
      "agent.json:2:9: sinks[0].size: \"1023B\" is too little; write 1KiB or more" },
    { "\"time\": \"61m\"",
      "agent.json:2:9: sinks[0].time: \"61m\" is too much; write 1h or less" },
};

static void a_value_that_the_table_does_not_allow_is_told(void **unused)
{
    (void)unused;
    assert_int_equal(setenv("TRAIL_WORD", "hidden", 1), 0);
    check_table(bounded, 5, not_allowed, sizeof(not_allowed) / sizeof(*not_allowed));
    assert_int_equal(unsetenv("TRAIL_WORD"), 0);
}

/* What a plugin says of its options is not always "key: reason". */
static void blame_finds_the_option_that_is_at_fault(void **unused)
{
    (void)unused;
    struct trail_config *config =
        parse_good("{ \"sinks\": [ { \"use\": \"a\", \"tls\": { \"pins\": 1 } } ] }");
    static const struct row rows[] = {
        { "tls.pins: no", "agent.json:1:45: sinks[0].tls.pins: no" },
        { "tls: no", "agent.json:1:35: sinks[0].tls: no" },
        { "key: no", "agent.json:1:14: sinks[0]: key: no" },
        { "no", "agent.json:1:14: sinks[0]: no" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct trail_error err = { "" };
        assert_int_equal(trail_config_blame(config, &config->sinks[0], TRAIL_IO,
                                            rows[i].members, &err),
                         TRAIL_IO);
        assert_string_equal(err.text, rows[i].message);
    }
    trail_config_destroy(config);
}

static void a_symbolizer_may_have_options_that_a_sink_has_from_the_host(void **unused)
{
    (void)unused;
    static const struct trail_option_spec specs[] = {
        { .type = TRAIL_OPTION_TEXT, .key = "style", .help = "" },
    };
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(read_table("{ \"sinks\": [], \"symbolizers\": [ { \"use\": \"a\","
                             " \"name\": \"n\", \"style\": \"short\" } ] }",
                             specs, 1, &config, &set, &err),
                  err);
    assert_option(set, 0, "style", "", "short", 0);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
    assert_bad_table(
        "{ \"sinks\": [], \"symbolizers\": [ { \"use\": \"a\","
        " \"full\": true } ] }",
        specs, 1,
        "agent.json:1:47: symbolizers[0].full: plugin a has no such option; "
        "known here: style, use, name, enabled");
}

static void a_plugin_without_options_takes_none(void **unused)
{
    (void)unused;
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(read_table("{}", NULL, 0, &config, &set, &err), err);
    assert_int_equal(trail_option_set_view(set)->count, 0);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
    assert_bad_table("{ \"sinks\": [ { \"use\": \"a\", \"b\": 1 } ] }", NULL, 0,
                     "agent.json:1:28: sinks[0].b: plugin a has no such option; "
                     "known here: use, name, enabled, channels, style, full");
}

static void what_the_default_sink_lacks_is_told_without_a_position(void **unused)
{
    (void)unused;
    assert_bad_table(
        "{}", table, 8,
        "agent.json: sinks[0]: \"url\" is missing; plugin stderr needs it");
}

static void a_wrong_table_is_the_plugins_mistake(void **unused)
{
    (void)unused;
    static const struct trail_option_spec bad_duration[] = {
        { .type = TRAIL_OPTION_DURATION,
          .key = "timeout",
          .default_value = "5x",
          .help = "" },
    };
    static const struct trail_option_spec bad_list[] = {
        { .type = TRAIL_OPTION_LIST, .key = "a.b", .default_value = "[1]", .help = "" },
    };
    static const struct trail_option_spec bad_map[] = {
        { .type = TRAIL_OPTION_MAP, .key = "m", .default_value = "{", .help = "" },
    };
    static const struct trail_option_spec no_key[] = { { .type = TRAIL_OPTION_MAP } };
    static const char json[] = "{ \"sinks\": [ { \"use\": \"a\" } ] }";

    assert_bad_table(
        json, bad_duration, 1,
        "agent.json:1:14: sinks[0].timeout: \"5x\" is not a duration; write a "
        "number with ms, s, m or h as text, like \"5s\" (a default of plugin "
        "a)");
    assert_bad_table(json, bad_list, 1,
                     "agent.json:1:14: sinks[0].a.b: expected text, found a number; "
                     "put it in quotes (a "
                     "default of plugin a)");
    assert_bad_table(json, bad_map, 1,
                     "agent.json:1:14: sinks[0].m: not JSON (a default of plugin a)");
    assert_bad_table(json, no_key, 1, "plugin a: its option table is malformed");
    assert_bad_table(json, NULL, 1, "plugin a: its option table is malformed");
}

static void a_newer_option_type_is_refused_by_name(void **unused)
{
    (void)unused;
    static const struct trail_option_spec specs[] = {
        { .type = 99, .key = "new", .default_value = "1", .help = "" }
    };
    struct trail_config *config = NULL;
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_int_equal(read_table("{}", specs, 1, &config, &set, &err),
                     TRAIL_UNSUPPORTED);
    assert_contains(err.text, "plugin stderr: option \"new\" is of type 99");
    trail_config_destroy(config);
}

/* An older plugin's rows end before what is newer; what follows is the next row. */
static void a_table_of_shorter_rows_has_no_bounds(void **unused)
{
    (void)unused;
    char rows[2 * TRAIL_OPTION_SPEC_MIN];
    const struct trail_option_spec first = { .type = TRAIL_OPTION_TEXT,
                                             .key = "a",
                                             .default_value = "x",
                                             .help = "" },
                                   second = { .type = TRAIL_OPTION_COUNT,
                                              .key = "b",
                                              .default_value = "2",
                                              .help = "" };
    memcpy(rows, &first, TRAIL_OPTION_SPEC_MIN);
    memcpy(rows + TRAIL_OPTION_SPEC_MIN, &second, TRAIL_OPTION_SPEC_MIN);
    struct trail_config *config = parse_good("{}");
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(trail_config_options(config, &config->sinks[0], (const void *)rows, 2,
                                       TRAIL_OPTION_SPEC_MIN, &set, &err),
                  err);
    assert_option(set, 0, "a", "", "x", 0);
    assert_option(set, 1, "b", "", "2", 2);
    trail_option_set_destroy(set);
    trail_config_destroy(config);
}

/* A newer plugin's rows may be longer than this host knows. */
static void a_table_of_longer_rows_is_walked_by_its_stride(void **unused)
{
    (void)unused;
    static const struct {
        struct trail_option_spec spec;
        uint64_t more[3];
    } rows[] = {
        { { .type = TRAIL_OPTION_COUNT, .key = "a", .default_value = "1", .help = "" },
          { 9, 9, 9 } },
        { { .type = TRAIL_OPTION_COUNT, .key = "b", .default_value = "2", .help = "" },
          { 9, 9, 9 } },
    };
    struct trail_config *config = parse_good("{}");
    struct trail_option_set *set = NULL;
    struct trail_error err = { "" };
    assert_ok_err(trail_config_options(config, config->sinks, &rows[0].spec, 2,
                                       sizeof(rows[0]), &set, &err),
                  err);
    assert_option(set, 1, "b", "", "2", 2);
    trail_option_set_destroy(set);
    assert_int_equal(trail_config_options(config, config->sinks, &rows[0].spec, 2, 8,
                                          &set, &err),
                     TRAIL_BAD_INPUT);
    trail_config_destroy(config);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_type_is_read_in_the_order_of_the_table),
    cmocka_unit_test(defaults_fill_in_what_is_not_given),
    cmocka_unit_test(defaults_of_maps_lists_and_paths_are_read_as_in_the_file),
    cmocka_unit_test_setup_teardown(secrets_are_read_with_the_options, scratch_make,
                                    scratch_remove),
    cmocka_unit_test(a_message_never_shows_what_an_expansion_gave),
    cmocka_unit_test(numbers_and_switches_may_come_from_expansions),
    cmocka_unit_test(wrong_values_are_told_with_what_would_be_right),
    cmocka_unit_test(wrong_and_missing_keys_are_told),
    cmocka_unit_test(a_value_that_the_table_does_not_allow_is_told),
    cmocka_unit_test(blame_finds_the_option_that_is_at_fault),
    cmocka_unit_test(a_table_of_shorter_rows_has_no_bounds),
    cmocka_unit_test(a_symbolizer_may_have_options_that_a_sink_has_from_the_host),
    cmocka_unit_test(a_plugin_without_options_takes_none),
    cmocka_unit_test(what_the_default_sink_lacks_is_told_without_a_position),
    cmocka_unit_test(a_wrong_table_is_the_plugins_mistake),
    cmocka_unit_test(a_newer_option_type_is_refused_by_name),
    cmocka_unit_test(a_table_of_longer_rows_is_walked_by_its_stride),
};
TRAIL_TEST_MAIN(tests)
