/* walks.c -- frame pointers in made-up memory, code without tables, and walks that go
 * on where another ended. */
#define _GNU_SOURCE

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stacks.h"
#include "test.h"

#define BASE  0x10000u
#define WORDS 64

/* A stack in a buffer: word i lies at address BASE + i words. */
struct memory {
    uintptr_t words[WORDS];
    int error; /* what a read outside gives */
};

static uintptr_t word_address(size_t index)
{
    return BASE + index * sizeof(uintptr_t);
}

static int memory_copy(void *arg, void *to, uint64_t from, size_t length)
{
    const struct memory *memory = arg;
    if (from < BASE || from - BASE > sizeof(memory->words) ||
        length > sizeof(memory->words) - (from - BASE))
        return memory->error;
    memcpy(to, (const char *)memory->words + (from - BASE), length);
    return 0;
}

/* Frame i lies at word 4 * i, leads to the next, and returns to 0x1000 + i. */
static void memory_fill(struct memory *memory, size_t frames)
{
    *memory = (struct memory){ .error = EFAULT };
    for (size_t i = 0; i < frames; i++) {
        memory->words[4 * i] = i + 1 < frames ? word_address(4 * (i + 1)) : 0;
        memory->words[4 * i + 1] = 0x1000 + i;
    }
}

struct walked {
    uintptr_t pcs[32];
    uint8_t kinds[32], trust[32];
    unsigned count;
    struct trail_info info;
};

static struct walked walk(struct memory *memory, uintptr_t frame_addr,
                          unsigned capacity)
{
    struct walked walked = { .count = 0 };
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_FRAME_POINTERS,
                                           .frame_addr = frame_addr,
                                           .copy = memory ? memory_copy : NULL,
                                           .copy_arg = memory };
    walked.info = (struct trail_info){ .size = sizeof(walked.info),
                                       .kinds = walked.kinds,
                                       .trust = walked.trust };
    walked.count = trail_backtrace(walked.pcs, capacity, &control, &walked.info);
    return walked;
}

static void assert_walked(const struct walked *walked, unsigned count, uint32_t end,
                          int error)
{
    assert_int_equal(walked->count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(walked->pcs[i], 0x1000 + i);
    assert_int_equal(walked->info.end, end);
    assert_int_equal(walked->info.error, error);
    assert_int_equal((walked->info.flags & TRAIL_INFO_TRUNCATED) != 0,
                     end != TRAIL_END_BASE);
}

static void a_frame_pointer_chain_is_followed_to_its_base(void **state)
{
    (void)state;
    struct memory memory;
    memory_fill(&memory, 5);
    struct walked walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 5, TRAIL_END_BASE, 0);
    assert_int_equal(walked.kinds[0], TRAIL_PC_RETURN);
    assert_int_equal(walked.trust[4], TRAIL_TRUST_FP);
    assert_int_equal(walked.pcs[5], 0);
}

static void a_walk_begins_at_the_frame_that_is_named(void **state)
{
    (void)state;
    struct memory memory;
    memory_fill(&memory, 5);
    struct walked walked = walk(&memory, word_address(4 * 2), 32);
    assert_int_equal(walked.count, 3);
    assert_int_equal(walked.pcs[0], 0x1002);
}

static void a_frame_pointer_that_cannot_be_one_ends_the_walk(void **state)
{
    (void)state;
    struct memory memory;
    memory_fill(&memory, 5);
    memory.words[4 * 2] = word_address(4 * 3) + 1; /* not aligned */
    struct walked walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 3, TRAIL_END_BAD_FP, 0);

    memory.words[4 * 2] = word_address(0) - 64; /* below where the walk began */
    walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 3, TRAIL_END_BAD_FP, 0);
}

static void a_frame_that_cannot_be_read_ends_the_walk_with_its_error(void **state)
{
    (void)state;
    struct memory memory;
    memory_fill(&memory, 5);
    memory.words[4 * 2] = word_address(WORDS) - sizeof(uintptr_t); /* half outside */
    struct walked walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 3, TRAIL_END_UNMAPPED, EFAULT);

    memory.error = EIO;
    walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 3, TRAIL_END_UNMAPPED, EIO);
}

