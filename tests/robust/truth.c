/* truth.c -- a call stack that is known beforehand, and captures held against it. */
#define _GNU_SOURCE
#include "truth.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include "core/os/os.h"

#define APART __attribute__((noinline))

_Thread_local struct truth truth;

/* ---- keeping it --------------------------------------------------------- */

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    uintptr_t pc = _Unwind_GetIP(context);
    (void)arg;
    if (pc && truth.count < TRUTH_MOST)
        truth.at[truth.count++] = pc;
    return _URC_NO_REASON;
}

/* The compiler's unwinder begins with this function, which is no caller's. */
APART void truth_begin(void)
{
    truth.count = 0;
    _Unwind_Backtrace(on_frame, NULL);
    truth.count -= 2; /* this function, and the place in its caller */
    memmove(truth.at, truth.at + 2, truth.count * sizeof(*truth.at));
    for (unsigned i = 0; i < truth.count / 2; i++) {
        uintptr_t inner = truth.at[i];
        truth.at[i] = truth.at[truth.count - 1 - i];
        truth.at[truth.count - 1 - i] = inner;
    }
}

void truth_enter(uintptr_t return_address)
{
    truth.at[truth.count] = return_address;
    atomic_signal_fence(memory_order_release); /* a handler sees it whole */
    truth.count++;
}

void truth_leave(void)
{
    truth.count--;
}

bool truth_has(uintptr_t return_address)
{
    for (unsigned i = 0; i < truth.count; i++)
        if (truth.at[i] == return_address)
            return true;
    return false;
}

/* ---- holding captures against it ---------------------------------------- */

APART void truth_take(struct taken *taken, unsigned flags, const void *ucontext)
{
    const struct trail_control control = {
        .size = sizeof(control),
        .flags = flags | (ucontext ? (unsigned)TRAIL_INTERRUPTED : 0),
        .ucontext = ucontext,
    };
    taken->flags = flags;
    taken->info = (struct trail_info){ .size = sizeof(taken->info),
                                       .kinds = taken->kinds,
                                       .trust = taken->trust };
    taken->count = trail_backtrace(taken->pcs, TRUTH_PCS, &control, &taken->info);
    __asm__ volatile("" ::: "memory");
}

unsigned truth_agrees(const struct taken *taken, unsigned start)
{
    unsigned same = 0;
    while (start + same < taken->count && same < truth.count &&
           taken->pcs[start + same] == truth.at[truth.count - 1 - same])
        same++;
    return same;
}

unsigned truth_skip_own(const struct taken *taken)
{
    uint64_t start, end;
    unsigned i = 0;
    trail_os_own_code(&start, &end);
    while (i < taken->count && taken->pcs[i] >= start && taken->pcs[i] < end)
        i++;
    return i;
}

void truth_show(const struct taken *taken, const char *what)
{
    fprintf(stderr, "%s: flags %u, end %u, error %d\n", what, taken->flags,
            (unsigned)taken->info.end, taken->info.error);
    for (unsigned i = 0; i < taken->count; i++)
        fprintf(stderr, "  taken %u %c%c 0x%lx\n", i, taken->kinds[i], taken->trust[i],
                (unsigned long)taken->pcs[i]);
    for (unsigned i = truth.count; i-- > 0;)
        fprintf(stderr, "  truth 0x%lx\n", (unsigned long)truth.at[i]);
}

/* `start` is the index of the innermost of the truth. */
static bool is_truth(const struct taken *taken, unsigned start, const char *what)
{
    bool right = taken->info.end == TRAIL_END_BASE &&
                 taken->count == start + truth.count &&
                 truth_agrees(taken, start) == truth.count &&
                 !(taken->info.flags & TRAIL_INFO_TRUNCATED);
    if (!right)
        truth_show(taken, what);
    return right;
}

