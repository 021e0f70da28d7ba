/* fold.c -- which frames of a stack a person is shown. */
#include "core/report/fold.h"

#include <stdlib.h>

#define TOP_COUNT    3 /* frames that stay at the top of a stack, and at its bottom */
#define BOTTOM_COUNT 2
#define LEAST_COUNT  4  /* shorter runs take as little room as the line about them */
#define PERIOD_MOST  16 /* calls in one round of a recursion */
#define REPEAT_LEAST 3  /* calls worth a line about them */

/* The same call: from the same place, by the same chain of inlined calls. */
static bool same_call(const struct trail_frame *a, const struct trail_frame *b)
{
    return a->address == b->address && a->inline_index == b->inline_index &&
           a->kind == b->kind && a->line == b->line && a->column == b->column &&
           strcmp(a->function, b->function) == 0 && strcmp(a->file, b->file) == 0 &&
           strcmp(a->gap, b->gap) == 0;
}

/* How many calls after the first `period` from `at` on do the same again, in whole
 * rounds. */
static size_t repeated_count(const struct trail_folded *folded, size_t at,
                             size_t period)
{
    size_t count = 0;
    while (at + period + count < folded->shown_count &&
           folded->shown[at + count]->kind == TRAIL_PC_RETURN &&
           same_call(folded->shown[at + count], folded->shown[at + period + count]))
        count++;
    return count - count % period;
}

static void add_item(struct trail_folded *folded, struct trail_fold_item item)
{
    folded->items[folded->item_count++] = item;
}

static void add_frames(struct trail_folded *folded, size_t first, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_item(folded, (struct trail_fold_item){ TRAIL_FOLD_FRAME, first + i, 1, 0 });
}

/* The shortest round that begins here and comes again often enough; 0: none. */
static size_t find_period(const struct trail_folded *folded, size_t at,
                          size_t *count_ret)
{
    for (size_t period = 1; period <= PERIOD_MOST; period++) {
        *count_ret = repeated_count(folded, at, period);
        if (*count_ret >= REPEAT_LEAST && *count_ret >= 2 * period)
            return period;
    }
    return 0;
}

static void fold_repeats(struct trail_folded *folded)
{
    size_t count;
    for (size_t at = 0; at < folded->shown_count;) {
        size_t period = find_period(folded, at, &count);
        if (!period) {
            add_frames(folded, at++, 1);
            continue;
        }
        add_frames(folded, at, period);
        add_item(folded, (struct trail_fold_item){ TRAIL_FOLD_REPEAT, at + period,
                                                   count, period });
        at += period + count;
    }
}

static bool is_boilerplate(const struct trail_frame *frame)
{
    return !frame->in_app && frame->kind == TRAIL_PC_RETURN &&
           strcmp(frame->gap, "unloaded") != 0;
}

static bool can_fold(const struct trail_folded *folded,
                     const struct trail_fold_item *item)
{
    size_t end = item->first + item->count;
    if (item->first < TOP_COUNT || end + BOTTOM_COUNT > folded->shown_count)
        return false;
    /* A second round has what the first has. */
    size_t look = item->period ? item->period : item->count;
    for (size_t i = 0; i < look; i++)
        if (!is_boilerplate(folded->shown[item->first + i]))
            return false;
    return true;
}

/* The end of the run of items from `at` on that can be folded. Of those that the
 * program called itself, the outermost stays: it is what it asked the library for. */
static size_t run_end(const struct trail_folded *folded, size_t at)
{
    size_t end = at;
    while (end < folded->item_count && can_fold(folded, &folded->items[end]))
        end++;
    bool asked = end < folded->item_count &&
                 folded->shown[folded->items[end].first]->in_app && end > at &&
                 folded->items[end - 1].kind == TRAIL_FOLD_FRAME;
    return asked ? end - 1 : end;
}

static size_t frames_of(const struct trail_folded *folded, size_t at, size_t end)
{
    size_t count = 0;
    for (; at < end; at++)
        count += folded->items[at].count;
    return count;
}

/* In place: what is written never overtakes what is read. */
static void fold_libraries(struct trail_folded *folded)
{
    size_t to = 0;
    for (size_t at = 0; at < folded->item_count;) {
        size_t end = run_end(folded, at);
        size_t count = frames_of(folded, at, end);
        if (count >= LEAST_COUNT) {
            folded->items[to++] =
                (struct trail_fold_item){ TRAIL_FOLD_LIBRARY, folded->items[at].first,
                                          count, 0 };
            at = end;
            continue;
        }
        do
            folded->items[to++] = folded->items[at++];
        while (at < end);
    }
    folded->item_count = to;
}

bool trail_fold(const struct trail_resolved_thread *thread, bool hidden_too, bool fold,
                struct trail_folded *folded_ret)
{
    size_t count = thread->frame_count ? thread->frame_count : 1;
    struct trail_folded folded = { .shown = calloc(count, sizeof(*folded.shown)),
                                   .items = calloc(count, sizeof(*folded.items)) };
    if (!folded.shown || !folded.items) {
        trail_folded_deinit(&folded);
        return false;
    }
    for (size_t i = 0; i < thread->frame_count; i++)
        if (hidden_too || !thread->frames[i].frame.hidden[0])
            folded.shown[folded.shown_count++] = &thread->frames[i].frame;
    if (fold && !hidden_too) {
        fold_repeats(&folded);
        fold_libraries(&folded);
    } else {
        add_frames(&folded, 0, folded.shown_count);
    }
    *folded_ret = folded;
    return true;
}

void trail_folded_deinit(struct trail_folded *folded)
{
    free(folded->shown);
    free(folded->items);
    *folded = (struct trail_folded){ 0 };
}
