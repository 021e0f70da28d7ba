/* three_reports.c -- reports three times, and ends. */
#include "show.h"

int main(void)
{
    start();
    for (int i = 0; i < 3; i++)
        trail_report(TRAIL_ERROR, "again", NULL, 0, NULL);
    trail_shutdown();
    return 0;
}
