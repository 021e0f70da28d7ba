/* visible.c -- writes a raw trace; needs no more than capturing does. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void inner(struct trail_backtrace *backtrace, int depth);

OUT_OF_LINE static void outer(struct trail_backtrace *backtrace, int depth)
{
    inner(backtrace, depth);
    done = depth;
}

OUT_OF_LINE static void inner(struct trail_backtrace *backtrace, int depth)
{
    if (depth)
        outer(backtrace, depth - 1);
    else
        trail_capture(backtrace);
    done = depth;
}

int main(int argc, char **argv)
{
    struct trail_backtrace backtrace = { 0 };
    struct trail_event event = { 0 };
    struct trail_error err;
    (void)argv;
    outer(&backtrace, argc);
    event.size = sizeof(event);
    event.backtrace = &backtrace;
    return trail_trace_write(&event, 1, &err) != TRAIL_OK;
}
