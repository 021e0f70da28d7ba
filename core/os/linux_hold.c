/* linux_hold.c -- the threads of another process held, copied and let go.
 *
 * Those that sleep are told to stop first, and copied; what they hold cannot change any
 * more. Only then are those told that run, so that they stand still no longer than it
 * takes to copy them: at that moment all stand still.
 */
#define _GNU_SOURCE

#include "core/os/linux_hold.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_AGAIN_US  10000 /* at a thread that has not stopped yet */
#define SLEEP_MS       20u   /* for one that cannot be interrupted */
#define PASSES         16u   /* over the list of threads, until it stays as it is */
#define STOP_EVENT     128   /* PTRACE_EVENT_STOP, which not every header has */
#define NANOSECONDS_MS 1000000u

enum group { SLEEPING, RUNNING };

struct holder {
    struct trail_hold *hold;
    DIR *tasks;
    /* Of each thread of `hold`. */
    struct grip {
        bool seized, told, held, copied;
        enum group group;
        int signal; /* that was on its way when it stopped */
    } grips[TRAIL_HOLD_THREADS];
    struct trail_os_frozen_thread *batch[TRAIL_HOLD_THREADS];
};

/* ---- the list of threads ------------------------------------------------ */

/* "tid (name) S ..."; the name may have anything in it. */
static void parse_stat(char *text, struct trail_os_frozen_thread *thread)
{
    char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end[1] != ' ')
        return;
    *end = 0;
    snprintf(thread->name, sizeof(thread->name), "%s", name + 1);
    thread->state = end[2];
}

/* A file of a thread below /proc; "" if it cannot be read. */
static void read_of_thread(const struct holder *holder, int64_t tid, const char *name,
                           char *text_ret, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "%lld/%s", (long long)tid, name);
    int fd = openat(dirfd(holder->tasks), path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text_ret, size - 1);
    if (fd >= 0)
        close(fd);
    text_ret[got > 0 ? got : 0] = 0;
}

static void read_stat(const struct holder *holder,
                      struct trail_os_frozen_thread *thread)
{
    char text[512];
    read_of_thread(holder, thread->tid, "stat", text, sizeof(text));
    parse_stat(text, thread);
}

/* Whether what it waits for in the kernel is a child that it made to borrow its memory:
 * those calls return at once otherwise. */
static bool waits_for_child(const struct holder *holder, int64_t tid)
{
    char text[256], *end = NULL;
    read_of_thread(holder, tid, "syscall", text, sizeof(text));
    long number = strtol(text, &end, 10);
    bool makes_child = number == SYS_clone || number == SYS_clone3;
#ifdef SYS_vfork
    makes_child = makes_child || number == SYS_vfork;
#endif
    return end != text && makes_child;
}

/* The line "TracerPid:" of its status; 0: nobody. */
static int64_t tracer_of(const struct holder *holder, int64_t tid)
{
    char text[4096];
    read_of_thread(holder, tid, "status", text, sizeof(text));
    const char *line = strstr(text, "\nTracerPid:");
    return line ? strtoll(line + strlen("\nTracerPid:"), NULL, 10) : 0;
}

static bool is_known(const struct trail_hold *hold, int64_t tid)
{
    for (size_t i = 0; i < hold->thread_count; i++)
        if (hold->threads[i].tid == tid)
            return true;
    return false;
}

/* From now on the kernel lets it go when this process ends. It goes on so far. */
static void seize(struct holder *holder, size_t index)
{
    struct trail_os_frozen_thread *thread = &holder->hold->threads[index];
    struct grip *grip = &holder->grips[index];
    read_stat(holder, thread);
    grip->group = thread->state == 'R' ? RUNNING : SLEEPING;
    if (ptrace(PTRACE_SEIZE, (pid_t)thread->tid, NULL, NULL) == 0) {
        grip->seized = true;
        return;
    }
    thread->error = errno == EPERM ? EPERM : ESRCH;
    if (thread->state == 'Z' || thread->state == 'X')
        thread->error = ESRCH;
    else if (thread->error == EPERM)
        thread->tracer = tracer_of(holder, thread->tid);
}

/* Those that are not known yet. Returns how many there were. */
static size_t list_new(struct holder *holder)
{
    struct trail_hold *hold = holder->hold;
    const struct dirent *entry;
    size_t before = hold->thread_count;
    hold->left_out = 0;
    rewinddir(holder->tasks);
    while ((entry = readdir(holder->tasks))) {
        char *end = NULL;
        int64_t tid = strtoll(entry->d_name, &end, 10);
        if (*end || tid <= 0 || is_known(hold, tid))
            continue;
        if (hold->thread_count == hold->thread_room) {
            hold->left_out++;
            continue;
        }
        hold->threads[hold->thread_count].tid = tid;
        seize(holder, hold->thread_count++);
    }
    return hold->thread_count - before;
}

/* Whether as many are there as are known: a directory has a link for each. */
static bool is_complete(const struct holder *holder)
{
    struct stat st;
    size_t alive = holder->hold->left_out;
    for (size_t i = 0; i < holder->hold->thread_count; i++) {
        const struct trail_os_frozen_thread *thread = &holder->hold->threads[i];
        alive += thread->error != ESRCH || thread->state == 'Z';
    }
    return fstat(dirfd(holder->tasks), &st) == 0 && st.st_nlink == alive + 2;
}

/* ---- stopping ----------------------------------------------------------- */

