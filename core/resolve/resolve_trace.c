/* resolve_trace.c -- a whole trace: addresses grouped by module, asked about in one go
 * a module, and laid out again as frames.
 */
#include <stdlib.h>

#include "core/resolve/calls.h"
#include "core/resolve/image_target.h"
#include "core/resolve/in_app.h"
#include "core/resolve/resolved.h"
#include "core/resolve/tail_frames.h"
#include "core/resolve/trim.h"

/* One program counter of one thread, and what becomes of it. */
struct site {
    size_t image;    /* TRAIL_NO_INDEX: none */
    uint64_t lookup; /* link-time address that is asked about */
    bool returns;    /* it is the call before the address that is asked about */
    bool landing;    /* or was to be: there is no call */
    struct trail_answer answer;
    size_t answer_index, gap_index;
};

struct work {
    struct trail_resolver *resolver;
    const struct trail_trace *trace;
    const struct trail_policy *policy;
    unsigned flags;
    int64_t live; /* the process that the trace is of, if it still runs; or 0 */
    struct trail_resolved *resolved;
    struct site *sites; /* of all threads, in order */
    size_t site_count;
    size_t *order;       /* indexes of sites, those of one module together */
    uint64_t *addresses; /* room for one module's part, at most all sites */
    struct trail_answer *answers;
    bool *landings;
};

/* ---- tables of the report ----------------------------------------------- */

static size_t add_gap(struct trail_resolved *resolved, size_t image,
                      struct trail_gap gap)
{
    for (size_t i = 0; i < resolved->gap_count; i++)
        if (resolved->gaps[i].image == image &&
            strcmp(resolved->gaps[i].gap.reason, gap.reason) == 0)
            return i;
    resolved->gaps[resolved->gap_count] =
        (struct trail_resolved_gap){ .image = image, .gap = gap };
    return resolved->gap_count++;
}

static size_t add_answer(struct trail_resolved *resolved, size_t image,
                         const struct trail_answer *answer)
{
    for (size_t i = 0; i < resolved->answer_count; i++) {
        const struct trail_resolved_answer *known = &resolved->answers[i];
        if (known->image == image && known->plugin == answer->plugin &&
            known->route == answer->route && known->rank == answer->rank &&
            strcmp(known->source, answer->source) == 0)
            return i;
    }
    resolved->answers[resolved->answer_count] = (struct trail_resolved_answer){
        .plugin = answer->plugin,
        .image = image,
        .route = answer->route,
        .source = answer->source,
        .rank = answer->rank,
    };
    return resolved->answer_count++;
}

/* ---- which module ------------------------------------------------------- */

/* The stored address is never changed; only what is asked about is one less where the
 * address follows a call, for the call may be the last instruction of its line. What a
 * continuation resumes is a function, and named by its first byte. */
static uint64_t lookup_address(const struct trail_image *image, uint64_t pc, char kind)
{
    bool follows_call = kind == 'r';
    return pc - image->bias - (follows_call ? 1u : 0u);
}

static struct trail_gap gap_unloaded(const char *detail)
{
    return (struct trail_gap){ .reason = "unloaded",
                               .detail = detail,
                               .remedy = "none: what was there then is not known",
                               .want = "" };
}

/* Why an address has no module to be looked up in. */
static size_t add_placeless(struct work *work, const struct trail_image *gone,
                            const struct trail_image *unknown)
{
    const struct trail_image *image = unknown ? unknown : gone;
    if (image)
        return add_gap(work->resolved, (size_t)(image - work->trace->images),
                       gap_unloaded(
                           unknown
                               ? "its module was unloaded before it could be told"
                               : "its module was not mapped when the stack was taken"));
    const struct trail_gap gap = { .reason = "no_module",
                                   .detail = "no module was mapped at this address",
                                   .remedy = "none: generated code, or a broken stack",
                                   .want = "" };
    return add_gap(work->resolved, TRAIL_NO_INDEX, gap);
}

