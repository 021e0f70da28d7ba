/* report_json.c -- a report as JSON, in the shape of docs/wire.md. */
#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "core/report/json_text.h"
#include "core/report/report.h"
#include "core/report/text_buffer.h"
#include "core/trace/wire.h"

/* Jansson says at each step whether there was memory for it; what lacks a part is no
 * report. */
struct making {
    bool failed;
};

static void put(struct making *made, json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value))
        made->failed = true;
}

static void add(struct making *made, json_t *array, json_t *value)
{
    if (json_array_append_new(array, value))
        made->failed = true;
}

static void set_text(struct making *made, json_t *object, const char *key,
                     const char *text)
{
    if (text[0])
        put(made, object, key, trail_json_text_of(text));
}

static void set_address(struct making *made, json_t *object, const char *key,
                        uint64_t address)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    put(made, object, key, json_string(text));
}

static void set_index(struct making *made, json_t *object, const char *key,
                      size_t index)
{
    if (index != TRAIL_NO_INDEX)
        put(made, object, key, json_integer((json_int_t)index));
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
    if (frame->tail_gap)
        return "tail_gap";
    if (at + 1 == thread->frame_count && !thread->thread->truncated)
        return "base";
    return frame->kind == TRAIL_PC_TRAMPOLINE ? "signal" : "return";
}

/* What was captured. */
static void put_captured(struct making *made, json_t *object,
                         const struct trail_frame *frame, const char *edge)
{
    put(made, object, "n", json_integer(frame->index));
    if (frame->inlined || frame->inline_index)
        put(made, object, "inline", json_integer(frame->inline_index));
    set_address(made, object, "address", frame->address);
    put(made, object, "kind", json_string(kind_word(frame->kind)));
    put(made, object, "edge", json_string(edge));
    put(made, object, "trust", json_string(trust_word(frame->trust)));
    if (frame->landing)
        put(made, object, "landing", json_true());
}

/* What was not, and has neither number nor address, so that nobody mistakes it. */
static void put_reconstructed(struct making *made, json_t *object, const char *edge)
{
    put(made, object, "reconstructed", json_string("tail-call"));
    put(made, object, "certain", json_true());
    put(made, object, "edge", json_string(edge));
}

static void put_symbol(struct making *made, json_t *object,
                       const struct trail_resolved_frame *resolved)
{
    const struct trail_frame *frame = &resolved->frame;
    set_text(made, object, "function", frame->function);
    set_text(made, object, "linkage", frame->linkage);
    if (frame->symbol_start)
        set_address(made, object, "symbol", frame->symbol_start);
    if (resolved->symbol_size)
        put(made, object, "symbol_size",
            json_integer((json_int_t)resolved->symbol_size));
    set_text(made, object, "symbol_name", frame->symbol);
    if (frame->aka[0])
        put(made, object, "aka", trail_json_names_of(frame->aka));
    set_text(made, object, "file", frame->file);
    set_text(made, object, "dir", frame->directory);
    if (frame->line)
        put(made, object, "line", json_integer(frame->line));
    if (frame->column)
        put(made, object, "column", json_integer(frame->column));
}

static json_t *frame_json(struct making *made,
                          const struct trail_resolved_thread *thread, size_t at)
{
    const struct trail_resolved_frame *resolved = &thread->frames[at];
    const struct trail_frame *frame = &resolved->frame;
    json_t *object = json_object();

    if (frame->reconstructed)
        put_reconstructed(made, object, edge_word(thread, at));
    else
        put_captured(made, object, frame, edge_word(thread, at));
    set_index(made, object, "module", resolved->image);
    if (resolved->image != TRAIL_NO_INDEX && !frame->reconstructed)
        set_address(made, object, "offset", frame->offset);
    put_symbol(made, object, resolved);
    if (frame->inlined)
        put(made, object, "inlined", json_true());
    if (frame->in_app)
        put(made, object, "in_app", json_true());
    set_text(made, object, "hidden", frame->hidden);
    set_index(made, object, "answer", resolved->answer);
    set_index(made, object, "gap", resolved->gap);
    return object;
}

static json_t *thread_json(struct making *made,
                           const struct trail_resolved_thread *thread)
{
    json_t *object = json_object(), *frames = json_array();
    put(made, object, "tid", json_integer(thread->thread->tid));
    set_text(made, object, "name", thread->thread->name);
    if (thread->thread->crashed)
        put(made, object, "crashed", json_true());
    if (thread->thread->truncated)
        set_text(made, object, "truncated", thread->thread->end);
    for (size_t i = 0; i < thread->frame_count; i++)
        add(made, frames, frame_json(made, thread, i));
    put(made, object, "frames", frames);
    return object;
}

