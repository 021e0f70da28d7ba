/* remember.c -- walks that skip over what is as it was. */
#include "core/capture/remember.h"

#define MOST TRAIL_REMEMBERED
/* So near to the inner end, what lies beyond the outermost kept frame would not fit. */
#define MARGIN 16

_Static_assert(sizeof(struct trail_memory) <= 4096, "a page a thread");

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* What places of a stack are counted from: all of 4 GiB fit, and 0 is none of them. */
static uintptr_t base_of(uintptr_t stack_end)
{
    return stack_end - 0xffffff00u;
}

void trail_memory_forget(struct trail_memory *memory)
{
    memory->first = MOST;
    memory->cfa[MOST] = UINT32_MAX;
    memory->sealed = false;
}

bool trail_memory_take(struct trail_memory *memory, uintptr_t frame)
{
    if (UNLIKELY(memory->busy)) {
        /* A capture that a signal interrupted lies above. One below was left by longjmp
         * out of a handler; half written, perhaps. */
        if (frame < memory->busy || !trail_os_stack_end(frame) ||
            !trail_os_stack_end(memory->busy))
            return false;
        trail_memory_forget(memory);
    }
    memory->busy = frame;
    atomic_signal_fence(memory_order_seq_cst);
    return true;
}

void trail_memory_give_back(struct trail_memory *memory)
{
    atomic_signal_fence(memory_order_seq_cst);
    memory->busy = 0;
}

/* ---- comparing ---------------------------------------------------------- */

/* Words that are compared in one go, without a branch between them. */
#define RUN 8 /* trail_native_same */

/* The word at `at`, and by how much it differs from what was kept. */
TRAIL_READS_STACK static inline uintptr_t look(uintptr_t at, uintptr_t kept,
                                               uintptr_t *word_ret)
{
    *word_ret = trail_native_return(trail_word_at(at));
    return *word_ret ^ kept;
}

/* How many of `count` words, kept as `kept`, are still what they were; with `to`, copy
 * them out. The last run reaches back over the one before it: going on word by word
 * would cost a misprediction, which is as much as two runs. */
TRAIL_READS_STACK static inline unsigned same_words(uintptr_t base, const uint32_t *at,
                                                    const uintptr_t *kept,
                                                    uintptr_t *restrict to,
                                                    unsigned count)
{
    unsigned i = 0, last = count - RUN;
    uintptr_t word;
    while (i + RUN <= count &&
           LIKELY(trail_native_same(base, at + i, kept + i, to ? to + i : NULL)))
        i += RUN;
    if (i < count && i + RUN > count && count >= RUN &&
        LIKELY(trail_native_same(base, at + last, kept + last, to ? to + last : NULL)))
        return count;
    for (; i < count && LIKELY(!look(base + at[i], kept[i], &word)); i++)
        if (to)
            to[i] = word;
    return i;
}

/* Whether each of frames [from, end) restored fp from just below its return address. */
static inline bool are_pairs(const struct trail_memory *memory, unsigned from,
                             unsigned end)
{
    uint64_t lacking = ~memory->pairs[from / 64] >> (from & 63) << (from & 63);
    for (unsigned i = from / 64; i < (end - 1) / 64; lacking = ~memory->pairs[++i])
        if (lacking)
            return false;
    return !(lacking << (63 - ((end - 1) & 63)));
}

/* How many of frames [from, from + count) would restore fp as they did, looking at
 * those that did. */
TRAIL_READS_STACK TRAIL_HOT __attribute__((noinline)) static unsigned verify_fps(
    const struct trail_memory *memory, unsigned from, unsigned count)
{
    const uintptr_t base = base_of(memory->stack_end);
    const unsigned end = from + count;
    for (unsigned at = from, stop; at < end; at = stop) {
        stop = (at | 63) + 1 < end ? (at | 63) + 1 : end;
        const uint64_t range = ~(uint64_t)0 >> (64 - (stop - at)) << (at & 63);
        for (uint64_t bits = memory->saves[at / 64] & range; bits; bits &= bits - 1) {
            unsigned i = (at & ~63u) + (unsigned)__builtin_ctzll(bits);
            if (UNLIKELY(trail_word_at(base + memory->fp_at[i]) != memory->fp[i]))
                return i - from;
        }
    }
    return count;
}

