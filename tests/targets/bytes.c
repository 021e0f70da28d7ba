/* bytes.c -- stacks that lie in buffers, with and without the files of their code. */
#include <errno.h>

#include "read_file.h"
#include "test.h"
#include "walked.h"

#define BASE  0x7000u
#define WORDS 64

static struct trail_target *target_of(const struct trail_target_snapshot *snapshot)
{
    struct trail_error err;
    struct trail_target *target = NULL;
    assert_ok_err(trail_target_bytes(snapshot, &target, &err), err);
    return target;
}

/* ---- frame pointers ----------------------------------------------------------- */

/* Word i lies at BASE + i words; record i lies at word 4 * i + 1 and returns to
 * 0x1000 + i. */
struct stack {
    unsigned word_size;
    uint8_t bytes[WORDS * 8];
};

static void put_word(struct stack *stack, unsigned index, uint64_t value)
{
    for (unsigned i = 0; i < stack->word_size; i++)
        stack->bytes[index * stack->word_size + i] = (uint8_t)(value >> 8 * i);
}

static uint64_t word_address(const struct stack *stack, unsigned index)
{
    return BASE + (uint64_t)index * stack->word_size;
}

static struct stack stack_of(unsigned word_size, unsigned records)
{
    struct stack stack = { .word_size = word_size };
    for (unsigned i = 0; i < records; i++) {
        put_word(&stack, 4 * i + 1,
                 i + 1 < records ? word_address(&stack, 4 * i + 5) : 0);
        put_word(&stack, 4 * i + 2, 0x1000 + i);
    }
    return stack;
}

static struct trail_target *target_of_stack(const struct stack *stack, const char *arch)
{
    const struct trail_target_memory memory = { BASE, stack->bytes,
                                                (size_t)WORDS * stack->word_size };
    const struct trail_target_snapshot snapshot = { .size = sizeof(snapshot),
                                                    .arch = arch,
                                                    .pc = 0xf00d,
                                                    .sp = BASE,
                                                    .fp = word_address(stack, 1),
                                                    .thread = 7,
                                                    .memory = &memory,
                                                    .memory_count = 1 };
    return target_of(&snapshot);
}

static void assert_records(const struct walked *walked, unsigned count, uint32_t end,
                           int error)
{
    assert_int_equal(walked->count, count + 1);
    assert_int_equal(walked->pcs[0], 0xf00d);
    assert_int_equal(walked->kinds[0], TRAIL_PC_CURRENT);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(walked->pcs[i + 1], 0x1000 + i);
        assert_int_equal(walked->trust[i + 1], TRAIL_TRUST_FP);
    }
    assert_int_equal(walked->pcs[count + 1], 0);
    assert_int_equal(walked->info.end, end);
    assert_int_equal(walked->info.error, error);
}

static const struct trail_control by_fp = { .size = sizeof(by_fp),
                                            .flags = TRAIL_FRAME_POINTERS };

static void frame_pointers_in_a_buffer_are_followed(void **state)
{
    (void)state;
    struct stack stack = stack_of(8, 5);
    struct trail_target *target = target_of_stack(&stack, "x86_64");
    struct walked walked = walk_with(target, &by_fp, WALKED_CAPACITY);
    assert_records(&walked, 5, TRAIL_END_BASE, 0);
    assert_int_equal(walked.info.flags, TRAIL_INFO_64_BIT);
    assert_int_equal(trail_target_thread(target, 0), 7);
    trail_target_destroy(target);
}

static void words_of_32_bits_are_told_and_read_as_such(void **state)
{
    (void)state;
    struct stack stack = stack_of(4, 5);
    struct trail_target *target = target_of_stack(&stack, "i386");
    struct walked walked = walk_with(target, &by_fp, WALKED_CAPACITY);
    assert_records(&walked, 5, TRAIL_END_BASE, 0);
    assert_int_equal(walked.info.flags, 0);
    trail_target_destroy(target);
}

static void what_leads_out_of_the_buffer_ends_the_walk(void **state)
{
    (void)state;
    struct stack stack = stack_of(8, 5);
    put_word(&stack, 4 * 2 + 1, BASE + sizeof(stack.bytes));
    struct trail_target *target = target_of_stack(&stack, "x86_64");
    struct walked walked = walk_with(target, &by_fp, WALKED_CAPACITY);
    assert_records(&walked, 3, TRAIL_END_UNMAPPED, EFAULT);
    trail_target_destroy(target);

    stack = stack_of(8, 5);
    put_word(&stack, 4 * 2 + 1, word_address(&stack, 5));
    target = target_of_stack(&stack, "x86_64");
    walked = walk_with(target, &by_fp, WALKED_CAPACITY);
    assert_records(&walked, 3, TRAIL_END_LOOP, 0);
    trail_target_destroy(target);

    stack = stack_of(8, 5);
    put_word(&stack, 4 * 2 + 1, word_address(&stack, 5) + 3);
    target = target_of_stack(&stack, "x86_64");
    walked = walk_with(target, &by_fp, WALKED_CAPACITY);
    assert_records(&walked, 3, TRAIL_END_BAD_FP, 0);
    trail_target_destroy(target);
}

struct reader {
    const struct stack *stack;
    uint64_t limit; /* an error from here on */
    int error;
};

static int reader_copy(void *arg, void *to, uint64_t from, size_t length)
{
    const struct reader *reader = arg;
    if (from < BASE || from + length > reader->limit)
        return reader->error;
    memcpy(to, reader->stack->bytes + (from - BASE), length);
    return 0;
}

