/* null_call.c -- a call through a null pointer, taken in its handler. */
#define _GNU_SOURCE

#include "show.h"

#include <signal.h>
#include <unistd.h>

static void on_fault(int number, siginfo_t *info, void *context)
{
    struct trail_backtrace backtrace = { 0 };
    (void)number, (void)info;
    trail_capture_context(&backtrace, context);
    /* What was called is known, and who called it. */
    printf("pc 0: %s, truncated: %s\n",
           backtrace.count > 0 && backtrace.addresses[0] == 0 ? "yes" : "no",
           backtrace.flags & TRAIL_INFO_TRUNCATED ? "yes" : "no");
    fflush(stdout);
    _exit(0);
}

int main(void)
{
    void (*volatile nothing)(void) = NULL;
    struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };
    start();
    sigaction(SIGSEGV, &action, NULL);
    nothing();
    return 0;
}
