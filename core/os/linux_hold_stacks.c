/* linux_hold_stacks.c -- the stacks of threads that are held, copied with as few system
 * calls as that takes.
 *
 * Sources: of Linux, struct user_regs_struct and pt_regs in
 * arch/.../include/uapi/asm/ptrace.h; process_vm_readv(2).
 */
#define _GNU_SOURCE

#include "core/os/linux_hold.h"

#include <sys/uio.h>
#include <unistd.h>

#define PIECES       1024u /* of one call: IOV_MAX */
#define PAGE         4096u
#define RED_ZONE     128u /* below the stack pointer, where leaf functions write */
#define UNKNOWN_SIZE ((size_t)256 << 10)  /* of a stack that may be none */
#define OTHER_SIZE   ((uint64_t)64 << 10) /* of the stack that a thread started on */

/* Which word of a register set is the stack pointer, and which the thread pointer; the
 * size of the set tells whose it is. */
static const struct layout {
    size_t size;
    unsigned word, sp, thread; /* bytes of a word; 0: not in this set */
} layouts[] = {
    { 216, 8, 19, 21 }, /* x86-64: rsp, fs_base */
    { 68, 4, 15, 0 },   /* i386: esp */
    { 272, 8, 31, 0 },  /* aarch64: sp */
    { 256, 8, 2, 4 },   /* riscv64: sp, tp */
    { 72, 4, 13, 0 },   /* arm: r13 */
};

static const struct layout *layout_of(const struct trail_os_frozen_thread *thread)
{
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
        if (layouts[i].size == thread->registers_size)
            return &layouts[i];
    return NULL;
}

