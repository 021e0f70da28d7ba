/* outside.c -- a program that is looked into from outside, as a raw trace. */
#include "agent/outside/outside.h"

#include <stdlib.h>

#include "agent/outside/abort_message.h"
#include "agent/outside/module.h"
#include "agent/outside/signal.h"
#include "agent/outside/stack.h"
#include "core/trace/trace_parts.h"
#include "core/trace/trace_write.h"
#include "core/trace/wire.h"

enum {
    ABORT_SIGNAL = 6, /* SIGABRT */
    THREAD_LIMIT = 4096,
    MODULE_LIMIT = 8192,
    THREADS_SIZE = 5 << 19, /* bytes of the text that threads may fill */
    MODULES_SIZE = 7 << 19, /* and with them the modules */
};

/* One trace that is being made. */
struct draft {
    struct trail_target *target;
    const struct outside_facts *facts;
    struct outside_stack *stacks;
    size_t stack_count, threads_left;
    bool *touched; /* one for each image of the target */
    size_t *order; /* which were, as they were */
    size_t order_count, modules_left;
};

/* ---- looking ------------------------------------------------------------ */

static void touch(struct draft *draft, const struct outside_stack *stack)
{
    for (unsigned i = 0; i < stack->count; i++) {
        const struct trail_target_image *image =
            trail_target_image_of(draft->target, stack->pcs[i]);
        size_t index = image ? (size_t)(image - draft->target->images) : 0;
        if (!image || draft->touched[index])
            continue;
        draft->touched[index] = true;
        draft->order[draft->order_count++] = index;
    }
}

/* False: no memory. */
static bool walk(struct draft *draft, const struct outside_thread *thread)
{
    const struct outside_facts *facts = draft->facts;
    unsigned limit = facts->frame_limit ? facts->frame_limit : TRAIL_MAX_FRAMES;
    if (draft->stack_count == THREAD_LIMIT) {
        draft->threads_left++;
        return true;
    }
    struct outside_stack *stack = &draft->stacks[draft->stack_count];
    if (!outside_stack_walk(draft->target, thread, limit, stack))
        return false;
    stack->crashed = facts->crashed_tid && thread->tid == facts->crashed_tid;
    draft->stack_count++;
    touch(draft, stack);
    return true;
}

static size_t thread_count(const struct draft *draft)
{
    return draft->facts->threads ? draft->facts->thread_count
                                 : draft->target->thread_count;
}

static struct outside_thread thread_at(const struct draft *draft, size_t index)
{
    if (draft->facts->threads)
        return draft->facts->threads[index];
    return (struct outside_thread){ .tid = draft->target->threads[index].id };
}

/* The crashed thread first. */
static enum trail_status walk_all(struct draft *draft, struct trail_error *err)
{
    const int64_t crashed = draft->facts->crashed_tid;
    const size_t count = thread_count(draft);
    const size_t room = count < THREAD_LIMIT ? count : THREAD_LIMIT;
    const size_t images = draft->target->image_count;
    bool good = true;
    draft->stacks = calloc(room + 1, sizeof(*draft->stacks));
    draft->touched = calloc(images + 1, sizeof(*draft->touched));
    draft->order = calloc(images + 1, sizeof(*draft->order));
    if (!draft->stacks || !draft->touched || !draft->order)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: no memory for its threads");
    for (int turn = crashed ? 0 : 1; turn < 2; turn++)
        for (size_t i = 0; good && i < count; i++) {
            struct outside_thread thread = thread_at(draft, i);
            bool is_crashed = crashed && thread.tid == crashed;
            if (is_crashed == (turn == 0))
                good = walk(draft, &thread);
        }
    return good ? TRAIL_OK
                : trail_fail(err, TRAIL_NO_MEMORY, "trace: no memory for a stack");
}

static void draft_deinit(struct draft *draft)
{
    for (size_t i = 0; i < draft->stack_count; i++)
        outside_stack_deinit(&draft->stacks[i]);
    free(draft->stacks);
    free(draft->touched);
    free(draft->order);
}

/* ---- writing ------------------------------------------------------------ */

/* A program that ends itself has most often said why. */
static void write_message(struct trail_json *json, const struct draft *draft)
{
    const struct outside_facts *facts = draft->facts;
    char said[OUTSIDE_MESSAGE_SIZE];
    if (facts->message)
        trail_json_string(json, "message", facts->message);
    else if (facts->signal.number == ABORT_SIGNAL &&
             outside_abort_message(draft->target, said))
        trail_json_string(json, "message", said);
}

static void write_header(struct trail_json *json, const struct draft *draft)
{
    const struct outside_facts *facts = draft->facts;
    const struct trail_os_process *process = facts->process;
    uint8_t made[16];
    if (!facts->id)
        trail_os_random(made, sizeof(made));
    trail_json_number(json, "backtrail", TRAIL_WIRE_VERSION);
    trail_json_string(json, "kind", "trace");
    trail_json_hex(json, "id", facts->id ? facts->id : made, sizeof(made));
    trail_json_decimal(json, "time_ns",
                       facts->time_ns ? facts->time_ns : trail_os_time_ns());
    if (facts->mono_ns)
        trail_json_decimal(json, "mono_ns", facts->mono_ns);
    if (process && process->boot[0])
        trail_json_string(json, "boot", process->boot);
    trail_json_string(json, "why", facts->why);
    trail_json_string(json, "channel", facts->channel ? facts->channel : facts->why);
    write_message(json, draft);
    trail_trace_put_app(json, facts->app_name, facts->app_version);
    trail_json_open(json, "writer", '{');
    trail_json_string(json, "name", facts->writer ? facts->writer : "backtrail");
    trail_json_string(json, "version", TRAIL_VERSION);
    trail_json_close(json, '}');
}

