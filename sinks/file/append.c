/* append.c -- see append.h. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "append.h"

void line_deinit(struct line *line)
{
    free(line->data);
    *line = (struct line){ 0 };
}

enum trail_status line_set(struct line *line, const struct trail_record *record,
                           struct trail_error *err)
{
    struct trail_text body = record->body;

    if (body.size >= line->capacity) {
        char *grown = body.size < SIZE_MAX ? realloc(line->data, body.size + 1) : NULL;
        if (!grown)
            return trail_fail(err, TRAIL_RETRY, "no memory for a record of %zu bytes",
                              body.size);
        line->data = grown;
        line->capacity = body.size + 1;
    }
    if (body.size)
        memcpy(line->data, body.data, body.size);
    line->size = body.size;
    if (record->style == TRAIL_STYLE_JSON)
        for (size_t i = 0; i < line->size; i++)
            if (line->data[i] == '\n' || line->data[i] == '\r')
                line->data[i] = ' ';
    if (line->size == 0 || line->data[line->size - 1] != '\n')
        line->data[line->size++] = '\n';
    return TRAIL_OK;
}

/* ---- a file size limit is an answer, not a death ------------------------ */

/* Writing past RLIMIT_FSIZE raises SIGXFSZ, which kills by default. It is held back,
 * and eaten if it was ours; write() then says EFBIG. */
struct limit_guard {
    sigset_t before;
    bool was_pending;
};

static bool limit_pending(void)
{
    sigset_t pending;

    return sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

static void limit_guard_open(struct limit_guard *guard)
{
    sigset_t limit_only;

    sigemptyset(&limit_only);
    sigaddset(&limit_only, SIGXFSZ);
    guard->was_pending = limit_pending();
    pthread_sigmask(SIG_BLOCK, &limit_only, &guard->before);
}

static void limit_guard_close(const struct limit_guard *guard)
{
    sigset_t limit_only;
    int number;

    sigemptyset(&limit_only);
    sigaddset(&limit_only, SIGXFSZ);
    if (!guard->was_pending && limit_pending())
        sigwait(&limit_only, &number);
    pthread_sigmask(SIG_SETMASK, &guard->before, NULL);
}

/* ---- writing ------------------------------------------------------------ */

static const char *remedy(int error)
{
    switch (error) {
    case ENOSPC:
        return "; free space there, the reports wait";
    case EDQUOT:
        return "; raise the quota or remove files, the reports wait";
    case EFBIG:
        return "; raise the limit (ulimit -f) or set rotate.size below it";
    default:
        return "";
    }
}

/* Zero, or errno with `*written_ret` bytes in the file. */
static int write_all(int fd, const char *data, size_t size, size_t *written_ret)
{
    size_t written = 0;
    int error = 0;

    while (written < size && !error) {
        ssize_t step = write(fd, data + written, size - written);
        if (step > 0)
            written += (size_t)step;
        else if (step == 0)
            error = ENOSPC;
        else if (errno != EINTR)
            error = errno;
    }
    *written_ret = written;
    return error;
}

static enum trail_status size_now(const struct output *output, uint64_t *size_ret,
                                  struct trail_error *err)
{
    struct stat now;

    if (fstat(output->fd, &now))
        return trail_fail(err, TRAIL_RETRY, "%s: %s", output->path, strerror(errno));
    *size_ret = (uint64_t)now.st_size;
    return TRAIL_OK;
}

/* Take back a record that did not fit, unless a writer that does not lock, such as a
 * shell's >>, has appended to it meanwhile. */
static void undo(struct output *output, uint64_t start, size_t written)
{
    uint64_t size = 0;

    output->tail_checked = false;
    if (written == 0 || size_now(output, &size, NULL) || size != start + written)
        return;
    /* If even this fails, the tail is ended by the next append instead. */
    if (ftruncate(output->fd, (off_t)start) == 0)
        output->tail_checked = true;
}

static enum trail_status write_whole(struct output *output, uint64_t start,
                                     const char *data, size_t size,
                                     struct trail_error *err)
{
    struct limit_guard guard;
    size_t written = 0;

    limit_guard_open(&guard);
    int error = write_all(output->fd, data, size, &written);
    limit_guard_close(&guard);
    if (!error)
        return TRAIL_OK;
    undo(output, start, written);
    return trail_fail(err, TRAIL_RETRY, "%s: %s%s", output->path, strerror(error),
                      remedy(error));
}

/* A writer that was killed half-way leaves a torn line; ours must not be glued to it.
 */
static enum trail_status end_torn_line(struct output *output, uint64_t *size,
                                       struct trail_error *err)
{
    char last = '\n';

    if (output->tail_checked)
        return TRAIL_OK;
    if (*size > 0 && pread(output->fd, &last, 1, (off_t)(*size - 1)) < 0)
        return trail_fail(err, TRAIL_RETRY, "%s: %s", output->path, strerror(errno));
    if (last != '\n') {
        enum trail_status status = write_whole(output, *size, "\n", 1, err);
        if (status)
            return status;
        *size += 1;
    }
    output->tail_checked = true;
    return TRAIL_OK;
}

static bool outgrows(const struct output *output, uint64_t size, size_t line_size)
{
    /* An empty file takes any record: one larger than the bound is still kept whole. */
    return output->rotate_size && size > 0 &&
           (size >= output->rotate_size || line_size > output->rotate_size - size);
}

enum trail_status output_append(struct output *output,
                                const struct trail_sink_call *call,
                                const struct line *line, struct trail_error *err)
{
    uint64_t size = 0;

    enum trail_status status = size_now(output, &size, err);
    if (!status && outgrows(output, size, line->size)) {
        status = output_rotate(output, call, err);
        if (!status)
            status = size_now(output, &size, err);
    }
    if (!status)
        status = end_torn_line(output, &size, err);
    if (!status)
        status = write_whole(output, size, line->data, line->size, err);
    return status;
}
