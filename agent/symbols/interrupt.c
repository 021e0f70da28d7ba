/* interrupt.c -- being told to stop in the middle of writing files. */
#define _POSIX_C_SOURCE 200809L

#include "agent/symbols/interrupt.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static const int watched[] = { SIGINT, SIGTERM, SIGHUP };

/* A handler can reach nothing else. */
static volatile sig_atomic_t came;

static void note(int number)
{
    came = number;
}

void interrupt_watch(void)
{
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        struct sigaction old, action = { .sa_handler = note };
        action.sa_flags = SA_RESTART;
        action.sa_flags |= (int)SA_RESETHAND;
        /* One that is ignored, as by nohup, stays so. */
        if (!sigaction(watched[i], NULL, &old) && old.sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
    }
}

bool interrupt_came(void)
{
    return came != 0;
}

void interrupt_obey(void)
{
    if (!came)
        return;
    signal((int)came, SIG_DFL);
    kill(getpid(), (int)came);
}
