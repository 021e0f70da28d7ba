/* tail_ask.c -- of two neighbouring frames: what did the outer one call, and how does
 * that lead to what runs in the inner one?
 */
#include "core/resolve/tail_ask.h"

#include "core/resolve/image_target.h"
#include "core/resolve/linkage.h"

/* One search under way. */
struct hunt {
    struct trail_tail_asking *asking;
    const struct trail_resolved_frame *runs;
    struct trail_place place; /* of what runs */
    size_t caller_image;
};

static bool may_ask(struct trail_tail_asking *asking)
{
    if (!asking->left)
        return false;
    asking->left--;
    return true;
}

static struct trail_target target_of(const struct trail_tail_asking *asking,
                                     size_t image)
{
    return trail_image_target(&asking->trace->images[image], asking->live);
}

enum trail_status trail_tail_answer(struct trail_tail_asking *asking, size_t image,
                                    uint64_t address, struct trail_answer *answer_ret)
{
    struct trail_gap gap;
    *answer_ret = (struct trail_answer){ 0 };
    if (!may_ask(asking))
        return TRAIL_OK;
    struct trail_target target = target_of(asking, image);
    return trail_resolver_lookup(asking->resolver, &target, &address, 1, asking->flags,
                                 asking->arena, answer_ret, &gap);
}

/* ---- is it what runs? ------------------------------------------------------ */

/* Whether a name is one of those that the frame's function has. */
static bool has_name(const struct trail_frame *frame, const char *linkage)
{
    struct trail_text name = trail_text_of(linkage);
    if (trail_linkage_same(name, trail_text_of(frame->linkage)) ||
        trail_linkage_same(name, trail_text_of(frame->function)) ||
        trail_linkage_same(name, trail_text_of(frame->symbol)))
        return true;
    for (const char *at = frame->aka; *at;) {
        struct trail_text alias = { at, strcspn(at, "\n") };
        if (trail_linkage_same(name, alias))
            return true;
        at += alias.size;
        at += *at == '\n';
    }
    return false;
}

static const char *linkage_of(const struct trail_named *named)
{
    return named->linkage[0] ? named->linkage : named->function;
}

/* The function that starts there has a name of what runs. */
static enum trail_status place_has_name(const struct hunt *hunt,
                                        struct trail_place place, bool *known_ret,
                                        bool *has_ret)
{
    struct trail_answer answer;
    enum trail_status status =
        trail_tail_answer(hunt->asking, place.image, place.start, &answer);
    if (status)
        return status;
    *known_ret = answer.rank >= 2 && answer.frame_count;
    *has_ret = false;
    if (*known_ret)
        *has_ret = has_name(&hunt->runs->frame,
                            linkage_of(&answer.frames[answer.frame_count - 1]));
    return TRAIL_OK;
}

/* ---- where is what is called? ----------------------------------------------- */

/* By its name: in the module that calls it, else in that of what runs. Any other has
 * nothing to do with how one got there. */
static bool find_named(const struct hunt *hunt, size_t image, const char *linkage,
                       struct trail_place *place_ret)
{
    const size_t images[] = { image, hunt->place.image };
    for (size_t i = 0; i < 2; i++) {
        if (!may_ask(hunt->asking))
            return false;
        struct trail_target target = target_of(hunt->asking, images[i]);
        struct trail_defined defined =
            trail_calls_defined(hunt->asking->resolver, &target, linkage,
                                hunt->asking->flags);
        *place_ret = (struct trail_place){ images[i], defined.start };
        if (defined.start)
            return !defined.several;
    }
    return false;
}

static bool find_called(const struct hunt *hunt, size_t image,
                        const struct trail_known_call *call,
                        struct trail_place *place_ret)
{
    *place_ret = (struct trail_place){ image, call->target };
    return call->target ||
           (call->linkage[0] && find_named(hunt, image, call->linkage, place_ret));
}

/* ---- tail calls ------------------------------------------------------------- */

/* Add what a tail call leads to. What runs is taken for itself where it was found in a
 * part that is not its beginning; another function of its name makes all uncertain. */
