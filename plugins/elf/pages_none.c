/* pages_none.c -- where nobody can be told what will be read. */
#include "plugins/elf/pages.h"

void pages_will_read(const uint8_t *bytes, size_t size)
{
    (void)bytes, (void)size;
}
