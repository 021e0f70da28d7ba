/* crash.h -- part of os.h: the signals that end a program, the stacks that they are
 * handled on, and what can be found out in their handler.
 *
 * Signals: everything is async-signal-safe, but for what says otherwise.
 */
#ifndef TRAIL_OS_CRASH_H
#define TRAIL_OS_CRASH_H

#include "core/os/os.h"

/* ---- signals ------------------------------------------------------------- */

/* One of SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, as it came. */
struct trail_os_fatal {
    int number, code;
    uint64_t address; /* of a fault; 0: it has none */
    int access;       /* enum trail_signal_access, as the processor told */
    int64_t sender;   /* pid of who sent it; 0: the kernel */
    bool is_deadline; /* it is what trail_os_deadline_set asked for */
    int system_call;  /* that was forbidden; -1: none was */
    const void *ucontext;
    const void *info; /* the siginfo_t */
};

enum trail_os_fatal_action {
    TRAIL_OS_PASS_ON, /* have it do what it would have done without us */
    TRAIL_OS_DIE,     /* of `die_of`, at once */
    TRAIL_OS_RETURN,  /* to where it came, as if nothing had been */
};
typedef enum trail_os_fatal_action trail_os_fatal_fn(const struct trail_os_fatal *fatal,
                                                     int *die_of);

/* Have `handler` called in each of the signals, on the alternate stack of the thread if
 * it has one; with other signals blocked but those of trail_os_ask, and uncancelled.
 * It can be entered again within itself, and by several threads at once. A signal that
 * was ignored, and that no fault brought, does not come. The calling thread's mask is
 * put right.
 * TRAIL_REFUSED: another copy of this code has done so. Not for handlers. */
enum trail_status trail_os_fatal_install(trail_os_fatal_fn *handler,
                                         struct trail_error *err);
/* The handlers that were there before take over, where ours are in charge. */
void trail_os_fatal_uninstall(void);
/* Somebody wants `number` to do what it does by default, which is to end the process:
 * our handler takes it (again), and has that done. False: we are not in charge of it,
 * or not any more. */
bool trail_os_fatal_default(int number);
/* Call `each` with the signals that somebody else has taken since, and his handler. */
void trail_os_fatal_taken(void (*each)(void *arg, int number, uint64_t handler),
                          void *arg);

/* From now on nothing but the seven signals interrupts the calling thread. */
void trail_os_fatal_alone(void);
/* Call the handler again in the calling thread, with is_deadline, after `ms`. False: no
 * timer can be had. 0: do not. */
bool trail_os_deadline_set(unsigned ms);

/* ---- stacks -------------------------------------------------------------- */

/* Give the calling thread an alternate signal stack, with a guard page below it, unless
 * it has one that is large enough. Again is fine. Not for handlers. */
enum trail_status trail_os_alternate_set(struct trail_error *err);
/* Take it away, if it is ours; what was there before comes back. Not for handlers. */
void trail_os_alternate_unset(void);

/* Memory with a guard page below it, that costs nothing until it is used; NULL. Stays.
 * Not for handlers. */
void *trail_os_guarded(size_t size);
/* Call `body` on the stack that ends at `top`; on the present one where this is not
 * known for the processor. */
void trail_os_call_on(void *top, void (*body)(void *arg), void *arg);

/* ---- this process -------------------------------------------------------- */

/* Put right what fork has changed of what trail_os_process_self had told. */
void trail_os_process_renew(struct trail_os_process *process);

struct trail_os_task {
    int64_t tid;
    char name[16];
    char state;       /* as in /proc: R, S, D, T, Z ...; 0: not known */
    uint64_t blocked; /* bit n-1: it blocks signal n */
};
/* Call `each` with the threads of this process until it returns false. False: they
 * cannot be listed. */
bool trail_os_tasks(bool (*each)(void *arg, int64_t tid), void *arg);
/* False: it is gone, or cannot be looked at. */
bool trail_os_task_look(int64_t tid, struct trail_os_task *task_ret);
/* The name of the calling thread, without a descriptor. */
void trail_os_task_own_name(char name_ret[16]);

/* A real-time signal without handler is taken, and `answer` called in it with what
 * trail_os_ask sends. 0: there is none. */
int trail_os_ask_now(void (*answer)(uint32_t token, const void *ucontext));
void trail_os_sleep_ms(unsigned ms);

#endif
