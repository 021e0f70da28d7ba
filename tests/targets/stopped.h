/* stopped.h -- child processes of known stacks that are held by ptrace. */
#ifndef TRAIL_TEST_STOPPED_H
#define TRAIL_TEST_STOPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define STOPPED_DEPTH   20
#define STOPPED_FRAMES  (STOPPED_DEPTH + 1) /* of stack_deep, for that depth */
#define STOPPED_THREADS 3                   /* that a child has */

/* A child whose threads all wait in the kernel, each below STOPPED_DEPTH frames of
 * stack_deep. Nobody holds it yet. */
struct stopped {
    pid_t pid;
    int64_t tids[STOPPED_THREADS]; /* the first is the main one */
    int over[2];                   /* a pipe that it waits for */
};
void stopped_start(struct stopped *stopped);
/* Hold all of it; skips the test where that is not permitted. */
void stopped_hold(const struct stopped *stopped);
void stopped_end(struct stopped *stopped);

#endif
