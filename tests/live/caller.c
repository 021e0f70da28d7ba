/* caller.c -- a library whose one function, CALLER, calls back. */
#include "caller.h"

static volatile int done;

void CALLER(void (*back)(void))
{
    back();
    done = 1;
}
