/* handler.c -- what is done when a signal comes that ends the program: once, whatever
 * else happens meanwhile, and within the deadline.
 *
 * The first thread that crashes handles its crash, step by step. One that crashes
 * meanwhile waits, and tells its stack when it is asked. A step that crashes, or is at
 * work when the deadline passes, is left by running the next one on top of it: nothing
 * ever returns into it.
 */
#include "core/crash/handler.h"

#include "core/crash/message.h"
#include "core/crash/others.h"
#include "core/crash/reason.h"
#include "core/crash/state.h"
#include "core/crash/tell.h"
#include "core/crash/write.h"

#define NESTED_LIMIT 6   /* crashes within the handling of one */
#define EXTRA_MS     300 /* for what must still be done after the deadline */
#define WAITERS      64

struct trail_crash_state trail_crash;

/* Of the process and thread that handles a crash; 0: none does. Two words, since a
 * child that has been forked meanwhile must not take it for its own. */
static _Atomic int64_t owner_pid, owner_tid;
static _Atomic uint32_t finished;

static struct waiter {
    _Atomic int64_t tid;
    const void *ucontext;
} waiters[WAITERS];

const void *trail_crash_waiter(int64_t tid)
{
    for (unsigned i = 0; i < WAITERS; i++)
        if (atomic_load(&waiters[i].tid) == tid)
            return waiters[i].ucontext;
    return NULL;
}

/* ---- steps --------------------------------------------------------------- */

static void begin(void)
{
    struct trail_crash_state *crash = &trail_crash;
    trail_os_random(crash->id, sizeof(crash->id));
    trail_os_process_renew(&crash->process);
    trail_reason_registers(crash);
    trail_reason_stack(crash);
}

static void run_step(enum trail_crash_step step)
{
    switch (step) {
    case TRAIL_STEP_STACK:
        begin();
        break;
    case TRAIL_STEP_HEADER:
        trail_crash_write_header();
        break;
    case TRAIL_STEP_THREADS:
        trail_crash_write_threads();
        break;
    case TRAIL_STEP_MODULES:
        trail_crash_write_modules();
        break;
    case TRAIL_STEP_KNOWN:
        trail_crash_write_known();
        break;
    case TRAIL_STEP_END:
        trail_crash_write_end();
        break;
    case TRAIL_STEP_TELL:
        trail_crash_tell();
        break;
    case TRAIL_STEP_NONE:
    case TRAIL_STEP_DONE:
        break;
    }
}

static void run_steps(void *arg)
{
    (void)arg;
    while (trail_crash.step < TRAIL_STEP_DONE) {
        trail_crash.step++;
        run_step(trail_crash.step);
    }
}

/* ---- who handles it ------------------------------------------------------ */

/* What fork copied is of the parent's crash: this process has had none yet. */
static void forget_parent(int64_t pid)
{
    int64_t stale = atomic_load(&owner_pid);
    if (stale == pid || !atomic_compare_exchange_strong(&owner_pid, &stale, pid))
        return;
    for (unsigned i = 0; i < WAITERS; i++)
        atomic_store(&waiters[i].tid, 0);
    atomic_store(&finished, 0);
    atomic_store(&owner_tid, 0);
}

static bool take(int64_t pid, int64_t tid)
{
    int64_t none = 0;
    forget_parent(pid);
    return atomic_compare_exchange_strong(&owner_tid, &none, tid);
}

static void finish(void)
{
    atomic_store(&finished, 1);
    trail_os_word_wake(&finished);
}

static enum trail_os_fatal_action handle_first(const struct trail_os_fatal *fatal,
                                               int64_t tid)
{
    struct trail_crash_state *crash = &trail_crash;
    trail_os_fatal_alone();
    crash->fatal = *fatal;
    crash->tid = tid;
    crash->step = TRAIL_STEP_NONE;
    crash->failed = crash->nested = 0;
    crash->file_error = 0;
    crash->file.fd = -1;
    crash->until_ns = trail_os_mono_ns() + (uint64_t)crash->deadline_ms * 1000000;
    trail_os_deadline_set(crash->deadline_ms);
    if (crash->stack_top)
        trail_os_call_on(crash->stack_top, run_steps, NULL);
    else
        run_steps(NULL);
    finish();
    return TRAIL_OS_PASS_ON;
}

/* Again in the thread that handles a crash already. */
static enum trail_os_fatal_action handle_nested(const struct trail_os_fatal *fatal,
                                                int *die_of)
{
    struct trail_crash_state *crash = &trail_crash;
    *die_of = crash->fatal.number;
    if (crash->step == TRAIL_STEP_DONE || ++crash->nested > NESTED_LIMIT)
        return TRAIL_OS_DIE;
    crash->failed |= 1u << crash->step;
    crash->failed_by = fatal->is_deadline ? 0 : fatal->number;
    if (fatal->is_deadline) {
        crash->until_ns = trail_os_mono_ns() + (uint64_t)EXTRA_MS * 1000000;
        trail_os_deadline_set(EXTRA_MS);
    }
    if (crash->stack_top)
        trail_os_call_on(crash->stack_top, run_steps, NULL);
    else
        run_steps(NULL);
    finish();
    return TRAIL_OS_DIE;
}

/* Crashed while another thread's crash is being handled: that thread will end all. */
static enum trail_os_fatal_action wait_for_owner(const struct trail_os_fatal *fatal,
                                                 int64_t tid)
{
    const uint64_t most_ms = (uint64_t)trail_crash.deadline_ms + 2 * EXTRA_MS;
    const uint64_t until_ns = trail_os_mono_ns() + most_ms * 1000000;
    for (unsigned i = 0; i < WAITERS; i++) {
        int64_t none = 0;
        if (!atomic_compare_exchange_strong(&waiters[i].tid, &none, -1))
            continue;
        waiters[i].ucontext = fatal->ucontext;
        atomic_store(&waiters[i].tid, tid);
        break;
    }
    while (!atomic_load(&finished) && trail_os_mono_ns() < until_ns)
        trail_os_word_wait(&finished, 0, until_ns);
    /* Its signal comes now, or an earlier handler has put right what was wrong. */
    trail_os_sleep_ms(1000);
    return TRAIL_OS_PASS_ON;
}

TRAIL_OWN_CODE
enum trail_os_fatal_action trail_crash_handle(const struct trail_os_fatal *fatal,
                                              int *die_of)
{
    const int64_t tid = trail_os_tid(), pid = trail_os_pid();
    if (fatal->is_deadline && atomic_load(&owner_tid) != tid)
        return TRAIL_OS_RETURN; /* of a crash that is over */
    if (take(pid, tid))
        return handle_first(fatal, tid);
    if (atomic_load(&owner_tid) == tid)
        return handle_nested(fatal, die_of);
    return wait_for_owner(fatal, tid);
}