static void frame_pointers_that_lead_back_are_a_loop(void **state)
{
    (void)state;
    struct memory memory;
    memory_fill(&memory, 5);
    memory.words[4 * 3] = word_address(4 * 1);
    struct walked walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 4, TRAIL_END_LOOP, 0);

    memory.words[4 * 3] = word_address(4 * 3); /* to itself */
    walked = walk(&memory, word_address(0), 32);
    assert_walked(&walked, 4, TRAIL_END_LOOP, 0);
}

static void real_memory_that_is_gone_is_told_and_crashes_nothing(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t *stack = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    stack[0] = (uintptr_t)stack + page;
    stack[1] = 0x1000;
    assert_int_equal(munmap((char *)stack + page, page), 0);
    struct walked walked = walk(NULL, (uintptr_t)stack, 32);
    assert_walked(&walked, 1, TRAIL_END_UNMAPPED, EFAULT);
    munmap(stack, page);
}

/* ---- going on where another walk ended ---------------------------------- */

enum resume {
    BY_CURSOR,
    BY_FRAME_ADDR,
    FP_BY_CURSOR,
    FP_BY_FRAME_ADDR,
};

struct whole {
    enum resume how;
    uintptr_t top; /* frame pointers are not followed beyond */
    unsigned counts[4];
    uintptr_t pcs[4][128];
};

static int copy_below(void *arg, void *to, uint64_t from, size_t length)
{
    const struct whole *whole = arg;
    if (from >= whole->top)
        return EFAULT;
    memcpy(to, (const void *)(uintptr_t)from, length);
    return 0;
}

/* All of the stack, `size` entries at a time; the same frames stand below each time. */
__attribute__((noinline)) static unsigned collect(const struct whole *whole,
                                                  unsigned size, uintptr_t *pcs)
{
    bool fp = whole->how >= FP_BY_CURSOR;
    struct trail_control control = { .size = sizeof(control),
                                     .flags = fp ? TRAIL_FRAME_POINTERS : 0,
                                     .copy = copy_below,
                                     .copy_arg = (void *)(uintptr_t)whole };
    struct trail_info info = { .size = sizeof(info) };
    struct trail_cursor cursor;
    unsigned count = 0;
    do {
        count += trail_backtrace(pcs + count, size < 128 - count ? size : 128 - count,
                                 &control, &info);
        cursor = info.cursor;
        if (whole->how == BY_CURSOR || whole->how == FP_BY_CURSOR)
            control.cursor = &cursor;
        else
            control.frame_addr = info.next_frame_addr;
    } while (info.end == TRAIL_END_FULL && count < 128);
    return count;
}

static void collect_all(void *arg)
{
    static const unsigned sizes[4] = { 128, 3, 8, 17 };
    struct whole *whole = arg;
    for (volatile unsigned i = 0; i < 4; i++) /* volatile: not unrolled */
        whole->counts[i] = collect(whole, sizes[i], whole->pcs[i]);
}

static void small_buffers_one_after_another_give_the_whole_stack(void **state)
{
    (void)state;
    for (enum resume how = BY_CURSOR; how <= FP_BY_FRAME_ADDR; how++) {
        struct whole whole = { .how = how,
                               .top = (uintptr_t)__builtin_frame_address(0) };
        stack_deep(40, collect_all, &whole);
        assert_in_range(whole.counts[0], 43, 127);
        for (unsigned i = 1; i < 4; i++) {
            assert_int_equal(whole.counts[i], whole.counts[0]);
            assert_memory_equal(whole.pcs[i], whole.pcs[0],
                                whole.counts[0] * sizeof(uintptr_t));
        }
    }
}

static void make_cursor(void *arg)
{
    uintptr_t pcs[8];
    struct trail_info *info = arg;
    trail_backtrace(pcs, 8, NULL, info);
}

