/* backtrace.c -- what a walk of the own stack writes, and what it never writes. */
#define _GNU_SOURCE

#include <sys/mman.h>
#include <unistd.h>

#include "core/trace/epoch.h"
#include "stacks.h"
#include "test.h"

#define DEPTH 200
#define MOST  130

static void take(void *arg)
{
    trail_capture(arg);
}

static void the_first_entry_is_the_current_pc_and_the_rest_return_addresses(
    void **state)
{
    (void)state;
    uintptr_t pcs[64];
    uint8_t kinds[64], trust[64];
    struct trail_info info = { .size = sizeof(info), .kinds = kinds, .trust = trust };

    unsigned count = trail_backtrace(pcs, 64, NULL, &info);
    assert_in_range(count, 4, 63);
    assert_true(stack_is_own(pcs[0]));
    assert_int_equal(kinds[0], TRAIL_PC_CURRENT);
    for (unsigned i = 1; i < count; i++) {
        assert_int_equal(kinds[i], TRAIL_PC_RETURN);
        assert_int_equal(trust[i], TRAIL_TRUST_CFI);
    }
    assert_int_equal(info.end, TRAIL_END_BASE);
    assert_int_equal(info.flags, sizeof(void *) == 8 ? TRAIL_INFO_64_BIT : 0);
    assert_int_equal(info.error, 0);
}

/* A buffer of `size` bytes that ends where the memory does. */
struct guarded {
    uint8_t *pages, *end;
};

static struct guarded guarded_make(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct guarded guarded;
    guarded.pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(guarded.pages, MAP_FAILED);
    guarded.end = guarded.pages + page;
    assert_int_equal(mprotect(guarded.end, page, PROT_NONE), 0);
    return guarded;
}

static void guarded_free(struct guarded *guarded)
{
    munmap(guarded->pages, 2 * (size_t)(guarded->end - guarded->pages));
}

static void walk_into(void *arg)
{
    struct guarded *guarded = arg;
    unsigned flags[] = { 0, TRAIL_FRAME_POINTERS };
    for (unsigned capacity = 0; capacity <= MOST; capacity++)
        for (unsigned mode = 0; mode < 2; mode++) {
            struct trail_control control = { .size = sizeof(control),
                                             .flags = flags[mode] };
            struct trail_info info = { .size = sizeof(info),
                                       .kinds = guarded[1].end - capacity,
                                       .trust = guarded[2].end - capacity };
            uintptr_t *pcs = (uintptr_t *)(void *)guarded[0].end - capacity;
            unsigned count = trail_backtrace(pcs, capacity, &control, &info);
            assert_int_equal(count, capacity);
            assert_int_equal(info.end, TRAIL_END_FULL);
            assert_true(info.flags & TRAIL_INFO_TRUNCATED);
        }
}

static void nothing_is_written_past_a_buffer_of_any_capacity(void **state)
{
    (void)state;
    struct guarded guarded[3];
    for (size_t i = 0; i < 3; i++)
        guarded[i] = guarded_make();
    stack_deep(DEPTH, walk_into, guarded);
    for (size_t i = 0; i < 3; i++)
        guarded_free(&guarded[i]);
}

static void a_zero_entry_follows_if_there_is_room_and_is_not_counted(void **state)
{
    (void)state;
    uintptr_t pcs[128];
    memset(pcs, 0xaa, sizeof(pcs));

    unsigned count = trail_backtrace(pcs, 128, NULL, NULL);
    assert_in_range(count, 1, 127);
    assert_int_not_equal(pcs[count - 1], 0);
    assert_int_equal(pcs[count], 0);
    assert_int_equal(pcs[count + 1], (uintptr_t)0xaaaaaaaaaaaaaaaa);
}

static void a_full_buffer_has_no_zero_entry(void **state)
{
    (void)state;
    uintptr_t pcs[4] = { 1, 1, 1, 1 };

    assert_int_equal(trail_backtrace(pcs, 3, NULL, NULL), 3);
    assert_int_not_equal(pcs[2], 0);
    assert_int_equal(pcs[3], 1);
}

static void control_and_info_may_be_absent(void **state)
{
    (void)state;
    uintptr_t pcs[64];
    struct trail_control control = { .size = sizeof(control) };
    struct trail_info info = { .size = sizeof(info) };

    unsigned count = trail_backtrace(pcs, 64, NULL, NULL);
    assert_true(count > 0);
    assert_int_equal(trail_backtrace(pcs, 64, &control, NULL), count);
    assert_int_equal(trail_backtrace(pcs, 64, NULL, &info), count);
    assert_int_equal(trail_backtrace(NULL, 64, NULL, &info), 0);
}

