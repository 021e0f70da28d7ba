/* json.h -- JSON that is being made, where a part that memory was short for makes all
 * of it worthless; and reading with mild words for what is not there. */
#ifndef HTTP_JSON_H
#define HTTP_JSON_H

#include <stdbool.h>
#include <jansson.h>

#include "payload.h"

/* An array or an object that is being filled. */
struct made {
    json_t *json;
    bool failed;
};

void made_append(struct made *array, json_t *value);
void made_set(struct made *object, const char *key, json_t *value);
void made_set_text(struct made *object, const char *key, const char *text); /* "": no */
json_t *made_whole(struct made *made); /* it, or NULL if it is not whole */
/* Append it to `payload` in compact form, and let it go; NULL marks the payload. */
void made_dump(json_t *json, struct payload *payload);

/* Member `name` of an object as text; "" if it is not there or something else. */
const char *json_text(const json_t *object, const char *name);
/* Element of an array that member `name` has as its index; NULL if there is none. */
const json_t *json_pointed(const json_t *object, const char *name, const json_t *array);
bool text_consists_of(const char *text, const char *digits, size_t size);
/* Drop the bytes of a character that was cut off at the end of `text`. */
void text_mend(char *text);

#endif
