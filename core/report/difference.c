/* difference.c -- what a report says otherwise than an earlier one of its trace. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/report/report.h"
#include "core/report/text_buffer.h"

#define SHOWN_LIMIT 200 /* addresses whose difference is shown */

/* What is told of one address, then and now. */
struct change {
    char *was, *is; /* frames, a line each */
};

struct differing {
    struct trail_text_buffer out;
    struct change shown[SHOWN_LIMIT];
    size_t shown_count;
    size_t address_count, changed_count, left_out;
    bool failed;
};

/* ---- one address ----------------------------------------------------------- */

/* The end of the frames of the address that frame `at` is of. */
static size_t end_of(const struct trail_resolved_thread *thread, size_t at)
{
    size_t end = at;
    while (end < thread->frame_count &&
           thread->frames[end].frame.index == thread->frames[at].frame.index)
        end++;
    return end;
}

static void add_lines(struct trail_text_buffer *out, const char *title,
                      const char *lines)
{
    while (*lines) {
        size_t size = strcspn(lines, "\n");
        trail_text_buffer_format(out, "%5s ", title);
        trail_text_buffer_add(out, lines, size);
        trail_text_buffer_add(out, "\n", 1);
        lines += size;
        lines += *lines == '\n';
    }
}

/* A recursion changes at each of its rounds in the same way: that is shown once. */
static bool is_shown(const struct differing *differing, const struct change *change)
{
    for (size_t i = 0; i < differing->shown_count; i++)
        if (strcmp(differing->shown[i].was, change->was) == 0 &&
            strcmp(differing->shown[i].is, change->is) == 0)
            return true;
    return false;
}

/* Takes the texts. */
static void add_change(struct differing *differing, struct change change)
{
    differing->changed_count++;
    bool known = is_shown(differing, &change);
    bool room = differing->shown_count < SHOWN_LIMIT;
    if (!known && room) {
        add_lines(&differing->out, "was", change.was);
        add_lines(&differing->out, "is", change.is);
        differing->shown[differing->shown_count++] = change;
        return;
    }
    differing->left_out += !known;
    free(change.was);
    free(change.is);
}

static void compare_address(struct differing *differing,
                            const struct trail_resolved_frame *was, size_t was_count,
                            const struct trail_resolved_frame *is, size_t is_count)
{
    struct change change = { trail_frames_plain(was, was_count),
                             trail_frames_plain(is, is_count) };
    differing->address_count++;
    if (!change.was || !change.is)
        differing->failed = true;
    else if (strcmp(change.was, change.is) != 0) {
        add_change(differing, change);
        return;
    }
    free(change.was);
    free(change.is);
}

/* ---- threads ---------------------------------------------------------------- */

/* The earlier frames of that address; a report that somebody cut may lack them. */
static size_t find_index(const struct trail_resolved_thread *was, size_t at,
                         uint32_t index)
{
    while (at < was->frame_count && was->frames[at].frame.index < index)
        at++;
    return at;
}

static void compare_thread(struct differing *differing,
                           const struct trail_resolved_thread *was,
                           const struct trail_resolved_thread *is)
{
    size_t then = 0;
    for (size_t now = 0; now < is->frame_count;) {
        size_t end = end_of(is, now);
        uint32_t index = is->frames[now].frame.index;
        then = find_index(was, then, index);
        bool there = then < was->frame_count && was->frames[then].frame.index == index;
        size_t then_end = there ? end_of(was, then) : then;
        compare_address(differing, there ? was->frames + then : NULL, then_end - then,
                        is->frames + now, end - now);
        then = then_end;
        now = end;
    }
}

/* The thread of that id, at its place if it is there. */
static const struct trail_resolved_thread *find_thread(const struct trail_resolved *was,
                                                       size_t at, int64_t tid)
{
    if (at < was->thread_count && was->threads[at].thread->tid == tid)
        return &was->threads[at];
    for (size_t i = 0; i < was->thread_count; i++)
        if (was->threads[i].thread->tid == tid)
            return &was->threads[i];
    return NULL;
}

static void compare_threads(struct differing *differing,
                            const struct trail_resolved *was,
                            const struct trail_resolved *is)
{
    static const struct trail_resolved_thread none = { .frames = NULL };
    for (size_t t = 0; t < is->thread_count; t++) {
        const struct trail_resolved_thread *now = &is->threads[t];
        const struct trail_resolved_thread *then =
            find_thread(was, t, now->thread->tid);
        compare_thread(differing, then ? then : &none, now);
    }
}

static void add_summary(struct trail_text_buffer *out,
                        const struct differing *differing,
                        const struct trail_trace *trace)
{
    trail_text_buffer_format(out, "%sdifference to revision %" PRId64,
                             differing->changed_count ? "" : "no ", trace->revision);
    if (trace->id[0])
        trail_text_buffer_add(out, " of ", 4);
    trail_text_buffer_add_clean(out, trace->id);
    if (differing->changed_count)
        trail_text_buffer_format(out, ": %zu of %zu addresses",
                                 differing->changed_count, differing->address_count);
    trail_text_buffer_add(out, "\n", 1);
}

char *trail_report_difference(const struct trail_resolved *was,
                              const struct trail_resolved *is)
{
    struct trail_text_buffer out = { 0 };
    struct differing *differing = calloc(1, sizeof(*differing));
    if (!differing)
        return NULL;
    if (was)
        compare_threads(differing, was, is);
    char *changes = trail_text_buffer_take(&differing->out, NULL);
    out.failed = differing->failed || !changes;
    if (was)
        add_summary(&out, differing, is->trace);
    else
        trail_text_buffer_format(&out, "no earlier report to differ from\n");
    if (changes)
        trail_text_buffer_add(&out, changes, strlen(changes));
    if (differing->left_out)
        trail_text_buffer_format(&out, "      and %zu more\n", differing->left_out);
    for (size_t i = 0; i < differing->shown_count; i++) {
        free(differing->shown[i].was);
        free(differing->shown[i].is);
    }
    free(changes);
    free(differing);
    return trail_text_buffer_take(&out, NULL);
}
