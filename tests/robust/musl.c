/* musl.c -- a signal interrupts musl, which has no unwind tables or frame pointers.
 *
 * A program of its own, linked statically. Exits with 0 if each capture holds the three
 * calls that led into libc, one after the other; else says what was taken.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

#include "backtrail/backtrail.h"

#define APART __attribute__((noinline))

enum { CALLS = 3, PCS = 64 };

static uintptr_t calls[CALLS]; /* where they return to, innermost first */
static volatile bool right = true;
static volatile unsigned taken;

static bool holds(const uintptr_t *pcs, unsigned count)
{
    for (unsigned i = 0; i + CALLS <= count; i++)
        if (pcs[i] == calls[0] && pcs[i + 1] == calls[1] && pcs[i + 2] == calls[2])
            return true;
    return false;
}

APART static void take(const char *what, unsigned flags, const void *ucontext)
{
    const struct trail_control control = {
        .size = sizeof(control),
        .flags = flags | (ucontext ? (unsigned)TRAIL_INTERRUPTED : 0),
        .ucontext = ucontext,
    };
    uint8_t trust[PCS];
    struct trail_info info = { .size = sizeof(info), .trust = trust };
    uintptr_t pcs[PCS];
    unsigned count = trail_backtrace(pcs, PCS, &control, &info);
    taken++;
    if (holds(pcs, count))
        return;
    right = false;
    printf("%s, flags %u: end %u\n", what, flags, (unsigned)info.end);
    for (unsigned i = 0; i < count; i++)
        printf("  %c 0x%lx\n", trust[i], (unsigned long)pcs[i]);
    for (unsigned i = 0; i < CALLS; i++)
        printf("  call 0x%lx\n", (unsigned long)calls[i]);
}

static void take_all(const char *what, const void *ucontext)
{
    take(what, 0, ucontext);
    take(what, 0, ucontext);
    take(what, TRAIL_FULL_WALK, ucontext);
    take(what, TRAIL_CHECKED, ucontext);
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    take_all("interrupted", ucontext);
}

APART static void inner(void)
{
    calls[0] = (uintptr_t)__builtin_return_address(0);
    take_all("called", NULL);
    raise(SIGUSR1);
    __asm__ volatile("" ::: "memory");
}

APART static void middle(void)
{
    volatile char pad[40];
    calls[1] = (uintptr_t)__builtin_return_address(0);
    pad[0] = 1;
    inner();
    pad[1] = pad[0];
}

APART static void outer(void)
{
    volatile char pad[80];
    calls[2] = (uintptr_t)__builtin_return_address(0);
    pad[0] = 1;
    middle();
    pad[1] = pad[0];
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    sigaction(SIGUSR1, &action, NULL);
    outer();
    return right && taken == 8 ? 0 : 1;
}