/* The same, and the return addresses, of frames that have both next to each other, as
 * code with frame pointers does. */
TRAIL_READS_STACK TRAIL_HOT __attribute__((noinline)) static unsigned verify_pairs(
    const struct trail_memory *memory, unsigned from, unsigned count,
    uintptr_t *restrict to)
{
    const uintptr_t base = base_of(memory->stack_end);
    const uint32_t *fp_at = memory->fp_at + from;
    const uintptr_t *fp = memory->fp + from, *pc = memory->pc + from;
    unsigned held = 0, last = count - RUN;
    while (held + RUN <= count &&
           LIKELY(trail_native_same_pairs(base, fp_at + held, fp + held, pc + held,
                                          to + held)))
        held += RUN;
    if (held < count && held + RUN > count && count >= RUN &&
        LIKELY(trail_native_same_pairs(base, fp_at + last, fp + last, pc + last,
                                       to + last)))
        return count;
    unsigned more = same_words(base, memory->return_at + from + held, pc + held,
                               to + held, count - held);
    return held + verify_fps(memory, from + held, more);
}

/* Compare frames [from, from + count) with the stack and copy their return addresses
 * out; how many held. No load depends on another. */
TRAIL_READS_STACK TRAIL_HOT __attribute__((noinline)) static unsigned verify(
    const struct trail_memory *memory, unsigned from, unsigned count,
    uintptr_t *restrict to)
{
    if (count && are_pairs(memory, from, from + count))
        return verify_pairs(memory, from, count, to);
    unsigned held = same_words(base_of(memory->stack_end), memory->return_at + from,
                               memory->pc + from, to, count);
    return verify_fps(memory, from, held);
}

/* ---- what a walk notes -------------------------------------------------- */

/* The frames it has come to, innermost first. Not initialised: that would take longer
 * than a short walk. */
struct notes {
    unsigned count;
    bool closed; /* takes no more */
    uintptr_t fp[MOST];
    uint32_t cfa[MOST], return_at[MOST], fp_at[MOST];
};

static inline void note(struct notes *notes, uint32_t cfa, uint32_t return_at,
                        uint32_t fp_at, uintptr_t fp)
{
    unsigned i = notes->count++;
    notes->cfa[i] = cfa;
    notes->return_at[i] = return_at;
    notes->fp_at[i] = fp_at;
    notes->fp[i] = fp;
}

/* Note kept frames that were passed over. */
static void note_kept(struct notes *notes, const struct trail_memory *memory,
                      unsigned from, unsigned count)
{
    if (count > MOST - notes->count)
        count = MOST - notes->count;
    for (unsigned i = from; i < from + count; i++)
        note(notes, memory->cfa[i], memory->return_at[i], memory->fp_at[i],
             memory->fp[i]);
}

/* ---- what is kept ------------------------------------------------------- */

static void mark_saves(struct trail_memory *memory, unsigned from, unsigned count)
{
    for (unsigned i = from; i < from + count; i++) {
        uint64_t bit = (uint64_t)1 << (i & 63);
        uint64_t *saves = &memory->saves[i / 64], *pairs = &memory->pairs[i / 64];
        uint32_t at = memory->fp_at[i];
        bool is_pair = at && at + sizeof(uintptr_t) == memory->return_at[i];
        *saves = at ? *saves | bit : *saves & ~bit;
        *pairs = is_pair ? *pairs | bit : *pairs & ~bit;
    }
}

