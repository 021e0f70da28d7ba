/* continuations.c -- chains of continuations: found by one call, followed by a
 * second. */
#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backtrail/backtrail.h"
#include "core/capture/continuation.h"
#include "test.h"

#define RECORDS 40

/* Record i leads to the next, and resumes at 0x1000 + 16 * i. */
static struct trail_continuation records[RECORDS];
static struct trail_continuations chain;

static void chain_make(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        records[i] = (struct trail_continuation){
            .parent = i + 1 < count ? (uintptr_t)&records[i + 1] : 0,
            .resume = 0x1000 + 16 * i,
        };
    chain = (struct trail_continuations){ .size = sizeof(chain),
                                          .first = (uintptr_t)records };
    trail_continuation_set(&chain);
}

struct followed {
    uintptr_t pcs[64];
    uint8_t kinds[64];
    unsigned count;
    struct trail_info info;
};

static struct followed follow(uintptr_t frame_addr, unsigned capacity)
{
    struct followed followed = { .count = 0 };
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_CONTINUATION,
                                           .frame_addr = frame_addr };
    followed.info =
        (struct trail_info){ .size = sizeof(followed.info), .kinds = followed.kinds };
    followed.count = trail_backtrace(followed.pcs, capacity, &control, &followed.info);
    return followed;
}

static void assert_followed(const struct followed *followed, unsigned count,
                            uint32_t end, int error)
{
    assert_int_equal(followed->count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(followed->kinds[i], TRAIL_PC_CONTINUATION);
        assert_int_equal(followed->pcs[i] % 16, 0);
    }
    assert_int_equal(followed->info.end, end);
    assert_int_equal(followed->info.error, error);
    assert_int_equal((followed->info.flags & TRAIL_INFO_TRUNCATED) != 0,
                     end != TRAIL_END_BASE);
}

static void a_chain_is_told_by_one_call_and_followed_by_a_second(void **state)
{
    (void)state;
    uintptr_t pcs[128];
    struct trail_info info = { .size = sizeof(info) };
    chain_make(5);
    unsigned count = trail_backtrace(pcs, 128, NULL, &info);
    assert_int_equal(info.end, TRAIL_END_BASE);
    assert_int_equal(info.async_frame_addr, (uintptr_t)records);
    assert_int_equal(info.async_start_index, count);

    struct followed followed = follow(info.async_frame_addr, 64);
    assert_followed(&followed, 5, TRAIL_END_BASE, 0);
    for (unsigned i = 0; i < 5; i++)
        assert_int_equal(followed.pcs[i], 0x1000 + 16 * i);
    assert_int_equal(followed.pcs[5], 0);
    followed = follow(0, 64); /* from its beginning */
    assert_followed(&followed, 5, TRAIL_END_BASE, 0);

    assert_ptr_equal(trail_continuation_set(NULL), &chain);
    trail_backtrace(pcs, 128, NULL, &info);
    assert_int_equal(info.async_frame_addr, 0);
    assert_int_equal(info.async_start_index, 0);
    followed = follow(0, 64);
    assert_followed(&followed, 0, TRAIL_END_BASE, 0);
}

static void a_stack_that_was_cut_tells_no_chain(void **state)
{
    (void)state;
    uintptr_t pcs[2];
    struct trail_info info = { .size = sizeof(info) };
    chain_make(5);
    trail_backtrace(pcs, 2, NULL, &info);
    assert_int_equal(info.end, TRAIL_END_FULL);
    assert_int_equal(info.async_frame_addr, 0);
    trail_continuation_set(NULL);
}

static void small_buffers_one_after_another_give_the_whole_chain(void **state)
{
    (void)state;
    chain_make(RECORDS);
    for (unsigned capacity = 1; capacity <= 64; capacity++)
        for (unsigned by_cursor = 0; by_cursor < 2; by_cursor++) {
            struct trail_control control = { .size = sizeof(control),
                                             .flags = TRAIL_CONTINUATION };
            struct trail_info info = { .size = sizeof(info) };
            struct trail_cursor cursor;
            unsigned count = 0;
            do {
                uintptr_t pcs[64];
                unsigned got = trail_backtrace(pcs, capacity, &control, &info);
                for (unsigned i = 0; i < got; i++)
                    assert_int_equal(pcs[i], 0x1000 + 16 * count++);
                cursor = info.cursor;
                control.cursor = by_cursor ? &cursor : NULL;
                control.frame_addr = by_cursor ? 0 : info.next_frame_addr;
            } while (info.end == TRAIL_END_FULL);
            assert_int_equal(count, RECORDS);
            assert_int_equal(info.end, TRAIL_END_BASE);
        }
    trail_continuation_set(NULL);
}

