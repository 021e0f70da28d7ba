/* no_malloc.c -- counts the allocations that 1000 captures make, and printing them as
 * addresses and as markup. */
#define _POSIX_C_SOURCE 200809L

#include "show.h"

#include <fcntl.h>
#include <stdalign.h>

static alignas(max_align_t) char arena[1 << 22];
static size_t used;
static volatile unsigned long allocations;

/* An allocator that never takes back; each block is preceded by its size. */
void *malloc(size_t size)
{
    const size_t unit = alignof(max_align_t);
    size_t room = unit + (size + unit - 1) / unit * unit;
    allocations++;
    if (size > sizeof(arena) || room > sizeof(arena) - used)
        return NULL;
    char *block = arena + used;
    used += room;
    memcpy(block, &size, sizeof(size));
    return block + unit;
}

void *calloc(size_t count, size_t size)
{
    if (size && count > sizeof(arena) / size)
        return NULL;
    return malloc(count * size); /* the arena was zero, and nothing is used twice */
}

void free(void *block)
{
    (void)block;
}

void *realloc(void *block, size_t size)
{
    size_t before = 0;
    char *grown = malloc(size);
    if (block)
        memcpy(&before, (char *)block - alignof(max_align_t), sizeof(before));
    if (grown && block)
        memcpy(grown, block, before < size ? before : size);
    return grown;
}

int main(void)
{
    struct trail_backtrace backtrace = { 0 };
    int nowhere = open("/dev/null", O_WRONLY);
    unsigned long before = allocations;
    for (int i = 0; i < 1000; i++) {
        trail_capture(&backtrace);
        trail_print_raw(nowhere, &backtrace);
        trail_print_markup(nowhere, &backtrace);
    }
    unsigned long made = allocations - before;
    bool counts = strdup("an allocation of libc") && allocations == before + made + 1;
    printf("allocations: %lu\nframes: %s\ncounted: %s\n", made,
           yes_no(backtrace.count > 2), yes_no(counts));
    return 0;
}
