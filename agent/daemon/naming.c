/* naming.c -- raw traces of the record, resolved. */
#define _POSIX_C_SOURCE 200809L

#include "agent/daemon/naming.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/daemon/say.h"
#include "core/os/os.h"
#include "core/report/report.h"

#define BATCH_COUNT 64
#define BATCH_SIZE  ((size_t)8 << 20)
#define LONG_NS     ((uint64_t)3600 * 1000000000u)
#define RETRY_NS    ((uint64_t)1000000000u)
#define ID_SIZE     32

struct naming {
    struct naming_options options;
    struct trail_os_thread thread;
    int fd; /* of the file that names what is being resolved; -1: none */
    char fatal[ID_SIZE + 1];      /* what was resolved when the agent died; "" */
    struct trail_resolver *floor; /* knows modules and offsets, and runs no plugin */
    _Atomic bool stopping;
    _Atomic uint64_t until_ns;
    struct say_limit said;
};

/* ---- what is being resolved --------------------------------------------- */

static void open_mark(struct naming *naming)
{
    char id[ID_SIZE];
    naming->fd = open(naming->options.resolving,
                      O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (naming->fd < 0)
        say(SAY_WARNING, "%s: %s; a trace that kills the agent would do so again",
            naming->options.resolving, strerror(errno));
    else if (pread(naming->fd, id, ID_SIZE, 0) == ID_SIZE && id[0] != ' ')
        memcpy(naming->fatal, id, ID_SIZE);
    if (naming->fatal[0])
        say(SAY_WARNING,
            "trace %s: the agent died while it resolved this; it becomes a report "
            "without names",
            naming->fatal);
}

/* The page cache survives the death of a process: no sync is needed. */
static void mark(const struct naming *naming, const char *id)
{
    char text[ID_SIZE];
    memset(text, ' ', sizeof(text));
    memcpy(text, id, strlen(id) < ID_SIZE ? strlen(id) : ID_SIZE);
    if (naming->fd >= 0 && pwrite(naming->fd, text, sizeof(text), 0) < 0)
        return; /* a full disk: there is no telling */
}

/* ---- one trace ---------------------------------------------------------- */

static enum trail_status resolve(struct naming *naming, struct trail_pipeline *pipeline,
                                 const struct trail_trace *trace,
                                 struct trail_resolved **resolved_ret,
                                 struct trail_error *err)
{
    const struct trail_policy policy = { NULL, NULL };
    if (strcmp(trace->id, naming->fatal) == 0)
        return trail_resolve_trace(naming->floor, trace, &policy, 0, resolved_ret, err);
    mark(naming, trace->id);
    enum trail_status status =
        trail_pipeline_resolve(pipeline, trace, TRAIL_LOOKUP_LIVE, resolved_ret, err);
    mark(naming, "");
    return status;
}

/* What must not leave does not get into the record either: it is kept as it is sent. */
static enum trail_status redact(const struct trail_pipeline *pipeline, char **text,
                                size_t *size, struct trail_error *err)
{
    char *clean = NULL;
    size_t clean_size = 0;
    enum trail_status status = trail_redact_json(trail_pipeline_redact(pipeline), *text,
                                                 *size, &clean, &clean_size, err);
    if (status || !clean)
        return status;
    free(*text);
    *text = clean;
    *size = clean_size;
    return TRAIL_OK;
}

/* A raw trace as the report of it; the text is the C library's. */
static enum trail_status make_report(struct naming *naming,
                                     struct trail_pipeline *pipeline,
                                     const struct trail_journal_entry *raw,
                                     struct trail_journal_entry *report,
                                     struct trail_error *err)
{
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    char *text = NULL;
    size_t size = 0;
    enum trail_status status =
        trail_trace_read(raw->text.data, raw->text.size, &trace, err);
    if (!status)
        status = resolve(naming, pipeline, trace, &resolved, err);
    if (!status)
        status = trail_report_json(resolved, &text, &size, err);
    if (!status)
        status = redact(pipeline, &text, &size, err);
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    if (status) {
        free(text);
        return status;
    }
    *report = *raw;
    report->kind = TRAIL_JOURNAL_REPORT;
    report->revision = 1;
    report->made_here = true;
    report->sink = NULL;
    report->seq = 0;
    report->repeat = report->counted = false;
    report->text = (struct trail_text){ text, size };
    return TRAIL_OK;
}

/* ---- a batch ------------------------------------------------------------ */

/* Put reports of the batch into the record. `verdicts` as of a sink. */
static enum trail_status name_all(struct naming *naming,
                                  const struct trail_journal_batch *batch,
                                  struct trail_verdict *verdicts,
                                  struct trail_journal_entry *reports,
                                  struct trail_error *err)
{
    void *token = NULL;
    struct trail_pipeline *pipeline = naming->options.hold(naming->options.arg, &token);
    struct naming_counts *counts = naming->options.counts;
    size_t made = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct trail_error why = { "" };
        verdicts[i] = (struct trail_verdict){ .size = sizeof(verdicts[i]) };
        verdicts[i].status =
            make_report(naming, pipeline, &batch->entries[i], &reports[made], &why);
        made += !verdicts[i].status;
        atomic_fetch_add(verdicts[i].status ? &counts->failed : &counts->named, 1);
        if (verdicts[i].status)
            say_limited(&naming->said, "trace %s: %s", batch->entries[i].id, why.text);
    }
    naming->options.let_go(naming->options.arg, token);
    enum trail_status status =
        made ? trail_journal_append(naming->options.journal, reports, made, err)
             : TRAIL_OK;
    for (size_t i = 0; i < made; i++)
        free((void *)(uintptr_t)reports[i].text.data);
    return status;
}

