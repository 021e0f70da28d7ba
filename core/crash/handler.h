/* handler.h -- what is done when a signal comes that ends the program. */
#ifndef TRAIL_CRASH_HANDLER_H
#define TRAIL_CRASH_HANDLER_H

#include "core/os/os.h"

/* For trail_os_fatal_install. Async-signal-safe. */
trail_os_fatal_fn trail_crash_handle;

/* The registers (ucontext_t) that thread `tid` crashed with, if it did while another
 * thread's crash is being handled, and waits for that to end; NULL. Async-signal-safe.
 * */
const void *trail_crash_waiter(int64_t tid);

#endif
