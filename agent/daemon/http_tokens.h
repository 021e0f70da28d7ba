/* http_tokens.h -- the bearer tokens that let requests in: a file, a token a line;
 * lines that begin with # are comments.
 */
#ifndef TRAIL_AGENT_HTTP_TOKENS_H
#define TRAIL_AGENT_HTTP_TOKENS_H

#include <stdbool.h>

#include "backtrail/base.h"

#define HTTP_TOKEN_SIZE  256
#define HTTP_TOKEN_LIMIT 1024
#define HTTP_TOKEN_LEAST 16 /* characters: a shorter one could be guessed */

struct http_tokens;

/* `path` NULL: none are needed, *tokens_ret is NULL. A file that others can read is
 * refused. */
enum trail_status http_tokens_read(const char *path, struct http_tokens **tokens_ret,
                                   struct trail_error *err);
void http_tokens_destroy(struct http_tokens *tokens); /* NULL is fine */

/* Whether `header`, what stands after "Authorization:", bears one of them. Takes the
 * same time whichever it is. NULL tokens: true. */
bool http_tokens_let_in(const struct http_tokens *tokens, const char *header);

#endif