/* TRAIL_OK: go on; TRAIL_RETRY: the record takes nothing; TRAIL_NOT_FOUND: nothing
 * waits. */
static enum trail_status name_batch(struct naming *naming)
{
    const struct trail_journal_batch_limits limits = { BATCH_COUNT, BATCH_SIZE };
    struct trail_journal *journal = naming->options.journal;
    struct trail_journal_batch *batch = NULL;
    struct trail_error err = { "" };
    enum trail_status status =
        trail_journal_batch_next(journal, NAMING_SINK, &limits, &batch, &err);
    if (status)
        return status;
    struct trail_verdict *verdicts = calloc(batch->count + 1, sizeof(*verdicts));
    struct trail_journal_entry *reports = calloc(batch->count + 1, sizeof(*reports));
    if (verdicts && reports)
        status = name_all(naming, batch, verdicts, reports, &err);
    else
        status = TRAIL_RETRY;
    if (status) {
        trail_journal_batch_free(batch); /* it comes again */
    } else {
        const struct trail_journal_try how = { .status = TRAIL_OK };
        status =
            trail_journal_batch_end(journal, NAMING_SINK, batch, &how, verdicts, &err);
    }
    free(reports);
    free(verdicts);
    return status ? TRAIL_RETRY : TRAIL_OK;
}

static bool is_over(struct naming *naming)
{
    return atomic_load(&naming->stopping) &&
           trail_os_mono_ns() >= atomic_load(&naming->until_ns);
}

static void naming_main(void *arg)
{
    struct naming *naming = arg;
    uint64_t turn = 0;
    while (!is_over(naming)) {
        enum trail_status status = name_batch(naming);
        if (status == TRAIL_NOT_FOUND && atomic_load(&naming->stopping))
            break;
        if (!status)
            continue;
        uint64_t wait = status == TRAIL_NOT_FOUND ? LONG_NS : RETRY_NS;
        trail_journal_wait(naming->options.journal, &turn, trail_os_mono_ns() + wait);
    }
}

/* ---- start and end ------------------------------------------------------ */

static void release(struct naming *naming)
{
    if (naming->fd >= 0)
        close(naming->fd);
    trail_resolver_destroy(naming->floor);
    free(naming);
}

enum trail_status naming_start(const struct naming_options *options,
                               struct naming **naming_ret, struct trail_error *err)
{
    const struct trail_resolver_options none = { .link_count = 0 };
    const struct trail_journal_sink sink = {
        .name = NAMING_SINK,
        .kinds = TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_RAW),
    };
    struct naming *naming = calloc(1, sizeof(*naming));
    if (!naming)
        return trail_fail(err, TRAIL_NO_MEMORY, "resolver: out of memory");
    naming->options = *options;
    naming->fd = -1;
    enum trail_status status = trail_resolver_create(&none, &naming->floor, err);
    if (!status)
        status = trail_journal_sink_add(options->journal, &sink, err);
    if (!status) {
        open_mark(naming);
        status = trail_os_thread_start(naming_main, naming, "resolver", &naming->thread,
                                       err);
    }
    if (status) {
        release(naming);
        return status;
    }
    *naming_ret = naming;
    return TRAIL_OK;
}

void naming_stop(struct naming *naming, uint64_t until_ns)
{
    if (!naming)
        return;
    atomic_store(&naming->until_ns, until_ns);
    atomic_store(&naming->stopping, true);
    trail_journal_wake(naming->options.journal);
    trail_os_thread_join(naming->thread);
    release(naming);
}
