/* entry_x86_64.c -- where a capture starts: the caller's registers, before any prologue
 * of ours has changed them.
 */
#include "core/capture/own.h"

/* trail_backtrace: its four arguments stay where they are; the fifth and sixth are the
 * caller's sp and fp, as they are once it has returned. It is what the first frame of a
 * capture lies in. */
__asm__(".pushsection trail_text, \"ax\", @progbits\n"
        ".globl trail_backtrace\n"
        ".globl trail_entry\n"
        ".hidden trail_entry\n"
        ".type trail_backtrace, @function\n"
        ".type trail_entry, @function\n"
        ".p2align 4\n"
        "trail_backtrace:\n"
        "trail_entry:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    leaq 8(%rsp), %r8\n"
        "    movq %rbp, %r9\n"
        "    jmp trail_backtrace_from\n"
        ".cfi_endproc\n"
        ".size trail_backtrace, . - trail_backtrace\n"
        ".size trail_entry, . - trail_entry\n"
        ".popsection\n");

/* Registers by DWARF number, 8 bytes each; `known` comes after 35 of them. */
_Static_assert(offsetof(struct trail_registers, known) == 280,
               "as the code below has it");
__asm__(".pushsection trail_text, \"ax\", @progbits\n"
        ".globl trail_own_registers\n"
        ".hidden trail_own_registers\n"
        ".type trail_own_registers, @function\n"
        ".p2align 4\n"
        "trail_own_registers:\n"
        ".cfi_startproc\n"
        "    endbr64\n"
        "    movq %rbx, 24(%rdi)\n"
        "    movq %rbp, 48(%rdi)\n"
        "    leaq 8(%rsp), %rax\n"
        "    movq %rax, 56(%rdi)\n"
        "    movq %r12, 96(%rdi)\n"
        "    movq %r13, 104(%rdi)\n"
        "    movq %r14, 112(%rdi)\n"
        "    movq %r15, 120(%rdi)\n"
        "    movq (%rsp), %rax\n"
        "    movq %rax, 128(%rdi)\n"
        "    movq $0x1f0c8, 280(%rdi)\n" /* 3, 6, 7, 12 to 16 */
        "    ret\n"
        ".cfi_endproc\n"
        ".size trail_own_registers, . - trail_own_registers\n"
        ".popsection\n");
