/* crash.c -- a program to take cores of. It is interrupted by a signal DEPTH calls
 * down, and aborts in the handler; told to "wait", it says so on its standard output
 * when three threads are as far down, and waits for the end of its standard input. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define DEPTH   20
#define THREADS 3

static void on_signal(int number)
{
    (void)number;
    abort();
}

static void interrupt(void)
{
    raise(SIGUSR1);
}

static void wait_for_the_end(void)
{
    char byte = 0;
    if (write(1, "", 1) == 1)
        while (read(0, &byte, 1) > 0) {
        }
}

/* What comes behind the call keeps it from being a tail call. */
__attribute__((noinline)) static int deep(int depth, void (*body)(void))
{
    volatile int behind = depth;
    if (depth)
        behind += deep(depth - 1, body);
    else
        body();
    return behind;
}

static void *thread_main(void *arg)
{
    (void)arg;
    deep(DEPTH, wait_for_the_end);
    return NULL;
}

static int wait_in_threads(void)
{
    pthread_t thread;
    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&thread, NULL, thread_main, NULL))
            return 1;
    thread_main(NULL);
    return 0;
}

int main(int argc, char **argv)
{
    const struct sigaction action = { .sa_handler = on_signal };
    struct rlimit limit;
    if (argc > 1 && strcmp(argv[1], "wait") == 0)
        return wait_in_threads();
    if (getrlimit(RLIMIT_CORE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_CORE, &limit);
    }
    sigaction(SIGUSR1, &action, NULL);
    deep(DEPTH, interrupt);
    return 0;
}
