/* text_buffer.h -- text that grows, with an error that sticks: append freely, ask once.
 */
#ifndef TRAIL_TEXT_BUFFER_H
#define TRAIL_TEXT_BUFFER_H

#include <stdbool.h>
#include "backtrail/base.h"

struct trail_text_buffer {
    char *text; /* terminated once anything was added; NULL before */
    size_t size, room;
    bool failed; /* out of memory */
};

void trail_text_buffer_add(struct trail_text_buffer *buffer, const char *bytes,
                           size_t size);
TRAIL_PRINTF(2, 3)
void trail_text_buffer_format(struct trail_text_buffer *buffer, const char *format,
                              ...);
/* Add text of strangers: characters that a terminal obeys, also those that turn the
 * direction of text around, and bytes that are no UTF-8 become "\\x1b" and the like. */
void trail_text_buffer_add_clean(struct trail_text_buffer *buffer, const char *text);
void trail_text_buffer_add_clean_size(struct trail_text_buffer *buffer,
                                      const char *text, size_t size);
/* Columns that UTF-8 text takes on a terminal, each character counted as one. */
size_t trail_text_columns(const char *text);
/* Hand the text over, "" if nothing was added; NULL if memory ran out. */
char *trail_text_buffer_take(struct trail_text_buffer *buffer, size_t *size_ret);

#endif
