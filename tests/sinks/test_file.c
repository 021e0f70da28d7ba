/* test_file.c -- reports in a file: appended whole, rotated, followed, and never half.
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin.h"

/* A folder, a path in it, and a sink that writes there. */
struct fixture {
    char folder[FOLDER_SIZE], path[128];
    struct option_set options;
    const struct trail_sink *sink;
};

static void fixture_init(struct fixture *fixture)
{
    *fixture = (struct fixture){ .sink = plugin_load("file") };
    folder_make(fixture->folder);
    snprintf(fixture->path, sizeof(fixture->path), "%s/reports.jsonl", fixture->folder);
    option_text(&fixture->options, "path", fixture->path);
}

static void *fixture_state(struct fixture *fixture)
{
    return state_of(fixture->sink, &fixture->options);
}

static void append(struct fixture *fixture, void *state, const char *body)
{
    struct trail_error err = { "" };

    assert_ok_err(write_one(fixture->sink, state, TRAIL_STYLE_JSON, body, &err), err);
}

static void assert_file(const struct fixture *fixture, const char *extension,
                        const char *expected)
{
    char path[160];

    snprintf(path, sizeof(path), "%s%s", fixture->path, extension);
    char *text = file_text(path);
    if (!expected)
        assert_null(text);
    else
        assert_string_equal(text ? text : "(no file)", expected);
    free(text);
}

static void fixture_deinit(struct fixture *fixture, void *state)
{
    fixture->sink->destroy(state);
    folder_remove(fixture->folder);
}

/* ---- appending ---------------------------------------------------------- */

static void records_are_appended_one_a_line_with_mode_0600(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct stat found;

    fixture_init(&fixture);
    mode_t mask = umask(0);
    void *state = fixture_state(&fixture);
    umask(mask);
    append(&fixture, state, "{\"n\":1}");
    append(&fixture, state, "{\"n\":2,\n \"m\":3}");
    assert_file(&fixture, "", "{\"n\":1}\n{\"n\":2,  \"m\":3}\n");
    assert_int_equal(stat(fixture.path, &found), 0);
    assert_int_equal(found.st_mode & 07777, 0600);
    fixture_deinit(&fixture, state);
}

static void what_was_there_before_stays(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    void *first = fixture_state(&fixture);
    append(&fixture, first, "{}");
    fixture.sink->destroy(first);
    option_number(&fixture.options, "durable", 1);
    void *second = fixture_state(&fixture);
    append(&fixture, second, "[]");
    assert_file(&fixture, "", "{}\n[]\n");
    fixture_deinit(&fixture, second);
}

static void text_keeps_its_lines(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    assert_ok(
        write_one(fixture.sink, state, TRAIL_STYLE_TEXT, "crash\n  0: main\n", NULL));
    assert_file(&fixture, "", "crash\n  0: main\n");
    fixture_deinit(&fixture, state);
}

static void a_torn_last_line_is_ended_first(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    FILE *file = fopen(fixture.path, "w");
    assert_non_null(file);
    fputs("{}\n{\"cut\":", file);
    fclose(file);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "{\"n\":1}");
    assert_file(&fixture, "", "{}\n{\"cut\":\n{\"n\":1}\n");
    fixture_deinit(&fixture, state);
}

/* ---- following ---------------------------------------------------------- */

static void a_file_that_was_moved_away_is_made_again(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char moved[160];

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "{\"n\":1}");
    snprintf(moved, sizeof(moved), "%s.old", fixture.path);
    assert_int_equal(rename(fixture.path, moved), 0);
    append(&fixture, state, "{\"n\":2}");
    assert_file(&fixture, ".old", "{\"n\":1}\n");
    assert_file(&fixture, "", "{\"n\":2}\n");
    assert_int_equal(remove(fixture.path), 0);
    append(&fixture, state, "{\"n\":3}");
    assert_file(&fixture, "", "{\"n\":3}\n");
    fixture_deinit(&fixture, state);
}

static void a_file_put_in_its_place_is_followed(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char moved[160];

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "{\"n\":1}");
    snprintf(moved, sizeof(moved), "%s.old", fixture.path);
    assert_int_equal(rename(fixture.path, moved), 0);
    close(open(fixture.path, O_CREAT | O_WRONLY, 0600));
    append(&fixture, state, "{\"n\":2}");
    assert_file(&fixture, ".old", "{\"n\":1}\n");
    assert_file(&fixture, "", "{\"n\":2}\n");
    fixture_deinit(&fixture, state);
}

static void a_batch_waits_while_the_folder_is_gone(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_error err = { "" };

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    assert_int_equal(remove(fixture.path), 0);
    assert_int_equal(rmdir(fixture.folder), 0);
    assert_int_equal(write_one(fixture.sink, state, TRAIL_STYLE_JSON, "{}", &err),
                     TRAIL_RETRY);
    assert_contains(err.text, "mkdir -p");
    assert_int_equal(mkdir(fixture.folder, 0700), 0);
    append(&fixture, state, "{}");
    assert_file(&fixture, "", "{}\n");
    fixture_deinit(&fixture, state);
}

