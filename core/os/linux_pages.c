/* linux_pages.c -- telling the kernel which bytes will be read, or written to. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <sys/mman.h>

/* Linux 5.14; earlier ones say no, and nothing is lost. */
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE ((uintptr_t)4096) /* where pages are larger, the kernel may say no */

void trail_os_will_read(const void *bytes, size_t size)
{
    uintptr_t start = (uintptr_t)bytes & ~(PAGE - 1);
    uintptr_t end = ((uintptr_t)bytes + size + PAGE - 1) & ~(PAGE - 1);
    if (size)
        madvise((void *)start, end - start, MADV_POPULATE_READ);
}

/* Pages that are shared with other memory are there already, or none of ours. */
void trail_os_will_write(void *bytes, size_t size)
{
    uintptr_t start = ((uintptr_t)bytes + PAGE - 1) & ~(PAGE - 1);
    uintptr_t end = ((uintptr_t)bytes + size) & ~(PAGE - 1);
    if (start < end)
        madvise((void *)start, end - start, MADV_POPULATE_WRITE);
}