/* Back from the last record to the one at `to`. */
static unsigned count_of_loop(unsigned count, unsigned to, unsigned capacity)
{
    struct trail_control control = { .size = sizeof(control),
                                     .flags = TRAIL_CONTINUATION };
    struct trail_info info = { .size = sizeof(info) };
    struct trail_cursor cursor;
    unsigned all = 0;
    chain_make(count);
    records[count - 1].parent = (uintptr_t)&records[to];
    do {
        uintptr_t pcs[64];
        all += trail_backtrace(pcs, capacity, &control, &info);
        cursor = info.cursor;
        control.cursor = &cursor;
    } while (info.end == TRAIL_END_FULL && all < 1000);
    assert_int_equal(info.end, TRAIL_END_LOOP);
    trail_continuation_set(NULL);
    return all;
}

static void a_chain_that_leads_back_ends(void **state)
{
    (void)state;
    for (unsigned count = 1; count <= RECORDS; count++)
        for (unsigned to = 0; to < count; to++)
            for (unsigned capacity = 1; capacity <= 64; capacity += 9)
                assert_in_range(count_of_loop(count, to, capacity), count, 3 * count);
}

static void records_that_cannot_be_read_end_the_walk(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *gone =
        mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(gone, MAP_FAILED);
    assert_int_equal(mprotect(gone, page, PROT_NONE), 0);
    chain_make(3);
    records[2].parent = (uintptr_t)gone;
    struct followed followed = follow(0, 64);
    assert_followed(&followed, 3, TRAIL_END_UNMAPPED, EFAULT);
    records[2].parent = (uintptr_t)&records[2] + 1;
    followed = follow(0, 64);
    assert_followed(&followed, 3, TRAIL_END_BAD_FP, 0);
    records[2] = (struct trail_continuation){ (uintptr_t)records, 0 };
    followed = follow(0, 64); /* resumes nowhere: nobody waits */
    assert_followed(&followed, 2, TRAIL_END_BASE, 0);
    trail_continuation_set(NULL);
    munmap(gone, page);
}

static void a_cursor_of_another_walk_is_refused(void **state)
{
    (void)state;
    struct trail_cursor cursor = { { (uintptr_t)records, 0, 0, 0 } };
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_CONTINUATION,
                                           .cursor = &cursor };
    struct trail_info info = { .size = sizeof(info) };
    uintptr_t pcs[4];
    chain_make(3);
    assert_int_equal(trail_backtrace(pcs, 4, &control, &info), 0);
    assert_int_equal(info.end, TRAIL_END_ERROR);
    assert_int_equal(info.error, EINVAL);
    trail_continuation_set(NULL);
}

/* ---- records of another form --------------------------------------------- */

/* As a coroutine's frame begins: the function that resumes it; further on who
 * awaits. */
struct coroutine {
    uintptr_t resume, destroy;
    struct coroutine *awaited_by;
};

static int coroutine_step(void *arg, uintptr_t at,
                          struct trail_continuation *record_ret)
{
    const struct coroutine *coroutine = (const struct coroutine *)at;
    unsigned *calls = arg;
    ++*calls;
    if (coroutine->destroy == 0)
        return ESTALE;
    *record_ret = (struct trail_continuation){ (uintptr_t)coroutine->awaited_by,
                                               coroutine->resume };
    return 0;
}

static void records_of_any_form_are_read_by_a_step_of_the_app(void **state)
{
    (void)state;
    unsigned calls = 0;
    struct coroutine outer = { 0x2020, 1, NULL }, inner = { 0x2010, 1, &outer };
    const struct trail_continuations coroutines = { .size = sizeof(coroutines),
                                                    .first = (uintptr_t)&inner,
                                                    .step = coroutine_step,
                                                    .arg = &calls };
    trail_continuation_set(&coroutines);
    struct followed followed = follow(0, 64);
    assert_followed(&followed, 2, TRAIL_END_BASE, 0);
    assert_int_equal(followed.pcs[0], 0x2010);
    assert_int_equal(followed.pcs[1], 0x2020);
    assert_int_equal(calls, 2);
    outer.destroy = 0;
    followed = follow(0, 64);
    assert_followed(&followed, 1, TRAIL_END_UNMAPPED, ESTALE);
    trail_continuation_set(NULL);
}

/* ---- whole captures ------------------------------------------------------ */

static void a_captured_stack_is_followed_by_its_chain(void **state)
{
    (void)state;
    struct trail_backtrace plain = { 0 }, both = { 0 };
    chain_make(3);
    for (unsigned round = 0; round < 2; round++) {
        trail_continuation_set(round ? &chain : NULL);
        trail_capture(round ? &both : &plain);
    }
    trail_continuation_set(NULL);
    assert_int_equal(both.count, plain.count + 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(both.kinds[plain.count + i], TRAIL_PC_CONTINUATION);
        assert_int_equal(both.addresses[plain.count + i], 0x1000 + 16 * i);
    }
    assert_int_equal(both.end, TRAIL_END_BASE);
}