static json_t *answer_json(struct making *made,
                           const struct trail_resolved_answer *answer)
{
    json_t *object = json_object();
    set_text(made, object, "plugin", answer->plugin->name);
    set_text(made, object, "version", answer->plugin->release);
    if (answer->plugin->hash[0])
        put(made, object, "plugin_id", json_stringn(answer->plugin->hash, 16));
    set_index(made, object, "module", answer->image);
    set_text(made, object, "route", trail_route_name(answer->route));
    set_text(made, object, "file", answer->source);
    set_text(made, object, "by", answer->rank == 3 ? "debug-info" : "symtab");
    if (answer->rank == 1)
        set_text(made, object, "quality", "nearest-symbol");
    return object;
}

static json_t *gap_json(struct making *made, const struct trail_resolved_gap *gap)
{
    json_t *object = json_object();
    set_index(made, object, "module", gap->image);
    set_text(made, object, "reason", gap->gap.reason);
    set_text(made, object, "detail", gap->gap.detail);
    set_text(made, object, "want", gap->gap.want);
    set_text(made, object, "remedy", gap->gap.remedy);
    return object;
}

static json_t *fingerprint_json(struct making *made,
                                const struct trail_resolved *resolved)
{
    char exact[17], group[17];
    json_t *object = json_object(), *from = json_array();
    const struct trail_resolved_thread *thread = trail_report_subject(resolved);

    trail_fingerprints(resolved, exact, group);
    for (size_t i = 0; thread && i < thread->frame_count; i++) {
        const struct trail_frame *frame = &thread->frames[i].frame;
        if (frame->in_app && frame->function[0] && !frame->hidden[0] &&
            !frame->reconstructed && json_array_size(from) < 8)
            add(made, from, trail_json_text_of(frame->function));
    }
    put(made, object, "exact", json_string(exact));
    put(made, object, "group", json_string(group));
    put(made, object, "from", from);
    return object;
}

static json_t *resolver_json(struct making *made)
{
    struct trail_os_process self;
    json_t *object = json_object();
    trail_os_process_self(&self);
    set_text(made, object, "name", "backtrail");
    set_text(made, object, "version", TRAIL_VERSION);
    set_text(made, object, "host", self.host);
    return object;
}

static json_t *report_json(struct making *made, const struct trail_resolved *resolved)
{
    const struct trail_trace *trace = resolved->trace;
    char now[24];
    json_t *object = json_object();
    json_t *answers = json_array(), *gaps = json_array(), *threads = json_array();

    snprintf(now, sizeof(now), "%" PRIu64, trail_os_time_ns());
    put(made, object, "backtrail", json_integer(TRAIL_WIRE_VERSION));
    put(made, object, "kind", json_string("report"));
    set_text(made, object, "id", trace->id);
    put(made, object, "revision", json_integer(trace->revision + 1));
    put(made, object, "resolved_ns", json_string(now));
    put(made, object, "trace", json_incref(trace->raw));
    put(made, object, "resolver", resolver_json(made));
    for (size_t i = 0; i < resolved->answer_count; i++)
        add(made, answers, answer_json(made, &resolved->answers[i]));
    put(made, object, "answers", answers);
    for (size_t i = 0; i < resolved->gap_count; i++)
        add(made, gaps, gap_json(made, &resolved->gaps[i]));
    put(made, object, "gaps", gaps);
    for (size_t i = 0; i < resolved->thread_count; i++)
        add(made, threads, thread_json(made, &resolved->threads[i]));
    put(made, object, "threads", threads);
    put(made, object, "fingerprint", fingerprint_json(made, resolved));
    if (trace->report) /* what another version or a server has added to it */
        made->failed |= json_object_update_missing(object, trace->report) != 0;
    return object;
}

/* Jansson's own buffer goes on after a failure, without a key; ours stays failed. */
static int append(const char *bytes, size_t size, void *buffer)
{
    trail_text_buffer_add(buffer, bytes, size);
    return 0;
}

enum trail_status trail_report_json(const struct trail_resolved *resolved,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct trail_text_buffer buffer = { 0 };
    struct making made = { false };
    json_t *object = report_json(&made, resolved);
    if (made.failed || json_dump_callback(object, append, &buffer, JSON_COMPACT))
        buffer.failed = true;
    json_decref(object);
    char *text = trail_text_buffer_take(&buffer, size_ret);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    *text_ret = text;
    return TRAIL_OK;
}