static void place(struct work *work, const struct trail_thread *thread, size_t index,
                  struct site *site)
{
    const struct trail_image *gone = NULL, *unknown = NULL;
    uint64_t pc = thread->pcs[index];
    bool follows_call = thread->kinds[index] == 'r';
    /* A call that ends its module returns to the first byte behind it. */
    const struct trail_image *image =
        trail_trace_image(work->trace, thread->epoch, pc - (follows_call ? 1u : 0u),
                          &gone);

    *site = (struct site){ .image = TRAIL_NO_INDEX,
                           .answer_index = TRAIL_NO_INDEX,
                           .gap_index = TRAIL_NO_INDEX };
    if (image && !image->path[0] && image->id_size == 0 && image->last != UINT64_MAX)
        unknown = image; /* an extent is all that is known of it */
    if (!image || unknown) {
        site->gap_index = add_placeless(work, gone, unknown);
        return;
    }
    site->image = (size_t)(image - work->trace->images);
    site->lookup = lookup_address(image, pc, thread->kinds[index]);
    site->returns = thread->kinds[index] == 'r';
}

/* Where the platform walks no stacks the backtrace is empty: an answer, not an error.
 */
static void note_unsupported(struct work *work, const struct trail_thread *thread)
{
    const struct trail_gap gap = {
        .reason = "no_stack",
        .detail = "platform cannot walk its stack",
        .remedy = "none: the backtrace is empty by design",
        .want = "",
    };
    if (strcmp(thread->end, "unsupported") == 0 && thread->pc_count == 0)
        add_gap(work->resolved, TRAIL_NO_INDEX, gap);
}

/* ---- one module --------------------------------------------------------- */

/* The process that the trace is of, if it may be read from: this very one, or with
 * TRAIL_LOOKUP_PROCESS any of this machine; 0: it may not, or has ended. */
static int64_t live_of(const struct trail_trace *trace, unsigned flags)
{
    struct trail_os_process now;
    bool own = trace->pid == trail_os_pid();
    bool may = flags & (own ? TRAIL_LOOKUP_LIVE : TRAIL_LOOKUP_PROCESS);
    if (!may || !trace->start[0])
        return 0;
    trail_os_process_of(trace->pid, &now);
    return strcmp(now.start, trace->start) == 0 ? trace->pid : 0;
}

/* What returns to an address that no call is before lands there, and that is the place
 * to name. Sites that do are asked about anew. */
static enum trail_status resolve_landings(struct work *work,
                                          const struct trail_target *target,
                                          const size_t *order, size_t count,
                                          struct trail_gap *gap_ret)
{
    size_t landed = 0;
    for (size_t i = 0; i < count; i++) {
        const struct site *site = &work->sites[order[i]];
        work->addresses[i] = site->returns ? site->lookup + 1 : 0;
    }
    trail_calls_landings(work->resolver, target, work->addresses, count, work->flags,
                         work->landings);
    for (size_t i = 0; i < count; i++) {
        struct site *site = &work->sites[order[i]];
        site->landing = site->returns && work->landings[i];
        if (site->landing)
            work->addresses[landed++] = ++site->lookup;
    }
    if (!landed)
        return TRAIL_OK;
    enum trail_status status =
        trail_resolver_lookup(work->resolver, target, work->addresses, landed,
                              work->flags, &work->resolved->arena, work->answers,
                              gap_ret);
    landed = 0;
    for (size_t i = 0; !status && i < count; i++)
        if (work->sites[order[i]].landing)
            work->sites[order[i]].answer = work->answers[landed++];
    return status;
}

/* Ask about the sites order[0 .. count) of one module. */
static enum trail_status resolve_image(struct work *work, size_t image,
                                       const size_t *order, size_t count)
{
    struct trail_gap gap, landing_gap = { 0 };
    bool known = false;
    for (size_t i = 0; i < count; i++)
        work->addresses[i] = work->sites[order[i]].lookup;
    struct trail_target target =
        trail_image_target(&work->trace->images[image], work->live);
    enum trail_status status =
        trail_resolver_lookup(work->resolver, &target, work->addresses, count,
                              work->flags, &work->resolved->arena, work->answers, &gap);
    for (size_t i = 0; !status && i < count; i++) {
        work->sites[order[i]].answer = work->answers[i];
        known = known || work->answers[i].rank;
    }
    if (!status && known)
        status = resolve_landings(work, &target, order, count, &landing_gap);
    for (size_t i = 0; !status && i < count; i++) {
        struct site *site = &work->sites[order[i]];
        const struct trail_gap *missing = site->landing ? &landing_gap : &gap;
        if (site->answer.rank)
            site->answer_index = add_answer(work->resolved, image, &site->answer);
        if (site->answer.rank < 3 && missing->reason)
            site->gap_index = add_gap(work->resolved, image,
                                      trail_gap_for(*missing, site->answer.rank));
    }
    return status;
}

