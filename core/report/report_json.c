/* report_json.c -- a report as JSON, in the shape of docs/wire.md. */
#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/report/json_text.h"
#include "core/report/report.h"
#include "core/trace/wire.h"

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, trail_json_text_of(text));
}

static void set_address(json_t *object, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    json_object_set_new(object, key, json_string(text));
}

static void set_index(json_t *object, const char *key, size_t index)
{
    if (index != TRAIL_NO_INDEX)
        json_object_set_new(object, key, json_integer((json_int_t)index));
}

static const char *kind_word(uint8_t kind)
{
    switch (kind) {
    case TRAIL_PC_CURRENT:
        return "interrupted";
    case TRAIL_PC_TRAMPOLINE:
        return "signal";
    case TRAIL_PC_CONTINUATION:
        return "continuation";
    default:
        return "return";
    }
}

static const char *trust_word(uint8_t trust)
{
    switch (trust) {
    case TRAIL_TRUST_CONTEXT:
        return "context";
    case TRAIL_TRUST_FP:
        return "fp";
    case TRAIL_TRUST_SCAN:
        return "scan";
    default:
        return "cfi";
    }
}

/* How one gets from this frame to the next: a return stack, not a call stack. */
static const char *edge_word(const struct trail_resolved_thread *thread, size_t at)
{
    const struct trail_frame *frame = &thread->frames[at].frame;
    if (frame->inlined)
        return "inlined";
    if (at + 1 == thread->frame_count && !thread->thread->truncated)
        return "base";
    return frame->kind == TRAIL_PC_TRAMPOLINE ? "signal" : "return";
}

static json_t *frame_json(const struct trail_resolved_thread *thread, size_t at)
{
    const struct trail_resolved_frame *resolved = &thread->frames[at];
    const struct trail_frame *frame = &resolved->frame;
    json_t *object = json_object();

    json_object_set_new(object, "n", json_integer(frame->index));
    if (frame->inlined || frame->inline_index)
        json_object_set_new(object, "inline", json_integer(frame->inline_index));
    set_address(object, "address", frame->address);
    json_object_set_new(object, "kind", json_string(kind_word(frame->kind)));
    json_object_set_new(object, "edge", json_string(edge_word(thread, at)));
    json_object_set_new(object, "trust", json_string(trust_word(frame->trust)));
    set_index(object, "module", resolved->image);
    if (resolved->image != TRAIL_NO_INDEX)
        set_address(object, "offset", frame->offset);
    set_text(object, "function", frame->function);
    set_text(object, "linkage", frame->linkage);
    if (frame->symbol_start)
        set_address(object, "symbol", frame->symbol_start);
    if (resolved->symbol_size)
        json_object_set_new(object, "symbol_size",
                            json_integer((json_int_t)resolved->symbol_size));
    set_text(object, "symbol_name", frame->symbol);
    if (frame->aka[0])
        json_object_set_new(object, "aka", trail_json_names_of(frame->aka));
    set_text(object, "file", frame->file);
    set_text(object, "dir", frame->directory);
    if (frame->line)
        json_object_set_new(object, "line", json_integer(frame->line));
    if (frame->column)
        json_object_set_new(object, "column", json_integer(frame->column));
    if (frame->inlined)
        json_object_set_new(object, "inlined", json_true());
    if (frame->in_app)
        json_object_set_new(object, "in_app", json_true());
    set_text(object, "hidden", frame->hidden);
    set_index(object, "answer", resolved->answer);
    set_index(object, "gap", resolved->gap);
    return object;
}

static json_t *thread_json(const struct trail_resolved_thread *thread)
{
    json_t *object = json_object(), *frames = json_array();
    json_object_set_new(object, "tid", json_integer(thread->thread->tid));
    set_text(object, "name", thread->thread->name);
    if (thread->thread->crashed)
        json_object_set_new(object, "crashed", json_true());
    if (thread->thread->truncated)
        set_text(object, "truncated", thread->thread->end);
    for (size_t i = 0; i < thread->frame_count; i++)
        json_array_append_new(frames, frame_json(thread, i));
    json_object_set_new(object, "frames", frames);
    return object;
}

