/* origin_sections.c -- names, symbols and calls of a map, as compact as they can be. */
#include "core/resolve/origin_sections.h"

#include <stdlib.h>

#include "core/resolve/origin_stretches.h"
#include "core/resolve/origin_tails.h"

/* What the functions below have in common. */
struct sections {
    const struct trail_merged *merged;
    const struct trail_claims *claims;
    struct origin_map_writer *writer;
    struct origin_widths widths;
    uint64_t base;
    uint32_t *text_offsets; /* by number */
};

static unsigned bits_of(uint64_t most)
{
    unsigned bits = 0;
    for (; most; most >>= 1)
        bits++;
    return bits;
}

static uint8_t bytes_of(uint64_t most)
{
    return (uint8_t)(most ? (bits_of(most) + 7) / 8 : 1);
}

struct origin_layout trail_origin_layout(const struct trail_merged *merged)
{
    struct origin_layout layout = {
        .line_bits = (uint8_t)bits_of(merged->line_max),
        .column_bits = (uint8_t)bits_of(merged->column_max),
        .function_size = bytes_of(merged->functions.rows.count),
    };
    uint32_t files = merged->files.rows.count;
    unsigned bits = bits_of(files < ORIGIN_FILE_MAX ? files : ORIGIN_FILE_MAX) +
                    layout.line_bits + layout.column_bits;
    layout.location_size = (uint8_t)(bits ? (bits + 7) / 8 : 1);
    return layout;
}

/* ---- writing numbers ----------------------------------------------------- */

static void put_number(const struct sections *sections, unsigned width, uint64_t number)
{
    uint8_t bytes[8];
    origin_put_sized(bytes, width, number);
    origin_map_write_put(sections->writer, bytes, width);
}

static void put_address(const struct sections *sections, uint64_t address)
{
    put_number(sections, sections->widths.address, address - sections->base);
}

static void put_text(const struct sections *sections, uint32_t text)
{
    put_number(sections, sections->widths.text, sections->text_offsets[text]);
}

/* ---- sections ------------------------------------------------------------ */

static void put_pieces(const struct sections *sections)
{
    origin_map_write_section(sections->writer, ORIGIN_PIECES);
    for (uint32_t i = 0; i < sections->claims->piece_count; i++) {
        put_number(sections, 8, sections->claims->pieces[i].start);
        put_number(sections, 8, sections->claims->pieces[i].size);
        put_number(sections, 8, sections->claims->pieces[i].offset);
    }
}

static void put_names(const struct sections *sections)
{
    const struct trail_merged *merged = sections->merged;
    origin_map_write_section(sections->writer, ORIGIN_FILES);
    for (uint32_t i = 1; i <= merged->files.rows.count; i++) {
        const struct trail_row_file *file = trail_row_set_at(&merged->files, i);
        put_text(sections, file->path);
        put_text(sections, file->directory);
    }
    origin_map_write_section(sections->writer, ORIGIN_FUNCTIONS);
    for (uint32_t i = 0; i < merged->functions.rows.count; i++) {
        const struct trail_row_function *function =
            trail_row_set_at(&merged->functions, merged->function_order[i]);
        put_text(sections, function->name);
        put_text(sections, function->linkage);
    }
    origin_map_write_section(sections->writer, ORIGIN_PLACES);
    for (uint32_t i = 0; i < merged->placed_count; i++) {
        const struct trail_row_function *function =
            trail_row_set_at(&merged->functions, merged->function_order[i]);
        put_address(sections, function->start);
        put_number(sections, sections->widths.address, function->size);
    }
}

static void put_texts(const struct sections *sections)
{
    const struct trail_text_set *texts = &sections->merged->texts;
    origin_map_write_section(sections->writer, ORIGIN_TEXTS);
    origin_map_write_put(sections->writer, "", 1);
    for (uint32_t i = 1; i <= texts->rows.count; i++) {
        const struct trail_text_row *text = trail_text_set_at(texts, i);
        origin_map_write_put(sections->writer, text->data, text->size + 1);
    }
}