static void a_cursor_whose_frame_has_returned_is_no_base(void **state)
{
    (void)state;
    struct trail_info info = { .size = sizeof(info) };
    uintptr_t pcs[8];
    stack_deep(20, make_cursor, &info);
    assert_int_equal(info.end, TRAIL_END_FULL);
    struct trail_cursor cursor = info.cursor;
    const struct trail_control control = { .size = sizeof(control), .cursor = &cursor };

    assert_int_equal(trail_backtrace(pcs, 8, &control, &info), 0);
    assert_int_equal(info.end, TRAIL_END_ERROR);
    assert_int_equal(info.error, EINVAL);
}

static void walk_from_here(void *arg)
{
    struct walked *walked = arg;
    walked->info = (struct trail_info){ .size = sizeof(walked->info),
                                        .kinds = walked->kinds,
                                        .trust = walked->trust };
    walked->count = trail_backtrace(walked->pcs, 32, NULL, &walked->info);
}

#if defined(__x86_64__) && defined(__ELF__)
/* Calls `body` with stack pointer `stack`, or where it is if that is NULL. */
void call_without_tables(void (*body)(void *arg), void *arg, void *stack);
__asm__(".pushsection .text\n"
        ".globl call_without_tables\n"
        ".hidden call_without_tables\n"
        ".type call_without_tables, @function\n"
        "call_without_tables:\n"
        "    pushq %rbx\n"
        "    pushq %rbp\n"
        "    movq %rsp, %rbx\n"
        "    subq $8, %rsp\n"
        "    testq %rdx, %rdx\n"
        "    cmovneq %rdx, %rsp\n"
        "    movl $1, %ebp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    callq *%rax\n"
        "    movq %rbx, %rsp\n"
        "    popq %rbp\n"
        "    popq %rbx\n"
        "    ret\n"
        ".size call_without_tables, . - call_without_tables\n"
        ".popsection\n");

/* The index of the frame in it; the count if there is none. */
static unsigned find_frame_without_tables(const struct walked *walked)
{
    uintptr_t start = (uintptr_t)call_without_tables;
    unsigned at = 0;
    while (at < walked->count &&
           (walked->pcs[at] <= start || walked->pcs[at] > start + 48))
        at++;
    return at;
}

static void code_without_unwind_tables_ends_the_walk(void **state)
{
    (void)state;
    struct walked walked = { .count = 0 };
    enum { SIZE = 64 << 10 };
    char *stack = mmap(NULL, 2 * SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);

    call_without_tables(walk_from_here, &walked, stack + SIZE);
    munmap(stack, 2 * SIZE);
    assert_true(walked.count > 1);
    assert_int_equal(walked.info.end, TRAIL_END_NO_CFI);
    assert_true(walked.info.flags & TRAIL_INFO_TRUNCATED);
    assert_int_equal(find_frame_without_tables(&walked), walked.count - 1);
}

static void a_frame_beyond_code_without_tables_is_guessed_and_said_to_be(void **state)
{
    (void)state;
    struct walked walked = { .count = 0 }, whole = { .count = 0 };

    call_without_tables(walk_from_here, &walked, NULL);
    walk_from_here(&whole);
    unsigned at = find_frame_without_tables(&walked), i = at + 1;
    assert_in_range(i, 2, walked.count - 2);
    assert_int_equal(walked.info.end, TRAIL_END_BASE);
    assert_int_equal(walked.trust[at], TRAIL_TRUST_CFI);
    assert_int_equal(walked.trust[i], TRAIL_TRUST_SCAN);
    assert_int_equal(walked.trust[i + 1], TRAIL_TRUST_CFI);
    /* Outward it is the same stack. */
    unsigned rest = walked.count - i - 1;
    assert_memory_equal(walked.pcs + i + 1, whole.pcs + whole.count - rest,
                        rest * sizeof(uintptr_t));
}
#else
static void code_without_unwind_tables_ends_the_walk(void **state)
{
    struct walked walked = { .count = 0 };
    (void)state;
    walk_from_here(&walked);
    skip();
}

static void a_frame_beyond_code_without_tables_is_guessed_and_said_to_be(void **state)
{
    (void)state;
    skip();
}
#endif

/* ---- other ways --------------------------------------------------------- */

struct ways {
    uintptr_t top; /* what lies above cannot be read */
    unsigned counts[2];
    uintptr_t pcs[2][64];
    struct trail_info info;
};

