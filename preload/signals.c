/* signals.c -- a program with handlers of its own dies by the default action.
 *
 * It gets its handlers, and what they do comes first. When at last it has a signal of a
 * crash do what it does by default, our handler takes that, and records it.
 */
#define _DEFAULT_SOURCE

#include <signal.h>
#include <stdbool.h>

#include "backtrail/base.h"
#include "core/os/crash.h"
#include "preload/next.h"

typedef int sigaction_fn(int number, const struct sigaction *action,
                         struct sigaction *before);
typedef void handler_fn(int number);
typedef handler_fn *signal_fn(int number, handler_fn *handler);

static bool is_default(const struct sigaction *action)
{
    return action && !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

TRAIL_EXPORT int sigaction(int number, const struct sigaction *action,
                           struct sigaction *before)
{
    sigaction_fn *next;
    struct sigaction found;
    preload_next(PRELOAD_SIGACTION, &next);
    if (!is_default(action) || next(number, NULL, &found) ||
        !trail_os_fatal_default(number))
        return next(number, action, before);
    if (before)
        *before = found;
    return 0;
}

static handler_fn *signal_by(enum preload_function function, int number,
                             handler_fn *handler)
{
    signal_fn *next;
    struct sigaction found;
    preload_next(function, &next);
    if (handler == SIG_DFL && !sigaction(number, NULL, &found) &&
        trail_os_fatal_default(number))
        return found.sa_handler;
    return next ? next(number, handler) : SIG_ERR;
}

TRAIL_EXPORT handler_fn *signal(int number, handler_fn *handler)
{
    return signal_by(PRELOAD_SIGNAL, number, handler);
}

extern handler_fn *__sysv_signal(int number, handler_fn *handler);
TRAIL_EXPORT handler_fn *__sysv_signal(int number, handler_fn *handler)
{
    return signal_by(PRELOAD_SYSV_SIGNAL, number, handler);
}
