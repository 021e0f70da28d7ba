/* pieces.c -- a stack in buffers of every size: whole, in pieces, and from its middle.
 */
#define _GNU_SOURCE

#include <sys/mman.h>
#include <unistd.h>

#include "capture/stacks.h"
#include "test.h"

#define MOST 130

enum { WHOLE, IN_PIECES, FROM_MIDDLE };

struct taken {
    unsigned flags, size; /* of the walk; entries of its buffer */
    int how;
    uintptr_t *to; /* where the buffer ends */
    uintptr_t pcs[256];
    unsigned count;
    struct trail_info info;
    struct trail_cursor cursor;
};

static struct taken taken_make(unsigned flags, unsigned size, int how, uintptr_t *to)
{
    return (struct taken){ .flags = flags, .size = size, .how = how, .to = to };
}

static unsigned take_whole(struct taken *taken, struct trail_control *control)
{
    uintptr_t *buffer = taken->to - taken->size;
    unsigned count = trail_backtrace(buffer, taken->size, control, &taken->info);
    memcpy(taken->pcs, buffer, taken->size * sizeof(*buffer));
    return count;
}

static unsigned take_pieces(struct taken *taken, struct trail_control *control)
{
    unsigned count = 0;
    do {
        count +=
            trail_backtrace(taken->pcs + count, taken->size, control, &taken->info);
        taken->cursor = taken->info.cursor;
        control->cursor = &taken->cursor;
    } while (taken->info.end == TRAIL_END_FULL && count + taken->size < 256);
    return count;
}

/* From the frame on that there was no room for. */
static unsigned take_rest(struct taken *taken, struct trail_control *control)
{
    trail_backtrace(taken->pcs, taken->size, control, &taken->info);
    control->frame_addr = taken->info.next_frame_addr;
    volatile unsigned count = trail_backtrace(taken->pcs, 256, control, &taken->info);
    return count; /* not by a tail call, which would leave no frame here */
}

static void take(void *arg)
{
    static unsigned (*const ways[])(struct taken *,
                                    struct trail_control *) = { take_whole, take_pieces,
                                                                take_rest };
    struct taken *taken = arg;
    struct trail_control control = { .size = sizeof(control), .flags = taken->flags };
    taken->info = (struct trail_info){ .size = sizeof(taken->info) };
    taken->count = ways[taken->how](taken, &control);
}

/* Tables; tables, with nothing remembered; every read checked. */
static const unsigned modes[] = { 0, TRAIL_FULL_WALK, TRAIL_CHECKED };

static unsigned outer_equal(const struct taken *a, const struct taken *b)
{
    unsigned equal = 0;
    while (equal < a->count && equal < b->count &&
           a->pcs[a->count - 1 - equal] == b->pcs[b->count - 1 - equal])
        equal++;
    return equal;
}

static void pieces_of_every_size_are_the_whole_stack(void **state)
{
    (void)state;
    static struct taken whole, pieces;
    for (size_t mode = 0; mode < 3; mode++)
        for (unsigned size = 1; size <= 64; size++) {
            /* The whole is one large piece, taken from the same place. */
            whole = taken_make(modes[mode], 128, IN_PIECES, NULL);
            pieces = taken_make(modes[mode], size, IN_PIECES, NULL);
            struct taken *both[] = { &whole, &pieces };
            for (volatile unsigned i = 0; i < 2; i++)
                stack_deep(40, take, both[i]);
            assert_int_equal(pieces.info.end, TRAIL_END_BASE);
            assert_int_equal(pieces.count, whole.count);
            assert_int_equal(outer_equal(&whole, &pieces), whole.count);
        }
}

static void a_walk_from_any_frame_is_the_rest_of_the_whole_one(void **state)
{
    (void)state;
    static struct taken whole, rest;
    for (size_t mode = 0; mode < 3; mode++)
        /* The first two entries are of whoever takes it. */
        for (unsigned size = 2; size <= 40; size++) {
            whole = taken_make(modes[mode], 128, IN_PIECES, NULL);
            rest = taken_make(modes[mode], size, FROM_MIDDLE, NULL);
            struct taken *both[] = { &whole, &rest };
            for (volatile unsigned i = 0; i < 2; i++)
                stack_deep(40, take, both[i]);
            assert_int_equal(rest.count, whole.count - size);
            assert_int_equal(outer_equal(&whole, &rest), rest.count);
        }
}

static void a_stack_in_a_buffer_of_any_size_ends_with_a_zero_if_there_is_room(
    void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    static struct taken whole, part;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    uintptr_t *end = (uintptr_t *)(void *)(pages + page);
    for (size_t mode = 0; mode < 3; mode++)
        for (unsigned size = 0; size <= MOST; size++) {
            memset(pages, 0xaa, page);
            whole = taken_make(modes[mode], MOST, WHOLE, end);
            part = taken_make(modes[mode], size, WHOLE, end);
            struct taken *both[] = { &whole, &part };
            for (volatile unsigned i = 0; i < 2; i++)
                stack_deep(40, take, both[i]);
            unsigned want = size < whole.count ? size : whole.count;
            assert_int_equal(part.count, want);
            assert_memory_equal(part.pcs, whole.pcs, want * sizeof(part.pcs[0]));
            if (want < size)
                assert_int_equal(part.pcs[want], 0);
            assert_int_equal((part.info.flags & TRAIL_INFO_TRUNCATED) != 0,
                             size < whole.count);
        }
    munmap(pages, 2 * page);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_of_every_size_are_the_whole_stack),
    cmocka_unit_test(a_walk_from_any_frame_is_the_rest_of_the_whole_one),
    cmocka_unit_test(a_stack_in_a_buffer_of_any_size_ends_with_a_zero_if_there_is_room),
};
TRAIL_TEST_MAIN(tests)
