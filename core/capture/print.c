/* print.c -- trail_print of libbacktrail-capture, which has no symbols to print. */
#include "core/trace/markup_write.h"

TRAIL_OWN_CODE
void trail_print(void)
{
    struct trail_backtrace backtrace = { 0 };
    trail_capture(&backtrace);
    trail_markup_print(&backtrace, 0);
}
