/* target_registers.c -- from the kernel's order of registers to DWARF's.
 *
 * Sources: of Linux, struct user_regs_struct or pt_regs in
 * arch/.../include/uapi/asm/ptrace.h and elf_gregset_t; for DWARF's numbers see arch.c.
 */
#include "core/capture/target.h"

#include "backtrail/symbolizer.h"

#define NONE  TRAIL_REGISTER_NONE
#define LIMIT 34 /* words in the longest set */

struct set {
    uint32_t arch;         /* enum trail_arch */
    uint8_t count;         /* words in the set */
    uint8_t number[LIMIT]; /* DWARF number of each */
};

static const struct set sets[] = {
    { TRAIL_ARCH_X86_64,
      27,
      /* r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi, orig_rax, rip, cs
       * flags, rsp, ss fs_base gs_base ds es fs gs */
      { 15, 14,   13, 12,   6,    3, 11,   10,   9,    8,    0,    2,    1,   4,
        5,  NONE, 16, NONE, NONE, 7, NONE, NONE, NONE, NONE, NONE, NONE, NONE } },
    { TRAIL_ARCH_X86,
      17,
      /* ebx ecx edx esi edi ebp eax, ds es fs gs orig_eax, eip, cs flags, esp, ss */
      { 3, 1, 2, 6, 7, 5, 0, NONE, NONE, NONE, NONE, NONE, 8, NONE, NONE, 4, NONE } },
    { TRAIL_ARCH_AARCH64,
      34,
      /* x0 to x30, sp, pc, pstate */
      { 0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
        17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, NONE } },
    { TRAIL_ARCH_RISCV64,
      32,
      /* pc in the place of x0, then x1 to x31 */
      { 32, 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
        16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
    { TRAIL_ARCH_ARM,
      18,
      /* r0 to r15, cpsr, orig_r0 */
      { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, NONE, NONE } },
};

static const struct set *set_of(uint32_t arch)
{
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        if (sets[i].arch == arch)
            return &sets[i];
    return NULL;
}

bool trail_target_register_set(const struct trail_machine *machine, const uint8_t *set,
                               size_t size, struct trail_registers *registers_ret)
{
    const struct set *order = set_of(machine->arch);
    if (!order || size != (size_t)order->count * machine->address_size)
        return false;
    *registers_ret = (struct trail_registers){ .known = 0 };
    for (size_t i = 0; i < order->count; i++)
        if (order->number[i] != NONE)
            trail_register_set(registers_ret, order->number[i],
                               trail_machine_word(machine,
                                                  set + i * machine->address_size));
    return true;
}
