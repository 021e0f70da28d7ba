/* redact.c -- what must not leave does not, and what may stays as it is. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include <jansson.h>

#include "core/report/redact.h"
#include "test.h"

#define CANARY "c4nary-S3cret"

/* `text` after the rules, which is checked to be JSON; unchanged text as it is. The
 * caller frees it. */
static char *redacted(const struct trail_redact_rules *rules, const char *text)
{
    struct trail_redact *redact = NULL;
    struct trail_error err = { "" };
    char *out = NULL;
    size_t size = 0;

    assert_ok_err(trail_redact_create(rules, &redact, &err), err);
    assert_ok_err(trail_redact_json(redact, text, strlen(text), &out, &size, &err),
                  err);
    if (!out) {
        out = strdup(text);
        size = strlen(text);
    }
    assert_int_equal(strlen(out), size);
    json_t *json = json_loads(out, JSON_REJECT_DUPLICATES, NULL);
    if (!json)
        print_error("%s\n", out);
    assert_non_null(json);
    json_decref(json);
    trail_redact_destroy(redact);
    return out;
}

static void expect(const struct trail_redact_rules *rules, const char *text,
                   const char *wanted)
{
    char *out = redacted(rules, text);

    assert_string_equal(out, wanted);
    free(out);
}

static const struct trail_redact_rules usual;

static void what_no_rule_is_about_stays_byte_for_byte(void **unused)
{
    (void)unused;
    struct trail_redact *redact = NULL;
    const char *text =
        " { \"id\" : \"5f\",  \"x\":[ 1.50, -2e9, true,null,\"\\u00e9\" ],"
        "\"attributes\":{\"region\":\"eu\"} , \"complete\":true } ";
    char *out = "";
    size_t size = 1;

    assert_ok(trail_redact_create(&usual, &redact, NULL));
    assert_ok(trail_redact_json(redact, text, strlen(text), &out, &size, NULL));
    assert_null(out);
    trail_redact_destroy(redact);
}

static void attributes_with_telling_names_are_masked_and_listed(void **unused)
{
    (void)unused;
    expect(&usual,
           "{\"attributes\":{\"user\":\"ann\",\"API_Token\":\"" CANARY "\"},"
           "\"threads\":[{\"tid\":1,\"attributes\":{\"db.password\":\"" CANARY
           "\"}}],\"complete\":true}",
           "{\"attributes\":{\"user\":\"ann\",\"API_Token\":\"***\"},"
           "\"threads\":[{\"tid\":1,\"attributes\":{\"db.password\":\"***\"}}],"
           "\"redacted\":[\"attributes.API_Token\","
           "\"threads.0.attributes.db.password\"],\"complete\":true}");
}

static void whatever_kind_of_value_it_is(void **unused)
{
    (void)unused;
    expect(&usual,
           "{\"attributes\":{\"token\":12345,\"secrets\":{\"a\":[\"" CANARY "\"]}}}",
           "{\"attributes\":{\"token\":\"***\",\"secrets\":\"***\"},"
           "\"redacted\":[\"attributes.token\",\"attributes.secrets\"]}");
}

static void names_elsewhere_are_not_attributes(void **unused)
{
    (void)unused;
    expect(&usual, "{\"token\":\"kept\",\"names\":[{\"function\":\"password\"}]}",
           "{\"token\":\"kept\",\"names\":[{\"function\":\"password\"}]}");
}

static void command_line_and_environment_leave_only_if_asked_for(void **unused)
{
    (void)unused;
    char *keep[] = { "arguments", NULL };
    const struct trail_redact_rules kept = { .keep = keep };
    const char *text =
        "{\"trace\":{\"process\":{\"pid\":1,\"arguments\":[\"-p\",\"" CANARY
        "\"],\"environ\":{\"A\":\"" CANARY "\"}},"
        "\"env\":\"" CANARY "\"}}";

    expect(&usual, text,
           "{\"trace\":{\"process\":{\"pid\":1}},"
           "\"redacted\":[\"process.arguments\",\"process.environ\",\"env\"]}");
    expect(&kept, text,
           "{\"trace\":{\"process\":{\"pid\":1,\"arguments\":[\"-p\",\"" CANARY
           "\"]}},\"redacted\":[\"process.environ\",\"env\"]}");
}

