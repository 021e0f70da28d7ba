/* watch.c -- a program that no library can be loaded into, watched from outside. */
#include "agent/run/watch.h"

#include <stdlib.h>

#include "agent/outside/drop.h"
#include "agent/outside/process_text.h"
#include "core/os/watch.h"

/* What was found of a process while it was held. */
struct found {
    struct run_reports *reports;
    uint8_t id[16];
    char *text; /* NULL: nothing */
    size_t size;
};

static void on_held(void *arg, const struct trail_os_watched *watched)
{
    struct found *found = arg;
    struct trail_error err;
    const struct outside_signal signal = { .number = watched->signal,
                                           .code = watched->code,
                                           .address = watched->address,
                                           .has_code = true };
    trail_os_random(found->id, sizeof(found->id));
    if (outside_process_text(watched->pid, watched->tid, &signal, found->id,
                             &found->text, &found->size, &err))
        failure("run: %s", err.text);
}

static void on_released(void *arg)
{
    struct found *found = arg;
    struct trail_error err;
    if (found->text &&
        outside_drop(found->reports->inbox, found->id, found->text, found->size, &err))
        failure("run: %s", err.text);
    free(found->text);
    found->text = NULL;
    run_reports_take(found->reports, false);
}

static enum trail_status watch(const struct program *program, char *const *arguments,
                               struct run_reports *reports,
                               struct trail_os_ending *ending, struct trail_error *err)
{
    struct found found = { .reports = reports };
    const struct trail_os_watcher watcher = { on_held, on_released, &found };
    bool watched = false;
    enum trail_status status =
        trail_os_watch(program->path, arguments, NULL, &watcher, ending, &watched, err);
    if (!status && !watched)
        failure("run: %s was not watched: ptrace is not permitted here", program->path);
    return status;
}

/* A program that is watched by somebody else than root stays that one's: it would not
 * do what it is for. */
static enum trail_status run_alone(const struct program *program,
                                   char *const *arguments,
                                   struct trail_os_ending *ending,
                                   struct trail_error *err)
{
    int64_t pid;
    enum trail_status status =
        trail_os_run(program->path, arguments, NULL, NULL, &pid, err);
    while (!status && !trail_os_run_wait(pid, UINT64_C(1) << 32, ending))
        ;
    return status;
}

int run_watched(const struct program *program, char *const *arguments,
                struct run_reports *reports)
{
    struct trail_os_ending ending = { 0 };
    struct trail_error err;
    const bool may =
        trail_os_watch_keeps_user() || !trail_os_runnable(program->path).changes_user;
    if (!may)
        failure("run: %s: only root may watch it: it runs unwatched", program->path);
    if (!run_reports_open(reports))
        return EXIT_FAILED;
    trail_os_run_prepare();
    enum trail_status status = may ? watch(program, arguments, reports, &ending, &err)
                                   : run_alone(program, arguments, &ending, &err);
    run_reports_close(reports);
    if (status)
        return failure("%s", err.text);
    if (!ending.signal)
        return ending.code;
    fflush(NULL);
    trail_os_die_of(ending.signal);
    return 128 + ending.signal;
}
