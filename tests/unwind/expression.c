/* expression.c -- DWARF expressions: every operation, and every limit. */
#include "core/capture/expression.h"

#include "test.h"
#include "backtrail/symbolizer.h"

#define BIAS 0x10000u

/* Memory: the word at address n is n * 3, on either side of it nothing. */
static bool read_triple(void *arg, uint64_t address, void *to, size_t size)
{
    (void)arg;
    uint64_t word = address * 3;
    if (address < 0x100 || address >= 0x200)
        return false;
    memcpy(to, &word, size);
    return true;
}

static const struct trail_registers registers = {
    .value = { [0] = 100, [3] = 5, [6] = 0x110, [7] = 0xfffffff0 },
    .known = 1u << 0 | 1u << 3 | 1u << 6 | 1u << 7,
};

static bool eval(uint32_t arch, const char *bytes, size_t size, const uint64_t *initial,
                 uint64_t *value_ret)
{
    const struct trail_expression_context context = {
        .machine = trail_machine_of(arch),
        .registers = &registers,
        .bias = BIAS,
        .read = read_triple,
    };
    /* A copy of just its size: reading beyond it is seen. */
    char *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    bool good =
        trail_cfi_eval((struct trail_text){ copy, size }, &context, initial, value_ret);
    free(copy);
    return good;
}

static const struct {
    const char *name, *bytes;
    size_t size;
    uint64_t value, value32; /* on 64-bit and on 32-bit machines */
} good[] = {
#define IS(name, bytes) name, bytes, sizeof(bytes) - 1
    { IS("lit0", "\x30"), 0, 0 },
    { IS("lit31", "\x4f"), 31, 31 },
    { IS("const1u", "\x08\xff"), 255, 255 },
    { IS("const1s", "\x09\xff"), UINT64_MAX, UINT32_MAX },
    { IS("const2u", "\x0a\x34\x92"), 0x9234, 0x9234 },
    { IS("const2s", "\x0b\x34\x92"), 0xffffffffffff9234, 0xffff9234 },
    { IS("const4u", "\x0c\x78\x56\x34\x92"), 0x92345678, 0x92345678 },
    { IS("const4s", "\x0d\x78\x56\x34\x92"), 0xffffffff92345678, 0x92345678 },
    { IS("const8u", "\x0e\x01\x02\x03\x04\x05\x06\x07\x88"), 0x8807060504030201,
      0x04030201 },
    { IS("const8s", "\x0f\x01\x02\x03\x04\x05\x06\x07\x88"), 0x8807060504030201,
      0x04030201 },
    { IS("constu", "\x10\x80\x01"), 128, 128 },
    { IS("consts", "\x11\x7f"), UINT64_MAX, UINT32_MAX },
    { IS("breg", "\x76\x70"), 0x100, 0x100 },
    { IS("breg wraps", "\x77\x20"), 0x100000010, 0x10 },
    { IS("bregx", "\x92\x06\x02"), 0x112, 0x112 },
    { IS("reg", "\x53"), 5, 5 },
    { IS("regx", "\x90\x03"), 5, 5 },
    { IS("deref", "\x76\x00\x06"), 0x330, 0x330 },
    { IS("deref_size", "\x76\x70\x94\x01"), 0, 0 },
    { IS("deref_size 2", "\x76\x70\x94\x02"), 0x300, 0x300 },
    { IS("dup", "\x35\x12\x22"), 10, 10 },
    { IS("drop", "\x35\x36\x13"), 5, 5 },
    { IS("over", "\x35\x36\x14"), 5, 5 },
    { IS("pick", "\x35\x36\x37\x15\x02"), 5, 5 },
    { IS("swap", "\x35\x36\x16\x1c"), 1, 1 },
    { IS("rot: top", "\x31\x32\x33\x17"), 2, 2 },
    { IS("rot: second", "\x31\x32\x33\x17\x13"), 1, 1 },
    { IS("rot: third", "\x31\x32\x33\x17\x13\x13"), 3, 3 },
    { IS("abs", "\x09\xf0\x19"), 16, 16 },
    { IS("and", "\x3c\x3a\x1a"), 8, 8 },
    { IS("div", "\x09\xf0\x33\x1b"), (uint64_t)-5, (uint32_t)-5 },
    { IS("div of the least", "\x0f\x00\x00\x00\x00\x00\x00\x00\x80\x09\xff\x1b"),
      0x8000000000000000, 0 },
    { IS("minus", "\x33\x35\x1c"), (uint64_t)-2, (uint32_t)-2 },
    { IS("mod", "\x41\x35\x1d"), 2, 2 },
    { IS("mul", "\x35\x36\x1e"), 30, 30 },
    { IS("neg", "\x35\x1f"), (uint64_t)-5, (uint32_t)-5 },
    { IS("not", "\x35\x20"), ~(uint64_t)5, ~(uint32_t)5 },
    { IS("or", "\x35\x3a\x21"), 15, 15 },
    { IS("plus", "\x35\x36\x22"), 11, 11 },
    { IS("plus_uconst", "\x35\x23\x80\x01"), 133, 133 },
    { IS("shl", "\x35\x33\x24"), 40, 40 },
    { IS("shl of all", "\x35\x08\x40\x24"), 0, 0 },
    { IS("shr", "\x09\xff\x08\x1c\x25"), 0xfffffffff, 0xf },
    { IS("shra", "\x09\xf0\x32\x26"), (uint64_t)-4, (uint32_t)-4 },
    { IS("shra of all", "\x09\xf0\x08\x7f\x26"), UINT64_MAX, UINT32_MAX },
    { IS("xor", "\x35\x36\x27"), 3, 3 },
    { IS("eq", "\x35\x35\x29"), 1, 1 },
    { IS("ge", "\x35\x36\x2a"), 0, 0 },
    { IS("gt", "\x36\x35\x2b"), 1, 1 },
    { IS("le", "\x36\x35\x2c"), 0, 0 },
    { IS("lt of a negative one", "\x09\xff\x30\x2d"), 1, 1 },
    { IS("ne", "\x35\x35\x2e"), 0, 0 },
    { IS("skip", "\x35\x2f\x01\x00\x36\x37\x1c"), (uint64_t)-2, (uint32_t)-2 },
    { IS("bra taken", "\x35\x31\x28\x01\x00\x36"), 5, 5 },
    { IS("bra not taken", "\x35\x30\x28\x01\x00\x36"), 6, 6 },
    { IS("skip to the end", "\x35\x2f\x00\x00"), 5, 5 },
    { IS("nop", "\x35\x96"), 5, 5 },
    /* the linkage table of x86-64: rsp + 8 + (rip & 15 >= 11) * 8, here with rbx */
    { IS("linkage table", "\x77\x08\x73\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), 0xfffffff8,
      0xfffffff8 },
    { IS("a loop that counts down", "\x35\x31\x1c\x12\x28\xfa\xff"), 0, 0 },
};

static void each_operation_gives_what_dwarf_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint64_t value = 0x5a;
        if (!eval(TRAIL_ARCH_X86_64, good[i].bytes, good[i].size, NULL, &value) ||
            value != good[i].value)
            fail_msg("%s: %#llx", good[i].name, (unsigned long long)value);
        if (!eval(TRAIL_ARCH_X86, good[i].bytes, good[i].size, NULL, &value) ||
            value != good[i].value32)
            fail_msg("%s, 32 bits: %#llx", good[i].name, (unsigned long long)value);
    }
}