static void patterns_are_masked_in_every_text(void **unused)
{
    (void)unused;
    char *patterns[] = { "[a-z.]+@[a-z.]+", "[0-9]{16}", NULL };
    const struct trail_redact_rules rules = { .patterns = patterns };

    expect(
        &rules,
        "{\"time_ns\":\"1796017212123456789\",\"message\":\"card 4111111111111111 of "
        "ann@x.example, bob@y.example\",\"attributes\":{\"n\":\"4111111111111111\"}}",
        "{\"time_ns\":\"1796017212123456789\",\"message\":\"card *** of ***, ***\","
        "\"attributes\":{\"n\":\"***\"},"
        "\"redacted\":[\"message\",\"attributes.n\"]}");
}

static void a_pattern_sees_what_a_string_says_not_how_it_is_written(void **unused)
{
    (void)unused;
    char *patterns[] = { "s3cret\"?[/]x", "\xf0\x9f\x98\x80+", NULL };
    const struct trail_redact_rules rules = { .patterns = patterns };

    expect(&rules, "{\"message\":\"a\\n\\u00733\\u0063ret\\\"\\/x \\\"b\\\"\"}",
           "{\"message\":\"a\\u000a*** \\\"b\\\"\",\"redacted\":[\"message\"]}");
    expect(&rules, "{\"message\":\"\\ud83d\\ude00\\u00e9\\u0000\"}",
           "{\"message\":\"***\xc3\xa9\xef\xbf\xbd\",\"redacted\":[\"message\"]}");
}

static void paths_are_rewritten_where_they_begin(void **unused)
{
    (void)unused;
    char *paths[] = { "/mnt/ann=~", "/build/=", NULL };
    const struct trail_redact_rules rules = { .paths = paths };

    expect(&rules,
           "{\"modules\":[{\"path\":\"/mnt/ann/x.so\",\"path_hex\":\"2f68\"},"
           "{\"path\":\"/mnt/anna/y.so\"},{\"path\":\"/srv/mnt/ann\"}],"
           "\"file\":\"/build/a.c\",\"message\":\"open /mnt/ann: no\"}",
           "{\"modules\":[{\"path\":\"~/x.so\"},"
           "{\"path\":\"/mnt/anna/y.so\"},{\"path\":\"/srv/mnt/ann\"}],"
           "\"file\":\"a.c\",\"message\":\"open ~: no\","
           "\"redacted\":[\"modules.0.path\",\"modules.0.path_hex\",\"file\","
           "\"message\"]}");
}

static void what_the_hop_before_redacted_stays_listed(void **unused)
{
    (void)unused;
    expect(&usual,
           "{\"redacted\":[ \"message\"],\"attributes\":{\"token\":\"x\"},"
           "\"complete\":true}",
           "{\"attributes\":{\"token\":\"***\"},"
           "\"redacted\":[\"message\",\"attributes.token\"],\"complete\":true}");
}