static void another_copy_routine_may_read_and_fail(void **state)
{
    (void)state;
    struct stack stack = stack_of(8, 5), empty = { .word_size = 8 };
    struct reader reader = { &stack, BASE + sizeof(stack.bytes), EIO };
    struct trail_control control = by_fp;
    control.copy = reader_copy;
    control.copy_arg = &reader;
    struct trail_target *target = target_of_stack(&empty, "x86_64");
    struct walked walked = walk_with(target, &control, WALKED_CAPACITY);
    assert_records(&walked, 5, TRAIL_END_BASE, 0);

    reader.limit = word_address(&stack, 4 * 3 + 2); /* in the middle of a record */
    walked = walk_with(target, &control, WALKED_CAPACITY);
    assert_records(&walked, 3, TRAIL_END_UNMAPPED, EIO);
    trail_target_destroy(target);
}

static void a_walk_begins_where_it_is_told(void **state)
{
    (void)state;
    struct stack stack = stack_of(8, 5);
    struct trail_target *target = target_of_stack(&stack, "x86_64");
    struct trail_control control = by_fp;
    control.frame_addr = (uintptr_t)word_address(&stack, 4 * 2 + 1);
    struct walked walked = walk_with(target, &control, WALKED_CAPACITY);
    assert_int_equal(walked.count, 3);
    assert_int_equal(walked.pcs[0], 0x1002);

    control = by_fp;
    walked = walk_with(target, &control, 2);
    assert_int_equal(walked.info.end, TRAIL_END_FULL);
    assert_true(walked.info.flags & TRAIL_INFO_TRUNCATED);
    const struct trail_cursor cursor = walked.info.cursor;
    control.cursor = &cursor;
    walked = walk_with(target, &control, WALKED_CAPACITY);
    assert_int_equal(walked.count, 4);
    assert_int_equal(walked.pcs[0], 0x1001);
    trail_target_destroy(target);
}

/* ---- unwind tables -------------------------------------------------------------- */

/* The stack of a core of tests/fixtures/cores, in memory of its own. */
static void tables_of_a_file_in_a_buffer_are_used(void **state)
{
    (void)state;
    char path[1024];
    size_t size = 0, program_size = 0;
    snprintf(path, sizeof(path), "%s/tests/fixtures/cores/riscv64.core",
             TEST_SOURCE_DIR);
    uint8_t *core = read_file(path, &size);
    *strrchr(path, '.') = 0;
    uint8_t *program = read_file(path, &program_size);
    uint64_t registers[3], stack;
    memcpy(registers, core + 64 + 2 * 56 + 20 + 112, sizeof(registers)); /* pc ra sp */
    memcpy(&stack, core + 64 + 56 + 8, sizeof(stack));
    const struct trail_target_memory memory = { registers[2], core + (size_t)stack,
                                                size - (size_t)stack };
    const struct trail_target_module module = { 0, program, program_size };
    struct trail_target_snapshot snapshot = { .size = sizeof(snapshot),
                                              .arch = "riscv64",
                                              .pc = registers[0],
                                              .sp = registers[2],
                                              .link = registers[1],
                                              .memory = &memory,
                                              .memory_count = 1,
                                              .modules = &module,
                                              .module_count = 1 };
    struct trail_target *target = target_of(&snapshot);
    struct walked walked = walk_with(target, NULL, WALKED_CAPACITY);
    assert_int_equal(walked.info.end, TRAIL_END_BASE);
    assert_int_equal(walked.count, 10);
    trail_target_destroy(target);

    snapshot.link = 0; /* the leaf did not save it */
    target = target_of(&snapshot);
    walked = walk_with(target, NULL, WALKED_CAPACITY);
    assert_true(walked.count < 10);
    assert_true(walked.info.end != TRAIL_END_BASE);
    trail_target_destroy(target);
    free(core);
    free(program);
}

static void what_cannot_be_used_is_refused_by_name(void **state)
{
    (void)state;
    struct trail_error err;
    struct trail_target *target = NULL;
    struct trail_target_snapshot snapshot = { .size = sizeof(snapshot),
                                              .arch = "pdp11" };
    assert_int_equal(trail_target_bytes(&snapshot, &target, &err), TRAIL_UNSUPPORTED);
    assert_contains(err.text, "pdp11: ");

    size_t size = 0;
    uint8_t *other = read_fixture("s390x-gcc-dw5-O2", &size);
    struct trail_target_module module = { 0, other, size };
    snapshot.arch = "x86_64";
    snapshot.modules = &module;
    snapshot.module_count = 1;
    assert_int_equal(trail_target_bytes(&snapshot, &target, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "of another architecture than x86_64");
    module.size = 16;
    assert_int_equal(trail_target_bytes(&snapshot, &target, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, "not an ELF image");
    snapshot.size = 8;
    assert_int_equal(trail_target_bytes(&snapshot, &target, &err), TRAIL_BAD_INPUT);
    assert_null(target);
    free(other);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(frame_pointers_in_a_buffer_are_followed),
    cmocka_unit_test(words_of_32_bits_are_told_and_read_as_such),
    cmocka_unit_test(what_leads_out_of_the_buffer_ends_the_walk),
    cmocka_unit_test(another_copy_routine_may_read_and_fail),
    cmocka_unit_test(a_walk_begins_where_it_is_told),
    cmocka_unit_test(tables_of_a_file_in_a_buffer_are_used),
    cmocka_unit_test(what_cannot_be_used_is_refused_by_name),
};
TRAIL_TEST_MAIN(tests)
