/* missing_text.c -- what should be in a trace and is not, a note a line. */
#include "core/report/missing_text.h"

#include "core/report/paint.h"

void trail_note_add(struct trail_text_buffer *out, const struct trail_text_style *style)
{
    trail_paint_begin(out, style, TRAIL_PAINT_WARN);
    trail_text_buffer_add(out, "note:", 5);
    trail_paint_end(out, style);
    trail_text_buffer_add(out, " ", 1);
}

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static void add_number(struct trail_text_buffer *out, const char *before,
                       const json_t *number, const char *after)
{
    if (json_is_integer(number))
        trail_text_buffer_format(out, "%s %lld%s", before,
                                 (long long)json_integer_value(number), after);
}

/* "missing: thread 4261 "worker": no answer in time". */
static void add_row(struct trail_text_buffer *out, const json_t *row)
{
    const char *name = text_of(row, "name");
    trail_text_buffer_add(out, "missing: ", 9);
    trail_text_buffer_add_clean(out, text_of(row, "what"));
    add_number(out, "", json_object_get(row, "tid"), "");
    add_number(out, ",", json_object_get(row, "count"), " of them");
    if (name[0])
        trail_text_buffer_add(out, " \"", 2);
    trail_text_buffer_add_clean(out, name);
    if (name[0])
        trail_text_buffer_add(out, "\"", 1);
    trail_text_buffer_add(out, ": ", 2);
    trail_text_buffer_add_clean(out, text_of(row, "reason"));
    trail_text_buffer_add(out, "\n", 1);
}

void trail_missing_add(struct trail_text_buffer *out,
                       const struct trail_text_style *style,
                       const struct trail_trace *trace)
{
    const json_t *missing = json_object_get(trace->raw, "missing");
    if (json_is_true(json_object_get(trace->raw, "cut"))) {
        trail_note_add(out, style);
        trail_text_buffer_format(out, "the trace was cut off while it was written\n");
    }
    for (size_t i = 0; i < json_array_size(missing); i++) {
        trail_note_add(out, style);
        add_row(out, json_array_get(missing, i));
    }
}
