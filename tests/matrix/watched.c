/* watched.c -- a program that is linked statically, so that no library can be loaded
 * into it. Its argument says what it does. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 20

static sigjmp_buf back;

__attribute__((noinline)) static int write_null(void)
{
    int *volatile nowhere = NULL;
    *nowhere = 1;
    return *nowhere + 1;
}

static void go_back(int number)
{
    siglongjmp(back, number);
}

/* What a runtime does that takes SIGSEGV for its own. */
static int handled(void)
{
    const struct sigaction action = { .sa_handler = go_back };
    sigaction(SIGSEGV, &action, NULL);
    return sigsetjmp(back, 1) ? 5 : write_null();
}

static int child(void)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0)
        _exit(write_null());
    waitpid(pid, &status, 0);
    return WIFSIGNALED(status) ? 6 : 7;
}

static void *wait_in_thread(void *arg)
{
    pthread_barrier_wait(arg);
    for (;;)
        pause();
    return NULL;
}

static int threads(void)
{
    pthread_t thread;
    pthread_barrier_t all;
    pthread_barrier_init(&all, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread, NULL, wait_in_thread, &all))
            return 1;
    pthread_barrier_wait(&all);
    return write_null();
}

/* Says that it is there, and ends when its standard input does. */
static int wait_for_the_end(void)
{
    char byte;
    if (write(1, "here\n", 5) != 5)
        return 1;
    while (read(0, &byte, 1) > 0) {
    }
    return 8;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "handled") == 0)
        return handled();
    if (strcmp(what, "child") == 0)
        return child();
    if (strcmp(what, "threads") == 0)
        return threads();
    if (strcmp(what, "wait") == 0)
        return wait_for_the_end();
    if (strcmp(what, "null") == 0)
        return write_null();
    return argc > 2 ? 1 : (int)strtol(what, NULL, 10);
}
