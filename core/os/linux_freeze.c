/* linux_freeze.c -- another process held for a moment, by a process of its own that
 * cannot live for long.
 */
#define _GNU_SOURCE

#include "core/os/linux_hold.h"
#include "core/os/linux_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE     ((size_t)8 << 20)
#define STACKS_LIMIT   ((size_t)256 << 20) /* bytes of all of them */
#define STOP_MS        1000
#define WATCHDOG_MS    2000
#define TOUCHED_SIZE   ((size_t)12 << 10) /* bytes a thread is thought to need */
#define MAPPINGS       262144u
#define POPULATE_WRITE 23  /* MADV_POPULATE_WRITE, which not every header has */
#define THREADS_MORE   64u /* than there are now */

/* ---- who it is ---------------------------------------------------------- */

struct identity {
    int64_t pid, tracer;
    uint32_t user;
    char name[64];
};

static int64_t number_after(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoll(at + strlen(key), NULL, 10) : 0;
}

/* False: there is no such process. */
static bool identify(int64_t pid, struct identity *ret)
{
    char path[64], text[4096];
    snprintf(path, sizeof(path), "/proc/%lld/status", (long long)pid);
    if (pid <= 0 || !trail_proc_read(path, text, sizeof(text)))
        return false;
    ret->pid = number_after(text, "\nTgid:");
    ret->tracer = number_after(text, "\nTracerPid:");
    ret->user = (uint32_t)number_after(text, "\nUid:");
    const char *name = strncmp(text, "Name:\t", 6) == 0 ? text + 6 : "";
    snprintf(ret->name, sizeof(ret->name), "%.*s", (int)strcspn(name, "\n"), name);
    return ret->pid > 0;
}

/* Why the kernel said EPERM, and what would help. */
static enum trail_status tell_refused(int64_t pid, int64_t tracer,
                                      struct trail_error *err)
{
    char text[32];
    struct identity who = { 0 }, other = { 0 };
    long long id = (long long)pid;
    if (tracer && identify(tracer, &other))
        return trail_fail(err, TRAIL_REFUSED,
                          "process %lld: traced by %s (%lld); only one can at a time",
                          id, other.name, (long long)tracer);
    if (identify(pid, &who) && who.user != geteuid())
        return trail_fail(err, TRAIL_REFUSED,
                          "process %lld: belongs to user %u; be that user, or have "
                          "CAP_SYS_PTRACE",
                          id, (unsigned)who.user);
    if (trail_proc_read("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) &&
        text[0] != '0')
        return trail_fail(err, TRAIL_REFUSED,
                          "process %lld: kernel.yama.ptrace_scope is %c; set it to 0, "
                          "or have CAP_SYS_PTRACE",
                          id, text[0]);
    return trail_fail(err, TRAIL_REFUSED,
                      "process %lld: may not be looked into: it is set-uid or keeps "
                      "itself private; have CAP_SYS_PTRACE where it lives",
                      id);
}

/* ---- what is known before ----------------------------------------------- */

struct lookup {
    struct trail_os_frozen *frozen;
    int64_t first; /* thread that is alive, as far as they were asked */
    size_t threads;
    bool failed, overlap;
};

static enum trail_status on_thread(void *arg, const char *tid)
{
    struct lookup *lookup = arg;
    int64_t id = strtoll(tid, NULL, 10);
    lookup->threads++;
    if (!lookup->first && trail_os_thread_check(id) == 0)
        lookup->first = id;
    return TRAIL_OK;
}

static bool add_mapping(struct trail_os_frozen *frozen,
                        const struct trail_os_mapping *mapping)
{
    size_t count = frozen->mapping_count;
    if (count == MAPPINGS)
        return false;
    if ((count & (count - 1)) == 0) {
        struct trail_os_mapping *more =
            realloc(frozen->mappings, (count ? 2 * count : 1) * sizeof(*more));
        if (!more)
            return false;
        frozen->mappings = more;
    }
    char *path = strdup(mapping->path);
    if (!path)
        return false;
    frozen->mappings[count] = *mapping;
    frozen->mappings[count].path = path;
    frozen->mapping_count++;
    return true;
}

static bool on_mapping(void *arg, const struct trail_os_mapping *mapping)
{
    struct lookup *lookup = arg;
    lookup->failed = !add_mapping(lookup->frozen, mapping);
    return !lookup->failed;
}

/* A mapping that was not there before: a library may have been loaded meanwhile. */
static bool on_mapping_again(void *arg, const struct trail_os_mapping *mapping)
{
    struct lookup *lookup = arg;
    size_t low = 0, high = lookup->threads; /* here: how many there were before */
    const struct trail_os_mapping *before = lookup->frozen->mappings;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before[middle].end > mapping->start)
            high = middle;
        else
            low = middle + 1;
    }
    bool known = low < lookup->threads && before[low].start < mapping->end;
    return known || on_mapping(arg, mapping);
}

