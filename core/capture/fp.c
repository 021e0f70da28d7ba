/* fp.c -- walking by frame pointers. */
#include "core/capture/fp.h"

#define WORD sizeof(uintptr_t)

struct fp_frame {
    uintptr_t caller, return_address;
};

static int read_frame(const struct trail_control *control, uintptr_t fp,
                      struct fp_frame *frame_ret)
{
    if (control && control->copy)
        return control->copy(control->copy_arg, frame_ret, fp, sizeof(*frame_ret));
    return trail_os_copy(fp, frame_ret, sizeof(*frame_ret));
}

/* Why `next` cannot be the frame pointer of the caller of `fp`; BASE if it can. */
static uint32_t fault(uintptr_t first, uintptr_t fp, uintptr_t next)
{
    if (next % WORD != 0)
        return TRAIL_END_BAD_FP;
    if (next > fp)
        return TRAIL_END_BASE;
    return next >= first ? TRAIL_END_LOOP : TRAIL_END_BAD_FP;
}

/* The frame pointer of the caller of the frame at `fp`, whose context may be noted. */
static uintptr_t unmark(struct trail_walk *walk, const struct trail_control *control,
                        uintptr_t fp, uintptr_t saved)
{
    struct fp_frame below;
    if (!trail_continuation_marked(saved))
        return saved;
    if (walk->count && !read_frame(control, fp - WORD, &below))
        trail_continuation_note(&walk->hint, walk->count - 1, below.caller);
    return (uintptr_t)trail_continuation_unmarked(saved);
}

/* A frame by way of a copy; false: the walk is over. */
static bool step_copied(struct trail_walk *walk, const struct trail_control *control,
                        uintptr_t first, uintptr_t *fp)
{
    struct fp_frame frame;
    bool aligned = *fp % WORD == 0;
    int error = aligned ? read_frame(control, *fp, &frame) : 0;
    walk->error = error;
    walk->end = error ? TRAIL_END_UNMAPPED : TRAIL_END_BAD_FP;
    if (error || !aligned)
        return false;
    uintptr_t back = trail_native_return(frame.return_address);
    walk->end = TRAIL_END_BASE;
    if (back == 0)
        return false;
    if (walk->count == walk->capacity) {
        walk->end = TRAIL_END_FULL;
        walk->at = (struct trail_at){ .key = back, .pc = back, .sp = *fp, .fp = *fp };
        return false;
    }
    uintptr_t caller = unmark(walk, control, *fp, frame.caller);
    walk->addresses[walk->count++] = back;
    if (caller == 0)
        return false;
    walk->end = fault(first, *fp, caller);
    *fp = caller;
    return walk->end == TRAIL_END_BASE;
}

/* What the frame pointer that was read in the frame at `from` means: false, the walk is
 * over. */
static bool leads_on(struct trail_walk *walk, const struct trail_control *control,
                     uintptr_t first, uintptr_t from, uintptr_t *fp)
{
    if (trail_continuation_marked(*fp)) {
        walk->count--; /* it is the frame before that has saved it */
        *fp = unmark(walk, control, from, *fp);
        walk->count++;
    }
    walk->end = *fp ? fault(first, from, *fp) : TRAIL_END_BASE;
    return *fp && walk->end == TRAIL_END_BASE;
}

/* Frames in place, while they lie in [least, most] and lead upwards. False: the walk is
 * over; true: it goes on outside, at *fp. */
TRAIL_READS_STACK static inline bool steps_in_place(struct trail_walk *walk,
                                                    const struct trail_control *control,
                                                    uintptr_t *fp, uintptr_t most)
{
    const uintptr_t first = *fp;
    uintptr_t *to = walk->addresses + walk->count, least = first, from = 0, at = first;
    uintptr_t *const last = walk->addresses + walk->capacity;
    uintptr_t back = 1;
    while (to < last && at >= least && at <= most && at % WORD == 0) {
        back = trail_native_return(trail_word_at(at + WORD));
        if (__builtin_expect(back == 0, 0))
            break;
        *to++ = back;
        from = at;
        least = at + 2 * WORD;
        at = trail_word_at(at);
    }
    walk->count = (unsigned)(to - walk->addresses);
    *fp = at;
    walk->end = TRAIL_END_BASE;
    if (back == 0 || (from && !leads_on(walk, control, first, from, fp)))
        return false;
    at = *fp;
    if (to < last || at < least || at > most || at % WORD != 0)
        return true;
    /* No room: is there a frame that is left out? */
    back = trail_native_return(trail_word_at(at + WORD));
    walk->at = (struct trail_at){ .key = back, .pc = back, .sp = at, .fp = at };
    walk->end = back ? TRAIL_END_FULL : TRAIL_END_BASE;
    return false;
}

TRAIL_HOT void trail_fp_walk(struct trail_walk *walk,
                             const struct trail_control *control, uintptr_t fp)
{
    const uintptr_t first = fp;
    const unsigned before = walk->count;
    bool raw = control && control->flags & TRAIL_RAW;
    uintptr_t end = raw ? UINTPTR_MAX : trail_os_stack_end(fp);
    bool outside = true;

    if (end >= 2 * WORD && !(control && control->copy))
        outside = steps_in_place(walk, control, &fp, end - 2 * WORD);
    while (outside && step_copied(walk, control, first, &fp))
        continue;
    if (walk->trust)
        memset(walk->trust + before, TRAIL_TRUST_FP, walk->count - before);
    if (walk->kinds)
        memset(walk->kinds + before, TRAIL_PC_RETURN, walk->count - before);
    walk->told = walk->count;
}
