/* payload.h -- the bytes of one request: a growing buffer, JSON lines, gzip and zstd.
 */
#ifndef HTTP_PAYLOAD_H
#define HTTP_PAYLOAD_H

#include <stdbool.h>

#include "backtrail/sink.h"

/* Append freely, ask once: the first failure sticks. */
struct payload {
    char *data;
    size_t size, capacity; /* bytes */
    bool failed;           /* no memory */
};

void payload_deinit(struct payload *payload);
void payload_append(struct payload *payload, const void *bytes, size_t size);

/* Each record's body on a line of its own. A line break inside JSON is white space and
 * becomes a space, so that one line stays one record. */
void payload_append_lines(struct payload *payload, const struct trail_record *records,
                          size_t count);

/* Replace the bytes by their gzip form. False, with nothing changed, if there is no
 * memory for it: uncompressed is a valid request too. */
bool payload_gzip(struct payload *payload);
bool payload_zstd(struct payload *payload); /* the same with zstd */

#endif