static void a_deep_stack_keeps_its_innermost_calls_and_says_so(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };

    stack_deep(500, take, &backtrace);
    assert_int_equal(backtrace.count, TRAIL_MAX_FRAMES);
    assert_int_equal(backtrace.end, TRAIL_END_FULL);
    assert_true(backtrace.flags & TRAIL_INFO_TRUNCATED);
    assert_true(stack_is_own(backtrace.addresses[0]));
    for (unsigned i = 20; i < TRAIL_MAX_FRAMES; i++)
        assert_true(stack_is_deep(backtrace.addresses[i]));
    assert_int_not_equal(backtrace.next_frame_addr, 0);
}

static void a_capture_begins_with_the_frames_of_the_capture_itself(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };

    stack_deep(3, take, &backtrace);
    unsigned own = 0, deep = 0;
    while (own < backtrace.count && stack_is_own(backtrace.addresses[own]))
        own++;
    assert_in_range(own, 2, 8);
    for (unsigned i = own; i < backtrace.count; i++) {
        assert_false(stack_is_own(backtrace.addresses[i]));
        deep += stack_is_deep(backtrace.addresses[i]);
    }
    assert_int_equal(deep, 4);
    assert_int_equal(backtrace.end, TRAIL_END_BASE);
}

static void a_capture_records_its_epoch_and_a_stamp_for_every_address(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };

    trail_capture(&backtrace);
    assert_int_equal(backtrace.epoch, trail_epoch_now());
    assert_in_range(backtrace.stamp_count, 1, TRAIL_MAX_STAMPS);
    for (unsigned i = 0; i < backtrace.count; i++) {
        const struct trail_stamp *found = NULL;
        for (unsigned j = 0; j < backtrace.stamp_count; j++)
            if (backtrace.addresses[i] >= backtrace.stamps[j].start &&
                backtrace.addresses[i] < backtrace.stamps[j].end)
                found = &backtrace.stamps[j];
        assert_non_null(found);
        assert_int_not_equal(found->hash, 0);
    }
}

static void raw_print_gives_exactly_the_documented_bytes(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { .count = 12, .flags = TRAIL_INFO_TRUNCATED };
    char text[1024] = "", want[1024] = "";
    int ends[2];
    for (unsigned i = 0; i < 12; i++)
        backtrace.addresses[i] = i ? (uintptr_t)0x10f << i : 0;
    for (unsigned i = 0; i < 12; i++)
        snprintf(want + strlen(want), sizeof(want) - strlen(want), "%u: 0x%lx\n", i,
                 (unsigned long)backtrace.addresses[i]);
    snprintf(want + strlen(want), sizeof(want) - strlen(want), "[... TRUNCATED ...]\n");

    assert_int_equal(pipe(ends), 0);
    trail_print_raw(ends[1], &backtrace);
    assert_int_equal(read(ends[0], text, sizeof(text) - 1), strlen(want));
    assert_string_equal(text, want);
    backtrace.flags = 0;
    backtrace.count = 1;
    trail_print_raw(ends[1], &backtrace);
    assert_int_equal(read(ends[0], text, sizeof(text) - 1), strlen("0: 0x0\n"));
    assert_memory_equal(text, "0: 0x0\n", strlen("0: 0x0\n"));
    close(ends[0]);
    close(ends[1]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_entry_is_the_current_pc_and_the_rest_return_addresses),
    cmocka_unit_test(nothing_is_written_past_a_buffer_of_any_capacity),
    cmocka_unit_test(a_zero_entry_follows_if_there_is_room_and_is_not_counted),
    cmocka_unit_test(a_full_buffer_has_no_zero_entry),
    cmocka_unit_test(control_and_info_may_be_absent),
    cmocka_unit_test(a_deep_stack_keeps_its_innermost_calls_and_says_so),
    cmocka_unit_test(a_capture_begins_with_the_frames_of_the_capture_itself),
    cmocka_unit_test(a_capture_records_its_epoch_and_a_stamp_for_every_address),
    cmocka_unit_test(raw_print_gives_exactly_the_documented_bytes),
};
TRAIL_TEST_MAIN(tests)