/* Group the sites by module, keeping their order within one, and ask module by module.
 */
static enum trail_status resolve_images(struct work *work)
{
    size_t image_count = work->trace->image_count;
    size_t *ends = calloc(image_count + 1, sizeof(*ends));
    enum trail_status status = ends ? TRAIL_OK : TRAIL_NO_MEMORY;

    for (size_t i = 0; !status && i < work->site_count; i++)
        if (work->sites[i].image != TRAIL_NO_INDEX)
            ends[work->sites[i].image + 1]++;
    for (size_t i = 0; !status && i < image_count; i++)
        ends[i + 1] += ends[i];
    for (size_t i = 0; !status && i < work->site_count; i++)
        if (work->sites[i].image != TRAIL_NO_INDEX)
            work->order[ends[work->sites[i].image]++] = i;
    for (size_t i = 0, start = 0; !status && i < image_count; start = ends[i++])
        if (ends[i] > start)
            status = resolve_image(work, i, work->order + start, ends[i] - start);
    free(ends);
    return status;
}

/* ---- frames ------------------------------------------------------------- */

void trail_resolved_name(struct trail_resolved_frame *ret,
                         const struct trail_answer *answer, uint32_t at)
{
    const struct trail_named *named = &answer->frames[at];
    struct trail_frame *frame = &ret->frame;
    frame->function = named->function;
    frame->linkage = named->linkage;
    frame->file = named->file;
    frame->directory = named->directory;
    frame->line = named->line;
    frame->column = named->column;
    frame->inlined = at + 1 < answer->frame_count;
    frame->symbol_start = named->function_start;
    ret->symbol_size = named->function_size;
    frame->symbol = named->symbol;
    frame->aka = named->aka;
    frame->plugin = answer->plugin->name;
    frame->route = trail_route_name(answer->route);
}

static void fill_frame(const struct work *work, const struct trail_thread *thread,
                       size_t index, uint32_t inline_index, const struct site *site,
                       struct trail_resolved_frame *ret)
{
    struct trail_frame *frame = &ret->frame;
    const struct trail_image *image =
        site->image == TRAIL_NO_INDEX ? NULL : &work->trace->images[site->image];

    *ret = (struct trail_resolved_frame){ .image = site->image,
                                          .answer = site->answer_index,
                                          .gap = site->gap_index };
    trail_frame_init(frame, thread->pcs[index]);
    frame->kind = (uint8_t)thread->kinds[index];
    frame->trust = (uint8_t)thread->trust[index];
    frame->index = (uint32_t)index;
    frame->inline_index = inline_index;
    frame->landing = site->landing;
    if (image) {
        char hex[2 * 64 + 1];
        struct trail_text id = { (const char *)image->id, image->id_size };
        trail_hex(id, hex, sizeof(hex));
        frame->module = image->path;
        frame->module_id = trail_arena_text(&work->resolved->arena, trail_text_of(hex));
        frame->offset = frame->address - image->bias;
    }
    if (site->gap_index != TRAIL_NO_INDEX)
        frame->gap = work->resolved->gaps[site->gap_index].gap.reason;
    if (inline_index >= site->answer.frame_count)
        return;
    trail_resolved_name(ret, &site->answer, inline_index);
}

static size_t frames_of(const struct site *site)
{
    return site->answer.frame_count ? site->answer.frame_count : 1;
}