static void an_address_is_moved_by_the_bias(void **state)
{
    (void)state;
    uint64_t value;
    assert_true(eval(TRAIL_ARCH_X86_64, "\x03\x78\x56\x34\x12\x00\x00\x00\x00", 9, NULL,
                     &value));
    assert_int_equal(value, 0x12345678 + BIAS);
    assert_true(eval(TRAIL_ARCH_X86, "\x03\x78\x56\x34\x12", 5, NULL, &value));
    assert_int_equal(value, 0x12345678 + BIAS);
}

static void the_first_word_may_be_given(void **state)
{
    (void)state;
    const uint64_t initial = 40;
    uint64_t value;
    assert_true(eval(TRAIL_ARCH_X86_64, "\x32\x22", 2, &initial, &value));
    assert_int_equal(value, 42);
    assert_true(eval(TRAIL_ARCH_X86_64, "", 0, &initial, &value));
    assert_int_equal(value, 40);
}

static void what_cannot_be_run_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *bytes;
        size_t size;
    } bad[] = {
        { IS("nothing", "") },
        { IS("an unknown operation", "\xe0") },
        { IS("an operand that is cut off", "\x0c\x01\x02") },
        { IS("a number without an end", "\x10\x80\x80") },
        { IS("a register that is not known", "\x71\x00") },
        { IS("a register that there is none of", "\x92\x63\x00") },
        { IS("memory that is not there", "\x35\x06") },
        { IS("a dereference of too much", "\x76\x00\x94\x09") },
        { IS("too few operands", "\x35\x22") },
        { IS("no operand", "\x06") },
        { IS("nothing left", "\x35\x13") },
        { IS("pick of what is not there", "\x35\x15\x01") },
        { IS("division by zero", "\x35\x30\x1b") },
        { IS("remainder by zero", "\x35\x30\x1d") },
        { IS("a branch before the start", "\x35\x2f\xfb\xff") },
        { IS("a branch behind the end", "\x35\x2f\x01\x00") },
        { IS("a loop without end", "\x35\x2f\xfd\xff") },
        { IS("a stack without end", "\x35\x2f\xfc\xff") },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint64_t value = 0x5a;
        if (eval(TRAIL_ARCH_X86_64, bad[i].bytes, bad[i].size, NULL, &value))
            fail_msg("%s: taken", bad[i].name);
        assert_int_equal(value, 0x5a);
    }
}

static void a_big_endian_machine_has_its_numbers_the_other_way_round(void **state)
{
    (void)state;
    struct trail_machine machine = *trail_machine_of(TRAIL_ARCH_X86_64);
    const struct trail_expression_context context = { .machine = &machine,
                                                      .registers = &registers };
    uint64_t value;
    machine.little = false;
    assert_true(trail_cfi_eval((struct trail_text){ "\x0a\x12\x34", 3 }, &context, NULL,
                               &value));
    assert_int_equal(value, 0x1234);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_operation_gives_what_dwarf_says),
    cmocka_unit_test(an_address_is_moved_by_the_bias),
    cmocka_unit_test(the_first_word_may_be_given),
    cmocka_unit_test(what_cannot_be_run_is_refused),
    cmocka_unit_test(a_big_endian_machine_has_its_numbers_the_other_way_round),
};

TRAIL_TEST_MAIN(tests)
