/* faults.c -- the record killed at each write, on a disk that is full, on one that
 * fails: what was acknowledged is delivered, once.
 */
#define _POSIX_C_SOURCE 200809L

#include "fixture.h"

#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "faulty.h"

#define ROUNDS 8 /* of one crash and five events */
#define ALL    (ROUNDS * 6)

/* Append entry `number`; false: not now. */
static bool append_one(struct fixture *fixture, uint64_t number, uint32_t class_)
{
    char text[256];
    struct trail_journal_entry entry = entry_of(number, class_, text);
    return trail_journal_append(fixture->journal, &entry, 1, NULL) == TRAIL_OK;
}

/* What a receiver that drops what it knows already has got. */
static void send_some(struct fixture *fixture, void (*got)(void *arg, uint64_t number),
                      void *arg)
{
    struct trail_journal_batch *batch;
    struct trail_journal_batch_limits limits = { 4, 1 << 20 };
    struct trail_journal_try how = { .status = TRAIL_OK };
    for (int i = 0; i < 2; i++) {
        if (trail_journal_batch_next(fixture->journal, "hq", &limits, &batch, NULL))
            return;
        for (size_t k = 0; k < batch->count; k++)
            if (batch->entries[k].kind == TRAIL_JOURNAL_REPORT)
                got(arg, number_of(batch->entries[k].id));
        trail_journal_batch_end(fixture->journal, "hq", batch, &how, NULL, NULL);
    }
}

/* ---- kill ------------------------------------------------------------------ */

static void say_byte(int fd, uint8_t what, uint64_t number)
{
    uint8_t bytes[2] = { what, (uint8_t)number };
    if (write(fd, bytes, 2) != 2)
        _exit(1);
}

static void say_got(void *arg, uint64_t number)
{
    say_byte(*(int *)arg, 'g', number);
}

/* In a process of its own: append and send; each acknowledgement goes to `fd`. */
static void live(struct fixture *fixture, int fd)
{
    struct trail_journal_sink sink = { .name = "hq" };
    if (trail_journal_open(fixture->directory, &fixture->limits, NULL, NULL,
                           &fixture->journal, NULL))
        _exit(3);
    trail_journal_sink_add(fixture->journal, &sink, NULL);
    for (uint64_t round = 0, number = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < 6; i++, number++)
            if (append_one(fixture, number, i ? TRAIL_CLASS_EVENT : TRAIL_CLASS_CRASH))
                say_byte(fd, 'a', number);
        send_some(fixture, say_got, &fd);
        trail_journal_tick(fixture->journal);
    }
    trail_journal_close(fixture->journal);
    _exit(0);
}

/* Live until the kill; note what was acknowledged and what was got. True: there was a
 * kill. */
static bool live_until(struct fixture *fixture, uint64_t operation,
                       uint8_t acknowledged[256], uint8_t got[256])
{
    int pipes[2], status;
    uint8_t bytes[2];
    assert_int_equal(pipe(pipes), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close(pipes[0]);
        faulty_install();
        faulty = (struct faulty){ .first = operation, .count = 1, .result = -1 };
        live(fixture, pipes[1]);
    }
    close(pipes[1]);
    while (read(pipes[0], bytes, 2) == 2)
        (bytes[0] == 'a' ? acknowledged : got)[bytes[1]] = 1;
    close(pipes[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 9);
    return WEXITSTATUS(status) == 9;
}

static void killed_at(uint64_t operation, bool *killed)
{
    struct fixture fixture;
    uint8_t acknowledged[256] = { 0 }, got[256] = { 0 }, more[256] = { 0 };
    fixture_begin(&fixture);
    fixture.limits.file_bytes = 1;
    *killed = live_until(&fixture, operation, acknowledged, got);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    assert_string_equal(fixture.said, "");
    take_all(&fixture, "hq", more, 256);
    for (size_t i = 0; i < ALL; i++) {
        if (acknowledged[i] && !got[i] && !more[i])
            fail_msg("killed at %llu: %zu is lost", (unsigned long long)operation, i);
        assert_true(more[i] <= 1);
    }
    put(&fixture, 250, 1, TRAIL_CLASS_CRASH);
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), 1);
    fixture_end(&fixture);
}

static void a_kill_at_any_write_loses_nothing_that_was_acknowledged(void **unused)
{
    (void)unused;
    bool killed = true;
    uint64_t operation = 0, kills = 0;
    while (killed) {
        operation += operation < 20 ? 1 : 37; /* the first ones make the files */
        killed_at(operation, &killed);
        kills += killed;
    }
    print_message("killed at %llu writes\n", (unsigned long long)kills);
    assert_true(kills > 25);
}

