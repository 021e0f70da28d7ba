/* mistakes.c -- each mistake in a configuration, and the one line it is told in. */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/config_test.h"

struct row {
    const char *text, *message;
};

static void check(const struct row *rows, size_t count)
{
    int wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct trail_config *config = NULL;
        struct trail_error err = { "" };
        enum trail_status status =
            parse_sized(rows[i].text, strlen(rows[i].text), &config, &err);
        if (status == TRAIL_BAD_INPUT && strcmp(err.text, rows[i].message) == 0)
            continue;
        print_error("%s\n gives  %s\n wanted %s\n", rows[i].text, err.text,
                    rows[i].message);
        trail_config_destroy(config);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}
#define CHECK(rows) check((rows), sizeof(rows) / sizeof(*(rows)))

static const struct row structure[] = {
    { "", "agent.json: the file is empty; write at least {}" },
    { " \n\t\r\n ", "agent.json: the file is empty; write at least {}" },
    { "[]",
      "agent.json:1:1: a list at the top; a configuration is an object: { ... }" },
    { "[[[[[[[[",
      "agent.json:1:1: a list at the top; a configuration is an object: { ... }" },
    { "\"text\"", "agent.json:1:1: expected \"{\" at the start, found a text" },
    { "12", "agent.json:1:1: expected \"{\" at the start, found 12" },
    { "hello", "agent.json:1:1: expected \"{\" at the start, found hello" },
    { "{", "agent.json:1:2: expected a key in double quotes or \"}\", found the "
           "end of the file" },
    { "{}x", "agent.json:1:3: text after the end of the configuration" },
    { "{}\n{}", "agent.json:2:1: text after the end of the configuration" },
    { "{ \"app\": {} ",
      "agent.json:1:13: expected \",\" or \"}\", found the end of the file" },
    { "{ \"app\": {}, }",
      "agent.json:1:14: expected another key after the comma, found \"}\"" },
    { "{ \"app\" {} }",
      "agent.json:1:9: app: expected \":\" and a value, found \"{\"" },
    { "{ \"app\": }", "agent.json:1:10: app: expected a value, found \"}\"" },
    { "{ \"app\": {} \"state\": \"x\" }",
      "agent.json:1:13: expected \",\" or \"}\", found a text" },
    { "{ app: {} }",
      "agent.json:1:3: expected a key in double quotes or \"}\", found app" },
    { "{ 'app': {} }",
      "agent.json:1:3: expected a key in double quotes or \"}\", found 'app'" },
    { "{ \"sinks\": [ , ] }",
      "agent.json:1:14: sinks[0]: expected a value, found \",\"" },
    { "{ \"sinks\": [ {}, ] }", "agent.json:1:18: sinks: expected another value "
                                "after the comma, found \"]\"" },
    { "{ \"sinks\": [ {} {} ] }",
      "agent.json:1:17: sinks: expected \",\" or \"]\", found \"{\"" },
    { "{ \"sinks\": [ {} }",
      "agent.json:1:17: sinks: expected \",\" or \"]\", found \"}\"" },
    { "{ \"app\": {}, \"\\u001b[31m\": \xE2\x82\xAC }",
      "agent.json:1:28: \"\\u001b[31m\": € is not a value; if it is text, put it "
      "in double quotes" },
};

