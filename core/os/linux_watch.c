/* linux_watch.c -- a program run under ptrace, to be looked into when it dies.
 *
 * Source: ptrace(2).
 */
#define _GNU_SOURCE

#include "core/os/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS  ((uint64_t)1000000u)
#define HOLD_NS    (200 * NS_PER_MS) /* for all threads to stop */
#define LOOK_NS    (500 * NS_PER_MS) /* between two looks, should a signal be lost */
#define TASK_LIMIT 4096u

#define OPTIONS                                                                        \
    (PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |                  \
     PTRACE_O_TRACEEXEC)

/* A thread that is held. */
struct task {
    pid_t tid;
    bool stopped, ended;
    int status; /* what stopped it, if that is another reason than ours; 0: none */
};

/* What is going on. */
struct watch {
    const struct trail_os_watcher *watcher;
    pid_t pid;      /* the program */
    pid_t recorded; /* the process that was looked into last; it dies */
    bool ended;
    struct trail_os_ending *end_ret;
    struct task tasks[TASK_LIMIT];
    size_t task_count;
};

/* ---- what is left of a signal ------------------------------------------- */

static bool tells_a_mistake(int signal)
{
    return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
           signal == SIGFPE || signal == SIGABRT || signal == SIGTRAP ||
           signal == SIGSYS;
}

/* A line of /proc/TID/status as a number; 0: there is none. */
static uint64_t status_number(pid_t tid, const char *key, int base)
{
    char path[64], line[256];
    uint64_t number = 0;
    snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, key, strlen(key)) == 0) {
            number = strtoull(line + strlen(key), NULL, base);
            break;
        }
    if (file)
        fclose(file);
    return number;
}

/* Neither handled nor ignored. One that the processor raised has been made so by the
 * kernel before it is told here, if it was blocked or ignored. */
static bool is_deadly(pid_t tid, int signal)
{
    uint64_t handled = status_number(tid, "SigCgt:", 16);
    uint64_t ignored = status_number(tid, "SigIgn:", 16);
    return tells_a_mistake(signal) && !((handled | ignored) >> (signal - 1) & 1);
}

/* ---- holding ------------------------------------------------------------ */

static enum trail_status add_task(void *arg, const char *tid)
{
    struct watch *watch = arg;
    const pid_t id = (pid_t)strtol(tid, NULL, 10);
    for (size_t i = 0; i < watch->task_count; i++)
        if (watch->tasks[i].tid == id)
            return TRAIL_OK;
    if (watch->task_count == TASK_LIMIT)
        return TRAIL_OK;
    watch->tasks[watch->task_count++] = (struct task){ .tid = id };
    if (ptrace(PTRACE_INTERRUPT, id, NULL, NULL))
        watch->tasks[watch->task_count - 1].ended = errno == ESRCH;
    return TRAIL_OK;
}

/* True: it is not to be waited for any more. */
static bool is_settled(struct task *task)
{
    int status;
    if (task->stopped || task->ended)
        return true;
    pid_t got = waitpid(task->tid, &status, __WALL | WNOHANG);
    if (got == 0)
        return false;
    task->ended = got < 0 || !WIFSTOPPED(status);
    task->stopped = !task->ended;
    if (task->stopped && status >> 16 != PTRACE_EVENT_STOP)
        task->status = status;
    return true;
}

/* Stop all threads of process `pid`, of which `tid` is stopped. A thread that is not
 * yet stopped can make others: these are seen in another round. */
static void hold(struct watch *watch, pid_t pid, pid_t tid)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    const uint64_t until = trail_os_mono_ns() + HOLD_NS;
    size_t settled = 0, before = 0;
    watch->tasks[0] = (struct task){ .tid = tid, .stopped = true };
    watch->task_count = 1;
    do {
        before = watch->task_count;
        trail_os_threads(pid, add_task, watch, NULL);
        settled = 0;
        for (size_t i = 0; i < watch->task_count; i++)
            settled += is_settled(&watch->tasks[i]);
        if (settled < watch->task_count)
            nanosleep(&pause, NULL);
    } while ((settled < watch->task_count || before < watch->task_count) &&
             trail_os_mono_ns() < until);
}