/* Make room for `excess` frames at the inner end by forgetting the outermost. */
static void forget_outermost(struct trail_memory *memory, unsigned from,
                             unsigned excess)
{
    if (from + excess >= MOST)
        return;
    size_t count = MOST - excess - from;
    unsigned to = from + excess;
    memmove(memory->pc + to, memory->pc + from, count * sizeof(*memory->pc));
    memmove(memory->fp + to, memory->fp + from, count * sizeof(*memory->fp));
    memmove(memory->cfa + to, memory->cfa + from, count * sizeof(*memory->cfa));
    memmove(memory->return_at + to, memory->return_at + from,
            count * sizeof(*memory->return_at));
    memmove(memory->fp_at + to, memory->fp_at + from, count * sizeof(*memory->fp_at));
    mark_saves(memory, to, (unsigned)count);
}

/* Keep the first `count` noted frames inward of kept frame `outer` (MOST: of none). */
static void keep(struct trail_memory *memory, const struct notes *notes, unsigned count,
                 unsigned outer, const uintptr_t *pcs)
{
    if (count > outer) {
        forget_outermost(memory, outer, count - outer);
        outer = count;
    }
    unsigned at = outer - count;
    memcpy(memory->pc + at, pcs, count * sizeof(*pcs));
    memcpy(memory->fp + at, notes->fp, count * sizeof(*notes->fp));
    memcpy(memory->cfa + at, notes->cfa, count * sizeof(*notes->cfa));
    memcpy(memory->return_at + at, notes->return_at, count * sizeof(*notes->return_at));
    memcpy(memory->fp_at + at, notes->fp_at, count * sizeof(*notes->fp_at));
    mark_saves(memory, at, count);
    memory->first = at;
}

/* Where the words of kept frame `index` were: as in note `from`. The innermost frame
 * has none of them until there is one inward of it. */
static void keep_places(struct trail_memory *memory, unsigned index,
                        const struct notes *notes, unsigned from)
{
    memory->return_at[index] = notes->return_at[from];
    memory->fp_at[index] = notes->fp_at[from];
    mark_saves(memory, index, 1);
}

/* ---- the walk ----------------------------------------------------------- */

/* A walk with a memory. */
struct joining {
    struct trail_memory *memory;
    struct notes *notes;
    unsigned next;         /* kept frames inward of it lie below where the walk is */
    unsigned joined;       /* kept frame from which all outward held; MOST: none */
    unsigned joined_count; /* frames noted when it was met: the last of them is it */
    unsigned skip;         /* 1: the first frame was interrupted, and is not kept */
    bool met;              /* a kept frame */
    /* So far the stack is as it is kept, from the innermost frame on; frames that
     * changed were replaced where they are. The notes have the innermost only, and
     * behind it what was walked since kept frame `changed` (MOST: nothing was). */
    bool is_as_kept;
    unsigned changed;
};

/* Put the noted frames behind the innermost in the place of as many kept ones. */
static void replace(struct trail_memory *memory, unsigned after,
                    const struct notes *notes, const uintptr_t *pcs)
{
    unsigned count = notes->count - 1;
    memcpy(memory->pc + after + 1, pcs, count * sizeof(*pcs));
    memcpy(memory->fp + after + 1, notes->fp + 1, count * sizeof(*notes->fp));
    memcpy(memory->return_at + after + 1, notes->return_at + 1,
           count * sizeof(*notes->return_at));
    memcpy(memory->cfa + after + 1, notes->cfa + 1, count * sizeof(*notes->cfa));
    memcpy(memory->fp_at + after + 1, notes->fp_at + 1, count * sizeof(*notes->fp_at));
    mark_saves(memory, after + 1, count);
}

/* The notes are to have every frame: the kept ones, too, between the innermost and
 * those that were walked since. */