static const struct row values[] = {
    { "{ \"state\": 'x' }", "agent.json:1:12: state: 'x' is not a value; if it is "
                            "text, put it in double quotes" },
    { "{ \"state\": /var/lib }",
      "agent.json:1:12: state: expected a value, found \"/\"" },
    { "// my config\n{}", "agent.json:1:1: JSON has no comments; write a key that "
                          "starts with //, like \"//\": \"text\"" },
    { "{ \"state\": \"x\", # here\n}",
      "agent.json:1:17: JSON has no comments; write a key that starts with //, like "
      "\"//\": \"text\"" },
    { "{ \"state\": \"x }",
      "agent.json:1:12: state: this text does not end; close it with \"" },
    { "{\n  \"state\": \"x\n}", "agent.json:2:12: state: this text does not end on "
                                "its line; close it with \", or write \\n" },
    { "{ \"state\": \"a\tb\" }",
      "agent.json:1:14: state: a control character in a text; write \\u0009" },
    { "{ \"state\": True }", "agent.json:1:12: state: True is not a value; if it "
                             "is text, put it in double quotes" },
    { "{ \"state\": nul }", "agent.json:1:12: state: nul is not a value; if it is "
                            "text, put it in double quotes" },
    { "{ \"state\": 01 }", "agent.json:1:12: state: 01 is not a number as JSON "
                           "writes it; if it is text, put it in double quotes" },
    { "{ \"state\": .5 }", "agent.json:1:12: state: .5 is not a number as JSON "
                           "writes it; if it is text, put it in double quotes" },
    { "{ \"state\": 1. }", "agent.json:1:12: state: 1. is not a number as JSON "
                           "writes it; if it is text, put it in double quotes" },
    { "{ \"state\": 5s }", "agent.json:1:12: state: 5s is not a number as JSON "
                           "writes it; if it is text, put it in double quotes" },
    { "{ \"state\": NaN }", "agent.json:1:12: state: NaN is not a value; if it is "
                            "text, put it in double quotes" },
    { "{ \"state\": \"a\\qb\" }",
      "agent.json:1:12: state: \"a\\qb\" has an escape that JSON does not know; a "
      "backslash itself is written \\\\" },
    { "{ \"state\": \"\\ud800\" }",
      "agent.json:1:12: state: \"\\ud800\" has an escape that JSON does not know; "
      "a backslash itself is written \\\\" },
    { "{ \"state\": \"a\\u0000b\" }",
      "agent.json:1:12: state: \\u0000 cannot be part of a text" },
    { "{ \"st\\xate\": \"b\" }",
      "agent.json:1:3: \"st\\xate\": \"st\\xate\" has an escape that JSON does not "
      "know; a backslash itself is written \\\\" },
    { "{ \"sinks\": [ { \"use\": \"file\", \"keep\": 9223372036854775808 } ] }",
      "agent.json:1:39: sinks[0].keep: 9223372036854775808 is out of range; whole "
      "numbers go up to 9223372036854775807" },
    { "{ \"sinks\": [ { \"use\": \"file\", \"keep\": -9223372036854775809 } ] }",
      "agent.json:1:39: sinks[0].keep: -9223372036854775809 is out of range; whole "
      "numbers go up to 9223372036854775807" },
    { "{ \"sinks\": [ 1e999 ] }",
      "agent.json:1:14: sinks[0]: 1e999 is out of range; whole numbers go up to "
      "9223372036854775807" },
};

static void texts_that_are_not_json_are_told_where_they_break(void **unused)
{
    (void)unused;
    CHECK(structure);
}

static void values_that_are_not_json_are_told_with_what_would_be(void **unused)
{
    (void)unused;
    CHECK(values);
}

static void keys_that_are_not_known_are_told_with_what_is(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{ \"sink\": [] }",
          "agent.json:1:3: sink: unknown key; did you mean \"sinks\"?" },
        { "{ \"Plugins\": {} }",
          "agent.json:1:3: Plugins: unknown key; did you mean \"plugins\"?" },
        { "{ \"logging\": {} }",
          "agent.json:1:3: logging: unknown key; known here: app, state, plugins, "
          "symbolizers, symbols, sinks, in_app, redact, agent, include" },
        { "{ \"app\": { \"nane\": \"x\" } }",
          "agent.json:1:12: app.nane: unknown key; did you mean \"name\"?" },
        { "{ \"plugins\": { \"paths\": [] } }",
          "agent.json:1:16: plugins.paths: unknown key; did you mean \"path\"?" },
        { "{ \"symbols\": { \"dirs\": [] } }",
          "agent.json:1:16: symbols.dirs: unknown key; known here: directories, store, "
          "debuginfod, cache" },
        { "{ \"symbols\": { \"debuginfod\": { \"url\": \"x\" } } }",
          "agent.json:1:32: symbols.debuginfod.url: unknown key; did you mean "
          "\"urls\"?" },
        { "{ \"in_app\": { \"a.b\\n\": [] } }",
          "agent.json:1:15: in_app.\"a.b\\u000a\": unknown key; known here: include, "
          "exclude" },
        { "{ \"\": 1 }",
          "agent.json:1:3: \"\": unknown key; known here: app, state, "
          "plugins, symbolizers, symbols, sinks, in_app, redact, agent, include" },
    };
    CHECK(rows);
}