static enum trail_status add_tail(const struct hunt *hunt, size_t image,
                                  const struct trail_known_call *call,
                                  struct trail_tail *tails, struct trail_tails *made)
{
    struct trail_place place;
    bool named = false, known = false;
    enum trail_status status = TRAIL_OK;
    if (!call->target && !call->linkage[0]) {
        made->open = true;
        return TRAIL_OK;
    }
    if (!find_called(hunt, image, call, &place))
        return TRAIL_OK; /* of a module that has no part in this */
    if (!trail_place_is(place, hunt->place)) {
        if (call->linkage[0])
            named = has_name(&hunt->runs->frame, call->linkage);
        else
            status = place_has_name(hunt, place, &known, &named);
    }
    if (named && trail_linkage_is_part(hunt->runs->frame.symbol))
        place = hunt->place;
    else
        made->open = made->open || named;
    tails[made->count++] = (struct trail_tail){ place, call->return_address };
    return status;
}

static enum trail_status tails_of(void *arg, struct trail_place function,
                                  struct trail_tails *tails_ret)
{
    const struct hunt *hunt = arg;
    struct trail_known_calls calls = { NULL, 0 };
    struct trail_tails made = { NULL, 0, false };
    if (!may_ask(hunt->asking)) {
        tails_ret->open = true;
        return TRAIL_OK;
    }
    struct trail_target target = target_of(hunt->asking, function.image);
    enum trail_status status =
        trail_calls_tails(hunt->asking->resolver, &target, function.start,
                          hunt->asking->flags, hunt->asking->arena, &calls);
    struct trail_tail *tails =
        status ? NULL
               : trail_arena_take(hunt->asking->arena, calls.count * sizeof(*tails));
    if (!tails)
        return TRAIL_NO_MEMORY;
    for (size_t i = 0; !status && i < calls.count; i++)
        if (calls.at[i].tail)
            status = add_tail(hunt, function.image, &calls.at[i], tails, &made);
    made.at = tails;
    *tails_ret = made;
    return status;
}

/* ---- the pair ---------------------------------------------------------------- */

/* A call through a table of imported functions may be at work in the loader. */
static bool is_loader(const struct trail_frame *frame)
{
    const char *slash = strrchr(frame->module, '/');
    const char *name = slash ? slash + 1 : frame->module;
    return strncmp(name, "ld-", 3) == 0 || strncmp(name, "ld.", 3) == 0 ||
           strncmp(name, "ld64.", 5) == 0;
}

static size_t first_at(const struct trail_known_calls *calls, uint64_t return_address)
{
    size_t low = 0, high = calls->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->at[middle].return_address < return_address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What was called before the pair's return address, if it is one function, and is not
 * the one that runs. */
static bool find_other(const struct hunt *hunt, const struct trail_known_calls *calls,
                       uint64_t return_address, struct trail_place *place_ret)
{
    bool found = false;
    struct trail_place place;
    for (size_t i = first_at(calls, return_address);
         i < calls->count && calls->at[i].return_address == return_address; i++) {
        const struct trail_known_call *call = &calls->at[i];
        if (call->tail)
            continue;
        if (has_name(&hunt->runs->frame, call->linkage) ||
            !find_called(hunt, hunt->caller_image, call, &place) ||
            trail_place_is(place, hunt->place) ||
            (found && !trail_place_is(place, *place_ret)))
            return false;
        *place_ret = place;
        found = true;
    }
    return found;
}

enum trail_status trail_tail_ask(struct trail_tail_asking *asking,
                                 const struct trail_tail_pair *pair,
                                 const struct trail_known_calls *calls,
                                 struct trail_tail_found *found_ret)
{
    const struct trail_resolved_frame *inner = pair->inner;
    struct hunt hunt = { .asking = asking,
                         .runs = inner,
                         .place = { inner->image, inner->frame.symbol_start },
                         .caller_image = pair->caller_image };
    struct trail_place called;
    bool known = false, runs = false;
    *found_ret = (struct trail_tail_found){ false, NULL, 0 };
    if (inner->image != pair->caller_image && is_loader(&inner->frame))
        return TRAIL_OK;
    if (!find_other(&hunt, calls, pair->return_address, &called))
        return TRAIL_OK;
    enum trail_status status = place_has_name(&hunt, called, &known, &runs);
    if (status || !known || runs)
        return status;
    found_ret->gap = true;
    found_ret->steps =
        trail_arena_take(asking->arena, TRAIL_TAIL_DEPTH * sizeof(*found_ret->steps));
    if (!found_ret->steps)
        return TRAIL_NO_MEMORY;
    return trail_tail_chain(called, hunt.place, tails_of, &hunt, found_ret->steps,
                            &found_ret->count);
}