static void redacting_twice_changes_nothing_more(void **unused)
{
    (void)unused;
    char *once = redacted(&usual, "{\"attributes\":{\"token\":\"x\"},\"argv\":[],"
                                  "\"complete\":true}");
    char *twice = redacted(&usual, once);

    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

static void after_very_many_matches_the_rest_is_masked_whole(void **unused)
{
    (void)unused;
    char *patterns[] = { "x", NULL };
    const struct trail_redact_rules rules = { .patterns = patterns };
    char text[2100] = "{\"message\":\"";
    size_t size = strlen(text);

    for (size_t i = 0; i < 1000; i++) {
        text[size++] = 'x';
        text[size++] = '-';
    }
    memcpy(text + size, "\"}", 3);
    char *out = redacted(&rules, text);
    assert_null(strchr(out + strlen("{\"message\":\""), 'x'));
    free(out);
}

static void what_is_no_json_is_refused(void **unused)
{
    (void)unused;
    const char *text =
        "{\"a\":{\"b\":[1,\"c\\\"\",{}]},\"attributes\":{\"token\":\"" CANARY "\"}}";
    struct trail_redact *redact = NULL;
    char deep[200] = "{\"a\":";

    assert_ok(trail_redact_create(&usual, &redact, NULL));
    for (size_t cut = 0; cut < strlen(text); cut++) {
        struct trail_error err = { "" };
        char *out = NULL;
        size_t size = 0;
        assert_int_equal(trail_redact_json(redact, text, cut, &out, &size, &err),
                         TRAIL_BAD_INPUT);
        assert_null(out);
        assert_contains(err.text, "redact: no JSON");
    }
    memset(deep + 5, '[', 100);
    char *out = NULL;
    size_t size = 0;
    assert_int_equal(trail_redact_json(redact, deep, strlen(deep), &out, &size, NULL),
                     TRAIL_BAD_INPUT);
    trail_redact_destroy(redact);
}

static void text_for_people_has_patterns_masked_and_paths_rewritten(void **unused)
{
    (void)unused;
    char *patterns[] = { "t[0-9]+", NULL }, *paths[] = { "/mnt/ann=~", NULL };
    const struct trail_redact_rules rules = { .patterns = patterns, .paths = paths };
    const char *text = "crash: t123\n  0: f at /mnt/ann/a.c:3\n";
    struct trail_redact *redact = NULL;
    char *out = NULL;
    size_t size = 0;

    assert_ok(trail_redact_create(&rules, &redact, NULL));
    assert_ok(trail_redact_text(redact, text, strlen(text), &out, &size, NULL));
    assert_string_equal(out, "crash: ***\n  0: f at ~/a.c:3\n");
    free(out);
    assert_ok(trail_redact_text(redact, "ok\n", 3, &out, &size, NULL));
    assert_null(out);
    trail_redact_destroy(redact);
}

static void a_rule_that_cannot_be_used_is_named(void **unused)
{
    (void)unused;
    char *open[] = { "(", NULL }, *back[] = { "(a)\\1", NULL };
    char *path[] = { "/home", NULL }, *keep[] = { "everything", NULL };
    const struct {
        struct trail_redact_rules rules;
        const char *words;
    } rows[] = {
        { { .patterns = open }, "patterns: (: no pattern: " },
        { { .patterns = back }, "patterns: (a)\\1: a pattern cannot refer back" },
        { { .paths = path }, "paths: /home: write FROM=TO" },
        { { .keep = keep }, "keep: everything: is neither" },
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trail_redact *redact = NULL;
        struct trail_error err = { "" };
        assert_int_equal(trail_redact_create(&rows[i].rules, &redact, &err),
                         TRAIL_BAD_INPUT);
        assert_null(redact);
        assert_contains(err.text, rows[i].words);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_no_rule_is_about_stays_byte_for_byte),
    cmocka_unit_test(attributes_with_telling_names_are_masked_and_listed),
    cmocka_unit_test(whatever_kind_of_value_it_is),
    cmocka_unit_test(names_elsewhere_are_not_attributes),
    cmocka_unit_test(command_line_and_environment_leave_only_if_asked_for),
    cmocka_unit_test(patterns_are_masked_in_every_text),
    cmocka_unit_test(a_pattern_sees_what_a_string_says_not_how_it_is_written),
    cmocka_unit_test(paths_are_rewritten_where_they_begin),
    cmocka_unit_test(what_the_hop_before_redacted_stays_listed),
    cmocka_unit_test(redacting_twice_changes_nothing_more),
    cmocka_unit_test(after_very_many_matches_the_rest_is_masked_whole),
    cmocka_unit_test(what_is_no_json_is_refused),
    cmocka_unit_test(text_for_people_has_patterns_masked_and_paths_rewritten),
    cmocka_unit_test(a_rule_that_cannot_be_used_is_named),
};

TRAIL_TEST_MAIN(tests)
