/* deep.c -- 500 calls deep: a raw trace to standard output, a raw print to error. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void descend(struct trail_backtrace *backtrace, int depth)
{
    if (depth)
        descend(backtrace, depth - 1);
    else
        trail_capture(backtrace);
    done = depth;
}

int main(void)
{
    struct trail_backtrace backtrace = { 0 };
    descend(&backtrace, 500);
    show_raw(&backtrace, "deep");
    trail_print_raw(2, &backtrace);
    return 0;
}
