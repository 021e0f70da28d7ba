/* stepper_x86_64.c -- steps by the trap flag, and follows calls and returns by what
 * they do to the stack, knowing nothing of unwind tables.
 */
#define _GNU_SOURCE
#include "stepper.h"

#include <signal.h>
#include <stddef.h>
#include <ucontext.h>

#include "truth.h"

/* Calls `body` with the trap flag set. The first trap comes right before the call. */
void stepper_call(void (*body)(void));
__asm__(".text\n"
        ".globl stepper_call\n"
        ".hidden stepper_call\n"
        ".type stepper_call, @function\n"
        "stepper_call:\n"
        ".cfi_startproc\n"
        "subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "orq $0x100, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "nop\n"
        "callq *%rdi\n"
        "pushfq\n"
        ".cfi_adjust_cfa_offset 8\n"
        "andq $~0x100, (%rsp)\n"
        "popfq\n"
        ".cfi_adjust_cfa_offset -8\n"
        "addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size stepper_call, . - stepper_call\n");

/* Where the return addresses at the top of the truth stand; those below `base` were
 * there before, and are not touched. */
static uintptr_t slots[TRUTH_MOST];
static unsigned base;
static uintptr_t last_pc, last_sp;
static void (*step_each)(const void *ucontext);

enum { LONGEST_CALL = 8 };

static void push(uintptr_t slot)
{
    if (truth.count == TRUTH_MOST)
        child_says(false);
    slots[truth.count] = slot;
    truth_enter(*(const uintptr_t *)slot);
}

/* A call is the one instruction that leaves the address behind itself on the stack, and
 * what lies below the stack pointer has returned. */
static void follow(uintptr_t pc, uintptr_t sp)
{
    while (truth.count > base && slots[truth.count - 1] < sp)
        truth.count--;
    if (!last_pc)
        push(sp + sizeof(uintptr_t)); /* stepper_call's own */
    else if (sp == last_sp - sizeof(uintptr_t)) {
        uintptr_t pushed = *(const uintptr_t *)sp;
        if (pushed > last_pc + 1 && pushed <= last_pc + LONGEST_CALL)
            push(sp);
    }
    last_pc = pc;
    last_sp = sp;
}

uintptr_t stepper_pc(const void *ucontext)
{
    return (uintptr_t)((const ucontext_t *)ucontext)->uc_mcontext.gregs[REG_RIP];
}

static void on_trap(int number, siginfo_t *info, void *ucontext)
{
    const greg_t *registers = ((const ucontext_t *)ucontext)->uc_mcontext.gregs;
    (void)number, (void)info;
    follow((uintptr_t)registers[REG_RIP], (uintptr_t)registers[REG_RSP]);
    step_each(ucontext);
}

bool stepper_run(void (*body)(void), void (*each)(const void *ucontext))
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };
    if (sigaction(SIGTRAP, &action, NULL))
        return false;
    TRUTH_ENTER();
    step_each = each;
    last_pc = 0;
    base = truth.count;
    stepper_call(body);
    truth.count = base;
    truth_leave();
    return true;
}
