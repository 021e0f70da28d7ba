/* stderr.c -- the sink for people at a terminal: bodies to standard error, as they are.
 *
 * Colour, numbering and what is left out were decided when the body was made, so that
 * these bytes are the same as those trail_print() writes.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "backtrail/sink.h"

#define WAIT_SLICE_MS 50

/* Writing to a pipe nobody reads raises SIGPIPE, and the default for that is death. The
 * program that hosts us may not have asked to die of its log, so the signal is held
 * back and, if it was ours, eaten. */
struct pipe_guard {
    sigset_t before;
    bool was_pending;
};

static bool pipe_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE) == 1;
}

static void pipe_guard_open(struct pipe_guard *guard)
{
    sigset_t pipe_only;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    guard->was_pending = pipe_pending();
    pthread_sigmask(SIG_BLOCK, &pipe_only, &guard->before);
}

static void pipe_guard_close(const struct pipe_guard *guard)
{
    sigset_t pipe_only;
    int number;

    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    if (!guard->was_pending && pipe_pending())
        sigwait(&pipe_only, &number);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool must_stop(const struct trail_sink_call *call)
{
    return (call->stop && call->stop(call->host)) ||
           (call->deadline_ns && now_ns() >= call->deadline_ns);
}

/* The terminal is full and was set not to block, by us or by a program that shares it.
 */
static enum trail_status wait_writable(const struct trail_sink_call *call,
                                       struct trail_error *err)
{
    struct pollfd standard_error = { .fd = STDERR_FILENO, .events = POLLOUT };

    while (poll(&standard_error, 1, WAIT_SLICE_MS) <= 0)
        if (must_stop(call))
            return trail_fail(err, TRAIL_RETRY,
                              "standard error takes no more at present");
    return TRAIL_OK;
}

static void parts_skip(struct iovec parts[2], size_t size)
{
    for (int i = 0; i < 2; i++) {
        size_t skipped = size < parts[i].iov_len ? size : parts[i].iov_len;
        if (skipped)
            parts[i].iov_base = (char *)parts[i].iov_base + skipped;
        parts[i].iov_len -= skipped;
        size -= skipped;
    }
}

/* One system call if the kernel takes it whole: lines of two processes stay apart. */
static enum trail_status write_parts(const struct trail_sink_call *call,
                                     struct iovec parts[2], struct trail_error *err)
{
    while (parts[0].iov_len || parts[1].iov_len) {
        ssize_t written = writev(STDERR_FILENO, parts, 2);
        if (written >= 0) {
            parts_skip(parts, (size_t)written);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            enum trail_status status = wait_writable(call, err);
            if (status)
                return status;
        } else if (errno != EINTR) {
            return trail_fail(err, TRAIL_IO, "standard error: %s", strerror(errno));
        }
    }
    return TRAIL_OK;
}

static enum trail_status write_record(const struct trail_sink_call *call,
                                      const struct trail_record *record,
                                      struct trail_error *err)
{
    struct trail_text body = record->body;
    bool ended = body.size == 0 || body.data[body.size - 1] == '\n';
    char newline[] = "\n";
    struct iovec parts[2] = {
        { .iov_base = (void *)(uintptr_t)body.data, .iov_len = body.size },
        { .iov_base = newline, .iov_len = ended ? 0 : 1 },
    };

    return write_parts(call, parts, err);
}

static enum trail_status write_batch(void *state, struct trail_sink_call *call,
                                     const struct trail_record *records, size_t count,
                                     struct trail_verdict *verdicts,
                                     struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    struct pipe_guard guard;
    size_t done = 0;

    (void)state;
    pipe_guard_open(&guard);
    while (done < count && !status) {
        status = write_record(call, trail_record_at(records, done), err);
        if (!status)
            done++;
    }
    pipe_guard_close(&guard);
    if (status && done == 0)
        return status;
    for (size_t i = done; i < count; i++)
        trail_verdict_at(verdicts, i)->status = status;
    return TRAIL_OK;
}

static enum trail_status flush(void *state, struct trail_sink_call *call,
                               struct trail_error *err)
{
    (void)state, (void)call, (void)err; /* nothing is ever held back */
    return TRAIL_OK;
}

static enum trail_status create(const struct trail_options *options, void **state_ret,
                                struct trail_error *err)
{
    (void)options, (void)err;
    *state_ret = NULL;
    return TRAIL_OK;
}

static void destroy(void *state)
{
    (void)state;
}

#undef stderr /* a macro on most systems, and here the plugin's name */
TRAIL_SINK(stderr, "stderr", "0.1.0", 0) = {
    .abi = TRAIL_SINK_ABI,
    .size = sizeof(struct trail_sink),
    .option_stride = sizeof(struct trail_option_spec),
    .default_style = TRAIL_STYLE_TEXT,
    .flags = TRAIL_SINK_TERMINAL,
    .create = create,
    .destroy = destroy,
    .write = write_batch,
    .flush = flush,
};
