/* fail_nth.c -- preloaded: the allocation with number FAULT_AT fails, once.
 *
 * Without that number nothing fails. How many there were is written to the file
 * FAULT_COUNT. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* glibc's own, below the names that are replaced here. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static atomic_ulong allocation_count;
static unsigned long fail_at; /* 0: never */

__attribute__((constructor)) static void begin(void)
{
    const char *number = getenv("FAULT_AT");
    fail_at = number ? strtoul(number, NULL, 10) : 0;
    atomic_store(&allocation_count, 0);
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("FAULT_COUNT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    dprintf(fd, "%lu\n", atomic_load(&allocation_count));
    close(fd);
}

static int fails(void)
{
    if (atomic_fetch_add(&allocation_count, 1) + 1 != fail_at)
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails() ? NULL : __libc_realloc(memory, size);
}
