/* log.c -- `backtrail resolve --log` and `--markup`: the streams. */
#define _POSIX_C_SOURCE 200809L

#include "agent/log/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/log/block.h"
#include "agent/log/finder.h"
#include "agent/progress.h"

#define SPANS_AT_ONCE 256 /* below IOV_MAX everywhere */
#define PATIENCE_MS   100 /* how long a line that has been begun may stay unwritten */

struct session {
    struct log_finder finder;
    struct log_backend backend;
    struct log_filter filter;
    struct log_block block;
};

/* ---- output ---------------------------------------------------------------- */

/* Write a few spans; skips what is out already when the system takes a part. */
static bool write_some(const struct trail_text *spans, size_t count)
{
    struct iovec pieces[SPANS_AT_ONCE];
    size_t left = 0, at = 0;
    for (size_t i = 0; i < count; i++) {
        pieces[i] = (struct iovec){ (char *)(uintptr_t)spans[i].data, spans[i].size };
        left += spans[i].size;
    }
    while (left) {
        ssize_t wrote = writev(STDOUT_FILENO, pieces + at, (int)(count - at));
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        size_t gone = (size_t)wrote;
        left -= gone;
        for (; at < count && gone >= pieces[at].iov_len; at++)
            gone -= pieces[at].iov_len;
        if (at < count) {
            pieces[at].iov_base = (char *)pieces[at].iov_base + gone;
            pieces[at].iov_len -= gone;
        }
    }
    return true;
}

static enum trail_status put(void *arg, const struct trail_text *spans, size_t count)
{
    (void)arg;
    for (size_t at = 0; at < count; at += SPANS_AT_ONCE) {
        size_t some = count - at < SPANS_AT_ONCE ? count - at : SPANS_AT_ONCE;
        if (!write_some(spans + at, some))
            return TRAIL_IO;
    }
    return TRAIL_OK;
}

/* ---- input ----------------------------------------------------------------- */

/* Whether more comes before the user would miss what is held back. */
static bool comes_soon(int fd)
{
    struct pollfd input = { .fd = fd, .events = POLLIN };
    return poll(&input, 1, PATIENCE_MS) != 0;
}

/* How far we are is told of files alone: a pipe has no end that is known. */
static void begin_progress(int fd, char *what, size_t size, const char *name)
{
    struct stat file;
    off_t at = lseek(fd, 0, SEEK_CUR);
    if (fstat(fd, &file) || !S_ISREG(file.st_mode) || at < 0 || at > file.st_size)
        return;
    snprintf(what, size, "resolving %s", name);
    progress_begin((uint64_t)(file.st_size - at), what);
}

static int stream(struct session *session, int fd, const char *name)
{
    struct log_block *block = &session->block;
    enum trail_status status = TRAIL_OK;
    int exit_code = EXIT_DONE, unread = 0;
    char what[256];
    begin_progress(fd, what, sizeof(what), name);
    for (;;) {
        if (block->size && !status && !comes_soon(fd))
            status = log_block_idle(block);
        ssize_t got = read(fd, log_block_room(block), LOG_BLOCK_SIZE);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            unread = errno;
        if (got <= 0)
            break;
        status = log_block_added(block, (size_t)got);
        progress_add((size_t)got);
        if (status)
            break;
    }
    if (!status)
        status = log_block_end(block);
    progress_end();
    if (unread)
        exit_code = failure("%s: %s", name, strerror(unread));
    if (status)
        exit_code = failure("standard output: cannot be written: %s", strerror(errno));
    return exit_code;
}

/* ---- command line ---------------------------------------------------------- */

static bool base_of(const char *text, uint64_t *base_ret)
{
    struct log_cursor cursor = log_cursor_of(trail_text_of(text));
    log_take(&cursor, "0x");
    return log_take_hex(&cursor, base_ret) && cursor.at == cursor.end;
}

static int with_session(struct session *session, struct trail_pipeline *pipeline,
                        const struct resolve_options *options, int fd, const char *name)
{
    struct log_filter_options filter = { .backend = &session->backend,
                                         .markup_only = options->markup,
                                         .given = options->file,
                                         .has_base = options->base != NULL };
    if (options->base && !base_of(options->base, &filter.base))
        return usage_error("resolve", "'%s' is not a hexadecimal address",
                           options->base);
    session->finder = (struct log_finder){
        .resolver = trail_pipeline_resolver(pipeline, NULL),
        .routes = trail_pipeline_routes(pipeline),
        .given = options->file,
        .flags = resolve_lookup_flags(options),
    };
    session->backend = log_finder_backend(&session->finder);
    log_filter_init(&session->filter, &filter);
    session->filter.out.put = put;
    session->block.filter = &session->filter;
    int exit_code = session->finder.failed ? EXIT_FAILED : stream(session, fd, name);
    log_filter_deinit(&session->filter);
    return exit_code;
}

int resolve_log(struct trail_pipeline *pipeline, const struct resolve_options *options,
                const char *path)
{
    bool standard = !path || strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY);
    if (fd < 0)
        return failure("%s: %s", path, strerror(errno));
    struct session *session = calloc(1, sizeof(*session));
    int exit_code = session ? with_session(session, pipeline, options, fd,
                                           standard ? "standard input" : path)
                            : failure("resolve: out of memory");
    free(session);
    if (!standard)
        close(fd);
    return exit_code;
}
