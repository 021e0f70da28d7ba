/* busy.c -- a child whose threads never rest. */
#define _GNU_SOURCE

#include "busy.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define SIZE ((BUSY_THREADS + 1) * sizeof(uint64_t))

static volatile uint64_t *counts;

static void count_signal(int number)
{
    (void)number;
    __atomic_add_fetch(&counts[BUSY_THREADS], 1, __ATOMIC_SEQ_CST);
}

static void *count(void *arg)
{
    volatile uint64_t *own = arg;
    for (;;) {
        ++*own;
        sched_yield();
    }
    return arg;
}

static void *end_at_once(void *arg)
{
    return arg;
}

static void *start_more(void *arg)
{
    pthread_t thread;
    volatile uint64_t *own = arg;
    for (;;) {
        ++*own;
        if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
            pthread_join(thread, NULL);
    }
    return arg;
}

static void child_main(bool starts_more)
{
    struct sigaction action = { .sa_handler = count_signal, .sa_flags = SA_RESTART };
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigaction(SIGRTMIN, &action, NULL);
    for (size_t i = 1; i < BUSY_THREADS; i++) {
        void *(*body)(void *) = starts_more && i == 1 ? start_more : count;
        if (pthread_create(&thread, NULL, body, (void *)(uintptr_t)&counts[i]))
            _exit(1);
    }
    count((void *)(uintptr_t)&counts[0]);
}

void busy_start(struct busy *busy, bool starts_more)
{
    if (TEST_EMULATED)
        skip(); /* whoever is traced would be the emulator */
    counts =
        mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(counts, MAP_FAILED);
    busy->counts = counts;
    busy->pid = fork();
    if (busy->pid == 0)
        child_main(starts_more);
    assert_true(busy->pid > 0);
    busy_assert_goes_on(busy);
}

void busy_assert_goes_on(const struct busy *busy)
{
    for (size_t i = 0; i < BUSY_THREADS; i++)
        for (uint64_t before = busy->counts[i]; busy->counts[i] == before;) {
            assert_int_equal(waitpid(busy->pid, NULL, WNOHANG), 0);
            sched_yield();
        }
}

uint64_t busy_signals(const struct busy *busy)
{
    return busy->counts[BUSY_THREADS];
}

void busy_end(struct busy *busy)
{
    kill(busy->pid, SIGKILL);
    waitpid(busy->pid, NULL, 0);
    munmap((void *)(uintptr_t)busy->counts, SIZE);
}
