/* origin_merge.c -- numbers that do not depend on which thread collected what. */
#include "core/resolve/origin_merge.h"

#include <stdlib.h>

#include "core/os/os.h"

struct part_of {
    const struct trail_collected *rows;
    uint32_t collector;
};

static uint32_t *numbers_new(uint32_t count)
{
    return calloc((size_t)count + 1, sizeof(uint32_t));
}

static bool renumbered_init(struct trail_merged *merged)
{
    for (uint32_t i = 0; i < merged->collector_count; i++) {
        const struct trail_collector *from = &merged->collectors[i];
        struct trail_renumbered *to = &merged->renumbered[i];
        to->texts = numbers_new(from->texts.rows.count);
        to->files = numbers_new(from->files.rows.count);
        to->functions = numbers_new(from->functions.rows.count);
        to->targets = numbers_new(from->targets.rows.count);
        if (!to->texts || !to->files || !to->functions || !to->targets)
            return false;
    }
    return true;
}

/* ---- names --------------------------------------------------------------- */

/* The rows of one collector are all different, so there is nothing to look for. */
static uint32_t row_number(const struct trail_merged *merged, struct trail_row_set *set,
                           const void *row)
{
    return merged->collector_count == 1 ? trail_row_set_append(set, row)
                                        : trail_row_set_number(set, row);
}

/* The merged number of a text; false: out of memory. */
static bool text_number(struct trail_merged *merged, uint32_t collector,
                        uint32_t *number)
{
    uint32_t *known = &merged->renumbered[collector].texts[*number];
    if (*number && !*known) {
        const struct trail_text_row *row =
            trail_text_set_at(&merged->collectors[collector].texts, *number);
        *known = merged->collector_count == 1
                     ? trail_text_set_append(&merged->texts, row)
                     : trail_text_set_borrow(&merged->texts, row);
        if (*known == TRAIL_TEXT_FAILED)
            return false;
    }
    *number = *known;
    return true;
}

static bool merge_files(struct trail_merged *merged, const struct part_of *part)
{
    const struct trail_collector *from = &merged->collectors[part->collector];
    uint32_t *files = merged->renumbered[part->collector].files;
    for (uint32_t i = 0; i < part->rows->files.count; i++) {
        uint32_t number = *(const uint32_t *)trail_rows_at(&from->file_ids,
                                                           part->rows->files.first + i);
        if (!number || files[number])
            continue;
        struct trail_row_file row =
            *(const struct trail_row_file *)trail_row_set_at(&from->files, number);
        if (!text_number(merged, part->collector, &row.path) ||
            !text_number(merged, part->collector, &row.directory))
            return false;
        files[number] = row_number(merged, &merged->files, &row);
        if (!files[number])
            return false;
    }
    return true;
}

static bool merge_functions(struct trail_merged *merged, const struct part_of *part)
{
    const struct trail_collector *from = &merged->collectors[part->collector];
    uint32_t *functions = merged->renumbered[part->collector].functions;
    for (uint32_t i = 0; i < part->rows->functions.count; i++) {
        uint32_t number =
            *(const uint32_t *)trail_rows_at(&from->function_ids,
                                             part->rows->functions.first + i);
        if (functions[number])
            continue;
        struct trail_row_function row =
            *(const struct trail_row_function *)trail_row_set_at(&from->functions,
                                                                 number);
        if (!text_number(merged, part->collector, &row.name) ||
            !text_number(merged, part->collector, &row.linkage))
            return false;
        functions[number] = row_number(merged, &merged->functions, &row);
        if (!functions[number])
            return false;
    }
    return true;
}

static bool target_number(struct trail_merged *merged, uint32_t collector,
                          uint32_t *number)
{
    uint32_t *known = &merged->renumbered[collector].targets[*number];
    if (*number && !*known) {
        struct trail_row_target row =
            *(const struct trail_row_target *)trail_row_set_at(
                &merged->collectors[collector].targets, *number);
        if (!text_number(merged, collector, &row.linkage))
            return false;
        *known = row_number(merged, &merged->targets, &row);
        if (!*known)
            return false;
    }
    *number = *known;
    return true;
}

