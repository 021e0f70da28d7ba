/* crash.c -- a program that crashes in the way that its argument says, three calls
 * down; also compiled as C++. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifdef __cplusplus
#include <stdexcept>
extern "C" {
#endif
/* Not known to the compiler while it compiles. */
extern volatile int zero;
volatile int zero;
#ifdef __cplusplus
}
#endif

#define APART __attribute__((noinline)) static

APART int null_write(int depth)
{
    int *volatile nowhere = (int *)(long)zero;
    *nowhere = depth;
    return depth + *nowhere;
}

APART int wild_jump(int depth)
{
    int (*volatile wild)(int) = (int (*)(int))(long)(0x123456789000 + zero);
    return wild(depth) + depth;
}

APART int call_null(int depth)
{
    int (*volatile nobody)(int) = (int (*)(int))(long)zero;
    return nobody(depth) + depth;
}

APART int overflow(int depth)
{
    volatile char room[400];
    room[depth & 255] = (char)depth;
    return overflow(depth + 1) + room[zero];
}

static void *overflow_thread(void *arg)
{
    (void)arg;
    return (void *)(long)overflow(0);
}

APART int thread_overflow(int depth)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, overflow_thread, NULL))
        return 1;
    pthread_join(thread, &result);
    return depth + (result != NULL);
}

APART int call_abort(int depth)
{
    if (!zero)
        abort();
    return depth + zero;
}

APART int failed_assert(int depth)
{
    assert(zero == depth + 1);
    return depth + zero;
}

APART int double_free(int depth)
{
    char *volatile piece = (char *)malloc(4000);
    char *volatile other = (char *)malloc(4000);
    free(piece);
    free(piece + zero);
    free(other);
    return depth + zero;
}

APART int divide(int depth)
{
    volatile int divided = depth + 7;
    return divided / zero + depth;
}

APART int bus(int depth)
{
    FILE *file = tmpfile();
    if (!file || ftruncate(fileno(file), 8192))
        return 1;
    volatile char *bytes = (volatile char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                                                 MAP_SHARED, fileno(file), 0);
    if (ftruncate(fileno(file), 0))
        return 1;
    bytes[4096] = (char)depth;
    return depth + bytes[zero];
}

APART int smash(int depth)
{
    volatile char room[24]; /* and what guards the return address is behind it */
    for (int i = 0; i < 40; i++)
        room[i + zero] = (char)(i + depth);
    return room[depth & 7] + zero;
}

APART int fortify(int depth)
{
    char room[16];
    size_t size = 64 + (size_t)zero;
    static char from[128];
    memcpy(room, from, size);
    return room[depth & 7] + zero;
}

#ifdef __cplusplus
APART int uncaught(int depth)
{
    if (!zero)
        throw std::runtime_error("nobody catches this");
    return depth + zero;
}
#endif

static const struct {
    const char *name;
    int (*crash)(int depth);
} kinds[] = {
    { "null-write", null_write },
    { "wild-jump", wild_jump },
    { "call-null", call_null },
    { "overflow", overflow },
    { "thread-overflow", thread_overflow },
    { "abort", call_abort },
    { "assert", failed_assert },
    { "double-free", double_free },
    { "divide", divide },
    { "bus", bus },
    { "smash", smash },
    { "fortify", fortify },
#ifdef __cplusplus
    { "uncaught", uncaught },
#endif
};

APART int inner(const char *name, int depth)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].crash(depth + 1) + zero;
    return 100;
}

APART int outer(const char *name, int depth)
{
    int result = inner(name, depth + 1);
    return result + zero;
}

int main(int argc, char **argv)
{
    struct rlimit limit;
    getrlimit(RLIMIT_CORE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CORE, &limit);
    zero = argc - 2;
    int result = outer(argv[argc - 1], 0);
    return result + zero;
}
