/* panic.c -- gives up. */
#include "show.h"

static volatile int done;

OUT_OF_LINE static void give_up(int answer)
{
    if (answer)
        trail_panic("the answer is %d", answer);
    done = answer;
}

int main(void)
{
    start();
    give_up(42);
    return 0;
}
