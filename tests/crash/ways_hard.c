/* ways_hard.c -- crashes at the worst of moments. */
#define _GNU_SOURCE

#include "ways.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "sandbox.h"

/* ---- with locks held ----------------------------------------------------- */

static void *wait_for_ever(void *arg)
{
    for (;;)
        pause();
    return arg;
}

static void start_threads(unsigned count)
{
    pthread_t thread;
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128 << 10);
    while (count--)
        pthread_create(&thread, &attr, wait_for_ever, NULL);
    pthread_attr_destroy(&attr);
}

/* What glibc finds wrong while it has the arena's lock: it aborts then and there. */
static void with_malloc_lock(void)
{
    start_threads(1); /* alone, it would need no lock */
    volatile size_t *block = malloc(24);
    block[3] = (size_t)-1; /* size of what follows: all that is left of the arena */
    for (size_t size = 1 << 10; size < 1 << 17; size <<= 1)
        free(malloc(size));
    void *volatile large = malloc(1 << 17);
    (void)large;
}

static int in_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size, (void)arg;
    write_null();
    return 0;
}

static void with_loader_lock(void)
{
    dl_iterate_phdr(in_loader, NULL);
}

static void with_stdio_lock(void)
{
    flockfile(stderr);
    flockfile(stdout);
    write_null();
}

/* Its constructor crashes. */
static void in_dlopen(void)
{
    dlopen(getenv("CRASHING_LIBRARY"), RTLD_NOW);
}

/* ---- in odd places ------------------------------------------------------- */

static void on_user_signal(int number)
{
    (void)number;
    write_null();
}

static void in_signal_handler(void)
{
    signal(SIGUSR1, on_user_signal);
    raise(SIGUSR1);
}

static void in_child(void)
{
    int status;
    start_threads(4);
    pid_t child = fork();
    if (child == 0)
        write_null();
    while (waitpid(child, &status, 0) != child)
        ;
    signal(WTERMSIG(status), SIG_DFL);
    raise(WTERMSIG(status)); /* not ours any more: without a second trace */
}

static void in_atexit(void)
{
    atexit(write_null);
    exit(0);
}

static ucontext_t coroutine, caller;

static void on_coroutine(void)
{
    static char stack[64 << 10];
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof(stack);
    coroutine.uc_link = &caller;
    makecontext(&coroutine, write_null, 0);
    swapcontext(&caller, &coroutine);
}

static void among_threads(void)
{
    start_threads(199);
    write_null();
}

/* ---- when others crash as well ------------------------------------------- */

static pthread_barrier_t together;

static void *crashing(void *arg)
{
    pthread_barrier_wait(&together);
    write_null();
    return arg;
}

static void all_at_once(void)
{
    pthread_t thread;
    pthread_barrier_init(&together, NULL, 8);
    for (unsigned i = 0; i < 7; i++)
        pthread_create(&thread, NULL, crashing, NULL);
    crashing(NULL);
}

/* A thread that lets no signal through is named, and does not hold anybody up. */
static void *deaf(void *arg)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_NAME, "deaf", 0, 0, 0);
    pthread_barrier_wait(&together);
    return wait_for_ever(arg);
}

static void beside_a_deaf_thread(void)
{
    pthread_t thread;
    pthread_barrier_init(&together, NULL, 2);
    pthread_create(&thread, NULL, deaf, NULL);
    pthread_barrier_wait(&together);
    write_null();
}

/* ---- with nothing left --------------------------------------------------- */

static void without_descriptors(void)
{
    const struct rlimit limit = { 128, 128 };
    setrlimit(RLIMIT_NOFILE, &limit);
    while (open("/dev/null", O_RDONLY) >= 0)
        ;
    write_null();
}

static void with_all_closed(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    write_null();
}

/* What was the inbox is some other file now. */
static void with_others_in_their_place(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    while (open("/", O_RDONLY) >= 0)
        ;
    for (int fd = 120; fd < 1024; fd++)
        close(fd);
    write_null();
}

/* Nobody reads what is written to standard error. */
static void with_a_full_pipe(void)
{
    int ends[2];
    if (pipe(ends))
        return;
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], "x", 1) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], 2);
    write_null();
}

/* It takes the first few KiB, and no more. */
static void with_a_small_pipe(void)
{
    int ends[2];
    if (pipe(ends) || fcntl(ends[1], F_SETPIPE_SZ, 4096) < 0)
        return;
    dup2(ends[1], 2);
    overflow_main();
}

static void with_small_files(void)
{
    const struct rlimit limit = { 700, 700 };
    setrlimit(RLIMIT_FSIZE, &limit);
    write_null();
}

static void with_faults_blocked(void)
{
    write_null(); /* dies.c has blocked them before */
}

static void in_a_sandbox(void)
{
    start_threads(2);
    if (!sandbox_enter())
        _exit(77);
    write_null();
}

/* What the handler reads of a library leads it astray. */
static void with_a_broken_loader(void)
{
    struct link_map *library = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (library)
        library->l_name = (char *)1;
    write_null();
}

/* ---- with an earlier handler --------------------------------------------- */

static void with_earlier_handler(void)
{
    write_null(); /* dies.c has set one */
}

/* As a runtime that uses the signal as a tool. */
static void with_a_later_handler(void)
{
    signal(SIGSEGV, on_user_signal);
    abort();
}

const struct way hard_ways[] = {
    { "with_malloc_lock", with_malloc_lock },
    { "with_loader_lock", with_loader_lock },
    { "with_stdio_lock", with_stdio_lock },
    { "in_dlopen", in_dlopen },
    { "in_signal_handler", in_signal_handler },
    { "in_child", in_child },
    { "in_atexit", in_atexit },
    { "on_coroutine", on_coroutine },
    { "among_threads", among_threads },
    { "all_at_once", all_at_once },
    { "beside_a_deaf_thread", beside_a_deaf_thread },
    { "without_descriptors", without_descriptors },
    { "with_all_closed", with_all_closed },
    { "with_others_in_their_place", with_others_in_their_place },
    { "with_a_full_pipe", with_a_full_pipe },
    { "with_a_small_pipe", with_a_small_pipe },
    { "in_a_sandbox", in_a_sandbox },
    { "with_a_broken_loader", with_a_broken_loader },
    { "with_small_files", with_small_files },
    { "with_faults_blocked", with_faults_blocked },
    { "with_earlier_handler", with_earlier_handler },
    { "with_a_later_handler", with_a_later_handler },
    { NULL, NULL },
};