static bool merge_calls(struct trail_merged *merged, const struct part_of *part)
{
    const struct trail_collector *from = &merged->collectors[part->collector];
    for (uint32_t i = 0; i < part->rows->calls.count; i++) {
        struct trail_row_call *call = &merged->calls[merged->call_count++];
        *call =
            *(const struct trail_row_call *)trail_rows_at(&from->calls,
                                                          part->rows->calls.first + i);
        if (!target_number(merged, part->collector, &call->target))
            return false;
    }
    return true;
}

static bool merge_symbols(struct trail_merged *merged, const struct part_of *part)
{
    const struct trail_collector *from = &merged->collectors[part->collector];
    for (uint32_t i = 0; i < part->rows->symbols.count; i++) {
        struct trail_row_symbol *symbol = &merged->symbols[merged->symbol_count++];
        *symbol = *(const struct trail_row_symbol *)trail_rows_at(
            &from->symbols, part->rows->symbols.first + i);
        if (!text_number(merged, part->collector, &symbol->name) ||
            !text_number(merged, part->collector, &symbol->aka))
            return false;
    }
    return true;
}

static void merge_runs(struct trail_merged *merged, const struct part_of *part)
{
    const struct trail_collector *from = &merged->collectors[part->collector];
    for (uint32_t i = 0; i < part->rows->runs.count; i++) {
        struct trail_row_run *run = &merged->runs[merged->run_count++];
        *run = *(const struct trail_row_run *)trail_rows_at(&from->runs,
                                                            part->rows->runs.first + i);
        run->collector = part->collector;
    }
}

/* ---- order --------------------------------------------------------------- */

struct place {
    uint64_t start, size;
    uint32_t number;
};