static int mapping_order(const void *a, const void *b)
{
    uint64_t first = ((const struct trail_os_mapping *)a)->start;
    uint64_t second = ((const struct trail_os_mapping *)b)->start;
    return (first > second) - (first < second);
}

static void look_again(struct trail_os_frozen *frozen)
{
    size_t before = frozen->mapping_count;
    struct lookup lookup = { .frozen = frozen, .threads = before };
    trail_os_mappings(frozen->reader, on_mapping_again, &lookup, NULL);
    if (frozen->mapping_count > before)
        qsort(frozen->mappings, frozen->mapping_count, sizeof(*frozen->mappings),
              mapping_order);
}

static enum trail_status look(struct trail_os_frozen *frozen, size_t *threads_ret,
                              struct trail_error *err)
{
    struct identity who = { 0 };
    struct lookup lookup = { .frozen = frozen };
    long long id = (long long)frozen->pid;
    if (!identify(frozen->pid, &who))
        return trail_fail(err, TRAIL_NOT_FOUND, "process %lld: there is none", id);
    frozen->pid = who.pid; /* it may have been a thread */
    if (frozen->pid == getpid())
        return trail_fail(err, TRAIL_REFUSED,
                          "process %lld: is this program, which cannot hold itself",
                          id);
    if (trail_os_thread_check(frozen->pid) == EINVAL)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "process %lld: a kernel thread has no user stack", id);
    if (trail_os_thread_check(frozen->pid) == 0)
        lookup.first = frozen->pid;
    enum trail_status status = trail_os_threads(frozen->pid, on_thread, &lookup, err);
    if (status || !lookup.first)
        return trail_fail(err, TRAIL_NOT_FOUND, "process %lld: it has ended", id);
    frozen->reader = lookup.first;
    *threads_ret = lookup.threads;
    status = trail_os_mappings(frozen->reader, on_mapping, &lookup, err);
    if (lookup.failed)
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory for its maps",
                          id);
    if (status || frozen->mapping_count == 0)
        return tell_refused(frozen->pid, who.tracer, err);
    return TRAIL_OK;
}

/* ---- the process that holds --------------------------------------------- */

/* While others wait for it: on a busy machine it would be the one that waits. It asks
 * for little, and not for long. */
static void go_first(void)
{
    const struct sched_param lowest = { .sched_priority = 1 };
    if (sched_setscheduler(0, SCHED_FIFO, &lowest))
        setpriority(PRIO_PROCESS, 0, -20);
}

/* A timer kills even who is stopped. */
static void limit_life(int64_t parent, unsigned watchdog_ms)
{
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
    const struct itimerspec once = { .it_value = { watchdog_ms / 1000,
                                                   watchdog_ms % 1000 * 1000000L } };
    timer_t timer;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) ||
        timer_settime(timer, 0, &once, NULL))
        _exit(1);
    setsid(); /* no terminal's keys are for it */
    go_first();
}

/* What is written to while threads wait is there before, with one call if the kernel
 * knows how (5.14). */