/* ---- full, failing ------------------------------------------------------------ */

static void note_got(void *arg, uint64_t number)
{
    uint8_t *got = arg;
    if (number < 256)
        got[number] = 1;
}

/* A producer that comes again until it is told that all is well. */
static void append_until_taken(struct fixture *fixture, uint64_t number,
                               uint32_t class_)
{
    for (int i = 0; i < 200; i++) {
        if (append_one(fixture, number, class_))
            return;
        trail_journal_tick(fixture->journal);
    }
    fail_msg("%llu was never taken", (unsigned long long)number);
}

static void fails_at(uint64_t operation, uint64_t count, int result, bool *reached)
{
    struct fixture fixture;
    uint8_t got[256] = { 0 };
    fixture_begin(&fixture);
    fixture.limits.file_bytes = 1;
    faulty = (struct faulty){ .first = 0 };
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    faulty = (struct faulty){ .first = operation, .count = count, .result = result };
    for (uint64_t round = 0, number = 0; round < ROUNDS; round++) {
        for (uint64_t i = 0; i < 6; i++, number++)
            append_until_taken(&fixture, number,
                               i ? TRAIL_CLASS_EVENT : TRAIL_CLASS_CRASH);
        send_some(&fixture, note_got, got);
    }
    *reached = faulty.done >= operation;
    faulty = (struct faulty){ .first = 0 };
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    take_all(&fixture, "hq", got, 256);
    if (strstr(fixture.said, "damaged"))
        fail_msg("result %d at %llu is no damage\n%s", result,
                 (unsigned long long)operation, fixture.said);
    for (size_t i = 0; i < ALL; i++)
        if (!got[i])
            fail_msg("result %d at %llu: %zu is lost\n%s", result,
                     (unsigned long long)operation, i, fixture.said);
    fixture_end(&fixture);
}

static void fails_everywhere(uint64_t count, int result)
{
    bool reached = true;
    faulty_install();
    for (uint64_t operation = 1; reached; operation += operation < 15 ? 1 : 17)
        fails_at(operation, count, result, &reached);
}

static void a_disk_that_is_full_for_a_while_loses_nothing(void **unused)
{
    (void)unused;
    fails_everywhere(25, SQLITE_FULL);
}

static void a_write_that_fails_loses_nothing(void **unused)
{
    (void)unused;
    fails_everywhere(1, SQLITE_IOERR_WRITE);
}

static void a_sync_that_fails_is_not_believed_the_next_time(void **unused)
{
    (void)unused;
    fails_everywhere(3, SQLITE_IOERR_FSYNC);
}

static size_t times_said(const struct fixture *fixture, const char *what)
{
    size_t count = 0;
    for (const char *at = fixture->said; (at = strstr(at, what)); at++)
        count++;
    return count;
}

static void a_full_disk_is_said_once_and_so_is_its_end(void **unused)
{
    (void)unused;
    struct fixture fixture;
    faulty_install();
    faulty = (struct faulty){ .first = 0 };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    put(&fixture, 0, 5, TRAIL_CLASS_EVENT);
    assert_int_equal(files_ending(&fixture, ".", "reserve"), 1);
    faulty = (struct faulty){ .first = 1, .count = 1u << 20, .result = SQLITE_FULL };
    for (uint64_t i = 5; i < 10; i++)
        assert_false(append_one(&fixture, i, TRAIL_CLASS_EVENT));
    assert_int_equal(files_ending(&fixture, ".", "reserve"), 0);
    assert_int_equal(times_said(&fixture, "the disk is full"), 1);
    assert_true(stat_of(&fixture).full);

    faulty = (struct faulty){ .first = 0 };
    assert_true(append_one(&fixture, 20, TRAIL_CLASS_CRASH)); /* those come first */
    assert_false(append_one(&fixture, 5, TRAIL_CLASS_EVENT));
    trail_journal_tick(fixture.journal);
    assert_int_equal(times_said(&fixture, "there is space again"), 1);
    assert_false(stat_of(&fixture).full);
    assert_true(append_one(&fixture, 5, TRAIL_CLASS_EVENT));
    fixture_end(&fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_full_disk_is_said_once_and_so_is_its_end),
    cmocka_unit_test(a_kill_at_any_write_loses_nothing_that_was_acknowledged),
    cmocka_unit_test(a_disk_that_is_full_for_a_while_loses_nothing),
    cmocka_unit_test(a_write_that_fails_loses_nothing),
    cmocka_unit_test(a_sync_that_fails_is_not_believed_the_next_time),
};

TRAIL_TEST_MAIN(tests)
