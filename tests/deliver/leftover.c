/* leftover.c -- what a program could not deliver before its end waits for an agent. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/deliver/leftover.h"
#include "fake.h"

#define ID "5f0c2a9e7b1d4c3fa8e6d2b19c047e55"

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/trail-leftover-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static enum trail_status remove_one(void *arg, const char *name)
{
    char path[256];
    (void)arg;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return trail_os_file_remove(path, NULL);
}

static int remove_folder(void **state)
{
    (void)state;
    trail_os_directory_list(folder, remove_one, NULL, NULL);
    return rmdir(folder);
}

static enum trail_status count_one(void *arg, const char *name)
{
    assert_true(strlen(name) == 32 + 6 && strcmp(name + 32, ".trace") == 0);
    ++*(size_t *)arg;
    return TRAIL_OK;
}

static size_t kept_files(void)
{
    size_t count = 0;
    assert_ok(trail_os_directory_list(folder, count_one, &count, NULL));
    return count;
}

/* A sink that takes nothing, given "a", "b" and "c", and then the end. */
static const char *end_of_three(const char *directory, uint32_t style)
{
    struct fake_sink sink = { .name = "hq", .style = style, .held = true };
    struct fake_sink *sinks[] = { &sink };
    struct trail_leftover leftover;

    trail_leftover_init(&leftover, directory);
    fake_stderr_begin();
    struct trail_deliver *deliver = fake_deliver(sinks, 1);
    trail_deliver_set_leftover(deliver, &leftover);
    assert_ok(fake_put(deliver, "report", "a"));
    fake_wait_entered(&sink);
    assert_ok(fake_put(deliver, "report", "b"));
    assert_ok(fake_put(deliver, "report", "c"));
    trail_deliver_destroy(deliver, 0);
    trail_leftover_deinit(&leftover);
    return fake_stderr_end();
}

static void reports_that_were_not_delivered_are_files_of_an_inbox(void **state)
{
    (void)state;
    const char *said = end_of_three(folder, TRAIL_STYLE_JSON);

    assert_contains(said, "sink hq: 3 reports not delivered");
    assert_contains(said, "sink hq: 3 of them kept for an agent in /tmp/");
    assert_int_equal(kept_files(), 3);
}

static void text_for_people_is_not_kept(void **state)
{
    (void)state;
    const char *said = end_of_three(folder, TRAIL_STYLE_TEXT);

    assert_contains(said, "3 reports not delivered");
    assert_null(strstr(said, "kept"));
    assert_int_equal(kept_files(), 0);
}

static void without_an_inbox_they_are_lost_and_that_is_said(void **state)
{
    (void)state;
    const char *said = end_of_three("/nonexistent/inbox", TRAIL_STYLE_JSON);

    assert_contains(said, "3 reports not delivered");
    assert_null(strstr(said, "kept"));
}

static void a_file_has_the_line_and_a_mode_for_the_agents_group(void **state)
{
    (void)state;
    struct trail_leftover leftover;
    struct stat stat_of;
    char path[160], *text = NULL;
    size_t size = 0;

    trail_leftover_init(&leftover, folder);
    assert_ok(trail_leftover_keep(&leftover, ID, "{\"n\":1}", 7, NULL));
    assert_ok(trail_leftover_keep(&leftover, ID, "{\"n\":1}", 7, NULL));
    trail_leftover_deinit(&leftover);
    assert_int_equal(kept_files(), 1);
    snprintf(path, sizeof(path), "%s/" ID ".trace", folder);
    assert_ok(trail_os_file_read(path, 100, &text, &size, NULL));
    assert_string_equal(text, "{\"n\":1}");
    free(text);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 0137, 0); /* nobody else's to read */
}

static void an_id_that_is_a_path_is_refused(void **state)
{
    (void)state;
    struct trail_leftover leftover;

    trail_leftover_init(&leftover, folder);
    assert_int_equal(trail_leftover_keep(&leftover, "../x", "{}", 2, NULL),
                     TRAIL_BAD_INPUT);
    assert_int_equal(trail_leftover_keep(&leftover, "", "{}", 2, NULL),
                     TRAIL_BAD_INPUT);
    trail_leftover_deinit(&leftover);
}

static void an_inbox_that_nobody_empties_is_not_filled_for_ever(void **state)
{
    (void)state;
    struct trail_leftover leftover;
    struct trail_error err = { "" };
    char id[33];

    trail_leftover_init(&leftover, folder);
    for (unsigned i = 0; i < TRAIL_LEFTOVER_COUNT; i++) {
        snprintf(id, sizeof(id), "%032x", i);
        assert_ok(trail_leftover_keep(&leftover, id, "{}", 2, NULL));
    }
    trail_leftover_deinit(&leftover);
    trail_leftover_init(&leftover, folder); /* the next process */
    assert_int_equal(trail_leftover_keep(&leftover, ID, "{}", 2, &err), TRAIL_RETRY);
    assert_contains(err.text, "is full; does an agent run?");
    trail_leftover_deinit(&leftover);
}

static void one_process_brings_no_more_than_its_share(void **state)
{
    (void)state;
    struct trail_leftover leftover;

    trail_leftover_init(&leftover, folder);
    leftover.size = TRAIL_LEFTOVER_SIZE - 2;
    assert_ok(trail_leftover_keep(&leftover, ID, "{}", 2, NULL));
    assert_int_equal(trail_leftover_keep(&leftover, ID, "{}", 2, NULL), TRAIL_RETRY);
    trail_leftover_deinit(&leftover);
}

#define IN_FOLDER(test)                                                                \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

static const struct CMUnitTest tests[] = {
    IN_FOLDER(reports_that_were_not_delivered_are_files_of_an_inbox),
    IN_FOLDER(text_for_people_is_not_kept),
    IN_FOLDER(without_an_inbox_they_are_lost_and_that_is_said),
    IN_FOLDER(a_file_has_the_line_and_a_mode_for_the_agents_group),
    IN_FOLDER(an_id_that_is_a_path_is_refused),
    IN_FOLDER(an_inbox_that_nobody_empties_is_not_filled_for_ever),
    IN_FOLDER(one_process_brings_no_more_than_its_share),
};

TRAIL_TEST_MAIN(tests)
