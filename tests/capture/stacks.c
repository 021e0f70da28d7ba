/* stacks.c -- stacks of known depth to capture. */
#include "stacks.h"

#include "core/os/os.h"

extern const char __start_stack_text[], __stop_stack_text[];

__attribute__((noinline, section("stack_text"))) void stack_deep(
    unsigned depth, void (*body)(void *arg), void *arg)
{
    if (depth)
        stack_deep(depth - 1, body, arg);
    else
        body(arg);
    __asm__ volatile(""); /* no tail call */
}

bool stack_is_deep(uintptr_t pc)
{
    return pc >= (uintptr_t)__start_stack_text && pc <= (uintptr_t)__stop_stack_text;
}

bool stack_is_own(uintptr_t pc)
{
    uint64_t start, end;
    trail_os_own_code(&start, &end);
    return pc >= start && pc < end;
}