static void wrong_types_are_told_with_what_was_expected(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{ \"app\": [] }",
          "agent.json:1:10: app: expected an object, found a list; write { ... }" },
        { "{ \"app\": { \"name\": 5 } }", "agent.json:1:20: app.name: expected text, "
                                          "found a number; put it in quotes" },
        { "{ \"app\": { \"version\": 2.1 } }",
          "agent.json:1:23: app.version: expected text, found a number; put it in "
          "quotes" },
        { "{ \"state\": null }",
          "agent.json:1:12: state: expected a path, found null" },
        { "{ \"state\": \"\" }",
          "agent.json:1:12: state: an empty text is not a path" },
        { "{ \"plugins\": \"x\" }",
          "agent.json:1:14: plugins: expected an object, found text; write { ... }" },
        { "{ \"plugins\": { \"path\": \"x\" } }",
          "agent.json:1:24: plugins.path: expected a list, found text; write [ ... ]" },
        { "{ \"plugins\": { \"path\": [ \"x\", {} ] } }",
          "agent.json:1:31: plugins.path[1]: expected a path, found an object" },
        { "{ \"plugins\": { \"path\": [ \"\" ] } }",
          "agent.json:1:26: plugins.path[0]: an empty text is not a path" },
        { "{ \"symbols\": { \"store\": true } }",
          "agent.json:1:25: symbols.store: expected a path, found true" },
        { "{ \"symbols\": { \"debuginfod\": { \"urls\": [ \"a.example\" ] } } }",
          "agent.json:1:42: symbols.debuginfod.urls[0]: not a URL; it has to start "
          "with https:// or http://" },
        { "{ \"symbols\": { \"debuginfod\": { \"timeout\": 5 } } }",
          "agent.json:1:43: symbols.debuginfod.timeout: 5 is not a duration; write a "
          "number with ms, s, m or h as text, like \"5s\"" },
        { "{ \"symbols\": { \"debuginfod\": { \"timeout\": \"5 s\" } } }",
          "agent.json:1:43: symbols.debuginfod.timeout: \"5 s\" is not a duration; "
          "write a number with ms, s, m or h as text, like \"5s\"" },
        { "{ \"symbols\": { \"debuginfod\": { \"timeout\": \"9999999h\" } } }",
          "agent.json:1:43: symbols.debuginfod.timeout: \"9999999h\" is more than 64 "
          "bits hold" },
        { "{ \"symbols\": { \"debuginfod\": { \"timeout\": true } } }",
          "agent.json:1:43: symbols.debuginfod.timeout: expected a duration, found "
          "true" },
        { "{ \"in_app\": { \"include\": [ false ] } }",
          "agent.json:1:28: in_app.include[0]: expected text, found false; "
          "put it in quotes" },
        { "{ \"in_app\": { \"exclude\": [ \"\" ] } }",
          "agent.json:1:28: in_app.exclude[0]: an empty text; leave it out" },
    };
    CHECK(rows);
}

