/* element.c -- reading elements of symbolizer markup. */
#include "agent/log/element.h"

static bool whole(struct log_cursor cursor)
{
    return cursor.at == cursor.end;
}

/* %p: zeros, or 0x and hexadecimal digits. */
static bool address_of(struct trail_text field, uint64_t *value_ret)
{
    struct log_cursor cursor = log_cursor_of(field);
    if (log_take_0x(&cursor, value_ret))
        return whole(cursor);
    return field.size && log_take_hex(&cursor, value_ret) && whole(cursor) &&
           *value_ret == 0;
}

static bool decimal_of(struct trail_text field, uint64_t *value_ret)
{
    struct log_cursor cursor = log_cursor_of(field);
    return log_take_decimal(&cursor, value_ret) && whole(cursor);
}

/* %i: hexadecimal behind 0x, octal behind 0, else decimal. */
static bool integer_of(struct trail_text field, uint64_t *value_ret)
{
    struct log_cursor cursor = log_cursor_of(field);
    uint64_t value = 0;
    if (log_take_0x(&cursor, value_ret))
        return whole(cursor);
    if (field.size < 2 || field.data[0] != '0')
        return decimal_of(field, value_ret);
    if (field.size > 21)
        return false;
    for (size_t i = 1; i < field.size; i++) {
        if (field.data[i] < '0' || field.data[i] > '7')
            return false;
        value = value << 3 | (uint64_t)(field.data[i] - '0');
    }
    *value_ret = value;
    return true;
}

/* r, w and x, in that order and in either case, one of them at least. */
static bool mode_of(struct trail_text field, char *mode_ret)
{
    size_t at = 0, size = 0;
    for (const char *letter = "rwx"; *letter; letter++)
        if (at < field.size && (field.data[at] | 32) == *letter) {
            mode_ret[size++] = *letter;
            at++;
        }
    mode_ret[size] = 0;
    return size && at == field.size;
}

static bool kind_of(const struct log_element *element, size_t index, bool *returns_ret)
{
    if (element->field_count <= index)
        return true;
    *returns_ret = log_is(element->fields[index], "ra");
    return *returns_ret || log_is(element->fields[index], "pc");
}

static bool read_context(struct log_element *element)
{
    const struct trail_text *field = element->fields;
    if (element->tag == LOG_TAG_RESET)
        return true;
    if (element->tag == LOG_TAG_MODULE) {
        if (element->field_count < 4 || !integer_of(field[0], &element->number) ||
            !log_is(field[2], "elf"))
            return false;
        element->text = field[1];
        element->id_size = log_bytes_of_hex(field[3], element->id, sizeof(element->id));
        return element->id_size > 0 || field[3].size == 0;
    }
    return element->field_count >= 6 && address_of(field[0], &element->address) &&
           integer_of(field[1], &element->size) && log_is(field[2], "load") &&
           integer_of(field[3], &element->number) && mode_of(field[4], element->mode) &&
           address_of(field[5], &element->link);
}

static bool read_fields(struct log_element *element)
{
    const struct trail_text *field = element->fields;
    switch (element->tag) {
    case LOG_TAG_BT:
        element->returns = true;
        return element->field_count >= 2 && decimal_of(field[0], &element->number) &&
               address_of(field[1], &element->address) &&
               kind_of(element, 2, &element->returns);
    case LOG_TAG_PC:
        return element->field_count >= 1 && address_of(field[0], &element->address) &&
               kind_of(element, 1, &element->returns);
    case LOG_TAG_SYMBOL:
        element->text = field[0];
        return element->field_count == 1;
    case LOG_TAG_DATA:
        return element->field_count == 1 && address_of(field[0], &element->address);
    default:
        return read_context(element);
    }
}

/* Tag and fields of what stands between the braces. */
static bool read_content(struct trail_text content, struct log_element *element)
{
    static const char *const tags[] = { "",   "reset", "module", "mmap",
                                        "bt", "pc",    "symbol", "data" };
    const char *colon = memchr(content.data, ':', content.size);
    size_t size = colon ? (size_t)(colon - content.data) : content.size;
    element->tag_text = log_part(content, 0, size);
    for (enum log_tag tag = LOG_TAG_RESET; tag <= LOG_TAG_DATA; tag++)
        if (log_is(element->tag_text, tags[tag]))
            element->tag = tag;
    if (!element->tag)
        return false;
    while (size < content.size) {
        size_t end = log_find(content, size + 1, ":");
        if (end == SIZE_MAX)
            end = content.size;
        if (element->field_count == LOG_ELEMENT_FIELDS)
            return false;
        element->fields[element->field_count++] = log_part(content, size + 1, end);
        size = end;
    }
    return read_fields(element);
}

bool log_element_next(struct trail_text text, size_t from,
                      struct log_element *element_ret)
{
    for (;;) {
        size_t open = log_find(text, from, "{{{");
        size_t close = open == SIZE_MAX ? SIZE_MAX : log_find(text, open + 3, "}}}");
        if (close == SIZE_MAX)
            return false;
        /* Braces that open nothing may stand before those that do. */
        open = log_find_last(text, close, "{{{");
        struct log_element element = { .start = open, .end = close + 3 };
        if (read_content(log_part(text, open + 3, close), &element)) {
            *element_ret = element;
            return true;
        }
        from = close;
    }
}
