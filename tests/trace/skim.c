/* skim.c -- what is skimmed off a report is what a whole reading of it says, and
 * whatever is not by the letter is left to that. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include "core/trace/skim.h"
#include "core/trace/trace_read.h"
#include "test.h"

#define ID "5f0c2a9e7b1d4c3fa8e6d2b19c047e55"

#define TRACE(members)                                                                 \
    "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"" ID                                 \
    "\",\"time_ns\":\"1796017212123456789\"" members "}"
#define REPORT(trace, members)                                                         \
    "{\"backtrail\":1,\"kind\":\"report\",\"id\":\"" ID "\",\"trace\":" trace members  \
    "}"

static bool skims(const char *text)
{
    struct trail_skim skim;

    return trail_skim(text, strlen(text), &skim);
}

static void it_says_what_a_whole_reading_says(void **unused)
{
    (void)unused;
    const char *text = REPORT(
        TRACE(",\"why\":\"crash\",\"channel\":\"ch\\u00e9\\n\",\"app\":{\"name\":"
              "\"orders\",\"version\":\"2\"},\"threads\":[{\"tid\":1,\"pcs\":[],"
              "\"end\":\"base\"},{\"crashed\":true}],\"x\":[-1.50,[],{},null]"),
        ",\"revision\":7,\"fingerprint\":{\"exact\":\"9d3c0a51e2b7744f\"}");
    struct trail_skim skim;

    assert_false(skims(text)); /* its channel is written with escapes */
    char *plain = strdup(text);
    memcpy(strstr(plain, "ch\\u00e9\\n"), "channels!!", 10);
    assert_true(trail_skim(plain, strlen(plain), &skim));
    assert_string_equal(skim.id, ID);
    assert_string_equal(skim.why, "crash");
    assert_string_equal(skim.channel, "channels!!");
    assert_string_equal(skim.app, "orders");
    assert_string_equal(skim.exact, "9d3c0a51e2b7744f");
    assert_int_equal(skim.revision, 7);
    assert_int_equal(skim.time_ns, 1796017212123456789u);
    assert_true(skim.crashed);
    free(plain);
}

static void what_is_absent_is_empty(void **unused)
{
    (void)unused;
    const char *text = REPORT(TRACE(""), "");
    struct trail_skim skim;

    assert_true(trail_skim(text, strlen(text), &skim));
    assert_string_equal(skim.channel, "");
    assert_string_equal(skim.exact, "");
    assert_int_equal(skim.revision, 1);
    assert_false(skim.crashed);
}

static void a_raw_trace_is_none_of_its_business(void **unused)
{
    (void)unused;
    assert_false(skims(TRACE("")));
}

static void no_report_that_was_cut_is_taken(void **unused)
{
    (void)unused;
    const char *text = REPORT(TRACE(",\"threads\":[{\"crashed\":false}]"), "");
    struct trail_skim skim;

    assert_true(skims(text));
    for (size_t cut = 0; cut < strlen(text); cut++)
        assert_false(trail_skim(text, cut, &skim));
}

static void what_is_unusual_is_left_to_a_whole_reading(void **unused)
{
    (void)unused;
    const char *const rows[] = {
        REPORT(TRACE(",\"a\":01"), ""),
        REPORT(TRACE(",\"a\":1."), ""),
        REPORT(TRACE(",\"a\":+1"), ""),
        REPORT(TRACE(",\"a\":1e5"), ""),
        REPORT(TRACE(",\"a\":12345678901234567890"), ""),
        REPORT(TRACE(",\"a\":tru"), ""),
        REPORT(TRACE(",\"a\":\"\\x\""), ""),
        REPORT(TRACE(",\"a\":\"\\ud800\""), ""),
        REPORT(TRACE(",\"a\":\"\\u0000\""), ""),
        REPORT(TRACE(",\"a\":\"\xff\""), ""),
        REPORT(TRACE(",\"a\":\"\n\""), ""),
        REPORT(TRACE(",\"a\":[1,]"), ""),
        REPORT(TRACE(",\"a\":{\"b\"}"), ""),
        REPORT(TRACE(",\"id\":\"" ID "\""), ""),  /* twice */
        REPORT(TRACE(",\"\\u0069d\":\"x\""), ""), /* twice, in disguise */
        REPORT(TRACE(",\"cut\":true"), ""),
        REPORT(TRACE(",\"app\":[]"), ""),
        REPORT(TRACE(",\"threads\":{}"), ""),
        REPORT(TRACE(",\"channel\":{}"), ""),
        REPORT(TRACE(",\"why\":null"), ""),
        REPORT("null", ""),
        REPORT(TRACE(""), ",\"revision\":0"),
        REPORT(TRACE(""), ",\"revision\":1.5"),
        REPORT(TRACE(""), ",\"fingerprint\":{\"exact\":\"short\"}"),
        REPORT(TRACE(""), "} {"),
        "[" REPORT(TRACE(""), "") "]",
        "{\"backtrail\":2,\"kind\":\"report\",\"id\":\"" ID
        "\",\"trace\":" TRACE("") "}",
        "{\"backtrail\":1,\"kind\":\"report\",\"id\":\"00" ID
        "\",\"trace\":" TRACE("") "}",
        "{\"backtrail\":1,\"kind\":\"report\",\"id\":\"5f0c2a9e7b1d4c3fa8e6d2b19c047e56"
        "\",\"trace\":" TRACE("") "}", /* not the trace's */
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (skims(rows[i]))
            print_error("taken: %s\n", rows[i]);
        assert_false(skims(rows[i]));
    }
}

static void nesting_has_an_end(void **unused)
{
    (void)unused;
    char text[400];

    for (int depth = 1; depth < 100; depth++) {
        int size = snprintf(text, sizeof(text), "%s", REPORT(TRACE(""), ",\"a\":"));
        size--; /* the bracket */
        memset(text + size, '[', (size_t)depth);
        memset(text + size + depth, ']', (size_t)depth);
        memcpy(text + size + 2 * depth, "}", 2);
        assert_int_equal(skims(text), depth < 64);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(it_says_what_a_whole_reading_says),
    cmocka_unit_test(what_is_absent_is_empty),
    cmocka_unit_test(a_raw_trace_is_none_of_its_business),
    cmocka_unit_test(no_report_that_was_cut_is_taken),
    cmocka_unit_test(what_is_unusual_is_left_to_a_whole_reading),
    cmocka_unit_test(nesting_has_an_end),
};

TRAIL_TEST_MAIN(tests)
