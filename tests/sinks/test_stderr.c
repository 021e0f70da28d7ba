/* test_stderr.c -- standard error gets the record's bytes, and nothing it does to us is
 * worse than an answer. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "plugin.h"

/* Standard error for the time of one write; nothing is asserted in between. */
struct diversion {
    int saved;
};

static struct diversion divert(int to)
{
    struct diversion diversion = { .saved = dup(STDERR_FILENO) };

    if (to >= 0)
        dup2(to, STDERR_FILENO);
    else
        close(STDERR_FILENO);
    return diversion;
}

static void restore(struct diversion diversion)
{
    dup2(diversion.saved, STDERR_FILENO);
    close(diversion.saved);
}

static enum trail_status write_diverted(int to, struct trail_sink_call *call,
                                        const struct trail_record *records,
                                        size_t count, struct trail_verdict *verdicts,
                                        struct trail_error *err)
{
    const struct trail_sink *sink = plugin_load("stderr");
    struct option_set none = { 0 };
    void *state = state_of(sink, &none);

    struct diversion diversion = divert(to);
    enum trail_status status = sink->write(state, call, records, count, verdicts, err);
    restore(diversion);
    sink->destroy(state);
    return status;
}

/* What one record of `style` puts on standard error. */
static void written_ret(uint32_t style, const char *body, char *bytes_ret, size_t size)
{
    struct trail_record record = record_of(style, body);
    struct trail_sink_call call = call_of("k");
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_ok(write_diverted(ends[1], &call, &record, 1, &verdict, NULL));
    close(ends[1]);
    ssize_t got = read(ends[0], bytes_ret, size - 1);
    close(ends[0]);
    assert_true(got >= 0);
    bytes_ret[got] = '\0';
    assert_int_equal(verdict.status, TRAIL_OK);
}

static void text_arrives_byte_for_byte(void **unused)
{
    (void)unused;
    const char *body =
        "backtrace:\n  0: main at main.pep:4:5\n  1: caf\xc3\xa9 (inlined)\n";
    char bytes[256];

    written_ret(TRAIL_STYLE_TEXT, body, bytes, sizeof(bytes));
    assert_string_equal(bytes, body);
}

static void json_ends_with_a_newline(void **unused)
{
    (void)unused;
    char bytes[64];

    written_ret(TRAIL_STYLE_JSON, "{\"a\":1}", bytes, sizeof(bytes));
    assert_string_equal(bytes, "{\"a\":1}\n");
}

static void each_record_is_one_write(void **unused)
{
    (void)unused;
    struct trail_record records[2] = { record_of(TRAIL_STYLE_JSON, "{\"n\":1}"),
                                       record_of(TRAIL_STYLE_TEXT, "two\nlines\n") };
    struct trail_verdict verdicts[2] = { { .size = sizeof(verdicts[0]) } };
    struct trail_sink_call call = call_of("k");
    char bytes[64];
    int ends[2];

    /* Each write to a socket of this kind is a message of its own. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
    assert_ok(write_diverted(ends[1], &call, records, 2, verdicts, NULL));
    assert_int_equal(read(ends[0], bytes, sizeof(bytes)), 8);
    assert_memory_equal(bytes, "{\"n\":1}\n", 8);
    assert_int_equal(read(ends[0], bytes, sizeof(bytes)), 10);
    assert_memory_equal(bytes, "two\nlines\n", 10);
    close(ends[0]);
    close(ends[1]);
}

static void a_pipe_that_nobody_reads_kills_nobody(void **unused)
{
    (void)unused;
    struct trail_record record = record_of(TRAIL_STYLE_TEXT, "lost\n");
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");
    struct trail_error err = { "" };
    sigset_t pending;
    int ends[2];

    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(write_diverted(ends[1], &call, &record, 1, &verdict, &err),
                     TRAIL_IO);
    close(ends[1]);
    assert_contains(err.text, "standard error: Broken pipe");
    assert_int_equal(sigpending(&pending), 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

static void a_closed_standard_error_is_an_answer(void **unused)
{
    (void)unused;
    struct trail_record record = record_of(TRAIL_STYLE_TEXT, "lost\n");
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");
    struct trail_error err = { "" };

    assert_int_equal(write_diverted(-1, &call, &record, 1, &verdict, &err), TRAIL_IO);
    assert_contains(err.text, "standard error: Bad file descriptor");
}

static void a_full_terminal_is_waited_for_until_the_deadline(void **unused)
{
    (void)unused;
    struct trail_record record = record_of(TRAIL_STYLE_TEXT, "later\n");
    struct trail_verdict verdict = { .size = sizeof(verdict) };
    struct trail_sink_call call = call_of("k");
    char block[4096] = "";
    int ends[2];

    assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
    while (write(ends[1], block, sizeof(block)) > 0)
        continue;
    call.deadline_ns = 1; /* long past */
    assert_int_equal(write_diverted(ends[1], &call, &record, 1, &verdict, NULL),
                     TRAIL_RETRY);
    close(ends[0]);
    close(ends[1]);
}

static void what_follows_a_failed_record_is_not_called_written(void **unused)
{
    (void)unused;
    struct trail_record records[2] = { record_of(TRAIL_STYLE_TEXT, "first\n"),
                                       record_of(TRAIL_STYLE_TEXT, "second\n") };
    struct trail_verdict verdicts[2] = { { .size = sizeof(verdicts[0]) } };
    struct trail_sink_call call = call_of("k");
    char block[4096] = "";
    int ends[2];

    /* Room for the first datagram only. */
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0, ends), 0);
    size_t fitting = 0;
    while (write(ends[1], block, 1) > 0)
        fitting++;
    assert_true(fitting > 1);
    assert_int_equal(read(ends[0], block, 1), 1);
    call.deadline_ns = 1;
    assert_ok(write_diverted(ends[1], &call, records, 2, verdicts, NULL));
    assert_int_equal(verdicts[0].status, TRAIL_OK);
    assert_int_equal(verdicts[1].status, TRAIL_RETRY);
    close(ends[0]);
    close(ends[1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(text_arrives_byte_for_byte),
    cmocka_unit_test(json_ends_with_a_newline),
    cmocka_unit_test(each_record_is_one_write),
    cmocka_unit_test(a_pipe_that_nobody_reads_kills_nobody),
    cmocka_unit_test(a_closed_standard_error_is_an_answer),
    cmocka_unit_test(a_full_terminal_is_waited_for_until_the_deadline),
    cmocka_unit_test(what_follows_a_failed_record_is_not_called_written),
};

TRAIL_TEST_MAIN(tests)