static void write_process(struct trail_json *json, const struct draft *draft)
{
    static const struct trail_os_process unknown = { .os = "linux" };
    const struct trail_machine *machine = draft->target->machine;
    struct trail_os_process process =
        draft->facts->process ? *draft->facts->process : unknown;
    if (!process.os)
        process.os = unknown.os;
    process.arch = machine->name;
    process.bits = machine->address_size * 8;
    process.little_endian = machine->little;
    trail_trace_put_process(json, &process);
}

/* An element that passes `limit` is taken back; false: it was. */
static bool keep(struct trail_json *json, const struct trail_json *before, size_t limit)
{
    if (json->size <= limit)
        return true;
    *json = *before;
    return false;
}

static void write_threads(struct trail_json *json, struct draft *draft)
{
    trail_json_open(json, "threads", '[');
    for (size_t i = 0; i < draft->stack_count; i++) {
        const struct outside_stack *stack = &draft->stacks[i];
        const struct trail_json before = *json;
        bool state = stack->crashed || !draft->facts->without_state;
        outside_stack_write(json, draft->target, stack, state);
        if (!keep(json, &before, THREADS_SIZE))
            draft->threads_left++;
    }
    trail_json_close(json, ']');
}

/* The program's own image: of the path that it was run as, else the first one, as the
 * kernel maps it. */
static bool is_main(const struct draft *draft, size_t index)
{
    const struct trail_target_image *images = draft->target->images;
    const char *exe = draft->facts->process ? draft->facts->process->exe : "";
    for (size_t i = 0; exe[0] && i < draft->target->image_count; i++)
        if (images[i].path && strcmp(images[i].path, exe) == 0)
            return i == index;
    return index == 0;
}

static void write_modules(struct trail_json *json, struct draft *draft)
{
    trail_json_open(json, "modules", '[');
    for (size_t i = 0; i < draft->order_count; i++) {
        const size_t index = draft->order[i];
        const struct trail_json before = *json;
        struct trail_mapped module;
        if (i >= MODULE_LIMIT) {
            draft->modules_left++;
            continue;
        }
        outside_module_read(draft->target, &draft->target->images[index], &module);
        module.main_program = !module.vdso && is_main(draft, index);
        trail_trace_put_module(json, &module);
        if (!keep(json, &before, MODULES_SIZE))
            draft->modules_left++;
    }
    trail_json_close(json, ']');
}

static void write_gap(struct trail_json *json, const struct outside_missing *missing)
{
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "what", missing->what);
    if (missing->tid)
        trail_json_number(json, "tid", missing->tid);
    if (missing->count)
        trail_json_number(json, "count", (int64_t)missing->count);
    trail_json_string(json, "reason", missing->reason);
    trail_json_close(json, '}');
}

static void write_missing(struct trail_json *json, const struct draft *draft)
{
    const struct outside_facts *facts = draft->facts;
    trail_json_open(json, "missing", '[');
    for (size_t i = 0; i < draft->stack_count; i++) {
        const char *gap = outside_stack_gap(&draft->stacks[i]);
        if (gap)
            write_gap(json, &(struct outside_missing){
                                "thread", draft->stacks[i].thread.tid, 0, gap });
    }
    for (size_t i = 0; i < facts->missing_count; i++)
        write_gap(json, &facts->missing[i]);
    if (draft->threads_left)
        write_gap(json, &(struct outside_missing){ "threads", 0, draft->threads_left,
                                                   "limit 4096, or of size" });
    if (draft->modules_left)
        write_gap(json, &(struct outside_missing){ "modules", 0, draft->modules_left,
                                                   "limit 8192, or of size" });
    trail_json_close(json, ']');
}

/* In the order of docs/wire.md. */
static void write_trace(struct trail_json *json, struct draft *draft)
{
    trail_json_open(json, NULL, '{');
    write_header(json, draft);
    write_process(json, draft);
    if (draft->facts->signal.number)
        outside_signal_write(json, draft->target, &draft->facts->signal,
                             draft->stack_count ? &draft->stacks[0] : NULL);
    trail_json_number(json, "epoch", 1);
    write_threads(json, draft);
    write_modules(json, draft);
    write_missing(json, draft);
    trail_json_bool(json, "complete", true);
    trail_json_close(json, '}');
}

enum trail_status outside_trace_text(struct trail_target *target,
                                     const struct outside_facts *facts, char **text_ret,
                                     size_t *size_ret, struct trail_error *err)
{
    struct draft draft = { .target = target, .facts = facts };
    char *text = malloc(TRAIL_TRACE_SIZE_LIMIT + 1);
    enum trail_status status =
        text ? walk_all(&draft, err)
             : trail_fail(err, TRAIL_NO_MEMORY, "trace: no memory for its text");
    if (status)
        goto out;
    struct trail_json json;
    trail_json_init(&json, text, TRAIL_TRACE_SIZE_LIMIT);
    write_trace(&json, &draft);
    if (!trail_json_fits(&json)) {
        status = trail_fail(err, TRAIL_BAD_INPUT, "trace: %zu bytes are over the limit",
                            json.size);
        goto out;
    }
    text[json.size] = 0;
    char *fitting = realloc(text, json.size + 1);
    *text_ret = fitting ? fitting : text;
    *size_ret = json.size;
    text = NULL;
out:
    draft_deinit(&draft);
    free(text);
    return status;
}
