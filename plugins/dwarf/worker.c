/* worker.c -- what reads one unit after the other, and how much it may read. */
#include <stdlib.h>

#include "names.h"
#include "reader.h"

/* Bytes of work of one call: what each byte of the sections may cost, and something for
 * small files. Sound files need less than two for each. */
#define WORK_OF_A_BYTE 8
#define WORK_AT_LEAST  (INT64_C(1) << 31)
#define POLL_BYTES     (INT64_C(1) << 22) /* of work between two polls of the host */

void worker_begin(struct worker *worker, const struct trail_call *call)
{
    if (worker->status) /* what the last call could not end may be half there */
        names_forget(worker);
    worker->call = call;
    worker->status = TRAIL_OK;
    worker->gives_up_unit = false;
    worker->work_left = (int64_t)worker->image->section_bytes * WORK_OF_A_BYTE;
    worker->work_left += WORK_AT_LEAST;
    worker->work_until_poll = POLL_BYTES;
}

bool worker_spend_slowly(struct worker *worker)
{
    const struct trail_call *call = worker->call;
    if (worker->status)
        return false;
    worker->work_left -= POLL_BYTES - worker->work_until_poll;
    worker->work_until_poll = POLL_BYTES;
    if (worker->work_left <= 0)
        worker->status = TRAIL_BAD_INPUT;
    else if (call && call->stop && call->stop(call->host))
        worker->status = TRAIL_CANCELLED;
    return !worker->status;
}

/* Number 0 of each kind of result is none. The other arrays have room from the start,
 * so that an empty part of one points somewhere, too. */
static bool make_room_for_none(struct worker *worker)
{
    if (!vector_room(&worker->kept, 1) || !vector_room(&worker->functions, 1) ||
        !vector_room(&worker->files, 1) || !vector_room(&worker->segments, 1) ||
        !vector_room(&worker->runs, 1) || !vector_room(&worker->intervals, 1) ||
        !vector_room(&worker->pieces, 1) || !vector_room(&worker->rows, 1) ||
        !vector_room(&worker->ranges, 1))
        return false;
    memset(worker->kept.at, 0, sizeof(*worker->kept.at));
    memset(worker->functions.at, 0, sizeof(*worker->functions.at));
    memset(worker->files.at, 0, sizeof(*worker->files.at));
    worker->kept.count = worker->functions.count = worker->files.count = 1;
    return true;
}

struct worker *worker_create(struct dwarf *image)
{
    struct worker *worker = calloc(1, sizeof(*worker));
    if (!worker)
        return NULL;
    worker->image = image;
    worker->texts.stretches = &image->stretches;
    worker->abbrevs.offset = worker->root_abbrevs.offset = UINT64_MAX;
    worker->name_cache =
        calloc(UINT32_C(1) << NAME_CACHE_BITS, sizeof(*worker->name_cache));
    if (worker->name_cache && make_room_for_none(worker))
        return worker;
    worker_destroy(worker);
    return NULL;
}

static void clear_set(struct number_set *set)
{
    if (set->slots)
        memset(set->slots, 0, set->size * sizeof(*set->slots));
    set->count = 0;
}

void worker_clear(struct worker *worker)
{
    clear_set(&worker->function_set);
    clear_set(&worker->file_set);
    memset(worker->name_cache, 0, sizeof(*worker->name_cache) << NAME_CACHE_BITS);
    worker->kept.count = worker->functions.count = worker->files.count = 1;
    worker->segments.count = worker->runs.count = 0;
}

void worker_destroy(struct worker *worker)
{
    if (!worker)
        return;
    names_deinit(worker);
    abbrevs_deinit(&worker->abbrevs);
    abbrevs_deinit(&worker->root_abbrevs);
    vector_free(&worker->line.directories);
    vector_free(&worker->line.files);
    vector_free(&worker->line.numbers);
    vector_free(&worker->scopes);
    vector_free(&worker->intervals);
    vector_free(&worker->pieces);
    vector_free(&worker->rows);
    vector_free(&worker->sequences);
    vector_free(&worker->ranges);
    vector_free(&worker->calls);
    vector_free(&worker->function_places);
    vector_free(&worker->name_scopes.of);
    vector_free(&worker->paint);
    vector_free(&worker->segments);
    vector_free(&worker->runs);
    vector_free(&worker->kept);
    vector_free(&worker->functions);
    vector_free(&worker->files);
    texts_deinit(&worker->texts);
    free(worker->function_set.slots);
    free(worker->file_set.slots);
    free(worker->name_cache);
    free(worker->levels);
    free(worker);
}
