/* origin_slices.c -- claims become regions. */
#include "core/resolve/origin_slices.h"

#include <stdlib.h>

#define SLICE_SIZE (512u * 1024) /* bytes of text */
/* Slices that may wait for one before them to be written. */
#define AHEAD_MAX 4u

/* ---- one slice ----------------------------------------------------------- */

/* A location with the file's number in the map; one too high is left out. */
static uint64_t location_in_map(const uint32_t *files, uint64_t location)
{
    uint64_t file = files[location >> 44];
    return (location & (UINT64_MAX >> 20)) | (file <= ORIGIN_FILE_MAX ? file << 44 : 0);
}

/* Scopes of all collectors have one row of numbers: scope times collectors, plus
 * collector. */
static void describe_scope(void *arg, uint32_t number, struct origin_scope *scope_ret)
{
    const struct trail_merged *merged = arg;
    uint32_t count = merged->collector_count;
    uint32_t collector = number % count;
    const struct trail_renumbered *renumbered = &merged->renumbered[collector];
    struct origin_scope scope = *(const struct origin_scope *)trail_rows_at(
        &merged->collectors[collector].scopes, number / count - 1);

    scope.function = renumbered->functions[scope.function];
    if (scope.parent)
        scope.parent = scope.parent * count + collector;
    scope.call = location_in_map(renumbered->files, scope.call);
    *scope_ret = scope;
}

/* Add what a claim says of [from, to) of the text; the slice begins at `start`. */
static enum trail_status add_claim(const struct trail_slices *slices,
                                   struct origin_regions_writer *writer,
                                   const struct trail_claim *claim, uint64_t start,
                                   uint64_t from, uint64_t to)
{
    const struct trail_row_run *run = claim->run;
    const struct trail_merged *merged = slices->merged;
    const struct trail_rows *spans = &merged->collectors[run->collector].spans;
    const uint32_t *files = merged->renumbered[run->collector].files;
    /* Where the run's first byte would be in the slice; it may be before it. */
    uint64_t origin = claim->offset - (claim->from - run->start) - start;
    enum trail_status status = TRAIL_OK;

    for (uint32_t i = trail_span_at(spans, run, from - start - origin);
         !status && from < to; i++) {
        const struct trail_row_span *span = trail_rows_at(spans, run->first + i);
        uint64_t end = to;
        if (i + 1 < run->count) {
            const struct trail_row_span *next =
                trail_rows_at(spans, run->first + i + 1);
            uint64_t next_at = origin + next->start + start;
            end = next_at < to ? next_at : to;
        }
        uint32_t scope =
            span->scope ? span->scope * merged->collector_count + run->collector : 0;
        status = origin_regions_add(writer, from - start, end - start, scope,
                                    location_in_map(files, span->location));
        from = end;
    }
    return status;
}

static uint64_t slice_end(const struct trail_slices *slices, uint32_t number)
{
    uint64_t end = (number + 1ull) * SLICE_SIZE;
    return end < slices->claims->text_size ? end : slices->claims->text_size;
}

static enum trail_status make_slice(const struct trail_slices *slices, uint32_t number,
                                    struct origin_regions_writer **writer_ret)
{
    const struct trail_claims *claims = slices->claims;
    uint64_t start = (uint64_t)number * SLICE_SIZE, end = slice_end(slices, number);
    struct origin_regions_options options = { .layout = slices->layout,
                                              .text_size = end - start,
                                              .scope = describe_scope };
    struct origin_regions_writer *writer = NULL;
    memcpy(&options.arg, &slices->merged, sizeof(options.arg)); /* it is only read */
    enum trail_status status = origin_regions_create(&options, &writer);
    if (status)
        return status;
    for (uint32_t i = trail_claim_beyond(claims, start); !status && i < claims->count;
         i++) {
        const struct trail_claim *claim = &claims->at[i];
        uint64_t from = claim->offset, to = from + (claim->to - claim->from);
        if (from >= end)
            break;
        status = add_claim(slices, writer, claim, start, from > start ? from : start,
                           to < end ? to : end);
    }
    if (!status)
        status = origin_regions_flush(writer);
    if (status)
        origin_regions_destroy(writer);
    else
        *writer_ret = writer;
    return status;
}

