/* signal_text.c -- what signal a process died of, in the title of its report. */
#include "core/report/signal_text.h"

#include <inttypes.h>

/* A member as text; "" if it is none. */
static const char *text_of(const json_t *signal, const char *key)
{
    const char *text = json_string_value(json_object_get(signal, key));
    return text ? text : "";
}

static void add_parted(struct trail_text_buffer *out, const char *before,
                       const char *text, const char *after)
{
    if (!text[0])
        return;
    trail_text_buffer_add(out, before, strlen(before));
    trail_text_buffer_add_clean(out, text);
    trail_text_buffer_add(out, after, strlen(after));
}

void trail_signal_add(struct trail_text_buffer *out, const struct trail_trace *trace)
{
    const json_t *signal = json_object_get(trace->raw, "signal");
    const char *name = text_of(signal, "name"), *access = text_of(signal, "access");
    uint64_t address = 0;
    if (!name[0])
        return;
    add_parted(out, ": ", name, "");
    add_parted(out, " (", text_of(signal, "code_name"), ")");
    add_parted(out, ", ", access, "");
    if (trail_json_number_of(json_object_get(signal, "address"), &address))
        trail_text_buffer_format(out, "%s 0x%" PRIx64, access[0] ? " of" : " at",
                                 address);
    add_parted(out, ": ", text_of(signal, "meaning"), "");
}
