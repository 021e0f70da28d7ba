/* assertion.c -- a failed assertion of C, seen from a SIGABRT handler. */
#include "handler.h"
#include "show.h"

#include <assert.h>
#include <signal.h>

static volatile int done;

OUT_OF_LINE static void check(int value)
{
    assert(value == 0);
    done = value;
}

int main(int argc, char **argv)
{
    (void)argv;
    handle(SIGABRT, 0);
    check(argc);
    return done;
}
