/* died.h -- a program is run until it has died, and what it left is read. */
#ifndef TRAIL_TEST_DIED_H
#define TRAIL_TEST_DIED_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/trace/trace_read.h"

struct died {
    char place[64]; /* a directory of its own, removed by died_forget */
    char inbox[80];
    int status;      /* as waitpid gives it; -1: it had to be killed, since it hung */
    char *err, *out; /* what it said */
    size_t trace_count;        /* files in the inbox, whatever they are called */
    char name[64];             /* of one of them */
    struct trail_trace *trace; /* in it; NULL: there is none, or it cannot be read */
};

/* An empty inbox. */
void died_begin(struct died *died);
/* Run crash_dies WAY in it; `prepare` is called in the child before, if it is given. */
void died_run(struct died *died, const char *way, void (*prepare)(struct died *died));
/* Both. */
void die(struct died *died, const char *way);
void died_forget(struct died *died);

/* A text of the trace's "signal"; "" if it is not there. */
const char *died_signal(const struct died *died, const char *key);
/* Index of the first frame of the thread that crashed which lies where crash_dies makes
 * its faults; -1: there is none. */
int died_fault_at(const struct died *died);
/* Whether the trace says that `what` is missing, and "name" of it is `name` (NULL:
 * any). */
bool died_misses(const struct died *died, const char *what, const char *name);

#endif
