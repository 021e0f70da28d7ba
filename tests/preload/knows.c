/* knows.c -- a program that records its own crashes, and says what it works on. */
#include "backtrail/crash.h"

int main(int argc, char **argv)
{
    const struct trail_crash_options options = { .size = sizeof(options),
                                                 .flags = TRAIL_CRASH_QUIET,
                                                 .app_name = "orders",
                                                 .app_version = "2.3.1" };
    (void)argv;
    trail_crash_install(&options, NULL);
    trail_attribute_set("region", "eu");
    trail_thread_attribute_set("queue", "eu-1");
    trail_breadcrumb("GET /orders/17");
    trail_trace_context_set("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
    if (argc > 1)
        trail_crash_message_set(argv[1]);
    *(volatile int *)0 = 1; /* NOLINT */
    return 0;
}
