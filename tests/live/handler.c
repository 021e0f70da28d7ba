/* handler.c -- a crash handler as a program would write it. */
#define _GNU_SOURCE

#include "handler.h"
#include "show.h"

#include <signal.h>
#include <unistd.h>

static char handler_stack[1 << 20];

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    struct trail_backtrace backtrace = { 0 };
    (void)number, (void)info;
    trail_capture_context(&backtrace, ucontext);
    show(&backtrace, 0);
    _exit(0);
}

void handle(int number, int own_stack)
{
    const stack_t stack = { .ss_sp = handler_stack, .ss_size = sizeof(handler_stack) };
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    if (own_stack) {
        action.sa_flags |= SA_ONSTACK;
        sigaltstack(&stack, NULL);
    }
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    start();
}
