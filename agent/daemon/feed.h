/* feed.h -- raw traces and reports that come as lines: over a Unix socket, where the
 * kernel says who sends them, and from standard input.
 *
 * A client of the socket gets a line for each of its own, in their order:
 *
 *     {"id":"5f0c...","fate":"taken"}     taken, repeated, counted, rejected, later
 *
 * One that does not read them gets no more once the socket is full, and may go on.
 */
#ifndef TRAIL_AGENT_FEED_H
#define TRAIL_AGENT_FEED_H

#include "agent/daemon/intake.h"

struct feed;

/* `path` NULL: no socket; `mode`: of the socket. */
enum trail_status feed_start(const char *path, unsigned mode, bool with_stdin,
                             struct intake *intake, struct feed **feed_ret,
                             struct trail_error *err);
/* Take what has come in whole, then close all. NULL is fine. */
void feed_stop(struct feed *feed);

#endif
