/* entry_aarch64.c -- where a capture starts: the caller's registers, before any
 * prologue of ours has changed them.
 */
#include "core/capture/own.h"

/* trail_backtrace: its four arguments stay where they are; the fifth and sixth are the
 * caller's sp and fp, as they are once it has returned. It is what the first frame of a
 * capture lies in. hint #34: "bti c". */
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
        "    hint #34\n"
        "    mov x4, sp\n"
        "    mov x5, x29\n"
        "    b trail_backtrace_from\n"
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
        "    hint #34\n"
        "    stp x19, x20, [x0, #152]\n"
        "    stp x21, x22, [x0, #168]\n"
        "    stp x23, x24, [x0, #184]\n"
        "    stp x25, x26, [x0, #200]\n"
        "    stp x27, x28, [x0, #216]\n"
        "    str x29, [x0, #232]\n"
        "    mov x9, sp\n"
        "    stp x9, x30, [x0, #248]\n"  /* sp, pc */
        "    mov x9, #0xbff80000\n"      /* 19 to 29, 31 */
        "    orr x9, x9, #0x100000000\n" /* 32 */
        "    str x9, [x0, #280]\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size trail_own_registers, . - trail_own_registers\n"
        ".popsection\n");