static json_t *answer_json(const struct trail_resolved_answer *answer)
{
    json_t *object = json_object();
    set_text(object, "plugin", answer->plugin->name);
    set_text(object, "version", answer->plugin->release);
    if (answer->plugin->hash[0])
        json_object_set_new(object, "plugin_id",
                            json_stringn(answer->plugin->hash, 16));
    set_index(object, "module", answer->image);
    set_text(object, "route", trail_route_name(answer->route));
    set_text(object, "file", answer->source);
    set_text(object, "by", answer->rank == 3 ? "debug-info" : "symtab");
    if (answer->rank == 1)
        set_text(object, "quality", "nearest-symbol");
    return object;
}

static json_t *gap_json(const struct trail_resolved_gap *gap)
{
    json_t *object = json_object();
    set_index(object, "module", gap->image);
    set_text(object, "reason", gap->gap.reason);
    set_text(object, "detail", gap->gap.detail);
    set_text(object, "want", gap->gap.want);
    set_text(object, "remedy", gap->gap.remedy);
    return object;
}

static json_t *fingerprint_json(const struct trail_resolved *resolved)
{
    char exact[17], group[17];
    json_t *object = json_object(), *from = json_array();
    const struct trail_resolved_thread *thread = trail_report_subject(resolved);

    trail_fingerprints(resolved, exact, group);
    for (size_t i = 0; thread && i < thread->frame_count; i++) {
        const struct trail_frame *frame = &thread->frames[i].frame;
        if (frame->in_app && frame->function[0] && !frame->hidden[0] &&
            json_array_size(from) < 8)
            json_array_append_new(from, trail_json_text_of(frame->function));
    }
    json_object_set_new(object, "exact", json_string(exact));
    json_object_set_new(object, "group", json_string(group));
    json_object_set_new(object, "from", from);
    return object;
}

static json_t *resolver_json(void)
{
    struct trail_os_process self;
    json_t *object = json_object();
    trail_os_process_self(&self);
    set_text(object, "name", "backtrail");
    set_text(object, "version", TRAIL_VERSION);
    set_text(object, "host", self.host);
    return object;
}

static json_t *report_json(const struct trail_resolved *resolved)
{
    const struct trail_trace *trace = resolved->trace;
    char now[24];
    json_t *object = json_object();
    json_t *answers = json_array(), *gaps = json_array(), *threads = json_array();

    snprintf(now, sizeof(now), "%" PRIu64, trail_os_time_ns());
    json_object_set_new(object, "backtrail", json_integer(TRAIL_WIRE_VERSION));
    json_object_set_new(object, "kind", json_string("report"));
    set_text(object, "id", trace->id);
    json_object_set_new(object, "revision", json_integer(trace->revision + 1));
    json_object_set_new(object, "resolved_ns", json_string(now));
    json_object_set(object, "trace", trace->raw);
    json_object_set_new(object, "resolver", resolver_json());
    for (size_t i = 0; i < resolved->answer_count; i++)
        json_array_append_new(answers, answer_json(&resolved->answers[i]));
    json_object_set_new(object, "answers", answers);
    for (size_t i = 0; i < resolved->gap_count; i++)
        json_array_append_new(gaps, gap_json(&resolved->gaps[i]));
    json_object_set_new(object, "gaps", gaps);
    for (size_t i = 0; i < resolved->thread_count; i++)
        json_array_append_new(threads, thread_json(&resolved->threads[i]));
    json_object_set_new(object, "threads", threads);
    json_object_set_new(object, "fingerprint", fingerprint_json(resolved));
    if (trace->report) /* what another version or a server has added to it */
        json_object_update_missing(object, trace->report);
    return object;
}

enum trail_status trail_report_json(const struct trail_resolved *resolved,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    json_t *object = report_json(resolved);
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    *text_ret = text;
    *size_ret = strlen(text);
    return TRAIL_OK;
}