static void entries_are_told_by_their_place_in_the_list(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{ \"sinks\": {} }",
          "agent.json:1:12: sinks: expected a list, found an object; write [ ... ]" },
        { "{ \"sinks\": [ \"stderr\" ] }",
          "agent.json:1:14: sinks[0]: expected an object, found text; write { ... }" },
        { "{ \"sinks\": [\n  {} ] }", "agent.json:2:3: sinks[0]: \"use\" is missing; "
                                      "name a plugin, like \"use\": \"stderr\"" },
        { "{ \"symbolizers\": [ { \"name\": \"x\" } ] }",
          "agent.json:1:20: symbolizers[0]: \"use\" is missing; name a plugin, like "
          "\"use\": \"elfdwarf\"" },
        { "{ \"sinks\": [ { \"use\": 5 } ] }",
          "agent.json:1:23: sinks[0].use: expected text, found a number; put it in "
          "quotes" },
        { "{ \"sinks\": [ { \"use\": \"\" } ] }",
          "agent.json:1:23: sinks[0].use: \"\" is not a plugin's name; those have 1 to "
          "31 letters, digits, - and _" },
        { "{ \"sinks\": [ { \"use\": \"../evil\" } ] }",
          "agent.json:1:23: sinks[0].use: \"../evil\" is not a plugin's name; those "
          "have 1 to 31 letters, digits, - and _" },
        { "{ \"sinks\": [ { \"use\": \"an-extremely-long-name-of-a-plugin\" } ] }",
          "agent.json:1:23: sinks[0].use: \"an-extremely-long-name-of-a-plugin\" is "
          "not a plugin's name; those have 1 to 31 letters, digits, - and _" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"name\": \"\" } ] }",
          "agent.json:1:36: sinks[0].name: a name has 1 to 63 bytes" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"name\": \"b\\nc\" } ] }",
          "agent.json:1:36: sinks[0].name: a name has no control characters" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"channels\": \"crash\" } ] }",
          "agent.json:1:40: sinks[0].channels: expected a list, found text; write [ "
          "... ]" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"channels\": [] } ] }",
          "agent.json:1:40: sinks[0].channels: an empty list gets nothing; leave it "
          "out for all channels" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"channels\": [ \"a\", 1 ] } ] }",
          "agent.json:1:47: sinks[0].channels[1]: expected text, found a number; put "
          "it in quotes" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"style\": \"jsn\" } ] }",
          "agent.json:1:37: sinks[0].style: \"jsn\" is not a style; write \"json\", "
          "\"text\" or \"tracy\"" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"style\": 1 } ] }",
          "agent.json:1:37: sinks[0].style: expected text, found a number; put it in "
          "quotes" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"full\": \"yes\" } ] }",
          "agent.json:1:36: sinks[0].full: expected true or false, found text" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"full\": 1 } ] }",
          "agent.json:1:36: sinks[0].full: expected true or false, found a number" },
        { "{ \"sinks\": [\n  { \"use\": \"a\", \"name\": \"hq\" },\n"
          "  { \"use\": \"b\" },\n  { \"use\": \"c\", \"name\": \"hq\" } ] }",
          "agent.json:4:25: sinks[2].name: \"hq\" is the name of sinks[0] already "
          "(2:25); choose another" },
    };
    CHECK(rows);
}

static void a_key_written_twice_is_told_with_both_positions(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{ \"app\": {},\n  \"state\": \"x\",\n  \"app\": {} }",
          "agent.json:3:3: app: written twice, first at 1:3; remove one" },
        { "{ \"sinks\": [ { \"use\": \"a\", \"rotate\": { \"size\": 1, \"size\": 1 } } "
          "] }",
          "agent.json:1:51: sinks[0].rotate.size: written twice, first at 1:40; remove "
          "one" },
        { "{ \"app\": {}, \"\\u0061pp\": {} }",
          "agent.json:1:14: app: written twice, first at 1:3; remove one" },
        { "{ \"a\": 1, \"b\": 1, \"b\": 2, \"a\": 2 }",
          "agent.json:1:19: b: written twice, first at 1:11; remove one" },
    };
    CHECK(rows);
    struct trail_config *config =
        parse_good("{ \"symbolizers\": [ { \"use\": \"a\", \"x\": { \"k\": 1 }, \"y\": "
                   "{ \"k\": 1 } },"
                   " { \"use\": \"a\", \"x\": [ 1, 1 ] } ] }");
    trail_config_destroy(config);
}

static void columns_count_characters_and_lines_end_with_a_line_feed(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{\n\t\t\"stat\": 1 }",
          "agent.json:2:3: stat: unknown key; did you mean \"state\"?" },
        { "{ \"app\": { \"name\": \"Gr\xC3\xBC\xC3\x9F\x65 "
          "\xE2\x82\xAC\xF0\x9F\x98\x80\" }, \"x\": 1 }",
          "agent.json:1:34: x: unknown key; known here: app, state, plugins, "
          "symbolizers, symbols, sinks, in_app, redact, agent, include" },
        { "{\r\n\r\n  \"stat\": 1\r\n}\r\n",
          "agent.json:3:3: stat: unknown key; did you mean \"state\"?" },
        { "\xEF\xBB\xBF{ \"stat\": 1 }",
          "agent.json:1:3: stat: unknown key; did you mean \"state\"?" },
    };
    CHECK(rows);
}