static void tell(struct holder *holder, enum group group)
{
    for (size_t i = 0; i < holder->hold->thread_count; i++) {
        struct grip *grip = &holder->grips[i];
        if (!grip->seized || grip->told || grip->group != group)
            continue;
        grip->told = true;
        ptrace(PTRACE_INTERRUPT, (pid_t)holder->hold->threads[i].tid, NULL, NULL);
    }
}

/* Whether to wait no longer for a thread that has been waited for since `since_ns`. */
static bool gives_up(struct holder *holder, struct trail_os_frozen_thread *thread,
                     uint64_t since_ns)
{
    uint64_t waited_ms = (trail_os_mono_ns() - since_ns) / NANOSECONDS_MS;
    if (waited_ms < SLEEP_MS)
        return false;
    read_stat(holder, thread);
    thread->vfork = thread->state == 'D' && waits_for_child(holder, thread->tid);
    return thread->state == 'D' || waited_ms >= holder->hold->stop_ms;
}

static void await(struct holder *holder, size_t index, uint64_t since_ns)
{
    struct trail_os_frozen_thread *thread = &holder->hold->threads[index];
    struct grip *grip = &holder->grips[index];
    int status = 0;
    for (;;) {
        pid_t got = waitpid((pid_t)thread->tid, &status, __WALL);
        if (got == (pid_t)thread->tid && WIFSTOPPED(status)) {
            grip->held = true;
            /* A signal that it was about to get is given to it when it is let go. */
            grip->signal = status >> 16 == STOP_EVENT ? 0 : WSTOPSIG(status);
            return;
        }
        if (got >= 0 || errno != EINTR) {
            thread->error = ESRCH;
            grip->seized = false;
            return;
        }
        if (gives_up(holder, thread, since_ns)) {
            thread->error = ETIMEDOUT;
            return;
        }
    }
}

/* One that cannot be interrupted may have to be given up: the others come first. */
static void await_group(struct holder *holder, enum group group, bool stuck)
{
    uint64_t since_ns = trail_os_mono_ns();
    for (size_t i = holder->hold->thread_count; i-- > 0;) {
        const struct grip *grip = &holder->grips[i];
        const struct trail_os_frozen_thread *thread = &holder->hold->threads[i];
        if (grip->told && !grip->held && !thread->error && grip->group == group &&
            (thread->state == 'D') == stuck)
            await(holder, i, since_ns);
    }
}

static void copy_group(struct holder *holder, enum group group)
{
    size_t count = 0;
    for (size_t i = 0; i < holder->hold->thread_count; i++) {
        struct trail_os_frozen_thread *thread = &holder->hold->threads[i];
        struct grip *grip = &holder->grips[i];
        struct iovec set = { .iov_base = thread->registers,
                             .iov_len = sizeof(thread->registers) };
        if (!grip->held || grip->copied || grip->group != group)
            continue;
        grip->copied = true;
        if (ptrace(PTRACE_GETREGSET, (pid_t)thread->tid, (void *)(uintptr_t)NT_PRSTATUS,
                   &set)) {
            thread->error = ESRCH;
            continue;
        }
        thread->registers_size = set.iov_len;
        holder->batch[count++] = thread;
    }
    trail_hold_stacks(holder->hold, holder->batch, count);
}

static void let_go(struct holder *holder, enum group group)
{
    for (size_t i = 0; i < holder->hold->thread_count; i++) {
        struct grip *grip = &holder->grips[i];
        if (!grip->held || grip->group != group)
            continue;
        grip->held = false;
        ptrace(PTRACE_DETACH, (pid_t)holder->hold->threads[i].tid, NULL,
               (void *)(uintptr_t)grip->signal);
    }
}

/* Threads that were started meanwhile, by some that ran. */
static void hold_newcomers(struct holder *holder)
{
    for (unsigned pass = 0; pass < PASSES && !is_complete(holder); pass++) {
        size_t before = holder->hold->thread_count;
        if (list_new(holder) == 0)
            return;
        for (size_t i = before; i < holder->hold->thread_count; i++)
            holder->grips[i].group = RUNNING;
        tell(holder, RUNNING);
        await_group(holder, RUNNING, false);
        await_group(holder, RUNNING, true);
    }
}

/* ---- all of it ---------------------------------------------------------- */

static void on_alarm(int number)
{
    (void)number; /* it is there to interrupt waitpid */
}

static void set_alarm(long microseconds)
{
    struct sigaction action = { .sa_handler = on_alarm };
    const struct itimerval every = { { 0, microseconds }, { 0, microseconds } };
    sigset_t set;
    sigaction(SIGALRM, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

void trail_hold_threads(struct trail_hold *hold)
{
    static struct holder holder;
    char path[64];
    holder.hold = hold;
    snprintf(path, sizeof(path), "/proc/%lld/task", (long long)hold->pid);
    holder.tasks = opendir(path);
    if (!holder.tasks)
        return;
    for (unsigned pass = 0; pass < PASSES && list_new(&holder); pass++) {
    }
    set_alarm(LOOK_AGAIN_US);
    uint64_t start = trail_os_mono_ns();
    tell(&holder, SLEEPING);
    await_group(&holder, SLEEPING, false);
    await_group(&holder, SLEEPING, true);
    copy_group(&holder, SLEEPING);
    uint64_t running = trail_os_mono_ns();
    tell(&holder, RUNNING);
    await_group(&holder, RUNNING, false);
    await_group(&holder, RUNNING, true);
    hold_newcomers(&holder);
    copy_group(&holder, RUNNING);
    let_go(&holder, RUNNING);
    hold->pause_ns = trail_os_mono_ns() - running;
    let_go(&holder, SLEEPING);
    hold->held_ns = trail_os_mono_ns() - start;
    hold->done = true;
}