/* ---- rotation ----------------------------------------------------------- */

static void rotation_keeps_so_many_and_splits_nothing(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.size", 10); /* bytes: two records of 4 */
    option_number(&fixture.options, "rotate.keep", 2);
    void *state = fixture_state(&fixture);
    const char *bodies[] = { "[1]", "[2]", "[3]", "[4]", "[5]", "[6]", "[7]" };
    for (size_t i = 0; i < 7; i++)
        append(&fixture, state, bodies[i]);
    assert_file(&fixture, "", "[7]\n");
    assert_file(&fixture, ".1", "[5]\n[6]\n");
    assert_file(&fixture, ".2", "[3]\n[4]\n");
    assert_file(&fixture, ".3", NULL);
    fixture_deinit(&fixture, state);
}

static void a_record_that_fits_exactly_does_not_rotate(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.size", 8);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "[1]");
    append(&fixture, state, "[2]");
    assert_file(&fixture, "", "[1]\n[2]\n");
    assert_file(&fixture, ".1", NULL);
    append(&fixture, state, "[3]");
    assert_file(&fixture, ".1", "[1]\n[2]\n");
    fixture_deinit(&fixture, state);
}

static void a_record_larger_than_the_bound_is_kept_whole(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.size", 6);
    option_number(&fixture.options, "rotate.keep", 1);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "[\"a large one\"]");
    append(&fixture, state, "[2]");
    assert_file(&fixture, ".1", "[\"a large one\"]\n");
    assert_file(&fixture, "", "[2]\n");
    fixture_deinit(&fixture, state);
}

static void keeping_none_still_bounds_the_file(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.size", 6);
    option_number(&fixture.options, "rotate.keep", 0);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "[1]");
    append(&fixture, state, "[2]");
    assert_file(&fixture, "", "[2]\n");
    assert_file(&fixture, ".1", NULL);
    fixture_deinit(&fixture, state);
}

/* ---- several processes -------------------------------------------------- */

#define PROCESSES 3
#define RECORDS   200

static void write_as(struct fixture *fixture, int process)
{
    char body[128];

    void *state = fixture_state(fixture);
    for (int i = 0; i < RECORDS; i++) {
        snprintf(body, sizeof(body), "{\"process\":%d,\"n\":%03d,\"pad\":\"%.*s\"}",
                 process, i, i % 40, "........................................");
        if (write_one(fixture->sink, state, TRAIL_STYLE_JSON, body, NULL))
            _exit(1);
    }
    fixture->sink->destroy(state);
    _exit(0);
}

/* Counts the records of one file; fails on a line that is not one whole record. */
static size_t count_records(const char *path)
{
    size_t count = 0;
    char *text = file_text(path);

    for (char *line = text ? text : ""; *line; count++) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        assert_int_equal(end[-1], '}');
        assert_memory_equal(line, "{\"process\":", 11);
        *end = '\0';
        assert_null(strchr(line + 1, '{'));
        line = end + 1;
    }
    free(text);
    return count;
}

