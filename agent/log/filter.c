/* filter.c -- lines of a log, with their stack lines resolved in place. */
#include "agent/log/filter.h"

#include <inttypes.h>

#include "agent/log/escape.h"
#include "agent/log/maps.h"
#include "agent/log/place.h"
#include "agent/log/scan.h"

#define GDB_BASE 0x555555554000u /* where gdb has position-independent programs run */

/* ---- the file on the command line ---------------------------------------- */

static void map_given(void *arg)
{
    struct log_filter *filter = arg;
    struct log_module *given = filter->given;
    log_modules_unmap_all(&filter->modules);
    if (!given || !given->usable)
        return;
    uint64_t start = given->link_start & ~(uint64_t)0xfff;
    uint64_t base = given->fixed ? start : GDB_BASE;
    log_modules_map(&filter->modules,
                    (struct log_range){
                        .start = filter->options.has_base ? filter->options.base : base,
                        .size = given->link_end - start,
                        .module = given,
                        .link = start });
}

void log_filter_init(struct log_filter *filter,
                     const struct log_filter_options *options)
{
    filter->options = *options;
    filter->modules.backend = options->backend;
    filter->markup = (struct log_markup){ .modules = &filter->modules,
                                          .answers = &filter->answers,
                                          .out = &filter->out,
                                          .reset = map_given,
                                          .reset_arg = filter };
    if (options->given)
        filter->given = log_modules_get(&filter->modules, trail_text_of(options->given),
                                        (struct trail_text){ 0 }, false);
    map_given(filter);
}

void log_filter_deinit(struct log_filter *filter)
{
    log_answers_clear(&filter->answers);
    log_modules_deinit(&filter->modules);
}

/* ---- a stack line ---------------------------------------------------------- */

static void write_call(struct log_out *out, const struct log_call *call, unsigned depth)
{
    log_out_escaped(out, call->function[0] ? call->function : "<unknown>", depth);
    if (!call->file[0])
        return;
    log_out_copy(out, trail_text_of(" at "));
    log_out_escaped(out, call->file, depth);
    if (call->line)
        log_out_format(out, ":%" PRIu32, call->line);
    if (call->line && call->column)
        log_out_format(out, ":%" PRIu32, call->column);
}

/* Whether the answer tells more than the line does. */
static bool improves(const struct log_answer *answer, const struct log_match *match)
{
    if (!answer || answer->call_count == 0)
        return false;
    bool named = match->function.size || match->symbol.size;
    return answer->calls[0].file[0] ||
           (answer->calls[0].function[0] && (!named || answer->call_count > 1));
}

/* What an entry of a stack stands in. */
struct place {
    struct trail_text line;
    struct log_segment segment;
    bool alone; /* no other entry is in the segment */
};

/* Each inlined call stands on a line of its own that begins as the line does, or, where
 * the line has more entries, before the next call. */
static void write_resolved(struct log_out *out, const struct place *place,
                           const struct log_match *match,
                           const struct log_answer *answer)
{
    unsigned depth = place->segment.depth;
    size_t count = match->brief ? 1 : answer->call_count;
    for (size_t i = 0; i < count; i++) {
        write_call(out, &answer->calls[i], depth);
        if (i + 1 == count)
            break;
        log_out_copy(out,
                     trail_text_of(place->alone ? " (inlined)" : " (inlined by) "));
        if (!place->alone)
            continue;
        log_out_line_feed(out, place->line, depth);
        log_out_lend(out, log_part(place->line, place->segment.start, match->start));
    }
    log_out_copy(out, trail_text_of(" ["));
    log_out_lend(out, log_part(place->line, match->kept_start, match->kept_end));
    log_out_copy(out, trail_text_of("]"));
}

/* NULL: nothing better than what the line says already. */
static const struct log_answer *answer_of(struct log_filter *filter,
                                          struct log_match *match)
{
    struct log_module *module;
    uint64_t address;
    log_place_widen(&filter->modules, match);
    if (!log_place_find(&filter->modules, filter->given, match, &module, &address))
        return NULL;
    const struct log_answer *answer =
        log_answers_get(&filter->answers, filter->options.backend, module, address);
    return improves(answer, match) ? answer : NULL;
}

/* Write the line from `from` to the end of the segment with its entries resolved. */
static void take_segment(struct log_filter *filter, struct trail_text line,
                         struct log_segment segment, size_t from)
{
    struct place place = { .line = line, .segment = segment, .alone = true };
    struct trail_text text = log_part(line, 0, segment.end);
    struct log_match match, next;
    bool found = log_form_next(text, segment.start, &match);
    while (found) {
        bool more = log_form_next(text, match.next, &next);
        const struct log_answer *answer = answer_of(filter, &match);
        place.alone = place.alone && !more;
        if (answer) {
            log_out_lend(&filter->out, log_part(line, from, match.start));
            write_resolved(&filter->out, &place, &match, answer);
            from = match.end;
        }
        place.alone = false;
        match = next;
        found = more;
    }
    log_out_lend(&filter->out, log_part(line, from, segment.end));
}

static void take_line(struct log_filter *filter, struct trail_text line)
{
    struct trail_text text = log_without_ending(line);
    struct log_segment segment = { 0, text.size, 0 };
    size_t from = 0;
    if (log_find(text, 0, "{{{") != SIZE_MAX && log_markup_line(&filter->markup, line))
        return;
    log_markup_end_info(&filter->markup);
    if (filter->options.markup_only || log_maps_learn(&filter->modules, text)) {
        log_out_lend(&filter->out, line);
        return;
    }
    if (!log_is_escaped(text)) {
        take_segment(filter, line, segment, 0);
        from = text.size;
    }
    while (from < text.size && log_segment_next(text, from, &segment)) {
        take_segment(filter, line, segment, from);
        from = segment.end;
    }
    log_out_lend(&filter->out, log_part(line, from, line.size));
}

/* ---- the stream ------------------------------------------------------------ */

void log_filter_pass(struct log_filter *filter, struct trail_text bytes)
{
    if (bytes.size == 0)
        return;
    log_markup_end_info(&filter->markup);
    log_out_lend(&filter->out, bytes);
}

void log_filter_lines(struct log_filter *filter, struct trail_text lines)
{
    struct log_scan scan;
    struct trail_text line;
    const char *from = lines.data, *end = lines.data + lines.size;
    log_scan_init(&scan, lines, filter->options.markup_only);
    while (log_scan_next(&scan, &line)) {
        if (log_without_ending(line).size > LOG_LINE_LIMIT)
            continue;
        log_filter_pass(filter,
                        (struct trail_text){ from, (size_t)(line.data - from) });
        take_line(filter, line);
        from = line.data + line.size;
    }
    log_filter_pass(filter, (struct trail_text){ from, (size_t)(end - from) });
}

void log_filter_end(struct log_filter *filter)
{
    log_markup_end_info(&filter->markup);
}