static void bytes_that_are_not_text_are_told(void **unused)
{
    (void)unused;
    static const char zero[] = "{ \"app\":\n \0 {} }";
    assert_refused_at(zero, sizeof(zero) - 1,
                      "agent.json:2:2: a NUL byte; a configuration is text", __FILE__,
                      __LINE__);
    assert_refused("{\n \"state\": \"a\xFF\" }",
                   "agent.json:2:13: this is not UTF-8; save the file as UTF-8");
    assert_refused("\xFF\xFE{\x01}\x01",
                   "agent.json:1:1: this is not UTF-8; save the file as UTF-8");
}

static void nesting_ends_at_its_limit(void **unused)
{
    (void)unused;
    char text[400];
    for (size_t depth = 31; depth <= 32; depth++) {
        /* The top is a level too, and so is the list in it. */
        size_t used = (size_t)snprintf(text, sizeof(text), "{ \"x\": ");
        memset(text + used, '[', depth);
        memset(text + used + depth, ']', depth);
        snprintf(text + used + 2 * depth, 8, " }");
        assert_refused(
            text,
            depth == 31
                ? "agent.json:1:3: x: unknown key; known here: app, state, "
                  "plugins, symbolizers, symbols, sinks, in_app, redact, agent, include"
                : "agent.json:1:39: nested deeper than 32 levels");
    }
}

static void the_number_of_values_and_entries_is_bounded(void **unused)
{
    (void)unused;
    size_t count = 100000;
    char *text = calloc(1, 2 * count + 64);
    assert_non_null(text);
    char *at = text + snprintf(text, 64, "{ \"sinks\": [");
    for (size_t i = 0; i < count; i++, at += 2)
        memcpy(at, "1,", 2);
    memcpy(at, "1] }", 5);
    assert_refused(text, "agent.json:1:200009: sinks: more than 100000 values");
    memcpy(text + 12 + 2 * 256, "1] }", 5);
    assert_refused(text, "agent.json:1:12: sinks: more than 256 entries");
    free(text);
}

static void a_long_file_name_and_key_do_not_push_the_reason_out(void **unused)
{
    (void)unused;
    char name[600], text[700];
    struct trail_config *config = NULL;
    struct trail_error err;

    memset(name, 'n', sizeof(name));
    memcpy(name, "/etc/\n", 6);
    memcpy(name + 580, "/agent.json", 12);
    snprintf(text, sizeof(text),
             "{ \"plugins\": { \"path\": [ [ { \"%s\": 5s } ] ] } }", name + 100);
    assert_int_equal(trail_config_parse(text, strlen(text), name, ".", &config, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "nnn/agent.json:1:");
    assert_contains(err.text, ": 5s is not a number");
    assert_null(strchr(err.text, '\n'));
}

static void a_mistake_may_go_untold(void **unused)
{
    (void)unused;
    struct trail_config *config = NULL;
    assert_int_equal(parse_sized("{ \"x\": 1 }", 10, &config, NULL), TRAIL_BAD_INPUT);
    assert_int_equal(parse_sized("", 0, &config, NULL), TRAIL_BAD_INPUT);
    assert_null(config);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(texts_that_are_not_json_are_told_where_they_break),
    cmocka_unit_test(values_that_are_not_json_are_told_with_what_would_be),
    cmocka_unit_test(keys_that_are_not_known_are_told_with_what_is),
    cmocka_unit_test(wrong_types_are_told_with_what_was_expected),
    cmocka_unit_test(entries_are_told_by_their_place_in_the_list),
    cmocka_unit_test(a_key_written_twice_is_told_with_both_positions),
    cmocka_unit_test(columns_count_characters_and_lines_end_with_a_line_feed),
    cmocka_unit_test(bytes_that_are_not_text_are_told),
    cmocka_unit_test(nesting_ends_at_its_limit),
    cmocka_unit_test(the_number_of_values_and_entries_is_bounded),
    cmocka_unit_test(a_long_file_name_and_key_do_not_push_the_reason_out),
    cmocka_unit_test(a_mistake_may_go_untold),
};
TRAIL_TEST_MAIN(tests)
