/* How far a job is, in words. */
#include "agent/progress.h"
#include "test.h"

#define MIB    (1024u * 1024)
#define SECOND 1000000000u

static void assert_line(uint64_t done, uint64_t total, uint64_t elapsed_ns,
                        const char *want)
{
    char text[128];
    progress_line(text, sizeof(text), "reading a", done, total, elapsed_ns);
    assert_string_equal(text, want);
}

static void the_line_tells_done_total_rate_and_what_is_left(void **state)
{
    (void)state;
    assert_line(3 * MIB, 12 * MIB, 2 * SECOND,
                "reading a: 3.0 of 12.0 MiB (25 %), 1.5 MiB/s, 0:06 left");
    assert_line(1 * MIB, 601 * MIB, 1 * SECOND,
                "reading a: 1.0 of 601.0 MiB (0 %), 1.0 MiB/s, 10:00 left");
    assert_line(12 * MIB, 12 * MIB, 2 * SECOND,
                "reading a: 12.0 of 12.0 MiB (100 %), 6.0 MiB/s, 0:00 left");
}

static void without_a_total_it_tells_what_is_done(void **state)
{
    (void)state;
    assert_line(3 * MIB, 0, 2 * SECOND, "reading a: 3.0 MiB, 1.5 MiB/s");
    /* A file that grew while it was read. */
    assert_line(3 * MIB, 2 * MIB, 2 * SECOND, "reading a: 3.0 MiB, 1.5 MiB/s");
}

static void a_guess_of_days_is_not_told(void **state)
{
    (void)state;
    assert_line(1, 1024 * MIB, 2 * SECOND,
                "reading a: 0.0 of 1024.0 MiB (0 %), 0.0 MiB/s");
    assert_line(0, 2 * MIB, 2 * SECOND, "reading a: 0.0 of 2.0 MiB (0 %), 0.0 MiB/s");
    assert_line(0, 0, 0, "reading a: 0.0 MiB, 0.0 MiB/s");
}

static void it_is_cut_to_the_room_and_clean(void **state)
{
    (void)state;
    char text[12];
    progress_line(text, sizeof(text), "\x1b[2J\n\x7f and so on", MIB, 0, SECOND);
    assert_string_equal(text, "?[2J?? and ");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_line_tells_done_total_rate_and_what_is_left),
    cmocka_unit_test(without_a_total_it_tells_what_is_done),
    cmocka_unit_test(a_guess_of_days_is_not_told),
    cmocka_unit_test(it_is_cut_to_the_room_and_clean),
};
TRAIL_TEST_MAIN(tests)
