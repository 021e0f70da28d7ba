/* ask.c -- questions to other threads: who owns the block of each, at any time. */
#include "core/capture/ask.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/os/os.h"

/* Of whom the block is. The word of a slot is its generation and one of these; whoever
 * changes it successfully from what it was has what it says. */
enum owner {
    FREE,      /* nobody's */
    HELD,      /* the asker's, who prepares the question or reads the answer */
    ASKED,     /* the asker's, to withdraw, or the thread's, to answer */
    ANSWERING, /* the thread's, for the asker */
    DONE,      /* the asker's, with the answer in it */
    ORPHAN,    /* the thread's, for nobody: the asker has left */
};

enum {
    OWNER_BITS = 3,
    SLOT_BITS = 10,
    GENERATIONS = 1 << 22, /* a token holds a slot and a generation */
    LOOK_NS = 20000000,    /* how often to see whether the thread is still there */
};

struct slot {
    _Atomic uint32_t word;
    int64_t thread;
    trail_answer_fn *answer;
    struct trail_ask_block *block; /* kept for the next question */
};

static struct slot slots[TRAIL_ASK_LIMIT];
static _Atomic uint32_t next_slot; /* where to begin to look for a free one */
static struct trail_os_mutex reserving;
static _Atomic int number; /* of the signal; 0: none is reserved yet */

static uint32_t word_of(uint32_t generation, enum owner owner)
{
    return generation << OWNER_BITS | (uint32_t)owner;
}

/* A generation ends with its question, so that a late signal finds another. */
static uint32_t freed(uint32_t generation)
{
    return word_of((generation + 1) % GENERATIONS, FREE);
}

static bool pass_on(struct slot *slot, uint32_t from, uint32_t to)
{
    return atomic_compare_exchange_strong(&slot->word, &from, to);
}

/* ---- the thread that is asked ------------------------------------------- */

static void on_asked(uint32_t token, const void *ucontext)
{
    struct slot *slot = &slots[token % TRAIL_ASK_LIMIT];
    uint32_t generation = token >> SLOT_BITS;
    uint32_t asked = word_of(generation, ASKED);
    uint32_t answering = word_of(generation, ANSWERING);

    if (!pass_on(slot, asked, answering))
        return; /* withdrawn */
    if (slot->thread != trail_os_tid()) {
        pass_on(slot, answering, asked); /* nothing of ours sent this */
        return;
    }
    slot->answer(slot->block, ucontext);
    if (pass_on(slot, answering, word_of(generation, DONE)))
        trail_os_word_wake(&slot->word);
    else
        pass_on(slot, word_of(generation, ORPHAN), freed(generation));
}

/* ---- the signal --------------------------------------------------------- */

static void before_fork(void)
{
    trail_os_mutex_lock(&reserving);
}

static void after_fork(void)
{
    trail_os_mutex_unlock(&reserving);
}

/* Neither those who asked nor those who were asked are here. */
static void in_child(void)
{
    for (size_t i = 0; i < TRAIL_ASK_LIMIT; i++) {
        uint32_t word = atomic_load(&slots[i].word);
        if (word % (1u << OWNER_BITS) != FREE)
            pass_on(&slots[i], word, freed(word >> OWNER_BITS));
    }
    trail_os_mutex_unlock(&reserving);
}

enum trail_status trail_ask_reserve(int signal_number, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    int reserved;

    trail_os_mutex_lock(&reserving);
    reserved = atomic_load(&number);
    if (reserved && signal_number && signal_number != reserved)
        status = trail_fail(err, TRAIL_REFUSED,
                            "signal %d: threads are asked by signal %d already",
                            signal_number, reserved);
    else if (!reserved)
        status = trail_os_ask_install(signal_number, on_asked, &reserved, err);
    if (!status && !atomic_load(&number)) {
        trail_os_at_fork(before_fork, after_fork, in_child);
        atomic_store(&number, reserved);
    }
    trail_os_mutex_unlock(&reserving);
    return status;
}

/* ---- the thread that asks ----------------------------------------------- */

static struct slot *take_slot(uint32_t *generation_ret)
{
    uint32_t first = atomic_fetch_add(&next_slot, 1);
    for (uint32_t i = 0; i < TRAIL_ASK_LIMIT; i++) {
        struct slot *slot = &slots[(first + i) % TRAIL_ASK_LIMIT];
        uint32_t word = atomic_load(&slot->word);
        *generation_ret = word >> OWNER_BITS;
        if (word == word_of(*generation_ret, FREE) &&
            pass_on(slot, word, word_of(*generation_ret, HELD)))
            return slot;
    }
    return NULL;
}

int trail_ask_send(struct trail_ask *ask, int64_t thread, uint32_t flags,
                   trail_answer_fn *answer)
{
    uint32_t generation;
    struct slot *slot;

    if (!atomic_load(&number) && trail_ask_reserve(0, NULL))
        return ENOTSUP;
    slot = take_slot(&generation);
    if (!slot)
        return EAGAIN;
    if (!slot->block)
        slot->block = calloc(1, sizeof(*slot->block));
    if (!slot->block) {
        atomic_store(&slot->word, freed(generation));
        return ENOMEM;
    }
    slot->block->flags = flags;
    slot->thread = thread;
    slot->answer = answer;
    *ask = (struct trail_ask){ thread, (uint32_t)(slot - slots), generation };
    atomic_store(&slot->word, word_of(generation, ASKED));

    int error =
        trail_os_ask(thread, atomic_load(&number), generation << SLOT_BITS | ask->slot);
    if (error)
        pass_on(slot, word_of(generation, ASKED), freed(generation));
    return error;
}

/* Why a thread has not so much as begun to answer. */
static int silence(const struct trail_ask *ask)
{
    if (!trail_os_thread_own(ask->thread))
        return ESRCH;
    return trail_os_thread_blocks(ask->thread, atomic_load(&number)) ? EBUSY
                                                                     : ETIMEDOUT;
}

/* Leave without an answer, whatever the thread is at: the error that it comes to. 0: it
 * has just answered. */
static int leave(struct slot *slot, const struct trail_ask *ask)
{
    const uint32_t generation = ask->generation;
    if (pass_on(slot, word_of(generation, ASKED), freed(generation)))
        return silence(ask);
    if (pass_on(slot, word_of(generation, ANSWERING), word_of(generation, ORPHAN)))
        return ETIMEDOUT;
    return 0;
}

int trail_ask_wait(const struct trail_ask *ask, uint64_t until_ns,
                   struct trail_backtrace *backtrace_ret)
{
    struct slot *slot = &slots[ask->slot];
    const uint32_t done = word_of(ask->generation, DONE);
    uint32_t word;

    while ((word = atomic_load(&slot->word)) != done) {
        uint64_t now = trail_os_mono_ns();
        int error = 0;
        if (now >= until_ns || !trail_os_thread_own(ask->thread))
            error = leave(slot, ask);
        if (error)
            return error;
        uint64_t look = until_ns - now < LOOK_NS ? until_ns : now + LOOK_NS;
        trail_os_word_wait(&slot->word, word, look);
    }
    *backtrace_ret = slot->block->backtrace;
    atomic_store(&slot->word, freed(ask->generation));
    return 0;
}
