/* rejected.h -- what could not be used, kept for a person to look at: files in a
 * directory, the oldest of which go when there are too many.
 *
 *     <state>/rejected/<time_ns>-<number>
 *
 * The first line is JSON: why, source, name, uid, size; the bytes follow, cut at 1 MiB.
 */
#ifndef TRAIL_AGENT_REJECTED_H
#define TRAIL_AGENT_REJECTED_H

#include "backtrail/base.h"

#define REJECTED_COUNT 256                /* files kept */
#define REJECTED_SIZE  ((size_t)64 << 20) /* bytes kept */
#define REJECTED_SHOWN ((size_t)1 << 20)  /* bytes kept of one */

struct rejected;

enum trail_status rejected_create(const char *directory, struct rejected **rejected_ret,
                                  struct trail_error *err);
void rejected_destroy(struct rejected *rejected); /* NULL is fine */

/* Keep it, if the disk has room; says so on standard error, of many in a minute only
 * the first ones. Threads: safe. */
void rejected_keep(struct rejected *rejected, const char *source, const char *name,
                   uint32_t uid, const void *bytes, size_t size, const char *why);

#endif
