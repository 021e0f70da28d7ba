/* branches.c -- of which instructions a target is told, on each machine. */
#include "agent/sym/disassemble.h"
#include "backtrail/symbolizer.h"
#include "test.h"

#define ADDRESS 0x1000

struct row {
    struct instruction_set set;
    const char *code;
    size_t size;
    const char *begins; /* how its text does */
    bool call, target;  /* the target of all is their own address */
};

static bool keep(void *arg, const struct instruction *it)
{
    const struct row *row = arg;
    assert_int_equal(it->size, row->size);
    if (strncmp(it->text, row->begins, strlen(row->begins)) != 0)
        fail_msg("%s, not %s", it->text, row->begins);
    if (it->is_call != row->call || it->has_target != row->target)
        fail_msg("%s: call %d, target %d", it->text, it->is_call, it->has_target);
    if (it->has_target)
        assert_int_equal(it->target, ADDRESS);
    return true;
}

static void assert_rows(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct row row = rows[i];
        assert_ok(disassemble(&row.set, (struct trail_text){ row.code, row.size },
                              ADDRESS, keep, &row, NULL));
    }
}

#define X64                                                                            \
    {                                                                                  \
        .arch = TRAIL_ARCH_X86_64, .little = true                                      \
    }
#define A64                                                                            \
    {                                                                                  \
        .arch = TRAIL_ARCH_AARCH64, .little = true                                     \
    }
#define ARM                                                                            \
    {                                                                                  \
        .arch = TRAIL_ARCH_ARM, .little = true                                         \
    }
#define THUMB                                                                          \
    {                                                                                  \
        .arch = TRAIL_ARCH_ARM, .little = true, .thumb = true                          \
    }
#define PPC                                                                            \
    {                                                                                  \
        .arch = TRAIL_ARCH_PPC                                                         \
    }
#define S390X                                                                          \
    {                                                                                  \
        .arch = TRAIL_ARCH_S390X                                                       \
    }

static void calls_and_jumps_have_a_target(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { X64, "\xe8\xfb\xff\xff\xff", 5, "call 0x1000", true, true },
        { X64, "\xeb\xfe", 2, "jmp 0x1000", false, true },
        { X64, "\x0f\x84\xfa\xff\xff\xff", 6, "je 0x1000", false, true },
        { A64, "\x00\x00\x00\x94", 4, "bl #0x1000", true, true },
        { A64, "\x00\x00\x00\x14", 4, "b #0x1000", false, true },
        { A64, "\x00\x00\x00\x54", 4, "b.eq #0x1000", false, true },
        { A64, "\x00\x00\x00\xb4", 4, "cbz x0, #0x1000", false, true },
        { A64, "\x00\x00\x18\x36", 4, "tbz w0, #3, #0x1000", false, true },
        { ARM, "\xfe\xff\xff\xeb", 4, "bl #0x1000", true, true },
        { ARM, "\xfe\xff\xff\x0a", 4, "beq #0x1000", false, true },
        { ARM, "\xfe\xff\xff\x0b", 4, "bleq #0x1000", true, true },
        { ARM, "\xfe\xff\xff\xda", 4, "ble #0x1000", false, true },
        { THUMB, "\xff\xf7\xfe\xff", 4, "bl #0x1000", true, true },
        { THUMB, "\xfe\xe7", 2, "b #0x1000", false, true },
        { PPC, "\x48\x00\x00\x01", 4, "bl 0x1000", true, true },
        { PPC, "\x48\x00\x00\x00", 4, "b 0x1000", false, true },
        { S390X, "\xc0\xe5\0\0\0\0", 6, "brasl %r14, 0x1000", true, true },
        { S390X, "\xa7\xf4\0\0", 4, "j 0x1000", false, true },
    };
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

/* Their last operand looks like an address, and their name like a branch. */
static void numbers_are_no_targets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { X64, "\x0f\xba\xe0\x13", 4, "bt eax, 0x13", false, false },
        { A64, "\x20\x3c\x10\x33", 4, "bfi w0, w1, #0x10, #0x10", false, false },
        { ARM, "\x10\x00\xc0\xe3", 4, "bic r0, r0, #0x10", false, false },
        { S390X, "\xc0\x00\0\0\0\0", 6, "larl %r0, 0x1000", false, false },
    };
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static void calls_through_a_register_have_none(void **state)
{
    (void)state;
    static const struct row rows[] = {
        { X64, "\xff\xd0", 2, "call rax", true, false },
        { A64, "\x60\x00\x3f\xd6", 4, "blr x3", true, false },
        { ARM, "\x33\xff\x2f\xe1", 4, "blx r3", true, false },
        { ARM, "\x33\xff\x2f\x01", 4, "blxeq r3", true, false },
        { THUMB, "\x98\x47", 2, "blx r3", true, false },
        { S390X, "\x0d\xe1", 2, "basr %r14, %r1", true, false },
    };
    assert_rows(rows, sizeof(rows) / sizeof(rows[0]));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(calls_and_jumps_have_a_target),
    cmocka_unit_test(numbers_are_no_targets),
    cmocka_unit_test(calls_through_a_register_have_none),
};
TRAIL_TEST_MAIN(tests)
