/* allocator.c -- malloc and its like over those of glibc, with a lock of their own. */
#define _GNU_SOURCE
#include "allocator.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

/* In the place of libc's for the whole process, libraries included. */
#define TAKES_PLACE __attribute__((visibility("default")))

TAKES_PLACE void *malloc(size_t size);
TAKES_PLACE void *calloc(size_t count, size_t size);
TAKES_PLACE void *realloc(void *block, size_t size);
TAKES_PLACE void free(void *block);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local volatile sig_atomic_t holds, wanted;
static atomic_ulong calls;
static atomic_bool reentered;

unsigned long allocator_calls(void)
{
    return calls;
}

void allocator_raise(int signal)
{
    wanted = signal;
}

_Bool allocator_was_reentered(void)
{
    return reentered;
}

static void enter(void)
{
    calls++;
    if (holds++) {
        reentered = 1;
        return;
    }
    pthread_mutex_lock(&lock);
    int signal = wanted;
    wanted = 0;
    if (signal)
        raise(signal);
}

static void leave(void)
{
    if (--holds == 0)
        pthread_mutex_unlock(&lock);
}

void *malloc(size_t size)
{
    enter();
    void *block = __libc_malloc(size);
    leave();
    return block;
}

void *calloc(size_t count, size_t size)
{
    enter();
    void *block = __libc_calloc(count, size);
    leave();
    return block;
}

void *realloc(void *block, size_t size)
{
    enter();
    void *moved = __libc_realloc(block, size);
    leave();
    return moved;
}

void free(void *block)
{
    enter();
    __libc_free(block);
    leave();
}
