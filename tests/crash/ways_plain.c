/* ways_plain.c -- what goes wrong in programs by itself. */
#define _GNU_SOURCE

#include "ways.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backtrail/crash.h"

static int *volatile nowhere;
static volatile int zero;

FAULT void write_null(void)
{
    *nowhere = 1;
}

FAULT static void read_wild(void)
{
    (void)*(volatile int *)((uintptr_t)nowhere + 0x123456789000);
}

FAULT static void read_non_canonical(void)
{
    (void)*(volatile int *)((uintptr_t)nowhere + 0x8123456789abcdef);
}

FAULT static void write_read_only(void)
{
    static const char text[] = "constant";
    *(volatile char *)(uintptr_t)text = 1;
}

FAULT static void call_null(void)
{
    void (*volatile function)(void) = NULL;
    function();
    __asm__ volatile("");
}

FAULT static void jump_wild(void)
{
    void (*volatile function)(void) = (void (*)(void))(uintptr_t)0x123456789000;
    function();
    __asm__ volatile("");
}

FAULT static void run_data(void)
{
    static char data[16];
    void (*volatile function)(void) = (void (*)(void))(uintptr_t)data;
    function();
    __asm__ volatile("");
}

FAULT static int overflow(int depth)
{
    volatile char frame[256];
    frame[0] = (char)depth;
    return zero ? 0 : overflow(depth + 1) + frame[0];
}

void overflow_main(void)
{
    overflow(0);
}

static void *overflowing(void *arg)
{
    trail_thread_init(NULL);
    overflow(0);
    return arg;
}

static void overflow_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, overflowing, NULL);
    pthread_join(thread, NULL);
}

FAULT static void divide(void)
{
    zero = 7 / zero;
}

FAULT static void illegal(void)
{
    __builtin_trap();
}

FAULT static void breakpoint(void)
{
    raise(SIGTRAP);
}

/* A file that is shorter than what was mapped of it. */
FAULT static void read_beyond_file(void)
{
    FILE *file = tmpfile();
    char *bytes = mmap(NULL, 8192, PROT_READ, MAP_SHARED, fileno(file), 0);
    (void)*(volatile char *)(bytes + 4096);
}

FAULT static void be_killed(void)
{
    kill(getpid(), SIGSEGV);
    pause();
}

FAULT static void bad_system_call(void)
{
    raise(SIGSYS);
}

const struct way plain_ways[] = {
    { "write_null", write_null },
    { "read_wild", read_wild },
    { "read_non_canonical", read_non_canonical },
    { "write_read_only", write_read_only },
    { "call_null", call_null },
    { "jump_wild", jump_wild },
    { "run_data", run_data },
    { "overflow_main", overflow_main },
    { "overflow_thread", overflow_thread },
    { "divide", divide },
    { "illegal", illegal },
    { "breakpoint", breakpoint },
    { "read_beyond_file", read_beyond_file },
    { "abort", abort },
    { "be_killed", be_killed },
    { "bad_system_call", bad_system_call },
    { NULL, NULL },
};
