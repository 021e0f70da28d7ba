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
    walked->info = (struct trail_info){ .size = sizeof(walked->info) };
    walked->count = trail_backtrace(walked->pcs, 32, NULL, &walked->info);
}

#if defined(__x86_64__) && defined(__ELF__)
void call_without_tables(void (*body)(void *arg), void *arg);
__asm__(".pushsection .text\n"
        ".globl call_without_tables\n"
        ".hidden call_without_tables\n"
        ".type call_without_tables, @function\n"
        "call_without_tables:\n"
        "    subq $8, %rsp\n"
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    callq *%rax\n"
        "    addq $8, %rsp\n"
        "    ret\n"
        ".size call_without_tables, . - call_without_tables\n"
        ".popsection\n");

static void code_without_unwind_tables_ends_the_walk(void **state)
{
    (void)state;
    struct walked walked = { .count = 0 };
    uintptr_t start = (uintptr_t)call_without_tables;

    call_without_tables(walk_from_here, &walked);
    assert_true(walked.count > 1);
    assert_int_equal(walked.info.end, TRAIL_END_NO_CFI);
    assert_true(walked.info.flags & TRAIL_INFO_TRUNCATED);
    assert_in_range(walked.pcs[walked.count - 1], start, start + 32);
}
#else
static void code_without_unwind_tables_ends_the_walk(void **state)
{
    struct walked walked = { .count = 0 };
    (void)state;
    walk_from_here(&walked);
    skip();
}
#endif

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_frame_pointer_chain_is_followed_to_its_base),
    cmocka_unit_test(a_walk_begins_at_the_frame_that_is_named),
    cmocka_unit_test(a_frame_pointer_that_cannot_be_one_ends_the_walk),
    cmocka_unit_test(a_frame_that_cannot_be_read_ends_the_walk_with_its_error),
    cmocka_unit_test(frame_pointers_that_lead_back_are_a_loop),
    cmocka_unit_test(real_memory_that_is_gone_is_told_and_crashes_nothing),
    cmocka_unit_test(small_buffers_one_after_another_give_the_whole_stack),
    cmocka_unit_test(a_cursor_whose_frame_has_returned_is_no_base),
    cmocka_unit_test(code_without_unwind_tables_ends_the_walk),
};
TRAIL_TEST_MAIN(tests)
