/* filter.c -- lines of a log, with their stack lines resolved in place. */
#include "agent/log/filter.h"

#include <inttypes.h>

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
    log_markup_deinit(&filter->markup);
    log_modules_deinit(&filter->modules);
}

/* ---- a stack line ---------------------------------------------------------- */

static void write_call(struct log_out *out, const struct log_call *call)
{
    log_out_copy(out, trail_text_of(call->function[0] ? call->function : "<unknown>"));
    if (!call->file[0])
        return;
    log_out_copy(out, trail_text_of(" at "));
    log_out_copy(out, trail_text_of(call->file));
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

/* Each inlined call stands on a line of its own that begins as the line does. */
static void write_resolved(struct log_out *out, struct trail_text line,
                           const struct log_match *match,
                           const struct log_answer *answer)
{
    struct trail_text head = log_part(line, 0, match->start);
    bool windows = line.size >= 2 && line.data[line.size - 2] == '\r' &&
                   line.data[line.size - 1] == '\n';
    size_t count = match->brief ? 1 : answer->call_count;
    for (size_t i = 0; i < count; i++) {
        log_out_lend(out, head);
        write_call(out, &answer->calls[i]);
        if (i + 1 < count)
            log_out_copy(out,
                         trail_text_of(windows ? " (inlined)\r\n" : " (inlined)\n"));
    }
    log_out_copy(out, trail_text_of(" ["));
    log_out_lend(out, log_part(line, match->kept_start, match->kept_end));
    log_out_copy(out, trail_text_of("]"));
    log_out_lend(out, log_part(line, match->end, line.size));
}

static void take_line(struct log_filter *filter, struct trail_text line)
{
    struct log_match match;
    struct log_module *module;
    uint64_t address;
    struct trail_text text = log_without_ending(line);
    if (log_find(text, 0, "{{{") != SIZE_MAX && log_markup_line(&filter->markup, line))
        return;
    log_markup_end_info(&filter->markup);
    if (filter->options.markup_only || log_maps_learn(&filter->modules, text) ||
        !log_form_any(text, &match) ||
        !log_place_find(&filter->modules, filter->given, &match, &module, &address)) {
        log_out_lend(&filter->out, line);
        return;
    }
    const struct log_answer *answer =
        log_answers_get(&filter->answers, filter->options.backend, module, address);
    if (improves(answer, &match))
        write_resolved(&filter->out, line, &match, answer);
    else
        log_out_lend(&filter->out, line);
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