static uint64_t word_at(const struct trail_os_frozen_thread *thread,
                        const struct layout *layout, unsigned index)
{
    uint64_t wide = 0;
    uint32_t narrow = 0;
    const uint8_t *at = thread->registers + (size_t)index * layout->word;
    if (layout->word == sizeof(narrow)) {
        memcpy(&narrow, at, sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, at, sizeof(wide));
    return wide;
}

/* The first that ends above `address`; NULL: none does. */
static const struct trail_os_mapping *mapping_above(const struct trail_hold *hold,
                                                    uint64_t address)
{
    size_t low = 0, high = hold->mapping_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hold->mappings[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low < hold->mapping_count ? &hold->mappings[low] : NULL;
}

static bool is_main_stack(const struct trail_os_mapping *mapping)
{
    return strcmp(mapping->path, "[stack]") == 0;
}

/* ---- the pieces that are wanted ----------------------------------------- */

struct batch {
    struct trail_hold *hold;
    struct iovec local[PIECES], remote[PIECES];
    struct trail_os_frozen_stack *stacks[PIECES];
    size_t count;
};

/* What one call has copied of the pieces from `first` on. Returns the first piece that
 * was not looked at: one that is not all there is cut where that shows. */
static size_t take_copied(struct batch *batch, size_t first, size_t copied)
{
    for (size_t i = first; i < batch->count; i++) {
        struct trail_os_frozen_stack *stack = batch->stacks[i];
        if (copied >= stack->size) {
            copied -= stack->size;
            continue;
        }
        stack->size = copied;
        return i + 1;
    }
    return batch->count;
}

/* One that could not be copied at all may have its first page. */
static void copy_page(struct batch *batch, size_t index)
{
    struct iovec local = batch->local[index], remote = batch->remote[index];
    size_t left = PAGE - (size_t)((uintptr_t)remote.iov_base % PAGE);
    if (left > local.iov_len)
        left = local.iov_len;
    local.iov_len = remote.iov_len = left;
    ssize_t got =
        process_vm_readv((pid_t)batch->hold->reader, &local, 1, &remote, 1, 0);
    batch->stacks[index]->size = got > 0 ? (size_t)got : 0;
}

static void flush(struct batch *batch)
{
    size_t first = 0;
    while (first < batch->count) {
        ssize_t got = process_vm_readv((pid_t)batch->hold->reader, batch->local + first,
                                       batch->count - first, batch->remote + first,
                                       batch->count - first, 0);
        size_t next = take_copied(batch, first, got > 0 ? (size_t)got : 0);
        if (batch->stacks[next - 1]->size == 0)
            copy_page(batch, next - 1);
        first = next;
    }
    batch->count = 0;
}

/* Have [start, end) copied, as far as the limits go. */
static void want(struct batch *batch, struct trail_os_frozen_stack *stack,
                 uint64_t start, uint64_t end, size_t limit)
{
    struct trail_hold *hold = batch->hold;
    size_t room = hold->stacks_room - hold->stacks_used;
    if (limit > room)
        limit = room;
    if (start >= end || limit == 0)
        return;
    stack->address = start;
    stack->size = end - start > limit ? limit : (size_t)(end - start);
    stack->bytes = hold->stacks + hold->stacks_used;
    if (batch->count == PIECES)
        flush(batch);
    batch->local[batch->count] =
        (struct iovec){ hold->stacks + hold->stacks_used, stack->size };
    batch->remote[batch->count] =
        (struct iovec){ (void *)(uintptr_t)start, stack->size };
    batch->stacks[batch->count++] = stack;
    hold->stacks_used += stack->size;
}

/* From its red zone, and the page around it, up: all of a stack that is known to be
 * one, of any other memory what stacks need as a rule. */
static void want_current(struct batch *batch, struct trail_os_frozen_thread *thread,
                         const struct trail_os_mapping *mapping, uint64_t sp,
                         uint64_t pointer)
{
    uint64_t start = sp > RED_ZONE ? sp - RED_ZONE : 0;
    bool main_stack = is_main_stack(mapping);
    bool known = main_stack || (pointer >= sp && pointer < mapping->end);
    start -= start % PAGE;
    if (mapping->start > sp && !main_stack) /* which may have grown */
        return;
    if (start < mapping->start)
        start = mapping->start > sp ? sp - sp % PAGE : mapping->start;
    want(batch, &thread->stacks[0], start, mapping->end,
         known ? batch->hold->stack_size : UNKNOWN_SIZE);
}

/* The stack it started on: of the main thread it has a name, of others the thread
 * pointer is at its upper end. */
static void want_other(struct batch *batch, struct trail_os_frozen_thread *thread,
                       const struct trail_os_mapping *current, uint64_t pointer)
{
    const struct trail_os_mapping *other = mapping_above(batch->hold, pointer);
    uint64_t end = pointer;
    if (thread->tid == batch->hold->pid) {
        const struct trail_os_mapping *last =
            batch->hold->mappings + batch->hold->mapping_count;
        for (other = batch->hold->mappings; other < last && !is_main_stack(other);)
            other++;
        other = other < last ? other : NULL;
        end = other ? other->end : 0;
    }
    if (!other || other == current || end < other->start)
        return;
    uint64_t start = end - other->start > OTHER_SIZE ? end - OTHER_SIZE : other->start;
    want(batch, &thread->stacks[1], start, end, (size_t)OTHER_SIZE);
}

void trail_hold_stacks(struct trail_hold *hold,
                       struct trail_os_frozen_thread *const *threads, size_t count)
{
    static struct batch batch;
    batch.hold = hold;
    for (size_t i = 0; i < count; i++) {
        const struct layout *layout = layout_of(threads[i]);
        if (!layout)
            continue;
        uint64_t sp = word_at(threads[i], layout, layout->sp);
        uint64_t pointer =
            layout->thread ? word_at(threads[i], layout, layout->thread) : 0;
        const struct trail_os_mapping *mapping = mapping_above(hold, sp);
        if (mapping)
            want_current(&batch, threads[i], mapping, sp, pointer);
        if (pointer)
            want_other(&batch, threads[i], mapping, pointer);
    }
    flush(&batch);
}
