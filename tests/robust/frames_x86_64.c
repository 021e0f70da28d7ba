/* frames_x86_64.c -- frames that no compiler makes, System V x86-64. */
#define _GNU_SOURCE
#include "frames.h"

#include <ucontext.h>

uintptr_t frame_returns_to;

#define FUNCTION(name, body)                                                           \
    ".text\n.globl " name "\n.hidden " name "\n.type " name ", @function\n" name       \
    ":\n" body ".size " name ", . - " name "\n"
#define TABLE(body) ".cfi_startproc\n" body ".cfi_endproc\n"
#define NOTE        "movq (%rsp), %rax; movq %rax, frame_returns_to(%rip)\n"
#define PUSH_RBP    "pushq %rbp\n.cfi_def_cfa_offset 16\n.cfi_offset %rbp, -16\n"
#define NONSENSE    ".cfi_def_cfa_offset 4096\nhlt; hlt\n"

/* clang-format off */
__asm__(FUNCTION("frame_of_data", TABLE(
    NOTE
    PUSH_RBP
    "movq %rsi, %rbp\n"
    "callq *%rdi\n"
    "popq %rbp\n"
    ".cfi_def_cfa_offset 8\n"
    ".cfi_restore %rbp\n"
    "ret\n")));

/* Side by side, since the address behind the call is the second one's. */
__asm__(FUNCTION("frame_that_ends_with_a_call", TABLE(
    NOTE
    PUSH_RBP
    "movq %rsp, %rbp\n"
    "subq $16, %rsp\n"
    ".cfi_def_cfa_offset 32\n"
    "callq *%rdi\n"))
    FUNCTION("frame_of_nonsense_behind_a_call", TABLE(NONSENSE)));

__asm__(FUNCTION("frame_without_tables",
    NOTE
    "subq $24, %rsp\n"
    "callq *%rdi\n"
    "addq $24, %rsp\n"
    "ret\n"));

__asm__(FUNCTION("frame_with_pointer_only",
    NOTE
    "pushq %rbp\n"
    "movq %rsp, %rbp\n"
    "subq $32, %rsp\n"
    "callq *%rdi\n"
    "leave\n"
    "ret\n"));

__asm__(FUNCTION("frame_of_nonsense_before_a_trap", TABLE(NONSENSE))
    FUNCTION("frame_trap_first", TABLE(
    "ud2\n"
    "ret\n")));

__asm__(FUNCTION("frame_trap_later", TABLE(
    PUSH_RBP
    "movq %rsp, %rbp\n"
    ".cfi_def_cfa_register %rbp\n"
    "subq $32, %rsp\n"
    "ud2\n"
    "leave\n"
    ".cfi_def_cfa %rsp, 8\n"
    ".cfi_restore %rbp\n"
    "ret\n")));
/* clang-format on */

static const greg_t *registers(const void *ucontext)
{
    return ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
}

static uintptr_t word_at(greg_t address)
{
    return *(const uintptr_t *)(uintptr_t)address;
}

uintptr_t frame_trap_first_returns_to(const void *ucontext)
{
    return word_at(registers(ucontext)[REG_RSP]);
}

uintptr_t frame_trap_later_returns_to(const void *ucontext)
{
    return word_at(registers(ucontext)[REG_RBP] + 8);
}

bool frame_null_call_returns_to(const void *ucontext, uintptr_t *address_ret)
{
    if (registers(ucontext)[REG_RIP] != 0)
        return false;
    *address_ret = word_at(registers(ucontext)[REG_RSP]);
    return true;
}