static enum trail_status lay_out(struct work *work, const struct trail_thread *thread,
                                 const struct site *sites,
                                 struct trail_resolved_thread *ret)
{
    size_t count = 0;
    for (size_t i = 0; i < thread->pc_count; i++)
        count += frames_of(&sites[i]);
    ret->thread = thread;
    ret->frames =
        trail_arena_take(&work->resolved->arena, count * sizeof(*ret->frames));
    if (!ret->frames)
        return TRAIL_NO_MEMORY;
    for (size_t i = 0; i < thread->pc_count; i++)
        for (uint32_t k = 0; k < frames_of(&sites[i]); k++)
            fill_frame(work, thread, i, k, &sites[i], &ret->frames[ret->frame_count++]);
    trail_trim(ret);
    for (size_t i = 0; i < ret->frame_count; i++) {
        struct trail_resolved_frame *frame = &ret->frames[i];
        frame->frame.in_app = trail_in_app(
            work->policy, work->trace,
            frame->image == TRAIL_NO_INDEX ? NULL : &work->trace->images[frame->image],
            &frame->frame);
    }
    return TRAIL_OK;
}

static enum trail_status resolve_all(struct work *work)
{
    const struct trail_trace *trace = work->trace;
    struct trail_resolved *resolved = work->resolved;
    struct site *site = work->sites;

    for (size_t t = 0; t < trace->thread_count; t++)
        note_unsupported(work, &trace->threads[t]);
    for (size_t t = 0; t < trace->thread_count; t++)
        for (size_t i = 0; i < trace->threads[t].pc_count; i++)
            place(work, &trace->threads[t], i, site++);
    enum trail_status status = resolve_images(work);
    site = work->sites;
    for (size_t t = 0; !status && t < trace->thread_count; t++) {
        status = lay_out(work, &trace->threads[t], site, &resolved->threads[t]);
        site += trace->threads[t].pc_count;
    }
    if (!status)
        status = trail_tail_frames(work->resolver, work->policy, work->flags,
                                   work->live, resolved);
    return status;
}

enum trail_status trail_resolve_trace(struct trail_resolver *resolver,
                                      const struct trail_trace *trace,
                                      const struct trail_policy *policy, unsigned flags,
                                      struct trail_resolved **resolved_ret,
                                      struct trail_error *err)
{
    struct trail_resolved *resolved = calloc(1, sizeof(*resolved));
    struct work work = { .resolver = resolver,
                         .trace = trace,
                         .policy = policy,
                         .flags = flags,
                         .live = live_of(trace, flags),
                         .resolved = resolved };
    if (!resolved)
        return trail_fail(err, TRAIL_NO_MEMORY, "report: out of memory");
    for (size_t t = 0; t < trace->thread_count; t++)
        work.site_count += trace->threads[t].pc_count;

    struct trail_arena *arena = &resolved->arena;
    resolved->trace = trace;
    resolved->thread_count = trace->thread_count;
    resolved->threads =
        trail_arena_take(arena, trace->thread_count * sizeof(*resolved->threads));
    /* At most one answer and two gaps a site, so the tables need not grow. */
    resolved->answers =
        trail_arena_take(arena, work.site_count * sizeof(*resolved->answers));
    resolved->gaps =
        trail_arena_take(arena, (work.site_count * 2 + 2) * sizeof(*resolved->gaps));
    work.sites = calloc(work.site_count + 1, sizeof(*work.sites));
    work.order = calloc(work.site_count + 1, sizeof(*work.order));
    work.addresses = calloc(work.site_count + 1, sizeof(*work.addresses));
    work.answers = calloc(work.site_count + 1, sizeof(*work.answers));
    work.landings = calloc(work.site_count + 1, sizeof(*work.landings));
    bool room =
        work.sites && work.order && work.addresses && work.answers && work.landings;
    enum trail_status status =
        arena->failed || !room ? TRAIL_NO_MEMORY : resolve_all(&work);
    free(work.sites);
    free(work.order);
    free(work.addresses);
    free(work.answers);
    free(work.landings);
    if (status) {
        trail_resolved_destroy(resolved);
        return trail_fail(err, status, "report: out of memory");
    }
    *resolved_ret = resolved;
    return TRAIL_OK;
}

void trail_resolved_destroy(struct trail_resolved *resolved)
{
    if (!resolved)
        return;
    trail_arena_deinit(&resolved->arena);
    free(resolved);
}
