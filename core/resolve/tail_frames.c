/* tail_frames.c -- functions that ended in a tail call, put back into stacks. */
#include "core/resolve/tail_frames.h"

#include <stdlib.h>

#include "core/resolve/image_target.h"
#include "core/resolve/in_app.h"
#include "core/resolve/tail_ask.h"
#include "core/resolve/trim.h"

#define QUESTION_LIMIT 2048 /* asked for one trace about what is between frames */

/* Two neighbours of one thread. */
struct pair {
    struct trail_resolved_thread *thread;
    size_t inner, outer; /* in its frames: the real ones, not inlined */
    struct trail_tail_pair asked;
    struct trail_tail_found found;
};

struct work {
    struct trail_tail_asking asking;
    struct trail_resolved *resolved;
    const struct trail_policy *policy;
    struct pair *pairs;
    size_t pair_count;
    uint64_t *addresses;
};

/* ---- which neighbours ------------------------------------------------------ */

static uint32_t rank_of(const struct trail_resolved *resolved,
                        const struct trail_resolved_frame *frame)
{
    return frame->answer == TRAIL_NO_INDEX ? 0 : resolved->answers[frame->answer].rank;
}

/* Whether what is called there says anything of what runs inside: see tail_frames.h. */
static bool can_tell(const struct trail_resolved *resolved,
                     const struct trail_resolved_frame *inner,
                     const struct trail_resolved_frame *outer)
{
    bool runs =
        inner->frame.kind == TRAIL_PC_CURRENT || inner->frame.kind == TRAIL_PC_RETURN;
    return runs && outer->frame.kind == TRAIL_PC_RETURN &&
           outer->frame.trust == TRAIL_TRUST_CFI && !inner->frame.landing &&
           !outer->frame.landing && inner->frame.symbol_start &&
           inner->frame.function[0] && rank_of(resolved, inner) >= 2 &&
           rank_of(resolved, outer) == 3;
}

/* The real frame of the address that frame `at` is of. */
static size_t real_frame(const struct trail_resolved_thread *thread, size_t at)
{
    while (at + 1 < thread->frame_count &&
           thread->frames[at + 1].frame.index == thread->frames[at].frame.index)
        at++;
    return at;
}

static void add_pairs(struct work *work, struct trail_resolved_thread *thread)
{
    size_t inner = real_frame(thread, 0);
    while (inner + 1 < thread->frame_count) {
        size_t outer = real_frame(thread, inner + 1);
        const struct trail_resolved_frame *caller = &thread->frames[outer];
        if (can_tell(work->resolved, &thread->frames[inner], caller))
            work->pairs[work->pair_count++] = (struct pair){
                .thread = thread,
                .inner = inner,
                .outer = outer,
                .asked = { .inner = &thread->frames[inner],
                           .caller_image = caller->image,
                           .return_address = caller->frame.offset },
            };
        inner = outer;
    }
}

