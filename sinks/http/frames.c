/* frames.c -- see frames.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "frames.h"
#include "image.h"

static void set_module(struct made *frame, const json_t *module)
{
    char address[24];

    if (!module)
        return;
    made_set_text(frame, "package", json_text(module, "path"));
    snprintf(address, sizeof(address), "0x%" PRIx64, image_address(module));
    made_set(frame, "image_addr", json_string(address));
}

static void set_place(struct made *made, const json_t *frame)
{
    const char *file = json_text(frame, "file"), *directory = json_text(frame, "dir");
    json_t *line = json_object_get(frame, "line");
    json_t *column = json_object_get(frame, "column");

    made_set_text(made, "filename", file);
    if (*file == '/' || (*file && !*directory))
        made_set(made, "abs_path", json_string(file));
    else if (*file)
        made_set(made, "abs_path", json_sprintf("%s/%s", directory, file));
    if (json_is_integer(line))
        made_set(made, "lineno", json_incref(line));
    if (json_is_integer(column))
        made_set(made, "colno", json_incref(column));
}

static json_t *make_frame(const json_t *frame, const json_t *modules)
{
    const char *function = json_text(frame, "function");
    bool inlined = json_is_true(json_object_get(frame, "inlined"));
    struct made made = { .json = json_object() };

    if (!inlined)
        made_set_text(&made, "instruction_addr", json_text(frame, "address"));
    set_module(&made, json_pointed(frame, "module", modules));
    made_set_text(&made, "symbol_addr", json_text(frame, "symbol"));
    made_set_text(&made, "function", function);
    made_set_text(&made, "raw_function", json_text(frame, "linkage"));
    made_set_text(&made, "trust", json_text(frame, "trust"));
    made_set(&made, "in_app",
             json_boolean(json_is_true(json_object_get(frame, "in_app"))));
    set_place(&made, frame);
    if (*function)
        made_set(&made, "data",
                 json_pack("{s:s}", "symbolicator_status", "symbolicated"));
    return made_whole(&made);
}

static void append_frames(struct made *list, const json_t *frames,
                          const json_t *modules)
{
    for (size_t i = json_array_size(frames); i-- > 0;) {
        const json_t *frame = json_array_get(frames, i);
        if (!json_object_get(frame, "hidden"))
            made_append(list, make_frame(frame, modules));
    }
}

/* The module around an address; a raw trace has no index for it. */
static const json_t *module_at(const json_t *modules, uint64_t address)
{
    for (size_t i = 0; i < json_array_size(modules); i++) {
        const json_t *module = json_array_get(modules, i);
        const json_t *ranges = json_object_get(module, "ranges");
        for (size_t k = 0; k < json_array_size(ranges); k++) {
            const json_t *range = json_array_get(ranges, k);
            if (address >= address_of(json_array_get(range, 0)) &&
                address < address_of(json_array_get(range, 1)))
                return module;
        }
    }
    return NULL;
}

static void append_addresses(struct made *list, const json_t *addresses,
                             const json_t *modules)
{
    for (size_t i = json_array_size(addresses); i-- > 0;) {
        const json_t *address = json_array_get(addresses, i);
        struct made made = { .json = json_object() };
        if (!json_is_string(address))
            continue;
        made_set_text(&made, "instruction_addr", json_string_value(address));
        set_module(&made, module_at(modules, address_of(address)));
        made_append(list, made_whole(&made));
    }
}

/* The report's thread with the same number. */
static const json_t *resolved_thread(const struct event *event, const json_t *thread)
{
    const json_t *threads = json_object_get(event->whole, "threads");
    const json_t *tid = json_object_get(thread, "tid");

    if (event->trace == event->whole)
        return NULL;
    for (size_t i = 0; i < json_array_size(threads); i++)
        if (json_equal(json_object_get(json_array_get(threads, i), "tid"), tid))
            return json_array_get(threads, i);
    return NULL;
}

json_t *frames_make(const struct event *event, const json_t *thread)
{
    const json_t *modules = json_object_get(event->trace, "modules");
    const json_t *frames = json_object_get(resolved_thread(event, thread), "frames");
    json_t *registers = json_object_get(thread, "registers");
    struct made list = { .json = json_array() };
    struct made stack = { .json = json_object() };

    if (json_array_size(frames))
        append_frames(&list, frames, modules);
    else
        append_addresses(&list, json_object_get(thread, "pcs"), modules);
    made_set(&stack, "frames", made_whole(&list));
    if (registers)
        made_set(&stack, "registers", json_incref(registers));
    return made_whole(&stack);
}
