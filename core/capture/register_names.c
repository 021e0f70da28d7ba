/* register_names.c -- what debuggers call the registers of each machine. */
#include "core/capture/register_names.h"

#include "backtrail/symbolizer.h"

#define COUNT(names_) (sizeof(names_) / sizeof((names_)[0]))

static const char *const x86_64[][4] = {
    { "rax", "rdx", "rcx", "rbx" }, { "rsi", "rdi", "rbp", "rsp" },
    { "r8", "r9", "r10", "r11" },   { "r12", "r13", "r14", "r15" },
    { "rip", NULL, NULL, NULL },
};

static const char *const i386[][4] = {
    { "eax", "ecx", "edx", "ebx" },
    { "esp", "ebp", "esi", "edi" },
    { "eip", NULL, NULL, NULL },
};

static const char *const aarch64[][4] = {
    { "x0", "x1", "x2", "x3" },     { "x4", "x5", "x6", "x7" },
    { "x8", "x9", "x10", "x11" },   { "x12", "x13", "x14", "x15" },
    { "x16", "x17", "x18", "x19" }, { "x20", "x21", "x22", "x23" },
    { "x24", "x25", "x26", "x27" }, { "x28", "x29", "x30", "sp" },
    { "pc", NULL, NULL, NULL },
};

static const char *const arm[][4] = {
    { "r0", "r1", "r2", "r3" },
    { "r4", "r5", "r6", "r7" },
    { "r8", "r9", "r10", "r11" },
    { "r12", "sp", "lr", "pc" },
};

static const char *const riscv64[][4] = {
    { NULL, "ra", "sp", "gp" },   { "tp", "t0", "t1", "t2" },
    { "s0", "s1", "a0", "a1" },   { "a2", "a3", "a4", "a5" },
    { "a6", "a7", "s2", "s3" },   { "s4", "s5", "s6", "s7" },
    { "s8", "s9", "s10", "s11" }, { "t3", "t4", "t5", "t6" },
    { "pc", NULL, NULL, NULL },
};

const char *trail_register_name(const struct trail_machine *machine, unsigned number)
{
    const unsigned row = number / 4, column = number % 4;
    switch (machine->arch) {
    case TRAIL_ARCH_X86_64:
        return row < COUNT(x86_64) ? x86_64[row][column] : NULL;
    case TRAIL_ARCH_X86:
        return row < COUNT(i386) ? i386[row][column] : NULL;
    case TRAIL_ARCH_AARCH64:
        return row < COUNT(aarch64) ? aarch64[row][column] : NULL;
    case TRAIL_ARCH_ARM:
        return row < COUNT(arm) ? arm[row][column] : NULL;
    case TRAIL_ARCH_RISCV64:
        return row < COUNT(riscv64) ? riscv64[row][column] : NULL;
    default:
        return NULL;
    }
}
