/* json_write.c -- writing JSON into a buffer of fixed size. */
#include "core/trace/json_write.h"

#include "core/trace/line_write.h"

void trail_json_init(struct trail_json *json, char *text, size_t room)
{
    *json = (struct trail_json){ .text = text, .room = room };
}

bool trail_json_fits(const struct trail_json *json)
{
    return json->size <= json->room;
}

static void put(struct trail_json *json, const char *bytes, size_t size)
{
    if (json->size <= json->room && size <= json->room - json->size)
        memcpy(json->text + json->size, bytes, size);
    json->size += size;
}

static void put_char(struct trail_json *json, char c)
{
    put(json, &c, 1);
}

static void put_number(struct trail_json *json, uint64_t value, unsigned base)
{
    char digits[24];
    put(json, digits, trail_digits(value, base, digits));
}

size_t trail_utf8_size(const uint8_t *at, size_t left)
{
    static const struct {
        uint8_t mask, lead, size;
        uint32_t least;
    } forms[] = { { 0x80, 0x00, 1, 0 },
                  { 0xe0, 0xc0, 2, 0x80 },
                  { 0xf0, 0xe0, 3, 0x800 },
                  { 0xf8, 0xf0, 4, 0x10000 } };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        if ((at[0] & forms[i].mask) != forms[i].lead)
            continue;
        if (left < forms[i].size)
            return 0;
        uint32_t code = at[0] & (uint8_t)~forms[i].mask;
        for (size_t k = 1; k < forms[i].size; k++) {
            if ((at[k] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (at[k] & 0x3f);
        }
        bool surrogate = code >= 0xd800 && code < 0xe000;
        return code < forms[i].least || code > 0x10ffff || surrogate ? 0
                                                                     : forms[i].size;
    }
    return 0;
}

static void put_control(struct trail_json *json, uint8_t c)
{
    put(json, "\\u00", 4);
    put_char(json, "0123456789abcdef"[c >> 4]);
    put_char(json, "0123456789abcdef"[c & 15]);
}

/* The inside of a string; false if some bytes had to be replaced. */
static bool put_escaped(struct trail_json *json, struct trail_text text)
{
    const uint8_t *bytes = (const uint8_t *)text.data;
    bool clean = true;
    for (size_t i = 0; i < text.size;) {
        size_t size = trail_utf8_size(bytes + i, text.size - i);
        if (size == 0) {
            put(json, "\xef\xbf\xbd", 3);
            clean = false;
            size = 1;
        } else if (bytes[i] < 0x20) {
            put_control(json, bytes[i]);
        } else {
            if (bytes[i] == '"' || bytes[i] == '\\')
                put_char(json, '\\');
            put(json, text.data + i, size);
        }
        i += size;
    }
    return clean;
}

static void put_key(struct trail_json *json, const char *key, const char *ending)
{
    if (json->comma)
        put_char(json, ',');
    json->comma = true;
    if (!key)
        return;
    put_char(json, '"');
    put_escaped(json, trail_text_of(key));
    put(json, ending, strlen(ending));
    put(json, "\":", 2);
}

void trail_json_open(struct trail_json *json, const char *key, char bracket)
{
    put_key(json, key, "");
    put_char(json, bracket);
    json->comma = false;
}

void trail_json_close(struct trail_json *json, char bracket)
{
    put_char(json, bracket);
    json->comma = true;
}

static void put_hex(struct trail_json *json, const uint8_t *bytes, size_t size)
{
    put_char(json, '"');
    for (size_t i = 0; i < size; i++) {
        put_char(json, "0123456789abcdef"[bytes[i] >> 4]);
        put_char(json, "0123456789abcdef"[bytes[i] & 15]);
    }
    put_char(json, '"');
}

void trail_json_text(struct trail_json *json, const char *key, struct trail_text text)
{
    put_key(json, key, "");
    put_char(json, '"');
    bool clean = put_escaped(json, text);
    put_char(json, '"');
    if (clean || !key)
        return;
    put_key(json, key, "_hex");
    put_hex(json, (const uint8_t *)text.data, text.size);
}

void trail_json_string(struct trail_json *json, const char *key, const char *text)
{
    trail_json_text(json, key, trail_text_of(text));
}

void trail_json_number(struct trail_json *json, const char *key, int64_t value)
{
    put_key(json, key, "");
    if (value < 0)
        put_char(json, '-');
    put_number(json, value < 0 ? 0 - (uint64_t)value : (uint64_t)value, 10);
}

void trail_json_bool(struct trail_json *json, const char *key, bool value)
{
    put_key(json, key, "");
    put(json, value ? "true" : "false", value ? 4 : 5);
}

void trail_json_address(struct trail_json *json, const char *key, uint64_t value)
{
    put_key(json, key, "");
    put(json, "\"0x", 3);
    put_number(json, value, 16);
    put_char(json, '"');
}

void trail_json_decimal(struct trail_json *json, const char *key, uint64_t value)
{
    put_key(json, key, "");
    put_char(json, '"');
    put_number(json, value, 10);
    put_char(json, '"');
}

void trail_json_hex(struct trail_json *json, const char *key, const uint8_t *bytes,
                    size_t size)
{
    put_key(json, key, "");
    put_hex(json, bytes, size);
}

void trail_json_null(struct trail_json *json, const char *key)
{
    put_key(json, key, "");
    put(json, "null", 4);
}
