/* stepped.c -- what is run one instruction at a time. Built without builtins. */
#define _GNU_SOURCE
#include "stepped.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static volatile long sink;

/* ---- libc --------------------------------------------------------------- */

APART static void call_strings(void)
{
    static char from[2048], to[2048];
    char text[128];
    memset(from, 'a', sizeof(from) - 1);
    memmove(to, from, sizeof(to));
    memmove(from + 3, from, 1000); /* overlapping */
    sink += (long)strlen(to) + strcmp(from, to);
    sink += strtol("123", NULL, 10) + labs((long)getppid());
    sink += snprintf(text, sizeof(text), "%d %s %5.2f %lx", 3, "x", 2.5, sink);
}

APART static void call_memory(void)
{
    char *small = malloc(100);
    char *large = calloc(1, 300000);
    large = realloc(large, 600000);
    free(small);
    free(large);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

APART static void call_back(void)
{
    int numbers[16];
    for (int i = 0; i < 16; i++)
        numbers[i] = i * 7 % 16;
    qsort(numbers, 16, sizeof(*numbers), compare);
    sink += numbers[3];
}

void stepped_calls(void)
{
    struct timespec now;
    struct tm day;
    clock_gettime(CLOCK_MONOTONIC, &now);
    sink += now.tv_nsec;
    call_strings();
    call_memory();
    call_back();
    sink += gmtime_r(&now.tv_sec, &day)->tm_year + (getenv("HOME") != NULL);
}

/* ---- frames ------------------------------------------------------------- */

APART static long leaf(long a)
{
    return a * 3 + 1;
}

APART static long small(long a)
{
    volatile char pad[24];
    pad[0] = (char)a;
    return leaf(a + 1) + pad[0];
}

APART static long recursive(long a)
{
    return a < 2 ? leaf(a) : recursive(a - 1) + recursive(a - 2);
}

/* Its frame pointer is saved by way of another register. */
APART static long realigned(long a)
{
    alignas(64) volatile char pad[128];
    pad[a & 63] = 1;
    return small(a) + pad[3];
}

APART static long grows(long a)
{
    volatile char *pad = __builtin_alloca((size_t)(a * 16 + 100));
    pad[0] = (char)a;
    return realigned(a) + pad[0];
}

APART static long huge(long a)
{
    volatile char pad[100000];
    pad[0] = pad[99999] = (char)a;
    return small(a) + pad[0];
}

APART static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
    volatile long kept = a + b + c;
    long all = small(a) + small(b) + small(c) + small(d) + small(e) + small(f);
    return all + small(g) + small(h) + kept;
}

APART static long variadic(int count, ...)
{
    va_list args;
    long sum = 0;
    va_start(args, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(args, int) + (long)va_arg(args, double);
    va_end(args);
    return small(sum);
}

/* Ends in a jump if the compiler may make one. */
APART static long tail(long a)
{
    return small(a + 2);
}

void stepped_frames(void)
{
    sink += small(1) + recursive(6) + realigned(5) + grows(3) + huge(7) + tail(9);
    sink += many(1, 2, 3, 4, 5, 6, 7, 8) + variadic(3, 1, 1.0, 2, 2.0, 3, 3.0);
}

/* ---- jumps -------------------------------------------------------------- */

static jmp_buf back;

static void jump(long depth);
static void (*volatile jump_deeper)(long depth) = jump;

static void jump(long depth)
{
    volatile char pad[40];
    pad[0] = 1;
    if (depth)
        jump_deeper(depth - 1);
    else
        longjmp(back, 1);
    sink += pad[0];
}

extern const char __start_stepped_jumps_text[], __stop_stepped_jumps_text[];

bool stepped_is_jumps(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_stepped_jumps_text &&
           pc < (uintptr_t)__stop_stepped_jumps_text;
}

__attribute__((section("stepped_jumps_text"))) void stepped_jumps(void)
{
    for (volatile int i = 0; i < 2; i++)
        if (setjmp(back) == 0)
            jump_deeper(3);
}

/* ---- the loader --------------------------------------------------------- */

void stepped_loading(void)
{
    void *library = dlopen(TEST_STALE_SMALL, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return;
    sink += dlsym(library, "stale") != NULL;
    dlclose(library);
}
