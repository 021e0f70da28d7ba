/* inbox_read.h -- the agent's side of the inbox: files that producers rename in are
 * read, taken into the record, and removed.
 *
 * Nothing in there is trusted. A file is opened without following links and without
 * waiting, has to be a regular one with a single name, and is read, never mapped; who
 * brought it is its owner. What cannot be used is copied to rejected/ with the reason.
 */
#ifndef TRAIL_AGENT_INBOX_READ_H
#define TRAIL_AGENT_INBOX_READ_H

#include "agent/daemon/intake.h"

struct inbox_read;

/* Watch `path`, and begin with what is there. */
enum trail_status inbox_read_start(const char *path, struct intake *intake,
                                   struct inbox_read **inbox_ret,
                                   struct trail_error *err);
/* End after the file at hand; the others stay for the next agent. NULL is fine. */
void inbox_read_stop(struct inbox_read *inbox);

#endif
