/* redact_value.h -- the rules of a redaction, applied to one piece of text. */
#ifndef TRAIL_REDACT_VALUE_H
#define TRAIL_REDACT_VALUE_H

#include "core/report/redact.h"
#include "core/report/text_buffer.h"

/* Whether any rule is about what texts say. */
bool trail_redact_reads(const struct trail_redact *redact);
/* Whether the value of an attribute called so is masked. */
bool trail_redact_names(const struct trail_redact *redact, const char *name);
/* Whether a member called so, of a trace or of its process, is taken out. */
bool trail_redact_takes_out(const struct trail_redact *redact, const char *name);
/* Append `text` (terminated, `size` bytes) with patterns masked and paths rewritten;
 * true if that changed it. What cannot be searched for lack of memory is masked whole.
 */
bool trail_redact_value(const struct trail_redact *redact, const char *text,
                        size_t size, struct trail_text_buffer *out);

/* Put what a string between its quotes says in the place of what `out` has; zeros and
 * halves of characters become U+FFFD. */
void trail_redact_unescape(const char *text, size_t size,
                           struct trail_text_buffer *out);

#endif
