/* progress.c -- how far a job is: in words, and when it is said. */
#define _POSIX_C_SOURCE 200809L

#include "agent/progress.h"
#include "core/os/os.h"
#include "test.h"

#include <unistd.h>

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

/* ---- on a terminal ------------------------------------------------------ */

/* What the linker puts in place of the system's. */
static struct {
    bool terminal[3];
    uint64_t now_ns;
} fake;

bool __wrap_trail_os_is_terminal(int fd);
uint32_t __wrap_trail_os_terminal_width(int fd);
uint64_t __wrap_trail_os_mono_ns(void);

bool __wrap_trail_os_is_terminal(int fd)
{
    return fake.terminal[fd];
}

uint32_t __wrap_trail_os_terminal_width(int fd)
{
    (void)fd;
    return 80;
}

uint64_t __wrap_trail_os_mono_ns(void)
{
    return fake.now_ns;
}

/* Standard error goes to a file. */
struct screen {
    FILE *file;
    int saved;
    char text[1024];
};

static void screen_begin(struct screen *screen)
{
    fflush(stderr);
    screen->file = tmpfile();
    assert_non_null(screen->file);
    screen->saved = dup(2);
    dup2(fileno(screen->file), 2);
}

/* What was written since the last time. */
static const char *screen_take(struct screen *screen)
{
    fflush(stderr);
    off_t end = lseek(2, 0, SEEK_CUR);
    ssize_t got = pread(2, screen->text, sizeof(screen->text) - 1, 0);
    screen->text[got > 0 ? got : 0] = 0;
    if (end > 0 && ftruncate(2, 0) == 0)
        lseek(2, 0, SEEK_SET);
    return screen->text;
}

static void screen_end(struct screen *screen)
{
    progress_end();
    dup2(screen->saved, 2);
    close(screen->saved);
    fclose(screen->file);
}

static void begin(struct screen *screen, bool output, bool error)
{
    fake.terminal[1] = output;
    fake.terminal[2] = error;
    fake.now_ns = 7u * SECOND;
    screen_begin(screen);
    progress_begin(8 * MIB, "reading a");
}

static void it_is_said_on_a_terminal_only_and_if_that_shows_nothing_else(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct screen screen;
        begin(&screen, i & 1, i & 2);
        fake.now_ns += 2u * SECOND;
        progress_add(2 * MIB);
        bool said = screen_take(&screen)[0] != 0;
        screen_end(&screen);
        assert_int_equal(said, i == 2);
    }
}

static void it_is_said_after_two_seconds_and_then_five_times_a_second(void **state)
{
    (void)state;
    static const struct {
        uint64_t after_ns;
        const char *want;
    } rows[] = {
        { 2u * SECOND - 1, "" },
        { 1, "\rreading a: 4.0 of 8.0 MiB (50 %), 2.0 MiB/s, 0:02 left\r"
             "reading a: 4.0 of 8.0 MiB (50 %), 2.0 MiB/s, 0:02 left" },
        { 199999999, "" },
    };
    struct screen screen;
    begin(&screen, false, true);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fake.now_ns += rows[i].after_ns;
        progress_add(2 * MIB);
        assert_string_equal(screen_take(&screen), rows[i].want);
    }
    fake.now_ns++;
    progress_add(1);
    assert_string_equal(screen_take(&screen), ""); /* the clock is asked every 4 KiB */
    progress_add(4096);
    assert_non_null(strstr(screen_take(&screen), "reading a: 6.0 of 8.0 MiB"));
    screen_end(&screen);
}

static void the_line_goes_away_and_comes_back(void **state)
{
    (void)state;
    static const char line[] = "reading a: 2.0 of 8.0 MiB (25 %), 1.0 MiB/s, 0:06 left";
    char blank[128];
    snprintf(blank, sizeof(blank), "\r%*s\r", (int)sizeof(line) - 1, "");
    struct screen screen;
    begin(&screen, false, true);
    progress_hide();
    assert_string_equal(screen_take(&screen), "");
    fake.now_ns += 2u * SECOND;
    progress_add(2 * MIB);
    assert_non_null(strstr(screen_take(&screen), line));
    progress_hide();
    assert_string_equal(screen_take(&screen), blank);
    progress_hide();
    assert_string_equal(screen_take(&screen), "");
    fake.now_ns += SECOND;
    progress_add(2 * MIB);
    assert_non_null(strstr(screen_take(&screen), "4.0 of 8.0 MiB"));
    progress_end();
    assert_string_equal(screen_take(&screen), blank);
    fake.now_ns += SECOND;
    progress_add(2 * MIB); /* the job is over */
    assert_string_equal(screen_take(&screen), "");
    screen_end(&screen);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_line_tells_done_total_rate_and_what_is_left),
    cmocka_unit_test(without_a_total_it_tells_what_is_done),
    cmocka_unit_test(a_guess_of_days_is_not_told),
    cmocka_unit_test(it_is_cut_to_the_room_and_clean),
    cmocka_unit_test(it_is_said_on_a_terminal_only_and_if_that_shows_nothing_else),
    cmocka_unit_test(it_is_said_after_two_seconds_and_then_five_times_a_second),
    cmocka_unit_test(the_line_goes_away_and_comes_back),
};
TRAIL_TEST_MAIN(tests)
