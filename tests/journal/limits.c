/* limits.c -- the record within its bounds, and what is the same over and over counted:
 * days of it, in time that is made to pass.
 */
#include "fixture.h"

#include "core/os/os.h"

#define SECOND ((uint64_t)1000000000u)
#define HOUR   (3600 * SECOND)

static void pass(uint64_t ns)
{
    trail_os_clock_shift((int64_t)ns, ns);
}

/* Entries with texts of 16 KiB, so that few of them are a lot. */
static void put_large(struct fixture *fixture, uint64_t first, size_t count,
                      uint32_t class_)
{
    static char large[16384];
    memset(large, 'x', sizeof(large));
    for (size_t i = 0; i < count; i++) {
        char text[256];
        struct trail_error err = { "" };
        struct trail_journal_entry entry = entry_of(first + i, class_, text);
        entry.text = (struct trail_text){ large, sizeof(large) };
        assert_ok_err(trail_journal_append(fixture->journal, &entry, 1, &err), err);
    }
}

static uint64_t json_number(const struct trail_journal_entry *entry, const char *key)
{
    char text[1024], name[64];
    snprintf(text, sizeof(text), "%.*s", (int)entry->text.size, entry->text.data);
    snprintf(name, sizeof(name), "\"%s\":", key);
    const char *at = strstr(text, name);
    assert_non_null(at);
    return strtoull(at + strlen(name), NULL, 10);
}

/* All that comes for a sink: how many reports, and what the others say. */
struct got {
    size_t reports, crashes, totals;
    uint64_t dropped, total; /* the highest */
    char reason[32];
};

static void get(struct fixture *fixture, const char *sink, struct got *got)
{
    struct trail_journal_batch *batch;
    while ((batch = take(fixture, sink, 50))) {
        for (size_t i = 0; i < batch->count; i++) {
            const struct trail_journal_entry *entry = &batch->entries[i];
            got->reports += entry->kind == TRAIL_JOURNAL_REPORT;
            got->crashes += entry->kind == TRAIL_JOURNAL_REPORT &&
                            entry->class_ == TRAIL_CLASS_CRASH;
            if (entry->kind == TRAIL_JOURNAL_DROPPED)
                got->dropped += json_number(entry, "count");
            if (entry->kind == TRAIL_JOURNAL_TOTAL) {
                uint64_t total = json_number(entry, "count");
                got->totals++;
                got->total = total > got->total ? total : got->total;
            }
        }
        done(fixture, sink, batch);
    }
}

static void bytes_are_bounded_and_what_went_is_told_to_the_number(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    fixture_begin(&fixture);
    fixture.limits.bytes = 4 << 20;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put_large(&fixture, 0, 20, TRAIL_CLASS_CRASH);
    put_large(&fixture, 1000, 1000, TRAIL_CLASS_EVENT);
    trail_journal_tick(fixture.journal);
    assert_true(stat_of(&fixture).bytes <= 4 << 20);
    get(&fixture, "hq", &got);
    assert_int_equal(got.crashes, 20); /* events go first */
    assert_int_equal(got.reports + got.dropped, 1020);
    assert_true(got.dropped > 700);
    assert_int_equal(sink_stat(&fixture, "hq").dropped, got.dropped);
    assert_int_equal(stat_of(&fixture).dropped_bytes, got.dropped);
    assert_contains(fixture.said, "dropped before every sink had them");
    fixture_end(&fixture);
}

static void crashes_go_when_nothing_else_is_left(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    fixture_begin(&fixture);
    fixture.limits.bytes = 4 << 20;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put_large(&fixture, 0, 600, TRAIL_CLASS_CRASH);
    trail_journal_tick(fixture.journal);
    assert_true(stat_of(&fixture).bytes <= 4 << 20);
    get(&fixture, "hq", &got);
    assert_int_equal(got.reports + got.dropped, 600);
    fixture_end(&fixture);
}

static void what_every_sink_had_expires_without_a_word(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    fixture_begin(&fixture);
    fixture.limits.bytes = 4 << 20;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    for (uint64_t i = 0; i < 50; i++) {
        put_large(&fixture, i * 20, 20, TRAIL_CLASS_EVENT);
        get(&fixture, "hq", &got);
    }
    assert_int_equal(got.reports, 1000);
    assert_int_equal(got.dropped, 0);
    assert_true(stat_of(&fixture).expired > 500);
    assert_string_equal(fixture.said, "");
    fixture_end(&fixture);
}

static void count_and_age_are_bounded(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    fixture_begin(&fixture);
    fixture.limits.count = 80;
    fixture.limits.age_ns = 48 * HOUR;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    for (uint64_t i = 0; i < 20; i++)
        put(&fixture, i * 10, 10, TRAIL_CLASS_EVENT);
    assert_true(stat_of(&fixture).entries <= 90);
    assert_true(stat_of(&fixture).dropped_count >= 110);
    trail_journal_tick(fixture.journal);
    pass(49 * HOUR);
    trail_journal_tick(fixture.journal);
    assert_true(stat_of(&fixture).dropped_age > 60);
    get(&fixture, "hq", &got);
    assert_int_equal(got.reports + got.dropped, 200);
    fixture_end(&fixture);
}

