/* stack.c -- see stack.h. */
#include <stdlib.h>

#include "json.h"
#include "stack.h"

#define LINE_LIMIT                                                                     \
    1024 /* bytes of one frame's line; C++ names can be longer than that */

const json_t *stack_thread(const json_t *threads)
{
    for (size_t i = 0; i < json_array_size(threads); i++)
        if (json_is_true(json_object_get(json_array_get(threads, i), "crashed")))
            return json_array_get(threads, i);
    return json_array_get(threads, 0);
}

/* What a frame is called when its function is not known: module+offset, or its address.
 */
static void unnamed(const json_t *frame, const json_t *modules, char *name_ret,
                    size_t size)
{
    const char *offset = json_text(frame, "offset");
    const char *path = json_text(json_pointed(frame, "module", modules), "path");

    const char *slash = strrchr(path, '/');
    if (*path && *offset)
        snprintf(name_ret, size, "%s+%s", slash ? slash + 1 : path, offset);
    else
        snprintf(name_ret, size, "%s", json_text(frame, "address"));
}

static void place(const json_t *frame, char *place_ret, size_t size)
{
    const char *file = json_text(frame, "file");
    json_int_t line = json_integer_value(json_object_get(frame, "line"));
    json_int_t column = json_integer_value(json_object_get(frame, "column"));

    place_ret[0] = '\0';
    if (*file && line > 0 && column > 0)
        snprintf(place_ret, size, " at %s:%lld:%lld", file, (long long)line,
                 (long long)column);
    else if (*file && line > 0)
        snprintf(place_ret, size, " at %s:%lld", file, (long long)line);
    else if (*file)
        snprintf(place_ret, size, " at %s", file);
}

static void append_frame(struct payload *text, unsigned number, const json_t *frame,
                         const json_t *modules)
{
    char name[LINE_LIMIT], where[LINE_LIMIT], line[2 * LINE_LIMIT + 64];
    const char *function = json_text(frame, "function");
    bool inlined = json_is_true(json_object_get(frame, "inlined"));

    if (*function)
        snprintf(name, sizeof(name), "%s", function);
    else
        unnamed(frame, modules, name, sizeof(name));
    place(frame, where, sizeof(where));
    text_mend(name);
    text_mend(where);
    int size = snprintf(line, sizeof(line), "%3u: %s%s%s\n", number, name, where,
                        inlined ? " (inlined)" : "");
    if (size > 0 && text->size + (size_t)size <= STACK_TEXT_LIMIT)
        payload_append(text, line, (size_t)size);
}

static void append_frames(struct payload *text, const json_t *frames,
                          const json_t *modules)
{
    unsigned number = 0;

    for (size_t i = 0; i < json_array_size(frames); i++) {
        const json_t *frame = json_array_get(frames, i);
        if (!json_object_get(frame, "hidden"))
            append_frame(text, number++, frame, modules);
    }
}

static void append_addresses(struct payload *text, const json_t *addresses)
{
    char line[LINE_LIMIT];

    for (size_t i = 0; i < json_array_size(addresses); i++) {
        const char *address = json_string_value(json_array_get(addresses, i));
        int size =
            snprintf(line, sizeof(line), "%3zu: %.64s\n", i, address ? address : "");
        if (size > 0 && text->size + (size_t)size <= STACK_TEXT_LIMIT)
            payload_append(text, line, (size_t)size);
    }
}

void stack_append(struct payload *text, const json_t *report)
{
    const json_t *trace = json_object_get(report, "trace");
    const json_t *thread = stack_thread(json_object_get(report, "threads"));
    const json_t *frames = json_object_get(thread, "frames");

    if (!trace)
        trace = report;
    if (json_array_size(frames))
        append_frames(text, frames, json_object_get(trace, "modules"));
    else
        append_addresses(
            text,
            json_object_get(stack_thread(json_object_get(trace, "threads")), "pcs"));
}
