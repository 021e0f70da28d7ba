/* others.c -- the other threads of a process that crashes. */
#include "core/crash/others.h"

#include "core/crash/handler.h"
#include "core/crash/known.h"
#include "core/crash/reason.h"

#define GRACE_NS 10000000u /* for those */

/* The word of a slot: whoever changes it from ASKED has it. */
enum { IDLE, ASKED, ANSWERING, DONE, WITHDRAWN };

static struct trail_other *slots;
static unsigned count, left_out;
/* Answers that are still to come: of those who can be expected to, and of those who
 * keep the signal out or wait for a device. That may take a moment, as in a thread
 * that has just been started, or for ever. */
static _Atomic uint32_t pending, unlikely;
static int64_t asker;

bool trail_others_init(void)
{
    if (!slots)
        slots = trail_os_reserve(TRAIL_OTHERS_LIMIT * sizeof(*slots));
    return slots != NULL;
}

unsigned trail_others_count(void)
{
    return count;
}

const struct trail_other *trail_others_at(unsigned index)
{
    return &slots[index];
}

unsigned trail_others_left_out(void)
{
    return left_out;
}

static _Atomic uint32_t *counter_of(const struct trail_other *slot)
{
    return slot->gap == TRAIL_OTHER_ANSWERED ? &pending : &unlikely;
}

/* ---- the thread that is asked -------------------------------------------- */

TRAIL_OWN_CODE
static void answer(uint32_t token, const void *ucontext)
{
    struct trail_other *slot = token < TRAIL_OTHERS_LIMIT ? &slots[token] : NULL;
    uint32_t asked = ASKED, answering = ANSWERING;
    const int64_t tid = trail_os_tid();

    if (!slot || slot->task.tid != tid ||
        !atomic_compare_exchange_strong(&slot->word, &asked, ANSWERING))
        return;
    /* One that has crashed, too, is at its fault, not in the handler where it waits. */
    const void *crashed = trail_crash_waiter(tid);
    trail_reason_walk(&slot->backtrace, crashed ? crashed : ucontext);
    slot->known = trail_known_self();
    _Atomic uint32_t *counter = counter_of(slot);
    if (atomic_compare_exchange_strong(&slot->word, &answering, DONE) &&
        atomic_fetch_sub(counter, 1) == 1)
        trail_os_word_wake(counter);
}

/* ---- who asks ------------------------------------------------------------ */

static bool add(void *arg, int64_t tid)
{
    (void)arg;
    if (tid == asker)
        return true;
    if (count == TRAIL_OTHERS_LIMIT) {
        left_out++;
        return true;
    }
    struct trail_other *slot = &slots[count++];
    atomic_store(&slot->word, IDLE);
    slot->gap = TRAIL_OTHER_ANSWERED;
    slot->known = 0;
    slot->backtrace.count = slot->backtrace.stamp_count = 0;
    slot->task = (struct trail_os_task){ .tid = tid };
    return true;
}

/* Whether it is worth asking. */
static enum trail_other_gap look(struct trail_other *slot, int number)
{
    struct trail_os_task task;
    if (!trail_os_task_look(slot->task.tid, &task))
        return TRAIL_OTHER_ANSWERED; /* no descriptor, or no /proc: just ask */
    slot->task = task;
    if (task.state == 'Z' || task.state == 'X')
        return TRAIL_OTHER_GONE;
    if (task.blocked >> (number - 1) & 1)
        return TRAIL_OTHER_BLOCKS;
    return task.state == 'T' || task.state == 't' || task.state == 'D'
               ? TRAIL_OTHER_STOPPED
               : TRAIL_OTHER_ANSWERED;
}

static void ask(unsigned index, int number)
{
    struct trail_other *slot = &slots[index];
    uint32_t asked = ASKED;
    slot->gap = look(slot, number);
    if (slot->gap == TRAIL_OTHER_GONE)
        return;
    atomic_fetch_add(counter_of(slot), 1);
    atomic_store(&slot->word, ASKED);
    if (trail_os_ask(slot->task.tid, number, index) &&
        atomic_compare_exchange_strong(&slot->word, &asked, WITHDRAWN)) {
        atomic_fetch_sub(counter_of(slot), 1);
        slot->gap = TRAIL_OTHER_GONE;
    }
}

/* What has not answered by now is not read any more. */
static void withdraw(struct trail_other *slot)
{
    uint32_t asked = ASKED, answering = ANSWERING;
    if (atomic_load(&slot->word) == DONE)
        slot->gap = TRAIL_OTHER_ANSWERED;
    else if (atomic_compare_exchange_strong(&slot->word, &asked, WITHDRAWN)) {
        if (!trail_os_thread_own(slot->task.tid))
            slot->gap = TRAIL_OTHER_GONE;
        else if (slot->gap == TRAIL_OTHER_ANSWERED)
            slot->gap = TRAIL_OTHER_SILENT;
    } else if (atomic_compare_exchange_strong(&slot->word, &answering, WITHDRAWN))
        slot->gap = TRAIL_OTHER_SILENT;
    else if (atomic_load(&slot->word) == DONE)
        slot->gap = TRAIL_OTHER_ANSWERED;
}

static void wait_for(_Atomic uint32_t *counter, uint64_t until_ns)
{
    uint32_t left;
    while ((left = atomic_load(counter)) && trail_os_mono_ns() < until_ns)
        trail_os_word_wait(counter, left, until_ns);
}

/* With a spare descriptor, if there is no other. */
static bool list(void)
{
    for (unsigned i = 0; i <= TRAIL_OS_SPARES; i++) {
        if (trail_os_tasks(add, NULL))
            return true;
        trail_os_directory_spend(&trail_crash.inbox.held);
    }
    return false;
}

const char *trail_others_collect(uint64_t until_ns)
{
    count = left_out = 0;
    atomic_store(&pending, 0);
    atomic_store(&unlikely, 0);
    asker = trail_os_tid();
    if (!slots)
        return "no memory was left for them";
    if (!list())
        return "/proc/self/task cannot be read";
    if (!count)
        return NULL;
    int number = trail_os_ask_now(answer);
    for (unsigned i = 0; i < count && number; i++)
        ask(i, number);
    uint64_t grace_ns = trail_os_mono_ns() + GRACE_NS;
    wait_for(&pending, until_ns);
    wait_for(&unlikely, grace_ns < until_ns ? grace_ns : until_ns);
    for (unsigned i = 0; i < count; i++)
        withdraw(&slots[i]);
    return number ? NULL : "every real-time signal has a handler";
}
