/* present.c -- elements of markup that stand for something to be read, written as
 * llvm-symbolizer does. */
#include "agent/log/present.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/resolve/demangle.h"

static const char unnamed[] = "<invalid>"; /* as llvm-symbolizer has it */

/* An element as it is, in brackets: it cannot be resolved. */
static void write_raw(struct log_out *out, const struct log_element *element)
{
    log_out_copy(out, trail_text_of("[[["));
    log_out_copy(out, element->tag_text);
    for (size_t i = 0; i < element->field_count; i++) {
        log_out_copy(out, trail_text_of(":"));
        log_out_copy(out, element->fields[i]);
    }
    log_out_copy(out, trail_text_of("]]]"));
}

/* Where an address lies; NULL: in no module. The one to look up is a byte before, if it
 * follows a call. */
static const struct log_range *place(struct log_markup *markup,
                                     const struct log_element *element,
                                     uint64_t *address_ret)
{
    *address_ret = element->address - (element->returns ? 1 : 0);
    return log_modules_at(markup->modules, *address_ret);
}

static void write_call(struct log_out *out, const struct log_call *call)
{
    log_out_copy(out, trail_text_of(call->function[0] ? call->function : unnamed));
    log_out_copy(out, trail_text_of(" "));
    if (!call->file[0])
        return;
    log_out_copy(out, trail_text_of(call->file));
    log_out_format(out, ":%" PRIu32 ":%" PRIu32 " ", call->line, call->column);
}

static void write_bt(struct log_markup *markup, struct trail_text line,
                     const struct log_element *element)
{
    char number[24], inlined[24];
    uint64_t address;
    struct log_out *out = markup->out;
    const struct log_range *range = place(markup, element, &address);
    if (!range) {
        write_raw(out, element);
        return;
    }
    uint64_t link = range->link + (address - range->start);
    const struct log_answer *answer =
        log_answers_get(markup->answers, markup->modules->backend, range->module, link);
    size_t count = answer ? answer->call_count : 0;
    bool windows = line.size >= 2 && line.data[line.size - 2] == '\r';
    snprintf(number, sizeof(number), "#%" PRIu64, element->number);
    for (size_t i = 0; i == 0 || i < count; i++) {
        snprintf(inlined, sizeof(inlined), i + 1 < count ? ".%-2zu" : "   ", i + 1);
        log_out_format(out, "%6s%s 0x%016" PRIx64 " ", number, inlined, address);
        if (i < count)
            write_call(out, &answer->calls[i]);
        log_out_copy(out, trail_text_of("("));
        log_out_copy(out, trail_text_of(range->module->name));
        log_out_format(out, "+0x%" PRIx64 ")", link);
        if (i + 1 < count)
            log_out_copy(out, trail_text_of(windows ? "\r\n" : "\n"));
    }
}

static void write_pc(struct log_markup *markup, const struct log_element *element)
{
    uint64_t address;
    struct log_out *out = markup->out;
    const struct log_range *range = place(markup, element, &address);
    const struct log_answer *answer =
        range ? log_answers_get(markup->answers, markup->modules->backend,
                                range->module, range->link + (address - range->start))
              : NULL;
    if (!answer || answer->call_count == 0) {
        write_raw(out, element);
        return;
    }
    const struct log_call *call = &answer->calls[0];
    log_out_copy(out, trail_text_of(call->function[0] ? call->function : unnamed));
    if (!call->file[0])
        return;
    log_out_copy(out, trail_text_of("["));
    log_out_copy(out, trail_text_of(call->file));
    log_out_format(out, ":%" PRIu32 "]", call->line);
}

static void write_symbol(struct log_out *out, struct trail_text name)
{
    char text[4096];
    char *plain = NULL;
    if (name.size < sizeof(text) && !memchr(name.data, 0, name.size)) {
        memcpy(text, name.data, name.size);
        text[name.size] = 0;
        plain = trail_demangle(text);
    }
    log_out_copy(out, plain ? trail_text_of(plain) : name);
    free(plain);
}

static void write_data(struct log_markup *markup, const struct log_element *element)
{
    uint64_t address;
    const struct log_backend *backend = markup->modules->backend;
    const struct log_range *range = place(markup, element, &address);
    const char *name = range
                           ? backend->symbol_at(backend->arg, range->module,
                                                range->link + (address - range->start))
                           : NULL;
    if (name)
        write_symbol(markup->out, trail_text_of(name));
    else
        write_raw(markup->out, element);
}

void log_present(struct log_markup *markup, struct trail_text line,
                 struct trail_text part)
{
    struct log_element element;
    size_t from = 0, at = 0;
    while (log_element_next(part, at, &element)) {
        at = element.end;
        if (element.tag <= LOG_TAG_MMAP)
            continue;
        log_out_lend(markup->out, log_part(part, from, element.start));
        from = at;
        if (element.tag == LOG_TAG_BT)
            write_bt(markup, line, &element);
        else if (element.tag == LOG_TAG_PC)
            write_pc(markup, &element);
        else if (element.tag == LOG_TAG_SYMBOL)
            write_symbol(markup->out, element.text);
        else
            write_data(markup, &element);
    }
    log_out_lend(markup->out, log_part(part, from, part.size));
}