static void a_clock_that_jumps_drops_nothing(void **unused)
{
    (void)unused;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 10, TRAIL_CLASS_EVENT);
    trail_journal_tick(fixture.journal);
    trail_os_clock_shift((int64_t)(24 * 400 * HOUR), 0); /* a year ahead */
    trail_journal_tick(fixture.journal);
    put(&fixture, 10, 10, TRAIL_CLASS_EVENT);
    trail_os_clock_shift(-(int64_t)(24 * 800 * HOUR), 0); /* and two back */
    trail_journal_tick(fixture.journal);
    put(&fixture, 20, 10, TRAIL_CLASS_EVENT);
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), 30);
    trail_os_clock_shift((int64_t)(24 * 400 * HOUR), 0);
    fixture_end(&fixture);
}

/* One crash of a loop; true: it was kept in full. */
static bool crash_again(struct fixture *fixture, uint64_t number, const char *kind)
{
    char text[256];
    struct trail_journal_entry entry = entry_of(number, TRAIL_CLASS_CRASH, text);
    entry.fingerprint = kind;
    assert_ok(trail_journal_append(fixture->journal, &entry, 1, NULL));
    return !entry.counted;
}

static void the_first_of_a_kind_are_kept_and_the_others_counted(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    size_t full = 0;
    fixture_begin(&fixture);
    fixture.limits.kind_full = 3;
    for (uint64_t i = 0; i < 50; i++) {
        if (i % 10 == 0) /* counters are kept over restarts */
            fixture_open(&fixture);
        full += crash_again(&fixture, i, "9d3c0a51e2b7744f");
        if (i % 5 == 0) /* the same again is not another one */
            crash_again(&fixture, i, "9d3c0a51e2b7744f");
    }
    assert_int_equal(full, 3);
    assert_true(crash_again(&fixture, 99, "another"));
    sink_add(&fixture, "hq");
    trail_journal_tell_totals(fixture.journal);
    get(&fixture, "hq", &got);
    assert_int_equal(got.reports, 4);
    assert_int_equal(got.totals, 1);
    assert_int_equal(got.total, 50);
    trail_journal_tell_totals(fixture.journal); /* nothing new */
    get(&fixture, "hq", &got);
    assert_int_equal(got.totals, 1);
    fixture_end(&fixture);
}

static void an_app_that_brings_too_many_has_the_rest_counted(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    fixture_begin(&fixture);
    fixture.limits.app_rate = 10;
    fixture.limits.app_burst = 20;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 64, TRAIL_CLASS_EVENT);
    pass(SECOND);
    put(&fixture, 64, 64, TRAIL_CLASS_EVENT);
    trail_journal_tell_totals(fixture.journal);
    get(&fixture, "hq", &got);
    assert_true(got.reports >= 30 && got.reports < 60); /* time passes by itself too */
    assert_int_equal(got.reports + got.total, 128);
    fixture_end(&fixture);
}

static void a_day_of_a_crash_loop_is_bounded_and_counted_exactly_long(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct got got = { .reports = 0 };
    const uint64_t day = 24 * 3600, step = 120; /* a commit for every two minutes */
    uint64_t number = 0, most = 0;
    fixture_begin(&fixture);
    fixture.limits.kind_full = 5;
    fixture.limits.bytes = 16 << 20;
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    for (uint64_t second = 0; second < day; second += step) {
        struct trail_journal_entry entries[60];
        char texts[60][256];
        for (uint64_t k = 0; k < step * 10; k += 60) {
            for (size_t i = 0; i < 60; i++) {
                entries[i] = entry_of(number++, TRAIL_CLASS_CRASH, texts[i]);
                entries[i].fingerprint = "9d3c0a51e2b7744f";
            }
            assert_ok(trail_journal_append(fixture.journal, entries, 60, NULL));
        }
        pass(step * SECOND);
        trail_journal_tick(fixture.journal);
        get(&fixture, "hq", &got);
        if (second % (4 * 3600) == 0) {
            fixture_open(&fixture);
            sink_add(&fixture, "hq");
        }
        uint64_t bytes = stat_of(&fixture).bytes;
        most = bytes > most ? bytes : most;
    }
    trail_journal_tell_totals(fixture.journal);
    get(&fixture, "hq", &got);
    assert_int_equal(got.reports, 5);
    assert_int_equal(got.total, day * 10);
    assert_int_equal(got.dropped, 0);
    assert_true(most <= 16 << 20);
    fixture_end(&fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(bytes_are_bounded_and_what_went_is_told_to_the_number),
    cmocka_unit_test(crashes_go_when_nothing_else_is_left),
    cmocka_unit_test(what_every_sink_had_expires_without_a_word),
    cmocka_unit_test(count_and_age_are_bounded),
    cmocka_unit_test(a_clock_that_jumps_drops_nothing),
    cmocka_unit_test(the_first_of_a_kind_are_kept_and_the_others_counted),
    cmocka_unit_test(an_app_that_brings_too_many_has_the_rest_counted),
    cmocka_unit_test(a_day_of_a_crash_loop_is_bounded_and_counted_exactly_long),
};

TRAIL_TEST_MAIN(tests)