static void put_stretches(const struct sections *sections,
                          const struct trail_stretch *stretches, uint32_t count)
{
    const struct trail_row_symbol *symbols = sections->merged->symbols;
    origin_map_write_section(sections->writer, ORIGIN_SYMBOL_STARTS);
    for (uint32_t i = 0; i < count; i++)
        put_address(sections, stretches[i].from);
    origin_map_write_section(sections->writer, ORIGIN_SYMBOLS);
    for (uint32_t i = 0; i < count; i++) {
        const struct trail_row_symbol *symbol = &symbols[stretches[i].symbol];
        uint32_t flags = symbol->flags & ~ORIGIN_SYMBOL_EXTENT;
        put_number(sections, sections->widths.address,
                   stretches[i].to - stretches[i].from);
        put_text(sections, symbol->name);
        put_text(sections, symbol->aka);
        put_number(sections, 1,
                   flags | (trail_stretch_is_whole(&stretches[i], symbol)
                                ? 0
                                : ORIGIN_SYMBOL_EXTENT));
    }
    origin_map_write_section(sections->writer, ORIGIN_EXTENTS);
    for (uint32_t i = 0; i < count; i++) {
        const struct trail_row_symbol *symbol = &symbols[stretches[i].symbol];
        if (trail_stretch_is_whole(&stretches[i], symbol))
            continue;
        put_number(sections, 4, i);
        put_address(sections, symbol->start);
        put_number(sections, sections->widths.address, symbol->end - symbol->start);
    }
}

static bool write_symbols(const struct sections *sections)
{
    struct trail_stretch *stretches = NULL;
    uint32_t count = 0;
    if (!trail_stretches(sections->merged->symbols, sections->merged->symbol_count,
                         &stretches, &count))
        return false;
    put_stretches(sections, stretches, count);
    free(stretches);
    return true;
}

/* ---- calls --------------------------------------------------------------- */

struct call {
    uint32_t offset; /* in the text, of the last byte of its instruction */
    uint32_t target; /* times two, plus one for a tail call */
};

/* By offset; what has the same one stays in its order. */
static void sort_calls(struct call *calls, struct call *spare, size_t count)
{
    for (unsigned shift = 0; shift < 33; shift += 11) {
        size_t ends[2048] = { 0 }, sum = 0;
        for (size_t i = 0; i < count; i++)
            ends[calls[i].offset >> shift & 2047]++;
        for (size_t i = 0; i < 2048; i++) {
            size_t before = sum;
            sum += ends[i];
            ends[i] = before;
        }
        for (size_t i = 0; i < count; i++)
            spare[ends[calls[i].offset >> shift & 2047]++] = calls[i];
        struct call *sorted = spare;
        spare = calls;
        calls = sorted;
    }
    memcpy(spare, calls,
           count * sizeof(*calls)); /* three turns: back to where it was */
}

/* The calls whose instruction lies in the text; each once. */
static size_t place_calls(const struct sections *sections, struct call *calls,
                          struct call *spare)
{
    const struct trail_merged *merged = sections->merged;
    size_t count = 0, kept = 0;
    for (uint32_t i = 0; i < merged->call_count; i++) {
        const struct trail_row_call *call = &merged->calls[i];
        uint64_t offset =
            trail_claims_offset(sections->claims, call->return_address - 1);
        if (offset != UINT64_MAX)
            calls[count++] =
                (struct call){ (uint32_t)offset, call->target << 1 | call->is_tail };
    }
    sort_calls(calls, spare, count);
    for (size_t i = 0; i < count; i++)
        if (!kept || calls[kept - 1].offset != calls[i].offset ||
            calls[kept - 1].target != calls[i].target)
            calls[kept++] = calls[i];
    return kept;
}

static void put_calls(const struct sections *sections, const struct call *calls,
                      size_t count)
{
    size_t next = 0;
    origin_map_write_section(sections->writer, ORIGIN_CALL_BLOCKS);
    for (uint64_t at = 0; at < sections->claims->text_size; at += ORIGIN_CALLS) {
        put_number(sections, 4, next);
        while (next < count && calls[next].offset < at + ORIGIN_CALLS)
            next++;
    }
    put_number(sections, 4, count);
    origin_map_write_section(sections->writer, ORIGIN_CALL_OFFSETS);
    for (size_t i = 0; i < count; i++)
        put_number(sections, 2, calls[i].offset % ORIGIN_CALLS);
    origin_map_write_section(sections->writer, ORIGIN_CALL_TARGETS);
    for (size_t i = 0; i < count; i++)
        put_number(sections, sections->widths.target, calls[i].target);
}

static void put_targets(const struct sections *sections)
{
    const struct trail_row_set *targets = &sections->merged->targets;
    origin_map_write_section(sections->writer, ORIGIN_TARGETS);
    for (uint32_t i = 1; i <= targets->rows.count; i++) {
        const struct trail_row_target *target = trail_row_set_at(targets, i);
        uint64_t address = target->address ? target->address - sections->base + 1 : 0;
        put_number(sections, sections->widths.address, address);
        put_text(sections, target->linkage);
    }
}

