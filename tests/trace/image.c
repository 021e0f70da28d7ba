/* image.c -- a shared object with one function that captures, for the module map. */
#include "backtrail/backtrail.h"

TRAIL_EXPORT int image_number(void);
TRAIL_EXPORT void image_call(void (*body)(void *arg), void *arg);

int image_number(void)
{
    return IMAGE_NUMBER;
}

void image_call(void (*body)(void *arg), void *arg)
{
    body(arg);
    __asm__ volatile(""); /* no tail call */
}