static int copy_up_to_top(void *arg, void *to, uint64_t from, size_t length)
{
    const struct ways *ways = arg;
    if (from >= ways->top || length > ways->top - from)
        return EFAULT;
    memcpy(to, (const void *)(uintptr_t)from, length);
    return 0;
}

static void walk_twice(void *arg)
{
    struct ways *ways = arg;
    const struct trail_control checked = { .size = sizeof(checked),
                                           .flags = TRAIL_CHECKED,
                                           .copy = ways->top ? copy_up_to_top : NULL,
                                           .copy_arg = ways };
    ways->info = (struct trail_info){ .size = sizeof(ways->info) };
    ways->counts[0] = trail_backtrace(ways->pcs[0], 64, NULL, NULL);
    ways->counts[1] = trail_backtrace(ways->pcs[1], 64, &checked, &ways->info);
}

static void a_checked_walk_gives_the_same_stack(void **state)
{
    (void)state;
    struct ways ways = { .top = 0 };
    stack_deep(10, walk_twice, &ways);
    assert_in_range(ways.counts[0], 13, 63);
    assert_int_equal(ways.counts[1], ways.counts[0]);
    assert_memory_equal(ways.pcs[1] + 2, ways.pcs[0] + 2,
                        (ways.counts[0] - 2) * sizeof(uintptr_t));
    assert_int_equal(ways.info.end, TRAIL_END_BASE);
}

static void a_checked_walk_keeps_what_it_gathered_before_a_failing_read(void **state)
{
    (void)state;
    struct ways ways = { .top = (uintptr_t)__builtin_frame_address(0) - 64 };
    stack_deep(10, walk_twice, &ways);
    /* Where the frame address lies in its frame, the machine says. */
    assert_in_range(ways.counts[1], 10, ways.counts[0] - 1);
    assert_memory_equal(ways.pcs[1] + 2, ways.pcs[0] + 2,
                        (ways.counts[1] - 2) * sizeof(uintptr_t));
    assert_int_equal(ways.info.end, TRAIL_END_UNMAPPED);
    assert_int_equal(ways.info.error, EFAULT);
}

static void walk_fps(void *arg)
{
    struct ways *ways = arg;
    const struct trail_control checked = { .size = sizeof(checked),
                                           .flags = TRAIL_FRAME_POINTERS };
    const struct trail_control raw = { .size = sizeof(raw), .flags = TRAIL_RAW };
    ways->counts[0] = trail_backtrace(ways->pcs[0], 8, &checked, NULL);
    ways->counts[1] = trail_backtrace(ways->pcs[1], 8, &raw, NULL);
}

static void raw_frame_pointers_lead_where_checked_ones_do(void **state)
{
    (void)state;
    struct ways ways = { .top = 0 };
    stack_deep(20, walk_fps, &ways);
    assert_int_equal(ways.counts[0], 8);
    assert_int_equal(ways.counts[1], 8);
    assert_memory_equal(ways.pcs[1] + 2, ways.pcs[0] + 2, 6 * sizeof(uintptr_t));
    assert_true(stack_is_deep(ways.pcs[1][7]));
}

static void a_chain_on_the_own_stack_is_checked_as_elsewhere(void **state)
{
    (void)state;
    uintptr_t words[4 * 5], start = (uintptr_t)words;
    for (size_t i = 0; i < 5; i++) {
        words[4 * i] = i < 4 ? start + 32 * (i + 1) : 0;
        words[4 * i + 1] = 0x1000 + i;
    }
    struct walked walked = walk(NULL, start, 32);
    assert_walked(&walked, 5, TRAIL_END_BASE, 0);
    walked = walk(NULL, start, 5);
    assert_walked(&walked, 5, TRAIL_END_BASE, 0);
    walked = walk(NULL, start, 3);
    assert_walked(&walked, 3, TRAIL_END_FULL, 0);
    words[4 * 2] = start; /* back to the first */
    walked = walk(NULL, start, 32);
    assert_walked(&walked, 3, TRAIL_END_LOOP, 0);
    words[4 * 2] = start - 64;
    walked = walk(NULL, start, 32);
    assert_walked(&walked, 3, TRAIL_END_BAD_FP, 0);
    words[4 * 2] = start + 32 * 3 + 1;
    walked = walk(NULL, start, 32);
    assert_walked(&walked, 3, TRAIL_END_BAD_FP, 0);
    words[4 * 2] = UINTPTR_MAX - 7; /* above any stack */
    walked = walk(NULL, start, 32);
    assert_walked(&walked, 3, TRAIL_END_UNMAPPED, EFAULT);
}

