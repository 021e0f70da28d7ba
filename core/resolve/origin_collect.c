/* origin_collect.c -- puts what a symbolizer enumerates into tables. */
#include "core/resolve/origin_collect.h"

void trail_collector_init(struct trail_collector *collector, uint64_t limit)
{
    *collector = (struct trail_collector){
        .functions.rows.width = sizeof(struct trail_row_function),
        .files.rows.width = sizeof(struct trail_row_file),
        .targets.rows.width = sizeof(struct trail_row_target),
        .scopes.width = sizeof(struct origin_scope),
        .spans.width = sizeof(struct trail_row_span),
        .runs.width = sizeof(struct trail_row_run),
        .calls.width = sizeof(struct trail_row_call),
        .symbols.width = sizeof(struct trail_row_symbol),
        .function_ids.width = sizeof(uint32_t),
        .file_ids.width = sizeof(uint32_t),
        .parts.width = sizeof(struct trail_collected),
        .limit = limit,
    };
}

void trail_collector_deinit(struct trail_collector *collector)
{
    trail_text_set_deinit(&collector->texts);
    trail_row_set_deinit(&collector->functions);
    trail_row_set_deinit(&collector->files);
    trail_row_set_deinit(&collector->targets);
    trail_rows_deinit(&collector->scopes);
    trail_rows_deinit(&collector->spans);
    trail_rows_deinit(&collector->runs);
    trail_rows_deinit(&collector->calls);
    trail_rows_deinit(&collector->symbols);
    trail_rows_deinit(&collector->function_ids);
    trail_rows_deinit(&collector->file_ids);
    trail_rows_deinit(&collector->parts);
}

static uint64_t bytes_of(const struct trail_rows *rows)
{
    return (uint64_t)rows->count * rows->width;
}

/* Whether the limit allows more. Looked at now and then: it need not be exact. */
static bool has_room(struct trail_collector *collector)
{
    if (++collector->taken % 256)
        return true;
    uint64_t bytes =
        collector->texts.bytes + bytes_of(&collector->texts.rows) +
        bytes_of(&collector->functions.rows) + bytes_of(&collector->files.rows) +
        bytes_of(&collector->targets.rows) + bytes_of(&collector->scopes) +
        bytes_of(&collector->spans) + bytes_of(&collector->runs) +
        bytes_of(&collector->calls) + bytes_of(&collector->symbols) +
        bytes_of(&collector->function_ids) + bytes_of(&collector->file_ids);
    return bytes <= collector->limit;
}

/* Keep the number that id `id` of the part in hand has here. */
static enum trail_status take_id(struct trail_rows *ids,
                                 const struct trail_part_rows *part, uint32_t id,
                                 uint32_t number)
{
    if (id != ids->count - part->first + 1)
        return TRAIL_BAD_INPUT; /* not dense */
    uint32_t *row = trail_rows_add(ids);
    if (!row)
        return TRAIL_NO_MEMORY;
    *row = number;
    return TRAIL_OK;
}

/* The number of an id of the part in hand; false: it was not told of. */
static bool number_of(const struct trail_rows *ids, const struct trail_part_rows *part,
                      uint32_t id, uint32_t *number_ret)
{
    *number_ret = 0;
    if (!id)
        return true;
    if (id > ids->count - part->first)
        return false;
    *number_ret = *(const uint32_t *)trail_rows_at(ids, part->first + id - 1);
    return true;
}

static enum trail_status take_file(void *arg, uint32_t id, struct trail_text file,
                                   struct trail_text directory)
{
    struct trail_collector *collector = arg;
    struct trail_row_file row = { trail_text_set_number(&collector->texts, file),
                                  trail_text_set_number(&collector->texts, directory) };
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (row.path == TRAIL_TEXT_FAILED || row.directory == TRAIL_TEXT_FAILED)
        return TRAIL_NO_MEMORY;
    uint32_t number = trail_row_set_number(&collector->files, &row);
    if (!number)
        return TRAIL_NO_MEMORY;
    return take_id(&collector->file_ids, &collector->part->files, id,
                   number <= ORIGIN_FILE_MAX ? number : 0);
}

/* Demangling gives the name, so it need not be kept. */
static bool is_mangled(struct trail_text linkage)
{
    return linkage.size > 2 && linkage.data[0] == '_' &&
           (linkage.data[1] == 'Z' || linkage.data[1] == 'R' || linkage.data[1] == 'D');
}

static enum trail_status take_function(void *arg, uint32_t id, struct trail_text name,
                                       struct trail_text linkage, uint64_t start,
                                       uint64_t bytes)
{
    struct trail_collector *collector = arg;
    const struct trail_text none = { NULL, 0 };
    struct trail_row_function row = {
        .start = bytes ? start : 0,
        .size = start ? bytes : 0,
        .name =
            trail_text_set_number(&collector->texts, is_mangled(linkage) ? none : name),
        .linkage = trail_text_set_number(&collector->texts, linkage),
    };
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (row.name == TRAIL_TEXT_FAILED || row.linkage == TRAIL_TEXT_FAILED)
        return TRAIL_NO_MEMORY;
    uint32_t number = trail_row_set_number(&collector->functions, &row);
    if (!number)
        return TRAIL_NO_MEMORY;
    return take_id(&collector->function_ids, &collector->part->functions, id, number);
}

static uint64_t location_of(struct trail_collector *collector, uint32_t file,
                            uint32_t line, uint32_t column)
{
    line = line <= ORIGIN_LINE_MAX ? line : 0;
    column = column <= 0xffff ? column : 0;
    if (line > collector->line_max)
        collector->line_max = line;
    if (column > collector->column_max)
        collector->column_max = column;
    return origin_location(file, line, column);
}