/* `skipped` may be left out before a guess. */
static bool is_truth_but(const struct taken *taken, unsigned start, unsigned skipped)
{
    struct truth whole = truth;
    unsigned at = truth.count - 1 - skipped;
    if (start + skipped >= taken->count ||
        taken->trust[start + skipped] == TRAIL_TRUST_CFI)
        return false;
    memmove(truth.at + at, truth.at + at + 1, (skipped) * sizeof(*truth.at));
    truth.count--;
    bool right = taken->info.end == TRAIL_END_BASE &&
                 truth_agrees(taken, start) == truth.count &&
                 taken->count == start + truth.count;
    truth = whole;
    return right;
}

/* Again and again, since what a thread remembers is used from the second time on. */
static const unsigned ways[] = { 0, 0, 0, TRAIL_FULL_WALK, TRAIL_CHECKED, 0 };
enum { WAYS = sizeof(ways) / sizeof(*ways) };

APART bool truth_holds_but(unsigned skipped)
{
    static _Thread_local struct taken taken;
    bool right = true;
    TRUTH_ENTER();
    for (unsigned i = 0; i < WAYS; i++) {
        truth_take(&taken, ways[i], NULL);
        /* Then come the places in truth_take and here. */
        unsigned start = truth_skip_own(&taken) + 2;
        if (skipped && is_truth_but(&taken, start, skipped + 1))
            continue;
        right &= is_truth(&taken, start, "from here");
    }
    truth_take(&taken, TRAIL_FRAME_POINTERS, NULL); /* may end early, not badly */
    truth_leave();
    return right && taken.count > 0;
}

bool truth_holds(void)
{
    TRUTH_ENTER();
    bool right = truth_holds_but(0);
    truth_leave();
    return right;
}

bool truth_holds_at(const void *ucontext)
{
    static _Thread_local struct taken taken;
    struct trail_os_registers at;
    bool right = trail_os_context(ucontext, &at);
    for (unsigned i = 0; i < WAYS; i++) {
        truth_take(&taken, ways[i], ucontext);
        right &= is_truth(&taken, 1, "interrupted") && taken.pcs[0] == at.pc &&
                 taken.kinds[0] == TRAIL_PC_CURRENT &&
                 taken.trust[0] == TRAIL_TRUST_CONTEXT;
    }
    truth_take(&taken, TRAIL_FRAME_POINTERS, ucontext);
    return right && taken.count > 0;
}

/* ---- marks -------------------------------------------------------------- */

/* Each with a frame of another size, and none of them a tail call. */
#define MARK(name, size, inner)                                                        \
    APART static void name(void (*body)(void))                                         \
    {                                                                                  \
        volatile char pad[size];                                                       \
        pad[0] = 1;                                                                    \
        TRUTH_ENTER();                                                                 \
        inner;                                                                         \
        truth_leave();                                                                 \
        pad[1] = pad[0];                                                               \
    }
MARK(mark_inner, 40, body())
MARK(mark_middle, 72, mark_inner(body))
MARK(mark_outer, 24, mark_middle(body))

APART void marked(void (*body)(void))
{
    TRUTH_ENTER();
    mark_outer(body);
    truth_leave();
}

/* ---- children ----------------------------------------------------------- */

/* A child that hangs is ended by itself, so that none is left behind. */
enum { HANGS_AFTER_S = 100, SKIPPED = 77 };

bool child_skipped;

void child_skips(void)
{
    _exit(SKIPPED);
}

void child_says(bool right)
{
    _exit(right ? 0 : 1);
}

APART static void child_main(void (*body)(void))
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(HANGS_AFTER_S);
    truth_begin();
    body();
    __asm__ volatile("");
}

bool child(void (*body)(void))
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        child_main(body);
        _exit(3); /* it was to say something */
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    child_skipped = WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED;
    if (child_skipped)
        return true;
    if (WIFSIGNALED(status))
        fprintf(stderr, "the child ended with signal %d\n", WTERMSIG(status));
    else if (WEXITSTATUS(status) > 1)
        fprintf(stderr, "the child exited with %d\n", WEXITSTATUS(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void (*marked_body)(void);

static void run_marked(void)
{
    TRUTH_ENTER();
    marked(marked_body);
    truth_leave();
}

bool child_marked(void (*body)(void))
{
    marked_body = body;
    return child(run_marked);
}