static int place_order(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Number the functions anew: those that have a start first, by it. */
static bool order_functions(struct trail_merged *merged)
{
    uint32_t count = merged->functions.rows.count, others = 0;
    struct place *places = malloc(((size_t)count + 1) * sizeof(*places));
    uint32_t *numbers = numbers_new(count);
    merged->function_order = numbers_new(count);
    bool done = places && numbers && merged->function_order;

    for (uint32_t i = 1; done && i <= count; i++) {
        const struct trail_row_function *row = trail_row_set_at(&merged->functions, i);
        if (row->size)
            places[merged->placed_count++] = (struct place){ row->start, row->size, i };
        else
            places[count - ++others].number = i; /* from the end, backwards */
    }
    if (done)
        qsort(places, merged->placed_count, sizeof(*places), place_order);
    for (uint32_t i = 0; done && i < count; i++) {
        uint32_t from =
            i < merged->placed_count ? i : count - 1 - (i - merged->placed_count);
        merged->function_order[i] = places[from].number;
        numbers[places[from].number] = i + 1;
    }
    for (uint32_t i = 0; done && i < merged->collector_count; i++) {
        uint32_t *functions = merged->renumbered[i].functions;
        for (uint32_t k = 1; k <= merged->collectors[i].functions.rows.count; k++)
            functions[k] = numbers[functions[k]];
    }
    free(places);
    free(numbers);
    return done;
}

/* Those that start together: the one that holds the others first. */
static int symbol_order(const void *a, const void *b)
{
    const struct trail_row_symbol *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static bool is_same_symbol(const struct trail_row_symbol *a,
                           const struct trail_row_symbol *b)
{
    return a->start == b->start && a->end == b->end && a->name == b->name &&
           a->aka == b->aka && a->flags == b->flags;
}

/* Each symbol once, in order. */
static void order_symbols(struct trail_merged *merged)
{
    struct trail_row_symbol *symbols = merged->symbols;
    uint32_t kept = 0;
    bool is_sorted = true;
    for (uint32_t i = 0; i < merged->symbol_count; i++) {
        symbols[i].order = i;
        is_sorted &= !i || symbol_order(&symbols[i - 1], &symbols[i]) < 0;
    }
    if (!is_sorted)
        qsort(symbols, merged->symbol_count, sizeof(*symbols), symbol_order);
    for (uint32_t i = 0; i < merged->symbol_count; i++)
        if (!kept || !is_same_symbol(&symbols[kept - 1], &symbols[i]))
            symbols[kept++] = symbols[i];
    merged->symbol_count = kept;
}

/* ---- all ----------------------------------------------------------------- */

static bool merged_init(struct trail_merged *merged)
{
    size_t runs = 1, calls = 1, symbols = 1;
    for (uint32_t i = 0; i < merged->collector_count; i++) {
        const struct trail_collector *from = &merged->collectors[i];
        runs += from->runs.count;
        calls += from->calls.count;
        symbols += from->symbols.count;
        if (from->line_max > merged->line_max)
            merged->line_max = from->line_max;
        if (from->column_max > merged->column_max)
            merged->column_max = from->column_max;
    }
    merged->runs = malloc(runs * sizeof(*merged->runs));
    merged->calls = malloc(calls * sizeof(*merged->calls));
    merged->symbols = malloc(symbols * sizeof(*merged->symbols));
    if (!merged->runs || !merged->calls || !merged->symbols)
        return false;
    trail_os_will_write(merged->runs, runs * sizeof(*merged->runs));
    trail_os_will_write(merged->calls, calls * sizeof(*merged->calls));
    trail_os_will_write(merged->symbols, symbols * sizeof(*merged->symbols));
    return renumbered_init(merged);
}

static bool merge_parts(struct trail_merged *merged, const struct part_of *parts,
                        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!parts[i].rows)
            continue;
        if (!merge_files(merged, &parts[i]) || !merge_functions(merged, &parts[i]) ||
            !merge_calls(merged, &parts[i]) || !merge_symbols(merged, &parts[i]))
            return false;
        merge_runs(merged, &parts[i]);
    }
    return true;
}

enum trail_status trail_merge(const struct trail_collector *collectors, uint32_t count,
                              uint32_t part_count, struct trail_merged *merged)
{
    *merged = (struct trail_merged){
        .collectors = collectors,
        .collector_count = count,
        .functions.rows.width = sizeof(struct trail_row_function),
        .files.rows.width = sizeof(struct trail_row_file),
        .targets.rows.width = sizeof(struct trail_row_target),
    };
    struct part_of *parts = calloc(part_count, sizeof(*parts));
    bool done = parts && merged_init(merged);
    for (uint32_t i = 0; done && i < count; i++)
        for (uint32_t k = 0; k < collectors[i].parts.count; k++) {
            const struct trail_collected *rows = trail_rows_at(&collectors[i].parts, k);
            parts[rows->part] = (struct part_of){ rows, i };
        }
    done = done && merge_parts(merged, parts, part_count) && order_functions(merged);
    if (done)
        order_symbols(merged);
    free(parts);
    return done ? TRAIL_OK : TRAIL_NO_MEMORY;
}

void trail_merged_deinit(struct trail_merged *merged)
{
    for (uint32_t i = 0; i < merged->collector_count; i++) {
        free(merged->renumbered[i].texts);
        free(merged->renumbered[i].files);
        free(merged->renumbered[i].functions);
        free(merged->renumbered[i].targets);
    }
    trail_text_set_deinit(&merged->texts);
    trail_row_set_deinit(&merged->functions);
    trail_row_set_deinit(&merged->files);
    trail_row_set_deinit(&merged->targets);
    free(merged->function_order);
    free(merged->runs);
    free(merged->calls);
    free(merged->symbols);
    *merged = (struct trail_merged){ .collector_count = 0 };
}
