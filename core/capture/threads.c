/* threads.c -- the stacks of the other threads of this process. */
#include "core/capture/threads.h"

#include <errno.h>
#include <stdlib.h>

#include "core/capture/ask.h"
#include "core/os/os.h"

#define TIMEOUT_NS 100000000u

static uint64_t deadline(uint64_t timeout_ns)
{
    uint64_t now = trail_os_mono_ns(), wait = timeout_ns ? timeout_ns : TIMEOUT_NS;
    return wait < UINT64_MAX - now ? now + wait : UINT64_MAX;
}

enum trail_status trail_thread_signal(int signal_number, struct trail_error *err)
{
    return trail_ask_reserve(signal_number, err);
}

/* ---- what the thread does ----------------------------------------------- */

static void answer_capture(struct trail_ask_block *block, const void *ucontext)
{
    trail_capture_context(&block->backtrace, ucontext);
}

static void answer_backtrace(struct trail_ask_block *block, const void *ucontext)
{
    struct trail_backtrace *backtrace = &block->backtrace;
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = block->flags | TRAIL_INTERRUPTED,
                                           .ucontext = ucontext };
    struct trail_info info = { .size = sizeof(info),
                               .kinds = backtrace->kinds,
                               .trust = backtrace->trust };
    backtrace->count =
        trail_backtrace(backtrace->addresses, TRAIL_MAX_FRAMES, &control, &info);
    backtrace->flags = info.flags;
    backtrace->end = info.end;
    backtrace->error = info.error;
    backtrace->next_frame_addr = info.next_frame_addr;
    backtrace->cursor = info.cursor;
}

/* ---- one thread --------------------------------------------------------- */

bool trail_threads_wanted(const struct trail_control *control)
{
    return control && control->flags & TRAIL_ASK_THREAD && control->thread != 0 &&
           control->thread != trail_os_tid();
}

/* What a handler in another thread can do: nothing that is the asker's. */
static int refused(const struct trail_control *control)
{
    int error = trail_os_thread_check(control->thread);
    if (error)
        return error;
    if (control->copy || control->cursor || control->frame_addr || control->ucontext)
        return EINVAL;
    return trail_os_thread_own(control->thread) ? 0 : EBUSY;
}

static int ask_one(const struct trail_control *control,
                   struct trail_backtrace *backtrace_ret)
{
    struct trail_ask ask;
    uint32_t kept = control->flags & ~(uint32_t)(TRAIL_ASK_THREAD | TRAIL_INTERRUPTED);
    bool timed = control->size > offsetof(struct trail_control, timeout_ns);
    int error = refused(control);
    if (!error)
        error = trail_ask_send(&ask, control->thread, kept, answer_backtrace);
    if (error)
        return error;
    return trail_ask_wait(&ask, deadline(timed ? control->timeout_ns : 0),
                          backtrace_ret);
}

/* A stack that ends at entry `count` because the buffer does. */
static void cut(struct trail_info *info, const struct trail_backtrace *backtrace,
                unsigned count)
{
    info->flags = backtrace->flags;
    info->end = backtrace->end;
    info->error = backtrace->error;
    if (count < backtrace->count) {
        info->flags |= TRAIL_INFO_TRUNCATED;
        info->end = TRAIL_END_FULL;
        info->error = 0;
    }
    /* It runs on: there is no frame to go on from. */
    info->next_frame_addr = 0;
    info->cursor = (struct trail_cursor){ { 0 } };
    info->async_start_index = 0;
    info->async_frame_addr = 0;
    if (info->kinds)
        memcpy(info->kinds, backtrace->kinds, count);
    if (info->trust)
        memcpy(info->trust, backtrace->trust, count);
}

unsigned trail_threads_backtrace(uintptr_t *addresses, unsigned capacity,
                                 const struct trail_control *control,
                                 struct trail_info *info)
{
    struct trail_backtrace backtrace = { .count = 0 };
    int kept = errno, error = ask_one(control, &backtrace);
    unsigned room = addresses ? capacity : 0;
    unsigned count = backtrace.count < room ? backtrace.count : room;

    if (error)
        backtrace = (struct trail_backtrace){ .end = TRAIL_END_ERROR,
                                              .error = error,
                                              .flags = TRAIL_INFO_TRUNCATED };
    if (sizeof(uintptr_t) == 8)
        backtrace.flags |= TRAIL_INFO_64_BIT;
    if (count)
        memcpy(addresses, backtrace.addresses, count * sizeof(*addresses));
    if (count < room)
        addresses[count] = 0;
    if (info)
        cut(info, &backtrace, count);
    errno = kept;
    return count;
}

/* ---- all of them -------------------------------------------------------- */

struct listing {
    struct trail_thread_stack *stacks;
    unsigned capacity, count;
};

static enum trail_status list_thread(void *arg, const char *name)
{
    struct listing *listing = arg;
    char *end = NULL;
    int64_t thread = strtoll(name, &end, 10);
    if (*end || thread <= 0)
        return TRAIL_OK;
    if (listing->count < listing->capacity) {
        struct trail_thread_stack *stack = &listing->stacks[listing->count];
        *stack = (struct trail_thread_stack){ .thread = thread };
        trail_os_thread_called(thread, stack->name, sizeof(stack->name));
    }
    listing->count++;
    return TRAIL_OK;
}

/* Everybody is asked before the first answer is waited for. Without memory for that,
 * they are asked one after the other. */
TRAIL_OWN_CODE
static void ask_all(struct trail_thread_stack *stacks, unsigned count,
                    struct trail_ask *asks, uint64_t until_ns)
{
    int64_t own = trail_os_tid();
    for (unsigned i = 0; i < count; i++)
        if (stacks[i].thread != own)
            stacks[i].error =
                trail_ask_send(&asks[i], stacks[i].thread, 0, answer_capture);
    for (unsigned i = 0; i < count; i++) {
        if (stacks[i].thread == own)
            trail_capture(&stacks[i].backtrace);
        else if (!stacks[i].error)
            stacks[i].error = trail_ask_wait(&asks[i], until_ns, &stacks[i].backtrace);
    }
}

TRAIL_OWN_CODE
unsigned trail_backtrace_threads(struct trail_thread_stack *stacks, unsigned capacity,
                                 uint64_t timeout_ns)
{
    struct listing listing = { stacks, stacks ? capacity : 0, 0 };
    uint64_t until_ns = deadline(timeout_ns);
    int kept = errno;

    trail_os_threads(trail_os_pid(), list_thread, &listing, NULL);
    unsigned count =
        listing.count < listing.capacity ? listing.count : listing.capacity;
    struct trail_ask *asks = calloc(count ? count : 1, sizeof(*asks));
    if (asks)
        ask_all(stacks, count, asks, until_ns);
    for (unsigned i = 0; !asks && i < count; i++) {
        struct trail_ask alone;
        ask_all(&stacks[i], 1, &alone, until_ns);
    }
    free(asks);
    errno = kept;
    return listing.count;
}
