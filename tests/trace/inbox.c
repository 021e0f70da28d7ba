/* inbox.c -- the directory where raw traces wait. */
#define _GNU_SOURCE

#include "core/trace/inbox.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static char place[64];
static const uint8_t id[16] = {
    0xab, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
};
#define NAME "ab0102030405060708090a0b0c0d0e0f.trace"

static int set_up(void **state)
{
    (void)state;
    memcpy(place, "/tmp/trail-inbox-XXXXXX", sizeof("/tmp/trail-inbox-XXXXXX"));
    return mkdtemp(place) ? 0 : -1;
}

static void path_of(const char *name, char path_ret[200])
{
    snprintf(path_ret, 200, "%s/%s", place, name);
}

static int tear_down(void **state)
{
    (void)state;
    char path[200];
    path_of(NAME, path);
    unlink(path);
    return rmdir(place);
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *directory = opendir(place);
    while (directory && readdir(directory))
        count++;
    if (directory)
        closedir(directory);
    return count - 2;
}

static void open_inbox(struct trail_inbox *inbox)
{
    struct trail_error err = { "" };
    assert_ok_err(trail_inbox_open(place, 1, inbox, &err), err);
}

static void a_file_appears_when_it_is_whole(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_inbox_file file;
    struct stat stat_of;
    char path[200];
    path_of(NAME, path);
    open_inbox(&inbox);
    const mode_t mask = umask(022);
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), 0);
    umask(mask);
    assert_int_equal(trail_inbox_write(&inbox, &file, "{}\n", 3), 0);
    assert_int_not_equal(stat(path, &stat_of), 0);
    assert_int_equal(trail_inbox_keep(&inbox, &file, true), 0);
    assert_int_equal(stat(path, &stat_of), 0);
    assert_int_equal(stat_of.st_mode & 07777, 0640);
    assert_int_equal(stat_of.st_size, 3);
    assert_int_equal(count_files(), 1);
    trail_inbox_close(&inbox);
}

static void a_file_that_is_dropped_leaves_nothing(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_inbox_file file;
    open_inbox(&inbox);
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), 0);
    trail_inbox_drop(&inbox, &file);
    trail_inbox_drop(&inbox, &file);
    assert_int_equal(count_files(), 0);
    trail_inbox_close(&inbox);
}

static void a_disk_that_is_nearly_full_is_left_alone(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_inbox_file file;
    open_inbox(&inbox);
    inbox.free_size = UINT64_MAX - 1;
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), ENOSPC);
    assert_int_equal(count_files(), 0);
    trail_inbox_close(&inbox);
}

static void a_process_brings_no_more_than_its_share(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_inbox_file file;
    open_inbox(&inbox);
    inbox.left_size = 2;
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), 0);
    assert_int_equal(trail_inbox_write(&inbox, &file, "{}\n", 3), EDQUOT);
    trail_inbox_drop(&inbox, &file);
    inbox.left_size = 0;
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), EDQUOT);
    trail_inbox_close(&inbox);
}

static void an_inbox_that_is_not_there_is_named(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_error err = { "" };
    assert_int_equal(trail_inbox_open("/nonexistent/inbox", 0, &inbox, &err),
                     TRAIL_NOT_FOUND);
    assert_string_equal(err.text, "/nonexistent/inbox: No such file or directory");
    assert_false(inbox.is_open);
}

/* The name is another directory's by now: what is held is still the inbox. */
static void an_inbox_is_held_by_descriptor(void **state)
{
    (void)state;
    static struct trail_inbox inbox;
    struct trail_inbox_file file;
    char moved[80];
    open_inbox(&inbox);
    snprintf(moved, sizeof(moved), "%s-moved", place);
    assert_int_equal(rename(place, moved), 0);
    assert_int_equal(trail_inbox_begin(&inbox, id, &file), 0);
    assert_int_equal(trail_inbox_keep(&inbox, &file, false), 0);
    assert_int_equal(rename(moved, place), 0);
    assert_int_equal(count_files(), 1);
    trail_inbox_close(&inbox);
}

static void the_inbox_is_where_the_environment_says(void **state)
{
    (void)state;
    char path[4096], expected[200];
    setenv("BACKTRAIL_INBOX", place, 1);
    assert_ok(trail_inbox_find(path, sizeof(path), NULL));
    assert_string_equal(path, place);
    unsetenv("BACKTRAIL_INBOX");
    if (trail_os_directory_takes("/var/lib/backtrail/inbox"))
        return; /* an agent is set up here */
    setenv("XDG_STATE_HOME", place, 1);
    assert_ok(trail_inbox_find(path, sizeof(path), NULL));
    path_of("backtrail/inbox", expected);
    assert_string_equal(path, expected);
    assert_int_equal(rmdir(expected), 0); /* it was made */
    path_of("backtrail", expected);
    assert_int_equal(rmdir(expected), 0);
    unsetenv("XDG_STATE_HOME");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_file_appears_when_it_is_whole, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_file_that_is_dropped_leaves_nothing, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_disk_that_is_nearly_full_is_left_alone,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_process_brings_no_more_than_its_share, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_inbox_that_is_not_there_is_named, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(an_inbox_is_held_by_descriptor, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(the_inbox_is_where_the_environment_says, set_up,
                                        tear_down),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