/* Those of one module together, and the same ones next to each other. */
static int by_call(const void *a, const void *b)
{
    const struct trail_tail_pair *left = &((const struct pair *)a)->asked;
    const struct trail_tail_pair *right = &((const struct pair *)b)->asked;
    const uint64_t keys[][2] = {
        { left->caller_image, right->caller_image },
        { left->return_address, right->return_address },
        { left->inner->image, right->inner->image },
        { left->inner->frame.symbol_start, right->inner->frame.symbol_start },
        { left->inner->frame.offset, right->inner->frame.offset },
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* ---- asking ----------------------------------------------------------------- */

static enum trail_status ask_image(struct work *work, struct pair *pairs, size_t count)
{
    struct trail_known_calls calls;
    size_t image = pairs[0].asked.caller_image, address_count = 0;
    for (size_t i = 0; i < count; i++)
        if (!i || pairs[i].asked.return_address != pairs[i - 1].asked.return_address)
            work->addresses[address_count++] = pairs[i].asked.return_address;
    struct trail_target target =
        trail_image_target(&work->resolved->trace->images[image], work->asking.live);
    enum trail_status status =
        trail_calls_before(work->asking.resolver, &target, work->addresses,
                           address_count, work->asking.flags, work->asking.arena,
                           &calls);
    for (size_t i = 0; !status && i < count; i++) {
        if (i && by_call(&pairs[i], &pairs[i - 1]) == 0)
            pairs[i].found = pairs[i - 1].found;
        else
            status =
                trail_tail_ask(&work->asking, &pairs[i].asked, &calls, &pairs[i].found);
    }
    return status;
}

static enum trail_status ask_all(struct work *work)
{
    enum trail_status status = TRAIL_OK;
    if (work->pair_count)
        qsort(work->pairs, work->pair_count, sizeof(*work->pairs), by_call);
    for (size_t i = 0, end; !status && i < work->pair_count; i = end) {
        size_t image = work->pairs[i].asked.caller_image;
        for (end = i;
             end < work->pair_count && work->pairs[end].asked.caller_image == image;
             end++)
            continue;
        status = ask_image(work, work->pairs + i, end - i);
    }
    return status;
}

/* ---- putting back ------------------------------------------------------------ */

/* The entry of who answered; TRAIL_NO_INDEX: it told nothing that was captured. */
static size_t find_answer(const struct trail_resolved *resolved, size_t image,
                          const struct trail_answer *answer)
{
    for (size_t i = 0; i < resolved->answer_count; i++) {
        const struct trail_resolved_answer *known = &resolved->answers[i];
        if (known->image == image && known->plugin == answer->plugin &&
            known->rank == answer->rank && strcmp(known->source, answer->source) == 0)
            return i;
    }
    return TRAIL_NO_INDEX;
}

/* The line of the tail call, if it is one call. */
static enum trail_status place_call(struct work *work,
                                    const struct trail_tail_step *step,
                                    struct trail_frame *frame)
{
    struct trail_answer answer;
    frame->line = frame->column = 0;
    if (!step->return_address)
        return TRAIL_OK;
    enum trail_status status = trail_tail_answer(&work->asking, step->function.image,
                                                 step->return_address - 1, &answer);
    if (status || !answer.frame_count)
        return status;
    const struct trail_named *named = &answer.frames[answer.frame_count - 1];
    if (strcmp(named->function, frame->function) != 0)
        return TRAIL_OK;
    frame->file = named->file;
    frame->directory = named->directory;
    frame->line = named->line;
    frame->column = named->column;
    return TRAIL_OK;
}

/* The rule that hides a function between two frames. */
static const char *hidden_between(const struct work *work, const struct pair *pair,
                                  const struct trail_resolved_frame *made)
{
    const struct trail_resolved_frame *frames = pair->thread->frames;
    const char *inner = frames[pair->inner].frame.hidden;
    const struct trail_image *image = &work->resolved->trace->images[made->image];
    if (!inner[0] || frames[pair->outer].frame.hidden[0])
        return frames[pair->outer].frame.hidden;
    if (trail_trim_is_own(pair->thread->thread, made->frame.symbol_start + image->bias))
        return "capture";
    const char *rule =
        trail_trim_top_rule(made->frame.function, strcmp(inner, "capture") != 0);
    return rule ? rule : "";
}

/* *made_ret is false where it has no name. */
static enum trail_status make_frame(struct work *work, const struct pair *pair,
                                    const struct trail_tail_step *step,
                                    struct trail_resolved_frame *ret, bool *made_ret)
{
    const struct trail_resolved_frame *inner = &pair->thread->frames[pair->inner];
    const struct trail_resolved_frame *outer = &pair->thread->frames[pair->outer];
    const struct trail_resolved_frame *beside =
        step->function.image == inner->image ? inner : outer;
    struct trail_answer answer;
    enum trail_status status = trail_tail_answer(&work->asking, step->function.image,
                                                 step->function.start, &answer);
    *ret = (struct trail_resolved_frame){ .image = step->function.image,
                                          .gap = TRAIL_NO_INDEX };
    struct trail_frame *frame = &ret->frame;
    trail_frame_init(frame, 0);
    if (!status && answer.rank >= 2 && answer.frame_count)
        trail_resolved_name(ret, &answer, answer.frame_count - 1);
    *made_ret = frame->function[0] != 0;
    if (!*made_ret)
        return status;
    ret->answer = find_answer(work->resolved, ret->image, &answer);
    frame->symbol_start = step->function.start;
    frame->index = inner->frame.index;
    frame->kind = TRAIL_PC_RETURN;
    frame->trust = TRAIL_TRUST_CFI;
    frame->module = beside->frame.module;
    frame->module_id = beside->frame.module_id;
    frame->reconstructed = frame->tail_gap = true;
    frame->hidden = hidden_between(work, pair, ret);
    frame->in_app = trail_in_app(work->policy, work->resolved->trace,
                                 &work->resolved->trace->images[ret->image], frame);
    return place_call(work, step, frame);
}

/* Innermost first, as a stack is: the last of a chain stands next to what runs. Without
 * the names of all of them there is only the mark. */
static enum trail_status make_frames(struct work *work, struct pair *pair,
                                     struct trail_resolved_frame *frames)
{
    size_t count = pair->found.count;
    for (size_t i = 0; i < count; i++) {
        bool made = false;
        enum trail_status status =
            make_frame(work, pair, &pair->found.steps[count - 1 - i], &frames[i],
                       &made);
        if (status)
            return status;
        if (!made)
            pair->found.count = count = 0;
    }
    return TRAIL_OK;
}

/* Put what was found into a thread's frames. Its pairs stand in the order of frames. */
static enum trail_status put_back(struct work *work,
                                  struct trail_resolved_thread *thread,
                                  struct pair *pairs, size_t count)
{
    size_t extra = 0, to = 0, from = 0;
    for (size_t i = 0; i < count; i++)
        extra += pairs[i].found.count;
    struct trail_resolved_frame *frames =
        trail_arena_take(&work->resolved->arena,
                         (thread->frame_count + extra) * sizeof(*frames));
    if (!frames)
        return TRAIL_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        size_t kept = pairs[i].inner + 1 - from;
        memcpy(frames + to, thread->frames + from, kept * sizeof(*frames));
        to += kept;
        from += kept;
        frames[to - 1].frame.tail_gap = true;
        enum trail_status status = make_frames(work, &pairs[i], frames + to);
        if (status)
            return status;
        to += pairs[i].found.count;
    }
    memcpy(frames + to, thread->frames + from,
           (thread->frame_count - from) * sizeof(*frames));
    thread->frame_count += to - from;
    thread->frames = frames;
    return TRAIL_OK;
}

static int by_frame(const void *a, const void *b)
{
    const struct pair *left = a, *right = b;
    if (left->thread != right->thread)
        return left->thread < right->thread ? -1 : 1;
    return (left->inner > right->inner) - (left->inner < right->inner);
}

static enum trail_status put_back_all(struct work *work)
{
    enum trail_status status = TRAIL_OK;
    size_t count = 0;
    for (size_t i = 0; i < work->pair_count; i++)
        if (work->pairs[i].found.gap)
            work->pairs[count++] = work->pairs[i];
    if (count)
        qsort(work->pairs, count, sizeof(*work->pairs), by_frame);
    for (size_t i = 0, end; !status && i < count; i = end) {
        for (end = i; end < count && work->pairs[end].thread == work->pairs[i].thread;
             end++)
            continue;
        status = put_back(work, work->pairs[i].thread, work->pairs + i, end - i);
    }
    return status;
}

enum trail_status trail_tail_frames(struct trail_resolver *resolver,
                                    const struct trail_policy *policy, unsigned flags,
                                    int64_t live, struct trail_resolved *resolved)
{
    size_t count = 0;
    for (size_t t = 0; t < resolved->thread_count; t++)
        count += resolved->threads[t].frame_count;
    struct work work = {
        .asking = { .resolver = resolver,
                    .trace = resolved->trace,
                    .arena = &resolved->arena,
                    .flags = flags,
                    .live = live,
                    .left = QUESTION_LIMIT },
        .resolved = resolved,
        .policy = policy,
        .pairs = calloc(count + 1, sizeof(*work.pairs)),
        .addresses = calloc(count + 1, sizeof(*work.addresses)),
    };
    enum trail_status status =
        work.pairs && work.addresses ? TRAIL_OK : TRAIL_NO_MEMORY;
    for (size_t t = 0; !status && t < resolved->thread_count; t++)
        if (resolved->threads[t].frame_count)
            add_pairs(&work, &resolved->threads[t]);
    if (!status)
        status = ask_all(&work);
    if (!status)
        status = put_back_all(&work);
    free(work.pairs);
    free(work.addresses);
    return status;
}
