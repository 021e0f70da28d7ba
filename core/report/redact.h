/* redact.h -- what does not leave: values of members with telling names, what matches a
 * pattern, and the command line and environment, unless they were asked for; and paths
 * as they are to be seen outside.
 *
 * Works on text that is there already, without reading it into a tree: what is not
 * redacted stays as it was, byte for byte.
 *
 * Threads: a redaction is immutable; use it from several at once.
 */
#ifndef TRAIL_REDACT_H
#define TRAIL_REDACT_H

#include <stdbool.h>
#include "backtrail/base.h"

/* What stands in the place of what was taken out. */
#define TRAIL_REDACTED "***"

/* Lists end with NULL, or are NULL. */
struct trail_redact_rules {
    /* Globs, of which case does not matter: an attribute of such a name is masked.
     * These come besides the usual ones, such as *password* and *token*. */
    char *const *names;
    char *const *patterns; /* extended regular expressions: what matches is masked */
    char *const *paths;    /* "FROM=TO": a path that begins with FROM begins with TO */
    char *const *keep;     /* "arguments", "environment": are not taken out */
};

struct trail_redact;

/* Errors: TRAIL_BAD_INPUT names the rule: "patterns: ...", "paths: ...", "keep: ..." */
enum trail_status trail_redact_create(const struct trail_redact_rules *rules,
                                      struct trail_redact **redact_ret,
                                      struct trail_error *err);
void trail_redact_destroy(struct trail_redact *redact); /* NULL is fine */

/* A line of JSON, a raw trace or a report, without what must not leave. `*text_ret` is
 * the caller's to free, or NULL if nothing was redacted: the line is fine as it is.
 * Where something was taken out or masked is listed in its member "redacted".
 *
 * Errors:   TRAIL_BAD_INPUT: it is no JSON object, or is nested too deeply;
 *           TRAIL_NO_MEMORY. It must not leave then. */
enum trail_status trail_redact_json(const struct trail_redact *redact, const char *text,
                                    size_t size, char **text_ret, size_t *size_ret,
                                    struct trail_error *err);
/* The same of text for people: patterns and paths. */
enum trail_status trail_redact_text(const struct trail_redact *redact, const char *text,
                                    size_t size, char **text_ret, size_t *size_ret,
                                    struct trail_error *err);

#endif
