/* report_read.c -- a report read from JSON, the counterpart of report_json.c. */
#include "core/report/report_read.h"

#include <stdlib.h>

#define THREAD_LIMIT 4096
#define FRAME_LIMIT  524288 /* of all threads; inlined calls among them */
#define GAP_LIMIT    65536

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static uint64_t number_of(const json_t *object, const char *key)
{
    uint64_t number;
    return trail_json_number_of(json_object_get(object, key), &number) ? number : 0;
}

static uint32_t small_number_of(const json_t *object, const char *key)
{
    uint64_t number = number_of(object, key);
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* An index into a table of `count`. */
static size_t index_of(const json_t *object, const char *key, size_t count)
{
    uint64_t number;
    if (!trail_json_number_of(json_object_get(object, key), &number) || number >= count)
        return TRAIL_NO_INDEX;
    return (size_t)number;
}

static enum trail_status count_of(const json_t *object, const char *key, size_t limit,
                                  size_t *count_ret, struct trail_error *err)
{
    const json_t *array = json_object_get(object, key);
    if (array && !json_is_array(array))
        return trail_fail(err, TRAIL_BAD_INPUT, "report: %s: must be an array", key);
    if (json_array_size(array) > limit)
        return trail_fail(err, TRAIL_BAD_INPUT, "report: %s: over %zu elements", key,
                          limit);
    *count_ret = json_array_size(array);
    return TRAIL_OK;
}

/* ---- gaps --------------------------------------------------------------- */

static enum trail_status read_gaps(struct trail_resolved *resolved,
                                   struct trail_error *err)
{
    const json_t *report = resolved->trace->report;
    size_t count = 0;
    enum trail_status status = count_of(report, "gaps", GAP_LIMIT, &count, err);
    if (status)
        return status;
    resolved->gaps =
        trail_arena_take(&resolved->arena, count * sizeof(*resolved->gaps));
    if (!resolved->gaps)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    resolved->gap_count = count;
    for (size_t i = 0; i < count; i++) {
        const json_t *gap = json_array_get(json_object_get(report, "gaps"), i);
        resolved->gaps[i] = (struct trail_resolved_gap){
            .image = index_of(gap, "module", resolved->trace->image_count),
            .gap = { .reason = text_of(gap, "reason"),
                     .detail = text_of(gap, "detail"),
                     .remedy = text_of(gap, "remedy"),
                     .want = text_of(gap, "want") },
        };
    }
    return TRAIL_OK;
}

/* ---- frames ------------------------------------------------------------- */

static uint8_t kind_of(const char *word)
{
    static const struct {
        const char *word;
        uint8_t kind;
    } kinds[] = { { "interrupted", TRAIL_PC_CURRENT },
                  { "signal", TRAIL_PC_TRAMPOLINE },
                  { "continuation", TRAIL_PC_CONTINUATION } };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].word, word) == 0)
            return kinds[i].kind;
    return TRAIL_PC_RETURN;
}

static uint8_t trust_of(const char *word)
{
    static const struct {
        const char *word;
        uint8_t trust;
    } trusts[] = { { "context", TRAIL_TRUST_CONTEXT },
                   { "fp", TRAIL_TRUST_FP },
                   { "scan", TRAIL_TRUST_SCAN } };
    for (size_t i = 0; i < sizeof(trusts) / sizeof(trusts[0]); i++)
        if (strcmp(trusts[i].word, word) == 0)
            return trusts[i].trust;
    return TRAIL_TRUST_CFI;
}

/* Its module as hexadecimal id and path. */
static void fill_module(struct trail_resolved *resolved, size_t image,
                        struct trail_frame *frame)
{
    const json_t *modules = json_object_get(resolved->trace->raw, "modules");
    if (image == TRAIL_NO_INDEX)
        return;
    frame->module = resolved->trace->images[image].path;
    frame->module_id = text_of(json_array_get(modules, image), "id");
}

static void fill_symbol(const json_t *object, struct trail_frame *frame)
{
    frame->function = text_of(object, "function");
    frame->linkage = text_of(object, "linkage");
    frame->symbol = text_of(object, "symbol_name");
    frame->symbol_start = number_of(object, "symbol");
    frame->file = text_of(object, "file");
    frame->directory = text_of(object, "dir");
    frame->line = small_number_of(object, "line");
    frame->column = small_number_of(object, "column");
    frame->inlined = json_is_true(json_object_get(object, "inlined"));
    frame->in_app = json_is_true(json_object_get(object, "in_app"));
    frame->hidden = text_of(object, "hidden");
}

/* Marks that tell how one gets from frame to frame. A call that was worked out, not
 * captured, must not be mistaken for one that was: it goes with the frame before it. */
