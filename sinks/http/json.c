/* json.c -- see json.h. */
#include "json.h"

void made_append(struct made *array, json_t *value)
{
    if (json_array_append_new(array->json, value))
        array->failed = true;
}

void made_set(struct made *object, const char *key, json_t *value)
{
    if (json_object_set_new(object->json, key, value))
        object->failed = true;
}

void made_set_text(struct made *object, const char *key, const char *text)
{
    if (*text)
        made_set(object, key, json_string(text));
}

json_t *made_whole(struct made *made)
{
    if (!made->failed)
        return made->json;
    json_decref(made->json);
    return NULL;
}

static int dump_to_payload(const char *data, size_t size, void *arg)
{
    payload_append(arg, data, size);
    return 0;
}

void made_dump(json_t *json, struct payload *payload)
{
    if (!json || json_dump_callback(json, dump_to_payload, payload, JSON_COMPACT))
        payload->failed = true;
    json_decref(json);
}

const char *json_text(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

const json_t *json_pointed(const json_t *object, const char *name, const json_t *array)
{
    const json_t *index = json_object_get(object, name);

    if (!json_is_integer(index) || json_integer_value(index) < 0)
        return NULL;
    return json_array_get(array, (size_t)json_integer_value(index));
}

bool text_consists_of(const char *text, const char *digits, size_t size)
{
    return strlen(text) == size && strspn(text, digits) == size;
}

void text_mend(char *text)
{
    size_t size = strlen(text);
    size_t lead = size;

    while (lead > 0 && size - lead < 3 &&
           ((unsigned char)text[lead - 1] & 0xc0) == 0x80)
        lead--;
    if (lead == 0)
        return;
    unsigned char first = (unsigned char)text[lead - 1];
    size_t want = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1;
    if (want > size - lead + 1)
        text[lead - 1] = '\0';
}
