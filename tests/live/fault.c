/* fault.c -- writes where nothing is; with an argument its handler has its own stack.
 */
#include "handler.h"
#include "show.h"

#include <signal.h>

static int *volatile nowhere;
static volatile int done;

OUT_OF_LINE static void fault(int value)
{
    done = 0;
    *nowhere = value;
    done = 1;
}

OUT_OF_LINE static void outer(int value)
{
    fault(value + 1);
    done = 2;
}

int main(int argc, char **argv)
{
    (void)argv;
    handle(SIGSEGV, argc > 1);
    outer(argc);
    return 1;
}
