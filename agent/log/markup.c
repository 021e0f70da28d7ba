/* markup.c -- symbolizer markup: the context that it tells. */
#include "agent/log/markup.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agent/log/present.h"
#include "core/resolve/files.h"

/* How the line stands behind the last element that told a context. */
enum tail {
    TAIL_NONE,   /* there was none yet */
    TAIL_GONE,   /* nothing was written for it */
    TAIL_RAW,    /* it was written, and the line is to be ended */
    TAIL_MODULE, /* the line about a module is open */
};

static bool is_space(struct trail_text text)
{
    for (size_t i = 0; i < text.size; i++)
        if (!log_is_blank(text.data[i]) && text.data[i] != '\r' && text.data[i] != '\n')
            return false;
    return true;
}

static const char *ending_of(struct trail_text line)
{
    return line.size >= 2 && line.data[line.size - 2] == '\r' ? "\r\n" : "\n";
}

/* ---- the line about a module --------------------------------------------- */

static int by_start(const void *a, const void *b)
{
    const struct log_info_range *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static void close_info(struct log_markup *markup)
{
    qsort(markup->info_ranges, markup->info_count, sizeof(markup->info_ranges[0]),
          by_start);
    for (size_t i = 0; i < markup->info_count; i++) {
        const struct log_info_range *range = &markup->info_ranges[i];
        log_out_format(markup->out, "%c[0x%" PRIx64 "-0x%" PRIx64 "](%s)",
                       i ? ',' : ' ', range->start, range->start + range->size - 1,
                       range->mode);
    }
    log_out_copy(markup->out, trail_text_of("]]]"));
    markup->info = NULL;
    markup->info_count = 0;
}

void log_markup_end_info(struct log_markup *markup)
{
    if (!markup->info)
        return;
    close_info(markup);
    log_out_copy(markup->out, trail_text_of(markup->info_ending));
}

static void open_info(struct log_markup *markup, const struct log_markup_module *about)
{
    log_out_format(markup->out, "[[[ELF module #0x%" PRIx64 " \"", about->number);
    log_out_copy(markup->out, trail_text_of(about->module->name));
    markup->info = about;
}

/* ---- context ------------------------------------------------------------- */

static struct log_markup_module *find(struct log_markup *markup, uint64_t number)
{
    for (size_t i = 0; i < markup->count; i++)
        if (markup->numbered[i].number == number)
            return &markup->numbered[i];
    return NULL;
}

/* What stands before an element on its line is written, unless it is nothing but blanks
 * before one that joins the line before. */
static void write_head(struct log_markup *markup, struct trail_text line,
                       struct trail_text head, enum tail tail)
{
    if (tail == TAIL_MODULE && markup->info && !is_space(head))
        close_info(markup);
    log_markup_end_info(markup);
    if (tail == TAIL_RAW && is_space(head))
        log_out_copy(markup->out, trail_text_of(ending_of(line)));
    log_present(markup, line, head);
}

static enum tail take_reset(struct log_markup *markup, struct trail_text line,
                            struct trail_text head, enum tail tail)
{
    bool known = markup->count || markup->mapped;
    if (!known && is_space(head))
        return tail == TAIL_NONE ? TAIL_GONE : tail;
    write_head(markup, line, head, tail);
    log_out_copy(markup->out, trail_text_of("[[[reset]]]"));
    markup->count = 0;
    markup->mapped = false;
    markup->reset(markup->reset_arg);
    return TAIL_RAW;
}

static struct log_module *module_of(struct log_markup *markup,
                                    const struct log_element *element)
{
    return log_modules_get(
        markup->modules, element->text,
        (struct trail_text){ (const char *)element->id, element->id_size }, false);
}

/* Whether a module that an element tells of can be kept in mind. */
static bool has_room(struct log_markup *markup, const struct log_element *element)
{
    return module_of(markup, element) &&
           (markup->count < LOG_MODULE_LIMIT || find(markup, element->number));
}

/* As by its path anything can be found, and a stack of another build looks no worse. */
static void tell_unverified(struct log_markup *markup, struct log_module *module)
{
    if (module->usable)
        log_modules_note(markup->modules, module, LOG_NOTE_UNVERIFIED,
                         "has no build-id in this log: the file of that name is taken, "
                         "which may be of another build; link with -Wl,--build-id");
}

static enum tail take_module(struct log_markup *markup, struct trail_text line,
                             struct trail_text head, enum tail tail,
                             const struct log_element *element)
{
    struct log_markup_module *about = find(markup, element->number);
    struct log_module *module = module_of(markup, element);
    if (about && about->module == module && is_space(head))
        return tail == TAIL_NONE ? TAIL_GONE : tail; /* told before */
    write_head(markup, line, head, tail);
    if (!about)
        about = &markup->numbered[markup->count++];
    about->number = element->number;
    about->module = module;
    char hex[2 * sizeof(module->id) + 1];
    trail_hex((struct trail_text){ (const char *)module->id, module->id_size }, hex,
              sizeof(hex));
    open_info(markup, about);
    if (module->id_size) {
        log_out_format(markup->out, "\"; BuildID=%s", hex);
    } else {
        log_out_copy(markup->out, trail_text_of("\"; no BuildID, unverified"));
        tell_unverified(markup, module);
    }
    return TAIL_MODULE;
}

static bool mapped_already(struct log_markup *markup, const struct log_element *element,
                           const struct log_module *module)
{
    const struct log_range *range = log_modules_at(markup->modules, element->address);
    return range && range->start == element->address && range->size == element->size &&
           range->link == element->link && range->module == module;
}

static enum tail take_mmap(struct log_markup *markup, struct trail_text line,
                           struct trail_text head, enum tail tail,
                           const struct log_element *element)
{
    struct log_markup_module *about = find(markup, element->number);
    if (!about || (mapped_already(markup, element, about->module) && is_space(head)))
        return tail == TAIL_NONE ? TAIL_GONE : tail;
    log_modules_map(markup->modules, (struct log_range){ .start = element->address,
                                                         .size = element->size,
                                                         .module = about->module,
                                                         .link = element->link });
    markup->mapped = true;
    if (markup->info != about || !is_space(head) ||
        markup->info_count == LOG_INFO_RANGES) {
        write_head(markup, line, head, tail);
        open_info(markup, about);
        log_out_copy(markup->out, trail_text_of("\"; adds"));
    }
    struct log_info_range *range = &markup->info_ranges[markup->info_count++];
    *range = (struct log_info_range){ element->address, element->size, "" };
    memcpy(range->mode, element->mode, sizeof(range->mode));
    return TAIL_MODULE;
}

static enum tail take_context(struct log_markup *markup, struct trail_text line,
                              struct trail_text head, enum tail tail,
                              const struct log_element *element)
{
    if (element->tag == LOG_TAG_RESET)
        return take_reset(markup, line, head, tail);
    if (element->tag == LOG_TAG_MODULE)
        return take_module(markup, line, head, tail, element);
    return take_mmap(markup, line, head, tail, element);
}

/* What is left of a line behind its last element that told a context. */
static void write_tail(struct log_markup *markup, struct trail_text line,
                       struct trail_text rest, enum tail tail)
{
    if (tail == TAIL_NONE)
        log_markup_end_info(markup);
    bool space = tail != TAIL_NONE && is_space(rest);
    if (markup->info)
        markup->info_ending = ending_of(line);
    if (tail == TAIL_MODULE && !space && markup->info)
        close_info(markup);
    if (tail == TAIL_GONE && !space)
        log_markup_end_info(markup);
    if (!space)
        log_present(markup, line, rest);
    else if (tail == TAIL_RAW)
        log_out_copy(markup->out, trail_text_of(ending_of(line)));
}

/* A range of a module that no element told of stands as it is. */
static bool is_context(struct log_markup *markup, const struct log_element *element)
{
    if (element->tag > LOG_TAG_MMAP)
        return false;
    if (element->tag == LOG_TAG_MODULE)
        return has_room(markup, element);
    if (element->tag != LOG_TAG_MMAP || find(markup, element->number))
        return true;
    if (!markup->noted)
        markup->modules->backend->note(markup->modules->backend->arg,
                                       "markup: an mmap names a module that no line "
                                       "before it describes; feed the whole log");
    markup->noted = true;
    return false;
}

bool log_markup_line(struct log_markup *markup, struct trail_text line)
{
    struct log_element element;
    size_t from = 0, at = 0;
    enum tail tail = TAIL_NONE;
    bool any = false;
    while (log_element_next(line, at, &element)) {
        at = element.end;
        any = true;
        if (!is_context(markup, &element))
            continue;
        tail = take_context(markup, line, log_part(line, from, element.start), tail,
                            &element);
        from = at;
    }
    if (any)
        write_tail(markup, line, log_part(line, from, line.size), tail);
    return any;
}
