/* enumerate.c -- writes all that is known of a module, part by part. */
#include "owners.h"
#include "reader.h"
#include "results.h"
#include "split.h"
#include "start.h"
#include "targets.h"
#include "warm.h"

/* ---- workers side by side -------------------------------------------- */

static void lock(struct dwarf *image)
{
    while (atomic_flag_test_and_set_explicit(&image->lock, memory_order_acquire))
        continue;
}

static void unlock(struct dwarf *image)
{
    atomic_flag_clear_explicit(&image->lock, memory_order_release);
}

/* Read what all parts need and none may change: units, owners, other halves. */
static enum trail_status prepare(struct dwarf *image, const struct trail_call *call)
{
    if (image->is_prepared)
        return TRAIL_OK;
    struct worker *worker = dwarf_begin(image, call);
    if (!worker)
        return TRAIL_NO_MEMORY;
    if ((image->owners_state != OWNERS_COMPLETE && !owners_read_all(worker)) ||
        !split_find_all(worker))
        return worker->status;
    image->is_prepared = true;
    return TRAIL_OK;
}

static struct worker *take_worker(struct dwarf *image, const struct trail_call *call)
{
    lock(image);
    struct worker *worker = image->idle;
    if (worker)
        image->idle = worker->next;
    unlock(image);
    if (worker)
        worker_clear(worker);
    else
        worker = worker_create(image);
    if (worker)
        worker_begin(worker, call);
    return worker;
}

static void give_worker_back(struct dwarf *image, struct worker *worker)
{
    lock(image);
    worker->next = image->idle;
    image->idle = worker;
    unlock(image);
}

/* ---- one part -------------------------------------------------------- */

/* What was sent of the worker's results. */
struct sending {
    struct worker *worker;
    struct trail_map_out *out;
    uint32_t files, functions, scopes; /* the first that was not */
    struct targets targets;
};

static struct trail_text text_of(const struct worker *worker, uint32_t text)
{
    return trail_text_of(texts_get(&worker->texts, text));
}

static enum trail_status send_files(struct sending *sending)
{
    struct worker *worker = sending->worker;
    enum trail_status status = TRAIL_OK;
    for (; sending->files < worker->files.count && !status; sending->files++) {
        struct file_entry entry = worker->files.at[sending->files];
        uint32_t path = results_path(worker, &entry);
        if (!path)
            return TRAIL_NO_MEMORY;
        status =
            sending->out->file(sending->out->arg, sending->files, text_of(worker, path),
                               text_of(worker, entry.compilation));
    }
    return status;
}

static enum trail_status send_functions(struct sending *sending)
{
    struct worker *worker = sending->worker;
    enum trail_status status = TRAIL_OK;
    for (; sending->functions < worker->functions.count && !status;
         sending->functions++) {
        struct function_entry entry = worker->functions.at[sending->functions];
        status = sending->out->function(
            sending->out->arg, sending->functions, text_of(worker, entry.name),
            text_of(worker, entry.linkage),
            entry.size ? worker->image->low + entry.start : 0, entry.size);
    }
    return status;
}

static enum trail_status send_scopes(struct sending *sending)
{
    struct worker *worker = sending->worker;
    enum trail_status status = TRAIL_OK;
    for (; sending->scopes < worker->kept.count && !status; sending->scopes++) {
        const struct origin_scope *scope = &worker->kept.at[sending->scopes];
        struct origin_frame at = origin_frame_at(scope->function, scope->call);
        status = sending->out->scope(sending->out->arg, sending->scopes, scope->parent,
                                     at.function, at.file, at.line, at.column);
    }
    return status;
}

static enum trail_status send_ranges(struct sending *sending)
{
    struct worker *worker = sending->worker;
    uint64_t low = worker->image->low;
    enum trail_status status = TRAIL_OK;
    for (uint32_t i = 0; i < worker->runs.count; i++) {
        const struct run *run = &worker->runs.at[i];
        const struct segment *segment = worker->segments.at + run->segment;
        for (uint32_t k = 0; k < run->segment_count && !status; k++, segment++) {
            uint32_t end = k + 1 < run->segment_count ? segment[1].start : run->end;
            struct origin_frame at = origin_frame_at(0, segment->location);
            status =
                sending->out->range(sending->out->arg, low + segment->start, low + end,
                                    segment->scope, at.file, at.line, at.column);
        }
    }
    worker->runs.count = worker->segments.count = 0;
    return status;
}

static enum trail_status send_calls(struct sending *sending)
{
    struct worker *worker = sending->worker;
    enum trail_status status = TRAIL_OK;
    if (!sending->out->call || !worker->calls.count)
        return TRAIL_OK;
    if (!targets_fill(&sending->targets, worker))
        return TRAIL_NO_MEMORY;
    for (uint32_t i = 0; i < worker->calls.count && !status; i++)
        status =
            targets_emit(&sending->targets, worker, &worker->calls.at[i], sending->out);
    return status;
}

/* A function without a name says that the unit's other half is missing: whoever reads a
 * map then knows why only a symbol names its code. */
static bool mark_incomplete(struct worker *worker)
{
    const struct function_entry unnamed = { 0 };
    struct origin_scope scope = { 0 };
    if (!start_is_incomplete(worker) || !worker->segments.count)
        return true;
    scope.function = results_add_function(worker, &unnamed);
    if (!scope.function || !vector_room(&worker->kept, 1))
        return worker_no_memory(worker);
    for (uint32_t i = 0; i < worker->segments.count; i++)
        worker->segments.at[i].scope = worker->kept.count;
    worker->kept.at[worker->kept.count++] = scope;
    return true;
}

static enum trail_status send_unit(struct sending *sending, uint32_t unit)
{
    struct worker *worker = sending->worker;
    if (!warm_read_unit(worker, unit, sending->out->call != NULL) ||
        !mark_incomplete(worker)) {
        worker->runs.count = worker->segments.count = 0;
        return worker_gave_up_unit(worker) ? TRAIL_OK : worker->status;
    }
    enum trail_status status = send_files(sending);
    if (!status)
        status = send_functions(sending);
    if (!status)
        status = send_scopes(sending);
    if (!status)
        status = send_ranges(sending);
    return status ? status : send_calls(sending);
}

/* Which part has a unit: parts have about the same share of .debug_info. */
static uint32_t part_of(const struct dwarf *image, const struct unit *unit,
                        uint32_t parts)
{
    uint64_t size = image->main.file.sections[DWARF_INFO].size;
    return (uint32_t)(unit->offset / (size / parts + 1));
}

enum trail_status dwarf_enumerate(struct dwarf *image, const struct trail_call *call,
                                  uint32_t part, uint32_t parts,
                                  struct trail_map_out *out)
{
    lock(image);
    enum trail_status status = prepare(image, call);
    unlock(image);
    struct worker *worker = status ? NULL : take_worker(image, call);
    if (!worker)
        return status ? status : TRAIL_NO_MEMORY;
    struct sending sending = {
        .worker = worker, .out = out, .files = 1, .functions = 1, .scopes = 1
    };
    for (uint32_t i = 0; i < image->main.units.count && !status; i++) {
        const struct unit *unit = &image->main.units.at[i];
        if (unit_has_code(unit) && part_of(image, unit, parts) == part)
            status = send_unit(&sending, i);
    }
    targets_deinit(&sending.targets);
    give_worker_back(image, worker);
    return status;
}
