/* plain.c -- three calls deep; with an argument, as a raw trace. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void inner(struct trail_backtrace *backtrace)
{
    trail_capture(backtrace);
    done = 1;
}

OUT_OF_LINE static void outer(struct trail_backtrace *backtrace)
{
    inner(backtrace);
    done = 2;
}

int main(int argc, char **argv)
{
    struct trail_backtrace backtrace = { 0 };
    outer(&backtrace);
    if (argc > 1)
        show_raw(&backtrace, argv[1]);
    else
        show(&backtrace, 0);
    return 0;
}
