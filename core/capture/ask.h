/* ask.h -- asking another thread of this process for its stack, by a signal and with a
 * deadline.
 *
 * What the thread answers goes into a block that belongs to this file and lives for
 * ever, never into memory of whoever asked: a thread that comes late finds its question
 * withdrawn, and one that is still answering when the deadline passes finishes its
 * answer in a block that nobody reads. Hence neither side ever waits for the other to
 * let go, and nothing is written to an asker that has left.
 *
 * Threads: safe; any number may ask at once, and be asked meanwhile.
 * Signals: not for handlers, but for the answer itself.
 */
#ifndef TRAIL_ASK_H
#define TRAIL_ASK_H

#include "backtrail/backtrail.h"

#define TRAIL_ASK_LIMIT 1024 /* questions that can be open at once */

/* Where the answer goes. */
struct trail_ask_block {
    uint32_t flags; /* enum trail_control_flags, as they were asked with */
    struct trail_backtrace backtrace;
};

/* What the thread that is asked does, in a signal handler. */
typedef void trail_answer_fn(struct trail_ask_block *block, const void *ucontext);

/* One open question. */
struct trail_ask {
    int64_t thread;
    uint32_t slot, generation;
};

/* Choose the signal to ask by; 0: see trail_os_ask_install. TRAIL_REFUSED: another one
 * is in use already, or somebody handles this one. */
enum trail_status trail_ask_reserve(int signal_number, struct trail_error *err);

/* Ask `thread`. 0: an answer must be waited for. Else an errno: ESRCH (no thread of
 * this process), EAGAIN (too much is open), ENOMEM, ENOTSUP (no signal can be had). */
int trail_ask_send(struct trail_ask *ask, int64_t thread, uint32_t flags,
                   trail_answer_fn *answer);
/* Wait until the answer is there, or `until_ns` has come. Ends the question.
 *
 * Returns: 0, or ETIMEDOUT; EBUSY: the thread blocks the signal; ESRCH: it ended. */
int trail_ask_wait(const struct trail_ask *ask, uint64_t until_ns,
                   struct trail_backtrace *backtrace_ret);

#endif
