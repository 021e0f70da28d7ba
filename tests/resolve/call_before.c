/* call_before.c -- is there a call before an address? In bytes of assembled code. */
#include "core/resolve/call_before.h"

#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "test.h"

/* The bytes of "ff d0", behind others that mean nothing. */
static enum trail_before before(uint32_t arch, const char *hex)
{
    uint8_t code[TRAIL_CALL_SIZE];
    size_t size = (strlen(hex) + 1) / 3;
    memset(code, 0x90, sizeof(code));
    assert_true(size <= sizeof(code));
    for (size_t i = 0; i < size; i++)
        code[sizeof(code) - size + i] = (uint8_t)strtoul(hex + 3 * i, NULL, 16);
    return trail_call_before(arch, code, sizeof(code));
}

static void calls_of_x86_64_are_known(void **state)
{
    (void)state;
    static const char *const calls[] = {
        "e8 01 02 03 04",          /* call rel32 */
        "67 e8 01 02 03 04",       /* addr32 call */
        "f2 e8 01 02 03 04",       /* bnd call */
        "ff d0",                   /* call *%rax */
        "41 ff d3",                /* call *%r11 */
        "3e ff d0",                /* notrack call *%rax */
        "ff 10",                   /* call *(%rax) */
        "ff 50 08",                /* call *8(%rax) */
        "ff 90 00 01 00 00",       /* call *0x100(%rax) */
        "ff 15 01 02 03 04",       /* call *x(%rip) */
        "ff 14 c8",                /* call *(%rax,%rcx,8) */
        "ff 14 c5 00 10 40 00",    /* call *0x401000(,%rax,8) */
        "ff 54 24 08",             /* call *8(%rsp) */
        "41 ff 94 c7 00 01 00 00", /* call *0x100(%r15,%rax,8) */
        "ff 1c 24",                /* lcall *(%rsp) */
        "0f 05",                   /* syscall */
        "cd 80",                   /* int $0x80 */
    };
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if (before(TRAIL_ARCH_X86_64, calls[i]) != TRAIL_BEFORE_CALL)
            fail_msg("%s is taken for no call", calls[i]);
}

static void other_code_of_x86_64_is_no_call(void **state)
{
    (void)state;
    static const char *const others[] = {
        "c3",                      /* ret */
        "e9 01 02 03 04",          /* jmp rel32 */
        "ff e0",                   /* jmp *%rax */
        "ff 25 01 02 03 04",       /* jmp *x(%rip) */
        "ff c0",                   /* inc %eax */
        "ff 30",                   /* push (%rax) */
        "48 83 c4 08",             /* add $8,%rsp */
        "0f 1f 84 00 00 00 00 00", /* nop */
        "e8 01 02 03",             /* the displacement is too short */
        "ff 50",                   /* so is this one */
        "5d",                      /* pop %rbp */
        "90",                      /* nop */
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (before(TRAIL_ARCH_X86_64, others[i]) != TRAIL_BEFORE_OTHER)
            fail_msg("%s is taken for a call", others[i]);
}

static void calls_of_aarch64_are_known(void **state)
{
    (void)state;
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "00 00 00 94"), TRAIL_BEFORE_CALL);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "ff ff ff 97"), TRAIL_BEFORE_CALL);
    /* blr x8, blraaz x0, blraa x0, x1, svc #0 */
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "00 01 3f d6"), TRAIL_BEFORE_CALL);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "1f 08 3f d6"), TRAIL_BEFORE_CALL);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "01 08 3f d7"), TRAIL_BEFORE_CALL);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "01 00 00 d4"), TRAIL_BEFORE_CALL);
    /* b, br x8, ret, nop, brk #1 */
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "00 00 00 14"), TRAIL_BEFORE_OTHER);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "00 01 1f d6"), TRAIL_BEFORE_OTHER);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "c0 03 5f d6"), TRAIL_BEFORE_OTHER);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "1f 20 03 d5"), TRAIL_BEFORE_OTHER);
    assert_int_equal(before(TRAIL_ARCH_AARCH64, "20 00 20 d4"), TRAIL_BEFORE_OTHER);
}

static void what_is_not_known_is_neither(void **state)
{
    (void)state;
    static const uint8_t code[TRAIL_CALL_SIZE] = { 0 };
    assert_int_equal(before(TRAIL_ARCH_S390X, "c3"), TRAIL_BEFORE_UNKNOWN);
    assert_int_equal(before(TRAIL_ARCH_UNKNOWN, "c3"), TRAIL_BEFORE_UNKNOWN);
    assert_int_equal(trail_call_before(TRAIL_ARCH_X86_64, code, 0),
                     TRAIL_BEFORE_UNKNOWN);
    assert_int_equal(trail_call_before(TRAIL_ARCH_AARCH64, code, 3),
                     TRAIL_BEFORE_UNKNOWN);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(calls_of_x86_64_are_known),
    cmocka_unit_test(other_code_of_x86_64_is_no_call),
    cmocka_unit_test(calls_of_aarch64_are_known),
    cmocka_unit_test(what_is_not_known_is_neither),
};
TRAIL_TEST_MAIN(tests)
