/* count_malloc.c -- malloc and its like, counted on the way to those of glibc. */
#include "count_malloc.h"

#include <stddef.h>

#define TAKES_PLACE __attribute__((visibility("default")))

TAKES_PLACE void *malloc(size_t size);
TAKES_PLACE void *calloc(size_t count, size_t size);
TAKES_PLACE void *realloc(void *block, size_t size);

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

static unsigned long calls; /* of the main thread, while it is measured */

unsigned long count_malloc(void)
{
    return calls;
}

void *malloc(size_t size)
{
    calls++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    calls++;
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size)
{
    calls++;
    return __libc_realloc(block, size);
}