static void touch(uint8_t *bytes, size_t size)
{
    if (madvise(bytes, size, POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < size; i += 4096)
        *(volatile uint8_t *)(bytes + i) = 0;
}

/* In the new process. Its end of the pipe closes when it ends, however that comes. */
static void hold_and_exit(struct trail_hold *hold, int64_t parent, size_t threads,
                          unsigned watchdog_ms)
{
    size_t touched = (threads + 1) * TOUCHED_SIZE;
    limit_life(parent, watchdog_ms);
    touch(hold->stacks, touched < hold->stacks_room ? touched : hold->stacks_room);
    trail_hold_threads(hold);
    _exit(0);
}

/* Until it has ended: its own timer may not have been set yet when it is stopped. */
static int await_end(pid_t child, int pipe_end, unsigned watchdog_ms)
{
    struct pollfd end = { .fd = pipe_end };
    uint64_t until = trail_os_mono_ns() + watchdog_ms * (uint64_t)1000000;
    int status = 0, left = (int)watchdog_ms, got = 0;
    while (left >= 0 && (got = poll(&end, 1, left)) < 0 && errno == EINTR)
        left = (int)((int64_t)(until - trail_os_mono_ns()) / 1000000);
    if (got <= 0)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return status;
}

static enum trail_status hold(struct trail_hold *hold, size_t threads,
                              unsigned watchdog_ms, struct trail_error *err)
{
    int64_t own = getpid();
    int ends[2] = { -1, -1 };
    pid_t child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (child == 0)
        hold_and_exit(hold, own, threads, watchdog_ms);
    int reason = errno;
    if (ends[1] >= 0)
        close(ends[1]);
    int status = child < 0 ? 0 : await_end(child, ends[0], watchdog_ms);
    if (ends[0] >= 0)
        close(ends[0]);
    if (child < 0)
        return trail_fail(err, TRAIL_IO, "process %lld: cannot be held: %s",
                          (long long)hold->pid, strerror(reason));
    if (hold->done)
        return TRAIL_OK;
    if (WIFSIGNALED(status))
        return trail_fail(err, TRAIL_RETRY,
                          "process %lld: could not be held and copied in %u ms, and "
                          "was let go; try again",
                          (long long)hold->pid, watchdog_ms);
    return trail_fail(err, TRAIL_NOT_FOUND, "process %lld: it has ended",
                      (long long)hold->pid);
}

/* ---- all of it ---------------------------------------------------------- */

static size_t aligned(size_t size)
{
    return (size + 4095) & ~(size_t)4095;
}

/* The memory that both have; what is not written to takes no room. */
static struct trail_hold *share(struct trail_os_frozen *frozen, size_t threads,
                                const struct trail_os_freeze_options *options)
{
    size_t room = threads + threads / 4 + THREADS_MORE;
    if (room > TRAIL_HOLD_THREADS)
        room = TRAIL_HOLD_THREADS;
    size_t stack_size = options->stack_size ? options->stack_size : STACK_SIZE;
    if (stack_size > STACKS_LIMIT)
        stack_size = STACKS_LIMIT;
    size_t stacks = stack_size < STACKS_LIMIT / room ? stack_size * room : STACKS_LIMIT;
    size_t list = aligned(room * sizeof(struct trail_os_frozen_thread));
    size_t head = aligned(sizeof(struct trail_hold));
    uint8_t *area = mmap(NULL, head + list + stacks, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (area == MAP_FAILED)
        return NULL;
    frozen->area = area;
    frozen->area_size = head + list + stacks;
    struct trail_hold *hold = (struct trail_hold *)(void *)area;
    *hold = (struct trail_hold){
        .pid = frozen->pid,
        .reader = frozen->reader,
        .mappings = frozen->mappings,
        .mapping_count = frozen->mapping_count,
        .stop_ms = options->stop_ms ? options->stop_ms : STOP_MS,
        .threads = (struct trail_os_frozen_thread *)(void *)(area + head),
        .thread_room = room,
        .stacks = area + head + list,
        .stacks_room = stacks,
        .stack_size = stack_size,
    };
    return hold;
}

static void name_tracer(struct trail_os_frozen_thread *thread)
{
    struct identity who = { 0 };
    if (thread->tracer && identify(thread->tracer, &who))
        snprintf(thread->tracer_name, sizeof(thread->tracer_name), "%.15s", who.name);
}

static enum trail_status take(struct trail_os_frozen *frozen,
                              const struct trail_hold *hold, struct trail_error *err)
{
    size_t held = 0, refused = 0;
    int64_t tracer = 0;
    frozen->threads = hold->threads;
    frozen->thread_count = hold->thread_count;
    frozen->left_out = hold->left_out;
    frozen->held_ns = hold->held_ns;
    frozen->pause_ns = hold->pause_ns;
    for (size_t i = 0; i < frozen->thread_count; i++) {
        const struct trail_os_frozen_thread *thread = &frozen->threads[i];
        held += thread->error == 0;
        refused += thread->error == EPERM;
        tracer = tracer ? tracer : thread->tracer;
        name_tracer(&frozen->threads[i]);
        if (i && thread->tid == frozen->pid) { /* the kernel lists it first */
            const struct trail_os_frozen_thread first = frozen->threads[0];
            frozen->threads[0] = *thread;
            frozen->threads[i] = first;
        }
    }
    if (!held && refused)
        return tell_refused(frozen->pid, tracer, err);
    look_again(frozen);
    return TRAIL_OK;
}

enum trail_status trail_os_freeze(int64_t pid,
                                  const struct trail_os_freeze_options *options,
                                  struct trail_os_frozen **frozen_ret,
                                  struct trail_error *err)
{
    const struct trail_os_freeze_options usual = { 0 };
    struct trail_os_frozen *frozen = calloc(1, sizeof(*frozen));
    struct trail_hold *shared = NULL;
    size_t threads = 0;
    options = options ? options : &usual;
    if (!frozen)
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory",
                          (long long)pid);
    frozen->pid = pid;
    enum trail_status status = look(frozen, &threads, err);
    if (!status) {
        shared = share(frozen, threads, options);
        status =
            shared
                ? hold(shared, threads,
                       options->watchdog_ms ? options->watchdog_ms : WATCHDOG_MS, err)
                : trail_fail(err, TRAIL_NO_MEMORY,
                             "process %lld: no memory for its stacks", (long long)pid);
    }
    if (!status)
        status = take(frozen, shared, err);
    if (status)
        trail_os_frozen_destroy(frozen);
    else
        *frozen_ret = frozen;
    return status;
}

void trail_os_frozen_destroy(struct trail_os_frozen *frozen)
{
    if (!frozen)
        return;
    for (size_t i = 0; i < frozen->mapping_count; i++)
        free((char *)(uintptr_t)frozen->mappings[i].path);
    free(frozen->mappings);
    if (frozen->area)
        munmap(frozen->area, frozen->area_size);
    free(frozen);
}
