/* multi_line.c -- a call over several lines, with the next statement right after it. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void take(int one, int two, int three)
{
    struct trail_backtrace backtrace = { 0 };
    trail_capture(&backtrace);
    show(&backtrace, 0);
    done = one + two + three;
}

int main(int argc, char **argv)
{
    (void)argv;
    // clang-format off
    take(argc,
         argc + 1,
         argc + 2);
    // clang-format on
    done = 0;
    return done;
}