/* ---- all of them --------------------------------------------------------- */

/* Put a slice behind those before it. */
static enum trail_status write_slice(struct trail_slices *slices, uint32_t number,
                                     const struct origin_regions_writer *made)
{
    struct origin_regions view = origin_regions_view(made);
    uint8_t *index = slices->index + (uint64_t)number * (SLICE_SIZE / ORIGIN_REGION) *
                                         ORIGIN_INDEX_SIZE;
    if (slices->bytes_size + view.end > UINT32_MAX)
        return TRAIL_UNSUPPORTED;
    memcpy(index, view.index, (size_t)(view.count * ORIGIN_INDEX_SIZE));
    for (uint64_t i = 0; i < view.count; i++, index += ORIGIN_INDEX_SIZE) {
        uint32_t base = origin_get32(index);
        if (base)
            origin_put32(index, base + (uint32_t)slices->bytes_size);
    }
    origin_map_write_put(slices->writer, view.bytes, (size_t)view.end);
    slices->bytes_size += view.end;
    return slices->writer->status;
}

/* Write all slices whose turn it is, unless another thread is at it. Locked. */
static void write_made(struct trail_slices *slices)
{
    if (slices->is_writing)
        return;
    slices->is_writing = true;
    while (!slices->status && slices->written < slices->count &&
           slices->made[slices->written]) {
        uint32_t number = slices->written;
        struct origin_regions_writer *made = slices->made[number];
        slices->made[number] = NULL;
        trail_os_mutex_unlock(&slices->mutex);
        enum trail_status status = write_slice(slices, number, made);
        origin_regions_destroy(made);
        trail_os_mutex_lock(&slices->mutex);
        slices->written++;
        if (!status && slices->step &&
            slices->step(slices->arg, slices->written, slices->count))
            status = TRAIL_CANCELLED;
        if (!slices->status)
            slices->status = status;
        trail_os_cond_wake(&slices->cond);
    }
    slices->is_writing = false;
}

void trail_slices_run(struct trail_slices *slices)
{
    trail_os_mutex_lock(&slices->mutex);
    while (!slices->status && slices->next < slices->count) {
        uint32_t number = slices->next++;
        while (!slices->status && number >= slices->written + AHEAD_MAX)
            trail_os_cond_wait(&slices->cond, &slices->mutex, UINT64_MAX);
        if (slices->status)
            break;
        trail_os_mutex_unlock(&slices->mutex);
        struct origin_regions_writer *made = NULL;
        enum trail_status status = make_slice(slices, number, &made);
        trail_os_mutex_lock(&slices->mutex);
        slices->made[number] = made;
        if (status && !slices->status)
            slices->status = status;
        write_made(slices);
    }
    trail_os_cond_wake(&slices->cond);
    trail_os_mutex_unlock(&slices->mutex);
}

enum trail_status trail_slices_init(struct trail_slices *slices)
{
    uint64_t text_size = slices->claims->text_size;
    slices->count = (uint32_t)((text_size + SLICE_SIZE - 1) / SLICE_SIZE);
    slices->made = calloc((size_t)slices->count + 1, sizeof(*slices->made));
    slices->index = calloc((size_t)(text_size / ORIGIN_REGION) + 1, ORIGIN_INDEX_SIZE);
    if (!slices->made || !slices->index)
        return TRAIL_NO_MEMORY;
    origin_map_write_section(slices->writer, ORIGIN_REGIONS);
    return TRAIL_OK;
}

enum trail_status trail_slices_finish(struct trail_slices *slices)
{
    if (slices->status)
        return slices->status;
    origin_map_write_section(slices->writer, ORIGIN_INDEX);
    origin_map_write_put(slices->writer, slices->index,
                         (size_t)(slices->claims->text_size / ORIGIN_REGION *
                                  ORIGIN_INDEX_SIZE));
    return TRAIL_OK;
}

void trail_slices_deinit(struct trail_slices *slices)
{
    for (uint32_t i = 0; slices->made && i < slices->count; i++)
        origin_regions_destroy(slices->made[i]);
    free(slices->made);
    free(slices->index);
}