static enum trail_status take_scope(void *arg, uint32_t id, uint32_t parent,
                                    uint32_t function, uint32_t call_file,
                                    uint32_t call_line, uint32_t call_column)
{
    struct trail_collector *collector = arg;
    const struct trail_collected *part = collector->part;
    uint32_t function_number, file_number;
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (id != collector->scopes.count - collector->first_scope + 1 || parent >= id ||
        !number_of(&collector->function_ids, &part->functions, function,
                   &function_number) ||
        !number_of(&collector->file_ids, &part->files, call_file, &file_number))
        return TRAIL_BAD_INPUT;
    struct origin_scope *scope = trail_rows_add(&collector->scopes);
    if (!scope)
        return TRAIL_NO_MEMORY;
    *scope = (struct origin_scope){ .function = function_number };
    if (!parent)
        return TRAIL_OK;
    scope->parent = collector->first_scope + parent;
    scope->call = location_of(collector, file_number, call_line, call_column);
    collector->has_inlines = true;
    return TRAIL_OK;
}

/* The run that a range from `start` to `end` goes on with, or a new one. */
static struct trail_row_run *run_for(struct trail_collector *collector, uint64_t start,
                                     uint64_t end)
{
    struct trail_rows *runs = &collector->runs;
    if (start == collector->run_end && start) {
        struct trail_row_run *run = trail_rows_at(runs, runs->count - 1);
        if (end - run->start <= UINT32_MAX)
            return run;
    }
    struct trail_row_run *run = trail_rows_add(runs);
    if (run)
        *run = (struct trail_row_run){ .start = start,
                                       .first = collector->spans.count,
                                       .part = collector->part->part };
    return run;
}

static enum trail_status take_range(void *arg, uint64_t start, uint64_t end,
                                    uint32_t scope, uint32_t file, uint32_t line,
                                    uint32_t column)
{
    struct trail_collector *collector = arg;
    uint32_t file_number;
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (start >= end || scope > collector->scopes.count - collector->first_scope ||
        !number_of(&collector->file_ids, &collector->part->files, file, &file_number))
        return TRAIL_BAD_INPUT;
    uint64_t location = location_of(collector, file_number, line, column);
    if (!scope && !location)
        return TRAIL_OK;
    struct trail_row_run *run = run_for(collector, start, end);
    struct trail_row_span *span = run ? trail_rows_add(&collector->spans) : NULL;
    if (!span)
        return TRAIL_NO_MEMORY;
    span->start = (uint32_t)(start - run->start);
    span->scope = scope ? collector->first_scope + scope : 0;
    span->location = location;
    run->count++;
    run->end = collector->run_end = end;
    return TRAIL_OK;
}

static enum trail_status take_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text target_linkage, int tail)
{
    struct trail_collector *collector = arg;
    struct trail_row_target row = {
        .address = target,
        .linkage = trail_text_set_number(&collector->texts, target_linkage),
    };
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (row.linkage == TRAIL_TEXT_FAILED)
        return TRAIL_NO_MEMORY;
    uint32_t number = 0;
    if (row.address || row.linkage)
        number = trail_row_set_number(&collector->targets, &row);
    struct trail_row_call *call = trail_rows_add(&collector->calls);
    if (!call || (!number && (row.address || row.linkage)))
        return TRAIL_NO_MEMORY;
    *call = (struct trail_row_call){ return_address, number, tail != 0 };
    return TRAIL_OK;
}

static enum trail_status take_symbol(void *arg, uint64_t start, uint64_t end,
                                     struct trail_text name, struct trail_text aka,
                                     uint32_t flags)
{
    struct trail_collector *collector = arg;
    struct trail_row_symbol row = {
        .start = start,
        .end = end,
        .name = trail_text_set_number(&collector->texts, name),
        .aka = trail_text_set_number(&collector->texts, aka),
        .flags = flags,
    };
    if (!has_room(collector))
        return TRAIL_NO_MEMORY;
    if (start >= end)
        return TRAIL_BAD_INPUT;
    struct trail_row_symbol *symbol = trail_rows_add(&collector->symbols);
    if (!symbol || row.name == TRAIL_TEXT_FAILED || row.aka == TRAIL_TEXT_FAILED)
        return TRAIL_NO_MEMORY;
    *symbol = row;
    return TRAIL_OK;
}

enum trail_status trail_collector_part(struct trail_collector *collector, uint32_t part,
                                       struct trail_map_out *out)
{
    struct trail_collected *collected = trail_rows_add(&collector->parts);
    if (!collected)
        return TRAIL_NO_MEMORY;
    *collected = (struct trail_collected){
        .part = part,
        .functions.first = collector->function_ids.count,
        .files.first = collector->file_ids.count,
        .calls.first = collector->calls.count,
        .symbols.first = collector->symbols.count,
        .runs.first = collector->runs.count,
    };
    collector->part = collected;
    collector->first_scope = collector->scopes.count;
    collector->run_end = 0; /* a run is of one part */
    *out = (struct trail_map_out){ .size = sizeof(*out),
                                   .arg = collector,
                                   .file = take_file,
                                   .function = take_function,
                                   .scope = take_scope,
                                   .range = take_range,
                                   .call = take_call,
                                   .symbol = take_symbol };
    return TRAIL_OK;
}

void trail_collector_part_end(struct trail_collector *collector)
{
    struct trail_collected *part = collector->part;
    part->functions.count = collector->function_ids.count - part->functions.first;
    part->files.count = collector->file_ids.count - part->files.first;
    part->calls.count = collector->calls.count - part->calls.first;
    part->symbols.count = collector->symbols.count - part->symbols.first;
    part->runs.count = collector->runs.count - part->runs.first;
}
