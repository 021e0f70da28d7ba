/* json_write.h -- writing JSON into a buffer of fixed size, where a JSON library cannot
 * go: libbacktrail-capture needs nothing but libc. Reading is jansson's.
 *
 * Nothing allocates; all of it is async-signal-safe. Writing past the end is counted,
 * not done, so that the caller can come again with more room.
 */
#ifndef TRAIL_JSON_WRITE_H
#define TRAIL_JSON_WRITE_H

#include <stdbool.h>
#include "backtrail/base.h"

struct trail_json {
    char *text;
    size_t size, room; /* size counts what was wanted, also beyond room */
    bool comma;        /* the next element needs one before it */
};

/* Bytes of the UTF-8 sequence at `at`, or 0 if it is none (RFC 3629: no surrogates, no
 * overlong forms, nothing above U+10FFFF). */
size_t trail_utf8_size(const uint8_t *at, size_t left);

void trail_json_init(struct trail_json *json, char *text, size_t room);
/* What fits is whole; false: the buffer was too small. */
bool trail_json_fits(const struct trail_json *json);

/* Begin an object or array: '{' or '['; `key` NULL within an array. */
void trail_json_open(struct trail_json *json, const char *key, char bracket);
void trail_json_close(struct trail_json *json, char bracket);

/* Bytes that are no UTF-8 become U+FFFD; then `key`_hex follows with all of them. */
void trail_json_text(struct trail_json *json, const char *key, struct trail_text text);
void trail_json_string(struct trail_json *json, const char *key, const char *text);
void trail_json_number(struct trail_json *json, const char *key, int64_t value);
void trail_json_bool(struct trail_json *json, const char *key, bool value);
/* "0x" and lower-case hex in quotes: anything that can pass 2^53 travels so. */
void trail_json_address(struct trail_json *json, const char *key, uint64_t value);
/* Decimal in quotes: nanoseconds. */
void trail_json_decimal(struct trail_json *json, const char *key, uint64_t value);
void trail_json_hex(struct trail_json *json, const char *key, const uint8_t *bytes,
                    size_t size);
void trail_json_null(struct trail_json *json, const char *key);

#endif
