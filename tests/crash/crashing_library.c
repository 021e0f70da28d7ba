/* crashing_library.c -- a library that crashes while it is being loaded. */
#include <stddef.h>

void crash_while_loading(void);

__attribute__((constructor)) void crash_while_loading(void)
{
    static int *volatile nowhere;
    *nowhere = 1;
}
