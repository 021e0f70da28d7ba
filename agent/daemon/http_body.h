/* http_body.h -- the body of a request: unpacked as it comes, into memory or a file,
 * and no larger than it may be.
 */
#ifndef TRAIL_AGENT_HTTP_BODY_H
#define TRAIL_AGENT_HTTP_BODY_H

#include <stdbool.h>

#include "backtrail/base.h"

struct http_body;

/* `path` NULL: in memory; else a file that is there until the body is destroyed.
 * `limit`: bytes, counted unpacked. */
enum trail_status http_body_create(bool gzip, uint64_t limit, const char *path,
                                   struct http_body **body_ret,
                                   struct trail_error *err);
void http_body_destroy(struct http_body *body); /* NULL is fine */

/* Errors: TRAIL_REFUSED: it is too large; TRAIL_BAD_INPUT: it is no gzip; TRAIL_IO,
 * TRAIL_NO_MEMORY. Once it has failed it takes no more, and answers the same. */
enum trail_status http_body_add(struct http_body *body, const char *bytes, size_t size,
                                struct trail_error *err);
/* That was all. TRAIL_BAD_INPUT: the packed bytes end too early. The bytes are NULL of
 * one in a file, and lent. */
enum trail_status http_body_end(struct http_body *body, const char **bytes_ret,
                                size_t *size_ret, struct trail_error *err);

#endif