/* By frame pointers from here, with `saved` in the place of the caller's. */
__attribute__((noinline)) static unsigned walk_with(uintptr_t saved, uintptr_t *pcs,
                                                    unsigned capacity,
                                                    struct trail_info *info)
{
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_FRAME_POINTERS };
    volatile uintptr_t *frame = __builtin_frame_address(0);
    const uintptr_t kept = frame[0];
    frame[0] = saved ? saved : kept;
    unsigned count = trail_backtrace(pcs, capacity, &control, info);
    frame[0] = kept;
    return count;
}

static void a_walk_that_nothing_is_asked_of_ends_where_others_do(void **state)
{
    (void)state;
    uintptr_t own = (uintptr_t)__builtin_frame_address(0);
    uintptr_t chain[] = { 0, 0x1234, own - 1, 0x5678 };
    const uintptr_t saved[] = { 0,
                                own,
                                own + 1,
                                own + 4,
                                own - 4096,
                                16,
                                UINTPTR_MAX - 7,
                                (uintptr_t)chain,
                                (uintptr_t)&chain[2] };
    for (size_t i = 0; i < sizeof(saved) / sizeof(*saved); i++)
        for (unsigned capacity = 1; capacity <= 40; capacity += 1 + capacity / 8) {
            uintptr_t told[40] = { 0 }, quick[40] = { 0 };
            struct trail_info info = { .size = sizeof(info) };
            unsigned count = walk_with(saved[i], told, capacity, &info);
            assert_int_equal(walk_with(saved[i], quick, capacity, NULL), count);
            /* Entry 2 is where each was called. */
            for (unsigned k = 3; k < count; k++)
                assert_true(quick[k] == told[k]);
            assert_true(count == capacity || quick[count] == 0);
        }
}

static void a_stack_that_just_fits_is_whole(void **state)
{
    (void)state;
    uintptr_t pcs[64];
    struct trail_info info = { .size = sizeof(info) };
    unsigned whole = 0;
    for (volatile unsigned capacity = 64, turn = 0; turn < 2; turn++) {
        unsigned count = trail_backtrace(pcs, capacity, NULL, &info);
        assert_int_equal(info.end, TRAIL_END_BASE);
        whole = whole ? whole : count;
        assert_int_equal(count, whole);
        capacity = count;
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_chain_on_the_own_stack_is_checked_as_elsewhere),
    cmocka_unit_test(a_walk_that_nothing_is_asked_of_ends_where_others_do),
    cmocka_unit_test(a_stack_that_just_fits_is_whole),
    cmocka_unit_test(a_checked_walk_gives_the_same_stack),
    cmocka_unit_test(a_checked_walk_keeps_what_it_gathered_before_a_failing_read),
    cmocka_unit_test(raw_frame_pointers_lead_where_checked_ones_do),
    cmocka_unit_test(a_frame_pointer_chain_is_followed_to_its_base),
    cmocka_unit_test(a_walk_begins_at_the_frame_that_is_named),
    cmocka_unit_test(a_frame_pointer_that_cannot_be_one_ends_the_walk),
    cmocka_unit_test(a_frame_that_cannot_be_read_ends_the_walk_with_its_error),
    cmocka_unit_test(frame_pointers_that_lead_back_are_a_loop),
    cmocka_unit_test(real_memory_that_is_gone_is_told_and_crashes_nothing),
    cmocka_unit_test(small_buffers_one_after_another_give_the_whole_stack),
    cmocka_unit_test(a_cursor_whose_frame_has_returned_is_no_base),
    cmocka_unit_test(code_without_unwind_tables_ends_the_walk),
    cmocka_unit_test(a_frame_beyond_code_without_tables_is_guessed_and_said_to_be),
};
TRAIL_TEST_MAIN(tests)
