/* next.c -- the functions of the C library that this library stands before. */
#include "preload/next.h"

#include <stdatomic.h>

#include "core/os/os.h"

static const char *const names[PRELOAD_COUNT] = { "pthread_create", "sigaction",
                                                  "signal", "__sysv_signal", "write" };
static _Atomic(void *) known[PRELOAD_COUNT];

void preload_next(enum preload_function function, void *function_ret)
{
    void *at = atomic_load_explicit(&known[function], memory_order_relaxed);
    if (!at) { /* somebody's constructor came before ours */
        at = trail_os_next_symbol(names[function]);
        atomic_store(&known[function], at);
    }
    memcpy(function_ret, &at, sizeof(at));
}

void preload_next_init(void)
{
    void *unused;
    for (int i = 0; i < PRELOAD_COUNT; i++)
        preload_next((enum preload_function)i, &unused);
}