static void complete(struct joining *joining)
{
    const struct trail_memory *memory = joining->memory;
    struct notes *notes = joining->notes;
    unsigned before = joining->changed - memory->first, fresh = notes->count - 1;
    unsigned room = MOST - 1 - before;
    size_t count = fresh < room ? fresh : room;
    memmove(notes->fp + 1 + before, notes->fp + 1, count * sizeof(*notes->fp));
    memmove(notes->cfa + 1 + before, notes->cfa + 1, count * sizeof(*notes->cfa));
    memmove(notes->return_at + 1 + before, notes->return_at + 1,
            count * sizeof(*notes->return_at));
    memmove(notes->fp_at + 1 + before, notes->fp_at + 1, count * sizeof(*notes->fp_at));
    notes->count = 1;
    note_kept(notes, memory, memory->first + 1, before);
    notes->count += (unsigned)count;
    joining->changed = MOST;
    joining->is_as_kept = false;
}

/* At kept frame `joining->next`, some frames beyond `joining->changed`. */
static void settle(struct joining *joining, const uintptr_t *to)
{
    struct trail_memory *memory = joining->memory;
    struct notes *notes = joining->notes;
    unsigned fresh = notes->count - 1;
    if (fresh != joining->next - joining->changed) {
        complete(joining);
        return;
    }
    replace(memory, joining->changed, notes, to - fresh);
    notes->count = 1;
    joining->changed = MOST;
}

/* At kept frame `joining->next`: take over what is as it was. False: all room is
 * used. */
static inline bool join(struct joining *joining, struct trail_at *at, uintptr_t **to,
                        const uintptr_t *last, unsigned written)
{
    struct trail_memory *memory = joining->memory;
    struct notes *notes = joining->notes;
    if (joining->changed < MOST)
        settle(joining, *to);
    else
        joining->is_as_kept = notes->count == 1 && joining->next == memory->first;
    unsigned from = joining->next, room = (unsigned)(last - *to);
    unsigned count = MOST - 1 - from < room ? MOST - 1 - from : room;
    unsigned held = verify(memory, from + 1, count, *to), reached = from + held;

    joining->met = true;
    *to += held;
    at->key = at->pc = memory->pc[reached];
    at->fp = memory->fp[reached];
    at->sp = base_of(memory->stack_end) + memory->cfa[reached];
    if (LIKELY(held == count)) {
        if (joining->is_as_kept) {
            joining->joined = memory->first;
            joining->joined_count = 1;
        } else if (notes->count == written - joining->skip) {
            joining->joined = from;
            joining->joined_count = notes->count;
        } else {
            notes->closed = true; /* they do not reach up to here */
        }
        joining->next = MOST;
        return *to < last;
    }
    if (joining->is_as_kept && !notes->closed)
        joining->changed = reached;
    else if (!notes->closed)
        note_kept(notes, memory, from + 1, held);
    joining->next = reached + 1;
    return true;
}

/* Beyond the outermost kept frame: note those that were joined, and go on. */
static void note_joined(struct joining *joining)
{
    const struct trail_memory *memory = joining->memory;
    if (memory->sealed || memory->first < MARGIN) {
        joining->notes->closed = true;
        return;
    }
    note_kept(joining->notes, memory, joining->joined + 1, MOST - 1 - joining->joined);
    joining->joined = MOST;
}

/* Walk until all room is used, the stack ends or a frame is not plain; its rule then,
 * else 0. */