static void a_chain_that_there_is_no_room_for_is_cut(void **state)
{
    (void)state;
    struct trail_backtrace both = { 0 };
    static struct trail_continuation many[TRAIL_MAX_FRAMES + 10];
    for (unsigned i = 0; i < TRAIL_MAX_FRAMES + 10; i++)
        many[i] = (struct trail_continuation){
            i ? (uintptr_t)&many[i - 1] : 0,
            0x1000,
        };
    chain_make(1);
    chain.first = (uintptr_t)&many[TRAIL_MAX_FRAMES + 9];
    trail_capture(&both);
    trail_continuation_set(NULL);
    assert_int_equal(both.count, TRAIL_MAX_FRAMES);
    assert_int_equal(both.end, TRAIL_END_FULL);
    assert_true(both.flags & TRAIL_INFO_TRUNCATED);
}

static struct followed in_handler;

static void on_signal(int number)
{
    (void)number;
    in_handler = follow(0, 64);
}

static void a_handler_follows_the_chain_of_the_thread_that_it_interrupts(void **state)
{
    (void)state;
    chain_make(4);
    assert_ptr_not_equal(signal(SIGUSR1, on_signal), SIG_ERR);
    raise(SIGUSR1);
    assert_followed(&in_handler, 4, TRAIL_END_BASE, 0);
    trail_continuation_set(NULL);
}

/* ---- Swift's extended frames --------------------------------------------- */

static void a_saved_frame_pointer_with_a_mark_is_the_callers_without(void **state)
{
    (void)state;
    const uint64_t fp = UINT64_C(0x7ffc12345670);
    const uint64_t mark = UINT64_C(1) << TRAIL_CONTINUATION_MARK_AT;
    assert_true(trail_continuation_marked(fp | mark));
    assert_int_equal(trail_continuation_unmarked(fp | mark), fp);
    assert_false(trail_continuation_marked(fp));
    assert_int_equal(trail_continuation_unmarked(fp), fp);
    assert_false(trail_continuation_marked(UINT64_MAX)); /* data, not a pointer */
    assert_int_equal(trail_continuation_unmarked(UINT64_MAX), UINT64_MAX);
}

/* Frames of a made-up stack: the second one's function is an asynchronous one. */
static uintptr_t swift_stack[16];

static int swift_copy(void *arg, void *to, uint64_t from, size_t length)
{
    (void)arg;
    memcpy(to, (const void *)(uintptr_t)from, length);
    return 0;
}

static void swift_make(void)
{
    const uintptr_t mark = (uintptr_t)((uint64_t)1 << TRAIL_CONTINUATION_MARK_AT);
    swift_stack[0] = (uintptr_t)&swift_stack[4];
    swift_stack[1] = 0x2000; /* in the asynchronous function */
    swift_stack[3] = (uintptr_t)records;
    swift_stack[4] = (uintptr_t)&swift_stack[8] | mark;
    swift_stack[5] = 0x3000;
    swift_stack[8] = 0;
    swift_stack[9] = 0x4000;
}

static void a_marked_frame_says_where_its_stack_goes_on(void **state)
{
    (void)state;
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_FRAME_POINTERS,
                                           .frame_addr = (uintptr_t)swift_stack,
                                           .copy = swift_copy };
    struct trail_info info = { .size = sizeof(info) };
    uintptr_t pcs[8];
    chain_make(3);
    trail_continuation_set(NULL);
    swift_make();
    assert_int_equal(trail_backtrace(pcs, 8, &control, &info), 3);
    assert_int_equal(pcs[0], 0x2000);
    assert_int_equal(pcs[2], 0x4000);
    assert_int_equal(info.end, TRAIL_END_BASE);
    assert_int_equal(info.async_start_index, 0);
    assert_int_equal(info.async_frame_addr, (uintptr_t)records);

    struct followed followed = follow(info.async_frame_addr, 64);
    assert_followed(&followed, 3, TRAIL_END_BASE, 0);
    assert_int_equal(followed.pcs[0], 0x1000);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_chain_is_told_by_one_call_and_followed_by_a_second),
    cmocka_unit_test(a_stack_that_was_cut_tells_no_chain),
    cmocka_unit_test(small_buffers_one_after_another_give_the_whole_chain),
    cmocka_unit_test(a_chain_that_leads_back_ends),
    cmocka_unit_test(records_that_cannot_be_read_end_the_walk),
    cmocka_unit_test(a_cursor_of_another_walk_is_refused),
    cmocka_unit_test(records_of_any_form_are_read_by_a_step_of_the_app),
    cmocka_unit_test(a_captured_stack_is_followed_by_its_chain),
    cmocka_unit_test(a_chain_that_there_is_no_room_for_is_cut),
    cmocka_unit_test(a_handler_follows_the_chain_of_the_thread_that_it_interrupts),
    cmocka_unit_test(a_saved_frame_pointer_with_a_mark_is_the_callers_without),
    cmocka_unit_test(a_marked_frame_says_where_its_stack_goes_on),
};
TRAIL_TEST_MAIN(tests)
