/* process.c -- what the threads of a running process do, as a raw trace. */
#include "agent/dump/dump.h"

#include <errno.h>
#include <stdlib.h>

#include "agent/outside/outside.h"
#include "core/capture/target.h"

#define GAP_SIZE    96
#define FEW_THREADS 32   /* whose stacks are told nearly whole */
#define MANY_FRAMES 1024 /* of each of those */
#define SOME_FRAMES 256  /* of each of more */
#define NS_PER_MS   1e6

/* What the facts borrow. */
struct work {
    struct trail_os_frozen *frozen;
    struct trail_target *target;
    struct trail_os_process process;
    struct outside_thread *threads;
    char (*gaps)[GAP_SIZE]; /* one for each thread */
    char message[128];
};

static const char *state_name(char state)
{
    switch (state) {
    case 'R':
        return "running";
    case 'T':
    case 't':
        return "stopped";
    case 'Z':
    case 'X':
        return "ended";
    default:
        return state ? "blocked" : NULL;
    }
}

/* Why nothing could be copied of it. */
static void tell_gap(const struct trail_os_frozen_thread *thread, char *gap)
{
    const char *name = thread->tracer_name;
    if (thread->error == ETIMEDOUT && thread->vfork)
        snprintf(gap, GAP_SIZE,
                 "cannot be held: vfork parent, waits for the child to start");
    else if (thread->error == ETIMEDOUT && thread->state == 'D')
        snprintf(gap, GAP_SIZE, "cannot be held: in uninterruptible sleep (state D)");
    else if (thread->error == ETIMEDOUT)
        snprintf(gap, GAP_SIZE, "cannot be held: did not stop in time");
    else if (thread->error == EPERM && thread->tracer)
        snprintf(gap, GAP_SIZE, "cannot be held: traced by %s (%lld)",
                 name[0] ? name : "process", (long long)thread->tracer);
    else if (thread->error == EPERM)
        snprintf(gap, GAP_SIZE, "cannot be held: not permitted, have CAP_SYS_PTRACE");
    else
        snprintf(gap, GAP_SIZE, "ended meanwhile");
}

static enum trail_status fill_threads(struct work *work, struct trail_error *err)
{
    const struct trail_os_frozen *frozen = work->frozen;
    work->threads = calloc(frozen->thread_count + 1, sizeof(*work->threads));
    work->gaps = calloc(frozen->thread_count + 1, sizeof(*work->gaps));
    if (!work->threads || !work->gaps)
        return trail_fail(err, TRAIL_NO_MEMORY,
                          "process %lld: no memory for its threads",
                          (long long)frozen->pid);
    for (size_t i = 0; i < frozen->thread_count; i++) {
        const struct trail_os_frozen_thread *thread = &frozen->threads[i];
        work->threads[i] =
            (struct outside_thread){ .tid = thread->tid,
                                     .name = thread->name[0] ? thread->name : NULL,
                                     .state = state_name(thread->state) };
        if (!thread->error)
            continue;
        tell_gap(thread, work->gaps[i]);
        work->threads[i].gap = work->gaps[i];
    }
    return TRAIL_OK;
}

static void tell_pause(struct work *work)
{
    const struct trail_os_frozen *frozen = work->frozen;
    size_t held = 0;
    for (size_t i = 0; i < frozen->thread_count; i++)
        held += frozen->threads[i].error == 0;
    snprintf(work->message, sizeof(work->message),
             "%zu thread%s held for %.3f ms, running ones for %.3f ms", held,
             held == 1 ? "" : "s", (double)frozen->held_ns / NS_PER_MS,
             (double)frozen->pause_ns / NS_PER_MS);
}

static enum trail_status write_trace(struct work *work, char **text_ret,
                                     size_t *size_ret, struct trail_error *err)
{
    const struct trail_os_frozen *frozen = work->frozen;
    const struct outside_missing left = { "threads", 0, frozen->left_out,
                                          "limit 4096" };
    const struct outside_facts facts = {
        .why = "dump",
        .message = work->message,
        .time_ns = trail_os_time_ns(),
        .mono_ns = trail_os_mono_ns(),
        .process = &work->process,
        .threads = work->threads,
        .thread_count = frozen->thread_count,
        .missing = &left,
        .missing_count = left.count ? 1 : 0,
        .frame_limit = frozen->thread_count <= FEW_THREADS ? MANY_FRAMES : SOME_FRAMES,
        .without_state = true,
    };
    return outside_trace_text(work->target, &facts, text_ret, size_ret, err);
}

enum trail_status dump_process(int64_t pid,
                               const struct trail_os_freeze_options *options,
                               char **text_ret, size_t *size_ret,
                               struct trail_error *err)
{
    struct work work = { .frozen = NULL };
    enum trail_status status = trail_os_freeze(pid, options, &work.frozen, err);
    if (status)
        return status;
    trail_os_process_of(work.frozen->pid, &work.process);
    status = trail_target_frozen(work.frozen, &work.target, err);
    if (!status)
        status = fill_threads(&work, err);
    if (!status) {
        tell_pause(&work);
        status = write_trace(&work, text_ret, size_ret, err);
    }
    free(work.threads);
    free(work.gaps);
    trail_target_destroy(work.target);
    trail_os_frozen_destroy(work.frozen);
    return status;
}
