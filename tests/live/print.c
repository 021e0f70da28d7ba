/* print.c -- trail_print. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void tell(void)
{
    trail_print();
    done = 1;
}

int main(void)
{
    tell();
    return 0;
}
