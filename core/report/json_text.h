/* json_text.h -- text from symbol files as JSON: it is bytes, and may be no UTF-8. */
#ifndef TRAIL_JSON_TEXT_H
#define TRAIL_JSON_TEXT_H

#include <jansson.h>

/* A JSON string; what is no UTF-8 is replaced by U+FFFD. NULL: out of memory. */
json_t *trail_json_text_of(const char *text);
/* An array of the names in `names`, which are separated by newlines. NULL: out of
 * memory. */
json_t *trail_json_names_of(const char *names);

#endif