static void fill_edge(const json_t *object, const struct trail_frame *before,
                      struct trail_frame *frame)
{
    frame->landing = json_is_true(json_object_get(object, "landing"));
    frame->tail_gap = strcmp(text_of(object, "edge"), "tail_gap") == 0;
    frame->reconstructed = text_of(object, "reconstructed")[0] != 0;
    if (!frame->reconstructed)
        return;
    frame->tail_gap = true;
    frame->index = before ? before->index : 0;
    frame->inline_index = 0;
    frame->address = frame->offset = 0;
}

/* `before`: the frame inside of it; NULL: it is the innermost. */
static void read_frame(struct trail_resolved *resolved, const json_t *object,
                       const struct trail_frame *before,
                       struct trail_resolved_frame *ret)
{
    const json_t *answers = json_object_get(resolved->trace->report, "answers");
    const json_t *answer =
        json_array_get(answers, index_of(object, "answer", json_array_size(answers)));
    struct trail_frame *frame = &ret->frame;

    ret->image = index_of(object, "module", resolved->trace->image_count);
    ret->gap = index_of(object, "gap", resolved->gap_count);
    ret->answer = TRAIL_NO_INDEX;
    ret->symbol_size = number_of(object, "symbol_size");
    trail_frame_init(frame, number_of(object, "address"));
    frame->index = small_number_of(object, "n");
    frame->inline_index = small_number_of(object, "inline");
    frame->offset = number_of(object, "offset");
    frame->kind = kind_of(text_of(object, "kind"));
    frame->trust = trust_of(text_of(object, "trust"));
    fill_module(resolved, ret->image, frame);
    fill_symbol(object, frame);
    fill_edge(object, before, frame);
    frame->plugin = text_of(answer, "plugin");
    frame->route = text_of(answer, "route");
    if (ret->gap != TRAIL_NO_INDEX)
        frame->gap = resolved->gaps[ret->gap].gap.reason;
}

static enum trail_status read_frames(struct trail_resolved *resolved,
                                     const json_t *object,
                                     struct trail_resolved_thread *thread, size_t limit,
                                     struct trail_error *err)
{
    size_t count = 0;
    enum trail_status status = count_of(object, "frames", limit, &count, err);
    if (status)
        return status;
    thread->frames =
        trail_arena_take(&resolved->arena, count * sizeof(*thread->frames));
    if (!thread->frames)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    thread->frame_count = count;
    for (size_t i = 0; i < count; i++)
        read_frame(resolved, json_array_get(json_object_get(object, "frames"), i),
                   i ? &thread->frames[i - 1].frame : NULL, &thread->frames[i]);
    return TRAIL_OK;
}

/* ---- threads ------------------------------------------------------------ */

static enum trail_status read_thread(struct trail_resolved *resolved,
                                     const json_t *object,
                                     struct trail_resolved_thread *ret, size_t limit,
                                     struct trail_error *err)
{
    struct trail_thread *thread = trail_arena_take(&resolved->arena, sizeof(*thread));
    if (!thread)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    thread->tid = (int64_t)number_of(object, "tid");
    thread->name = text_of(object, "name");
    thread->crashed = json_is_true(json_object_get(object, "crashed"));
    thread->end = text_of(object, "truncated");
    thread->truncated = thread->end[0] != 0;
    ret->thread = thread;
    return read_frames(resolved, object, ret, limit, err);
}

static enum trail_status read_threads(struct trail_resolved *resolved,
                                      struct trail_error *err)
{
    const json_t *report = resolved->trace->report;
    size_t count = 0, left = FRAME_LIMIT;
    enum trail_status status = count_of(report, "threads", THREAD_LIMIT, &count, err);
    if (status)
        return status;
    resolved->threads =
        trail_arena_take(&resolved->arena, count * sizeof(*resolved->threads));
    if (!resolved->threads)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    for (size_t i = 0; !status && i < count; i++) {
        const json_t *thread = json_array_get(json_object_get(report, "threads"), i);
        status = read_thread(resolved, thread, &resolved->threads[i], left, err);
        left -= resolved->threads[i].frame_count;
    }
    resolved->thread_count = count;
    return status;
}

enum trail_status trail_report_read(const struct trail_trace *trace,
                                    struct trail_resolved **resolved_ret,
                                    struct trail_error *err)
{
    if (!trace->report)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "is a raw trace; 'backtrail resolve' names it");
    struct trail_resolved *resolved = calloc(1, sizeof(*resolved));
    if (!resolved)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    resolved->trace = trace;
    enum trail_status status = read_gaps(resolved, err);
    if (!status)
        status = read_threads(resolved, err);
    if (status) {
        trail_resolved_destroy(resolved);
        return status;
    }
    *resolved_ret = resolved;
    return TRAIL_OK;
}
