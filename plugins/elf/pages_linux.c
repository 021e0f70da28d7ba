/* pages_linux.c -- telling the kernel that bytes of a mapped file will be read. */
#define _GNU_SOURCE
#include "plugins/elf/pages.h"

#include <sys/mman.h>

#define PAGE_SIZE 4096u /* or a multiple of it: then the kernel says no */

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22 /* Linux 5.14; earlier ones say no, and nothing is lost */
#endif

void pages_will_read(const uint8_t *bytes, size_t size)
{
    uintptr_t start = (uintptr_t)bytes & ~(uintptr_t)(PAGE_SIZE - 1);
    uintptr_t end =
        ((uintptr_t)bytes + size + PAGE_SIZE - 1) & ~(uintptr_t)(PAGE_SIZE - 1);
    if (size)
        madvise((void *)start, end - start, MADV_POPULATE_READ);
}
