/* report.c -- one report, delivered as configured. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void trouble(void)
{
    struct trail_error err;
    if (trail_report(TRAIL_ERROR, "no oven", NULL, 0, &err))
        fprintf(stderr, "report: %s\n", err.text);
    if (trail_flush(UINT64_MAX, &err)) /* for ever is not at once */
        fprintf(stderr, "flush: %s\n", err.text);
    done = 1;
}

int main(void)
{
    start();
    trouble();
    trail_shutdown();
    return 0;
}
