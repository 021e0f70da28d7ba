/* dies.c -- a program that nobody rebuilt: it dies as its first argument says. */
#undef NDEBUG
#define _POSIX_C_SOURCE 200809L

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef DIES_FAR /* where the code of that function is to be */
#define DIES_FAR
#endif

DIES_FAR static int write_null(volatile int *at)
{
    *at = 1;
    return *at;
}

static void *on_thread(void *arg)
{
    write_null(arg);
    return NULL;
}

static volatile int depth = 1; /* never 0, which no compiler knows */

static void *overflow(void *arg)
{
    volatile char room[4096];
    room[0] = (char)(arg != NULL);
    if (depth)
        overflow((void *)room);
    return (void *)(size_t)room[0];
}

static int in_thread(void *(*body)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, body, NULL))
        return 1;
    pthread_join(thread, NULL);
    return 0;
}

/* Threads that end in each of the three ways, many times. */
static void *end_somehow(void *arg)
{
    if (*(char *)arg == 'e')
        pthread_exit(NULL);
    while (*(char *)arg == 'c')
        sleep(1);
    return arg;
}

static int many_threads(void)
{
    static char ways[] = "rec";
    for (int i = 0; i < 600; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end_somehow, &ways[i % 3]))
            return 1;
        if (i % 3 == 2)
            pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return 0;
}

static int in_child(void)
{
    pid_t pid = fork();
    if (pid == 0)
        write_null(NULL);
    waitpid(pid, NULL, 0);
    return 0;
}

static volatile sig_atomic_t came;
static void on_signal(int signal)
{
    came = signal;
}

static int wait_for_signal(void)
{
    struct sigaction action = { .sa_handler = on_signal };
    sigset_t none;
    sigemptyset(&none);
    sigaction(SIGUSR1, &action, NULL);
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    puts("ready");
    fflush(stdout);
    while (!came)
        sigsuspend(&none);
    return 9;
}

static void say(const char *text)
{
    if (write(2, text, strlen(text)) < 0)
        abort();
}

/* As Rust does with a panic that is not caught, in one piece or in several. */
static int panic(int pieces)
{
    if (pieces) {
        say("\nthread '");
        say("shelver");
        say("' (17) panicked at ");
        say("src/main.rs:9:5:\n");
        say("no shelf 9\n");
    } else {
        say("thread 'main' panicked at src/main.rs:9:5:\nno shelf 8\n");
    }
    say("note: run with `RUST_BACKTRACE=1` environment variable to display a "
        "backtrace\n");
    say("this belongs to it no more\n");
    abort();
}

/* A handler of its own, which has the signal end the program in the end. */
static void tell_and_die(int number)
{
    say("my own words\n");
    if (number == SIGSEGV) {
        struct sigaction action = { .sa_handler = SIG_DFL };
        sigaction(number, &action, NULL);
    } else {
        signal(number, SIG_DFL);
    }
    raise(number);
}

static int handle(int number)
{
    struct sigaction action = { .sa_handler = tell_and_die }, before;
    sigaction(number, &action, NULL);
    signal(SIGILL, SIG_DFL); /* what was there before is told */
    sigaction(number, NULL, &before);
    if (before.sa_handler != tell_and_die)
        return 3;
    if (number == SIGFPE)
        raise(number);
    return write_null(NULL);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    if (strcmp(how, "null") == 0)
        return write_null(NULL);
    if (strcmp(how, "assert") == 0)
        assert(argc == 9);
    if (strcmp(how, "thread") == 0)
        return in_thread(on_thread);
    if (strcmp(how, "overflow") == 0)
        return in_thread(overflow);
    if (strcmp(how, "threads") == 0)
        return many_threads();
    if (strcmp(how, "child") == 0)
        return in_child();
    if (strcmp(how, "signal") == 0)
        return wait_for_signal();
    if (strcmp(how, "panic") == 0)
        return panic(argc > 2);
    if (strcmp(how, "handler") == 0)
        return handle(argc > 2 ? SIGFPE : SIGSEGV);
    if (strcmp(how, "default") == 0 && signal(SIGSEGV, SIG_DFL) != SIG_ERR)
        return write_null(NULL);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "environment") == 0)
        return getenv("BACKTRAIL_INBOX") ? 0 : 1;
    for (int i = 1; i < argc; i++)
        puts(argv[i]);
    return 7;
}
