/* show.h -- what the programs of these tests share. */
#ifndef LIVE_SHOW_H
#define LIVE_SHOW_H

#include "backtrail/backtrail.h"

#include <stdlib.h>

/* A function of its own in any build. A write to a volatile after a call keeps that
 * call from being turned into a jump. */
#define OUT_OF_LINE __attribute__((noinline))

/* Print the stack to standard output. */
static inline void show(const struct trail_backtrace *backtrace, unsigned flags)
{
    char *text = trail_to_string(backtrace, flags);
    fputs(text ? text : "(no text)\n", stdout);
    fflush(stdout);
    free(text);
}

/* Write the stack to standard output as a raw trace. */
static inline void show_raw(const struct trail_backtrace *backtrace,
                            const char *message)
{
    struct trail_event event;
    struct trail_error err = { "" };
    memset(&event, 0, sizeof(event));
    event.size = sizeof(event);
    event.message = message;
    event.backtrace = backtrace;
    fflush(stdout);
    if (trail_trace_write(&event, 1, &err))
        fprintf(stderr, "trace: %s\n", err.text);
}

/* Set up from $BACKTRAIL_CONFIG, or end. */
static inline void start(void)
{
    struct trail_error err;
    if (trail_init(NULL, &err) == TRAIL_OK)
        return;
    fprintf(stderr, "init: %s\n", err.text);
    exit(1);
}

static inline const char *yes_no(bool answer)
{
    return answer ? "yes" : "no";
}

#endif