static void processes_that_share_a_file_lose_and_tear_nothing(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char path[160];

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.size", 1000);
    option_number(&fixture.options, "rotate.keep", 500);
    for (int i = 0; i < PROCESSES; i++)
        if (fork() == 0)
            write_as(&fixture, i);
    for (int i = 0; i < PROCESSES; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    size_t count = count_records(fixture.path);
    for (int i = 1; i <= 500; i++) {
        snprintf(path, sizeof(path), "%s.%d", fixture.path, i);
        count += count_records(path);
    }
    assert_int_equal(count, PROCESSES * RECORDS);
    fixture_deinit(&fixture, NULL);
}

static void a_lock_that_is_never_given_up_costs_the_deadline_only(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_record record = record_of(TRAIL_STYLE_JSON, "{}");
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");
    struct trail_error err = { "" };

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    int other = open(fixture.path, O_RDONLY);
    assert_int_equal(flock(other, LOCK_EX), 0);
    call.deadline_ns = 1;
    assert_int_equal(fixture.sink->write(state, &call, &record, 1, &verdict, &err),
                     TRAIL_RETRY);
    assert_contains(err.text, "another process keeps it locked");
    close(other);
    append(&fixture, state, "{}");
    fixture_deinit(&fixture, state);
}

/* ---- a full disk -------------------------------------------------------- */

static void limit_file_size(rlim_t size)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size == RLIM_INFINITY ? limit.rlim_max : size;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_record_that_does_not_fit_is_taken_back_and_kept(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_record records[2] = { record_of(TRAIL_STYLE_JSON, "{\"n\":2}"),
                                       record_of(TRAIL_STYLE_JSON, "{\"number\":3}") };
    struct trail_verdict verdicts[2] = { { .size = sizeof(verdicts[0]) } };
    struct trail_sink_call call = call_of("k");
    struct trail_error err = { "" };

    fixture_init(&fixture);
    void *state = fixture_state(&fixture);
    append(&fixture, state, "{\"n\":1}");
    limit_file_size(20); /* of 8 + 8 + 13 bytes */
    enum trail_status status =
        fixture.sink->write(state, &call, records, 2, verdicts, &err);
    limit_file_size(RLIM_INFINITY);
    assert_ok(status);
    assert_int_equal(verdicts[0].status, TRAIL_OK);
    assert_int_equal(verdicts[1].status, TRAIL_RETRY);
    assert_contains(err.text, "File too large; raise the limit");
    assert_file(&fixture, "", "{\"n\":1}\n{\"n\":2}\n");
    append(&fixture, state, "{\"number\":3}");
    assert_file(&fixture, "", "{\"n\":1}\n{\"n\":2}\n{\"number\":3}\n");
    fixture_deinit(&fixture, state);
}

/* ---- what is refused ---------------------------------------------------- */

static void a_symbolic_link_is_refused_by_name(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    assert_int_equal(symlink("elsewhere", fixture.path), 0);
    const char *words = create_error(fixture.sink, &fixture.options, TRAIL_REFUSED);
    assert_contains(words, fixture.path);
    assert_contains(words, "is a symbolic link");
    fixture_deinit(&fixture, NULL);
}

static void a_fifo_is_refused_and_not_waited_for(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    assert_int_equal(mkfifo(fixture.path, 0600), 0);
    const char *words = create_error(fixture.sink, &fixture.options, TRAIL_REFUSED);
    assert_contains(words, "is a FIFO");
    fixture_deinit(&fixture, NULL);
}

static void devices_and_directories_are_refused(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("file");
    struct option_set device = { 0 }, directory = { 0 };

    option_text(&device, "path", "/dev/null");
    assert_contains(create_error(sink, &device, TRAIL_REFUSED),
                    "/dev/null: is a device");
    option_text(&directory, "path", "/");
    assert_contains(create_error(sink, &directory, TRAIL_REFUSED), "/: is a directory");
}

static void a_missing_folder_is_named_with_the_remedy(void **unused)
{
    (void)unused;
    const struct trail_sink *sink = plugin_load("file");
    struct option_set options = { 0 };

    option_text(&options, "path", "/nonexistent/deep/reports.jsonl");
    assert_string_equal(create_error(sink, &options, TRAIL_IO),
                        "/nonexistent/deep/reports.jsonl: no such directory; "
                        "make it: mkdir -p '/nonexistent/deep'");
}

static void somebody_elses_file_is_refused(void **unused)
{
    (void)unused;
    struct fixture fixture;

    if (geteuid() != 0)
        skip(); /* only root can give a file away */
    fixture_init(&fixture);
    close(open(fixture.path, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(chown(fixture.path, 12345, (gid_t)-1), 0);
    const char *words = create_error(fixture.sink, &fixture.options, TRAIL_REFUSED);
    assert_contains(words, "belongs to user 12345");
    fixture_deinit(&fixture, NULL);
}

static void keeping_too_many_is_refused(void **unused)
{
    (void)unused;
    struct fixture fixture;

    fixture_init(&fixture);
    option_number(&fixture.options, "rotate.keep", 1000);
    assert_contains(create_error(fixture.sink, &fixture.options, TRAIL_BAD_INPUT),
                    "rotate.keep: at most 999");
    fixture_deinit(&fixture, NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(records_are_appended_one_a_line_with_mode_0600),
    cmocka_unit_test(what_was_there_before_stays),
    cmocka_unit_test(text_keeps_its_lines),
    cmocka_unit_test(a_torn_last_line_is_ended_first),
    cmocka_unit_test(a_file_that_was_moved_away_is_made_again),
    cmocka_unit_test(a_file_put_in_its_place_is_followed),
    cmocka_unit_test(a_batch_waits_while_the_folder_is_gone),
    cmocka_unit_test(rotation_keeps_so_many_and_splits_nothing),
    cmocka_unit_test(a_record_that_fits_exactly_does_not_rotate),
    cmocka_unit_test(a_record_larger_than_the_bound_is_kept_whole),
    cmocka_unit_test(keeping_none_still_bounds_the_file),
    cmocka_unit_test(processes_that_share_a_file_lose_and_tear_nothing),
    cmocka_unit_test(a_lock_that_is_never_given_up_costs_the_deadline_only),
    cmocka_unit_test(a_record_that_does_not_fit_is_taken_back_and_kept),
    cmocka_unit_test(a_symbolic_link_is_refused_by_name),
    cmocka_unit_test(a_fifo_is_refused_and_not_waited_for),
    cmocka_unit_test(devices_and_directories_are_refused),
    cmocka_unit_test(a_missing_folder_is_named_with_the_remedy),
    cmocka_unit_test(somebody_elses_file_is_refused),
    cmocka_unit_test(keeping_too_many_is_refused),
};

TRAIL_TEST_MAIN(tests)