static void put_far_tails(const struct sections *sections, const struct call *calls,
                          size_t count, struct trail_far_tail *tails)
{
    size_t far = 0;
    for (size_t i = 0; i < count; i++) {
        tails[far].call = (uint32_t)i;
        if (calls[i].target & 1 && trail_is_far_tail(sections->merged, sections->claims,
                                                     calls[i].offset, &tails[far]))
            far++;
    }
    trail_far_tails_sort(tails, far);
    origin_map_write_section(sections->writer, ORIGIN_FAR_TAILS);
    for (size_t i = 0; i < far; i++) {
        put_number(sections, 4, tails[i].function);
        put_number(sections, 4, tails[i].call);
    }
}

static bool write_calls(const struct sections *sections)
{
    size_t room = (size_t)sections->merged->call_count + 1;
    struct call *calls = malloc(room * sizeof(*calls));
    struct call *spare = malloc(room * sizeof(*spare));
    struct trail_far_tail *tails = malloc(room * sizeof(*tails));
    bool done = calls && spare && tails;
    if (done) {
        size_t count = place_calls(sections, calls, spare);
        put_calls(sections, calls, count);
        put_far_tails(sections, calls, count, tails);
    }
    free(calls);
    free(spare);
    free(tails);
    return done;
}

/* ---- widths -------------------------------------------------------------- */

struct span {
    uint64_t low, high;
};

static void span_add(struct span *span, uint64_t low, uint64_t high)
{
    span->low = low < span->low ? low : span->low;
    span->high = high > span->high ? high : span->high;
}

/* Addresses count from the lowest; four bytes where all fit. */
static void choose_base(struct sections *sections)
{
    const struct trail_merged *merged = sections->merged;
    struct span span = { UINT64_MAX, 0 };
    for (uint32_t i = 0; i < sections->claims->piece_count; i++)
        span_add(&span, sections->claims->pieces[i].start,
                 sections->claims->pieces[i].start);
    for (uint32_t i = 0; i < merged->placed_count; i++) {
        const struct trail_row_function *function =
            trail_row_set_at(&merged->functions, merged->function_order[i]);
        span_add(&span, function->start, function->start + function->size - 1);
    }
    for (uint32_t i = 0; i < merged->symbol_count; i++)
        span_add(&span, merged->symbols[i].start, merged->symbols[i].end - 1);
    for (uint32_t i = 1; i <= merged->targets.rows.count; i++) {
        const struct trail_row_target *target = trail_row_set_at(&merged->targets, i);
        if (target->address)
            span_add(&span, target->address, target->address);
    }
    bool is_empty = span.low > span.high;
    sections->base = is_empty ? 0 : span.low;
    sections->widths.address =
        is_empty || span.high - span.low < UINT32_MAX - 1 ? 4 : 8;
}

static enum trail_status place_texts(struct sections *sections, struct trail_error *err)
{
    const struct trail_text_set *texts = &sections->merged->texts;
    uint32_t at = 1;
    if (texts->bytes >= UINT32_MAX)
        return trail_fail(err, TRAIL_UNSUPPORTED, "over 4 GiB of names");
    sections->text_offsets = malloc(((size_t)texts->rows.count + 1) * sizeof(uint32_t));
    if (!sections->text_offsets)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    sections->text_offsets[0] = 0;
    for (uint32_t i = 1; i <= texts->rows.count; i++) {
        sections->text_offsets[i] = at;
        at += trail_text_set_at(texts, i)->size + 1;
    }
    sections->widths.text = bytes_of(at);
    return TRAIL_OK;
}

static uint32_t has_of(const struct trail_merged *merged)
{
    uint32_t has = 0;
    for (uint32_t i = 0; i < merged->collector_count; i++)
        has |= merged->collectors[i].has_inlines ? ORIGIN_HAS_INLINES : 0;
    return has | (merged->line_max ? ORIGIN_HAS_LINES : 0) |
           (merged->call_count ? ORIGIN_HAS_CALLS : 0) |
           (merged->symbol_count ? ORIGIN_HAS_SYMBOLS : 0) |
           (merged->functions.rows.count ? ORIGIN_HAS_FUNCTIONS : 0);
}

enum trail_status trail_origin_sections(const struct trail_merged *merged,
                                        const struct trail_claims *claims,
                                        struct origin_map_writer *writer,
                                        struct origin_head *head,
                                        struct trail_error *err)
{
    struct sections sections = { .merged = merged, .claims = claims, .writer = writer };
    enum trail_status status = place_texts(&sections, err);
    if (status)
        return status;
    sections.widths.target = bytes_of((uint64_t)merged->targets.rows.count << 1 | 1);
    choose_base(&sections);
    put_pieces(&sections);
    put_names(&sections);
    put_texts(&sections);
    put_targets(&sections);
    if (!write_symbols(&sections) || !write_calls(&sections))
        status = trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    free(sections.text_offsets);
    head->widths = sections.widths;
    head->base = sections.base;
    head->info.has = has_of(merged);
    return status;
}