static inline uint64_t walk_joining(struct trail_walk *walk, struct joining *joining)
{
    _Atomic uint64_t *const rules = walk->rules;
    const uintptr_t end = walk->stack_end, base = base_of(end);
    const struct trail_memory *memory = joining->memory;
    struct notes *notes = joining->notes;
    uintptr_t *to = walk->addresses + walk->count, *const first = to - 1;
    uintptr_t *const last = walk->addresses + walk->capacity;
    struct trail_at at = walk->at;
    bool may_join = !joining->skip;
    uint64_t rule = 0;

    for (; to < last; *to++ = at.pc) {
        const uint32_t place = (uint32_t)(at.sp - base);
        while (memory->cfa[joining->next] < place)
            joining->next++;
        if (UNLIKELY(memory->cfa[joining->next] == place && may_join &&
                     memory->pc[joining->next] == at.pc &&
                     memory->fp[joining->next] == at.fp)) {
            if (!join(joining, &at, &to, last, (unsigned)(to - first)))
                break;
        }
        may_join = true;
        rule = trail_rules_get(rules, at.key, true);
        if (!trail_walk_plain(&at, rule, end)) {
            rule = rule ? rule : trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false);
            goto out;
        }
        if (!trail_walk_is_pc(at.pc)) {
            walk->end = trail_walk_end_of(at.pc);
            break;
        }
        if (UNLIKELY(joining->joined < MOST && !notes->closed))
            note_joined(joining);
        if (LIKELY(notes->count < MOST && !notes->closed))
            note(notes, (uint32_t)(at.sp - base),
                 (uint32_t)(trail_rule_return_at(rule, at.sp) - base),
                 trail_rule_saves_fp(rule)
                     ? (uint32_t)(trail_rule_fp_at(rule, at.sp) - base)
                     : 0,
                 at.fp);
    }
    rule = 0;
out:
    walk->at = at;
    walk->count = (unsigned)(to - walk->addresses);
    return rule;
}

/* Let the memory know what the walk came to; pcs are those of the noted frames. */
static void learn(struct joining *joining, const uintptr_t *pcs, bool sealed)
{
    struct trail_memory *memory = joining->memory;
    const struct notes *notes = joining->notes;
    if (joining->changed < MOST)
        complete(joining);
    memory->misses = joining->met ? 0 : memory->misses + 1;
    if (joining->joined < MOST) {
        unsigned fresh = joining->joined_count - 1;
        if (fresh || joining->joined != memory->first)
            keep(memory, notes, fresh, joining->joined, pcs);
        if (fresh) /* how the walk came to the frame where it joined */
            keep_places(memory, memory->first + fresh, notes, fresh);
    } else if (notes->count > 1 || !notes->closed) {
        memory->sealed = sealed;
        keep(memory, notes, notes->count, MOST, pcs);
    }
}

TRAIL_HOT void trail_walk_on_remembered(struct trail_walk *walk,
                                        struct trail_memory *memory)
{
    struct notes notes;
    struct joining joining = { .memory = memory,
                               .notes = &notes,
                               .joined = MOST,
                               .changed = MOST,
                               .skip = walk->at.key != walk->at.pc };
    const unsigned before = walk->count;
    const uint64_t generation = trail_os_loader_generation();

    if (walk->count == walk->capacity ||
        walk->stack_end - walk->at.sp >= walk->stack_end - base_of(walk->stack_end)) {
        trail_walk_on(walk);
        return;
    }
    walk->pending = false;
    walk->end = TRAIL_END_FULL;
    if (UNLIKELY(memory->stack_end != walk->stack_end ||
                 memory->generation != generation)) {
        memory->stack_end = walk->stack_end;
        memory->generation = generation;
        trail_memory_forget(memory);
    }
    joining.next = memory->first;
    notes.count = 0;
    /* After captures that met nothing, do mostly without noting. */
    notes.closed = memory->misses >= 4 && memory->misses % 8;
    if (!joining.skip)
        note(&notes, (uint32_t)(walk->at.sp - base_of(walk->stack_end)), 0, 0,
             walk->at.fp);
    trail_walk_put(walk);

    uint64_t rule = walk_joining(walk, &joining);
    bool more = rule && trail_walk_special(walk, rule);
    bool sealed = rule && trail_rule_kind(rule) != TRAIL_RULE_END;
    learn(&joining, walk->addresses + before + joining.skip, sealed);
    /* Beyond a frame that is not plain: walked, not kept. */
    if (more)
        trail_walk_on(walk);
}