/* ---- what happens ------------------------------------------------------- */

static void on_stop(struct watch *watch, pid_t tid, int status);

/* What stopped a thread meanwhile is done with as if it came now. */
static void release(struct watch *watch)
{
    for (size_t i = 1; i < watch->task_count; i++) {
        const struct task *task = &watch->tasks[i];
        if (task->stopped && task->status)
            on_stop(watch, task->tid, task->status);
        else if (task->stopped)
            ptrace(PTRACE_CONT, task->tid, NULL, NULL);
    }
}

static void record(struct watch *watch, pid_t tid, int signal)
{
    const pid_t pid = (pid_t)status_number(tid, "Tgid:", 10);
    siginfo_t info = { 0 };
    if (!pid || pid == watch->recorded)
        return;
    watch->recorded = pid;
    ptrace(PTRACE_GETSIGINFO, tid, NULL, &info);
    const struct trail_os_watched watched = { .pid = pid,
                                              .tid = tid,
                                              .signal = signal,
                                              .code = info.si_code,
                                              .address =
                                                  (uint64_t)(uintptr_t)info.si_addr };
    hold(watch, pid, tid);
    watch->watcher->held(watch->watcher->arg, &watched);
    release(watch);
    ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signal);
    watch->watcher->released(watch->watcher->arg);
}

static bool stops(int signal)
{
    return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN ||
           signal == SIGTTOU;
}

static void on_stop(struct watch *watch, pid_t tid, int status)
{
    const int signal = WSTOPSIG(status), event = status >> 16;
    if (event == PTRACE_EVENT_STOP && stops(signal))
        ptrace(PTRACE_LISTEN, tid, NULL, NULL); /* stopped as any program can be */
    else if (event)
        ptrace(PTRACE_CONT, tid, NULL, NULL);
    else if (is_deadly(tid, signal) &&
             (pid_t)status_number(tid, "Tgid:", 10) != watch->recorded)
        record(watch, tid, signal);
    else
        ptrace(PTRACE_CONT, tid, NULL, (void *)(uintptr_t)signal);
}

static void on_event(struct watch *watch, pid_t tid, int status)
{
    if (WIFSTOPPED(status)) {
        on_stop(watch, tid, status);
    } else if (tid == watch->pid) {
        watch->ended = true;
        watch->end_ret->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
        watch->end_ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        watch->end_ret->dumped = WIFSIGNALED(status) && WCOREDUMP(status);
    }
}

/* ---- all of it ---------------------------------------------------------- */

static bool is_seized;

static void seize(int64_t pid)
{
    is_seized = ptrace(PTRACE_SEIZE, (pid_t)pid, NULL, (void *)(uintptr_t)OPTIONS) == 0;
}

static void follow(struct watch *watch)
{
    while (!watch->ended) {
        int status;
        pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid > 0)
            on_event(watch, tid, status);
        else if (tid < 0 && errno == ECHILD)
            watch->ended = true;
        else
            trail_os_run_pass(watch->pid, LOOK_NS);
    }
}

enum trail_status trail_os_watch(const char *path, char *const *arguments,
                                 const char *const *variables,
                                 const struct trail_os_watcher *watcher,
                                 struct trail_os_ending *end_ret, bool *watched_ret,
                                 struct trail_error *err)
{
    int64_t pid = 0;
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory to watch it", path);
    is_seized = false;
    *end_ret = (struct trail_os_ending){ 0 };
    enum trail_status status =
        trail_os_run(path, arguments, variables, seize, &pid, err);
    *watched_ret = is_seized;
    if (!status) {
        watch->watcher = watcher;
        watch->pid = (pid_t)pid;
        watch->end_ret = end_ret;
        follow(watch);
    }
    free(watch);
    return status;
}

bool trail_os_watch_keeps_user(void)
{
    return geteuid() == 0;
}
