/* warm.c -- units that were read whole. */
#include "warm.h"

#include <stdlib.h>

#include "flatten.h"
#include "lines.h"
#include "start.h"
#include "walk.h"

/* From `address` on the discriminator is this. */
struct discriminator {
    uint32_t address, value;
};

struct warm {
    struct origin_regions_writer *writer;
    struct origin_regions regions; /* what can be looked up */
    struct warm_unit *units;
    VECTOR(struct discriminator) discriminators; /* of each unit together, ascending */
};

void warm_destroy(struct warm *warm)
{
    if (!warm)
        return;
    origin_regions_destroy(warm->writer);
    vector_free(&warm->discriminators);
    free(warm->units);
    free(warm);
}

static void describe_scope(void *arg, uint32_t number, struct origin_scope *scope_ret)
{
    const struct worker *worker = arg;
    *scope_ret = worker->kept.at[number];
}

static bool create(struct worker *worker)
{
    struct dwarf *image = worker->image;
    const struct origin_regions_options options = {
        .layout = ORIGIN_LAYOUT_WIDE,
        .text_size = image->high - image->low,
        .scope = describe_scope,
        .arg = worker,
    };
    struct warm *warm = calloc(1, sizeof(*warm));
    if (warm)
        warm->units = calloc(image->main.units.count + 1u, sizeof(*warm->units));
    if (!warm || !warm->units || origin_regions_create(&options, &warm->writer)) {
        warm_destroy(warm);
        return worker_no_memory(worker);
    }
    warm->regions = origin_regions_view(warm->writer);
    image->warm = warm;
    return true;
}

bool warm_has(const struct dwarf *image, uint32_t unit)
{
    return image->warm && image->warm->units[unit].is_read;
}

const struct warm_unit *warm_unit_of(const struct dwarf *image, uint32_t unit)
{
    return &image->warm->units[unit];
}

bool warm_read_unit(struct worker *worker, uint32_t unit, bool wants_calls)
{
    const struct filter all = { 0 };
    const uint8_t *first;
    uint32_t segment = worker->segments.count;
    /* Streaming through every DIE costs no more than jumping about, and misses
     * nothing. */
    return start_unit(worker, unit, &first) && lines_read_header(worker) &&
           lines_read_rows(worker) &&
           walk_unit(worker, first, &all, WALK_DEEP, wants_calls) &&
           flatten_unit(worker) && flatten_keep_scopes(worker, segment);
}

static bool keep_discriminator(struct worker *worker, uint32_t address, uint32_t value)
{
    struct warm *warm = worker->image->warm;
    if (!vector_room(&warm->discriminators, 1))
        return worker_no_memory(worker);
    warm->discriminators.at[warm->discriminators.count++] =
        (struct discriminator){ address, value };
    return true;
}

/* Note where discriminators change in the rows of the unit in hand; most are 0. Where
 * sequences overlap the first one counts, as in flatten.c. */
static bool keep_discriminators(struct worker *worker, struct warm_unit *unit)
{
    struct warm *warm = worker->image->warm;
    uint32_t last = 0, done = 0;
    unit->discriminator = warm->discriminators.count;
    for (uint32_t i = 0; i < worker->sequences.count; i++) {
        const struct sequence *sequence = &worker->sequences.at[i];
        const struct row *row = worker->rows.at + sequence->row;
        for (uint32_t k = 0; k <= sequence->row_count; k++) {
            bool is_end = k == sequence->row_count;
            uint32_t address = is_end ? sequence->end : row[k].address;
            uint32_t end =
                k + 1 < sequence->row_count ? row[k + 1].address : sequence->end;
            uint32_t value = is_end ? 0 : row[k].discriminator;
            if (value == last || end < done || (end == done && !is_end))
                continue;
            if (!keep_discriminator(worker, address > done ? address : done, value))
                return false;
            last = value;
        }
        done = sequence->end > done ? sequence->end : done;
    }
    unit->discriminator_count = warm->discriminators.count - unit->discriminator;
    return true;
}

static bool add_runs(struct worker *worker)
{
    struct origin_regions_writer *writer = worker->image->warm->writer;
    enum trail_status status = TRAIL_OK;
    for (uint32_t i = 0; i < worker->runs.count && !status; i++) {
        const struct run *run = &worker->runs.at[i];
        const struct segment *segment = worker->segments.at + run->segment;
        for (uint32_t k = 0; k < run->segment_count && !status; k++, segment++)
            status = origin_regions_add(writer, segment->start,
                                        k + 1 < run->segment_count ? segment[1].start
                                                                   : run->end,
                                        segment->scope, segment->location);
    }
    if (!status)
        status = origin_regions_flush(writer);
    worker->image->warm->regions = origin_regions_view(writer);
    return !status || worker_no_memory(worker);
}

bool warm_load(struct worker *worker, uint32_t unit)
{
    struct dwarf *image = worker->image;
    if (!image->warm && !create(worker))
        return false;
    struct warm_unit *loaded = &image->warm->units[unit];
    if (loaded->is_read)
        return true;
    uint32_t kept = worker->kept.count; /* regions hold copies of what they need */
    worker->segments.count = worker->runs.count = 0;
    bool is_done = warm_read_unit(worker, unit, false) &&
                   keep_discriminators(worker, loaded) && add_runs(worker);
    worker->kept.count = kept;
    worker->segments.count = worker->runs.count = 0;
    loaded->has_line_table = worker->line.is_usable;
    loaded->is_incomplete = start_is_incomplete(worker);
    loaded->is_read = is_done || worker->gives_up_unit; /* not again */
    return is_done;
}

uint32_t warm_find(const struct dwarf *image, uint32_t address,
                   struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    return origin_regions_lookup(&image->warm->regions, address, frames);
}

uint32_t warm_discriminator(const struct dwarf *image, uint32_t unit, uint32_t address)
{
    const struct warm *warm = image->warm;
    uint32_t first = warm->units[unit].discriminator;
    uint32_t low = first, high = first + warm->units[unit].discriminator_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (warm->discriminators.at[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > first ? warm->discriminators.at[low - 1].value : 0;
}
