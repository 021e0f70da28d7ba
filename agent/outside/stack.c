/* stack.c -- a thread of a target: walked, then written. */
#include "agent/outside/stack.h"

#include <errno.h>
#include <stdlib.h>

#include "core/capture/register_names.h"
#include "core/trace/trace_write.h"

enum { CODE_BEFORE = 16, CODE_SIZE = 32 }; /* bytes around the program counter */

/* ---- walking ------------------------------------------------------------ */

static bool make_room(struct outside_stack *stack, unsigned limit)
{
    stack->pcs = calloc(limit + 1u, sizeof(*stack->pcs));
    stack->kinds = calloc(limit + 1u, 1);
    stack->trust = calloc(limit + 1u, 1);
    return stack->pcs && stack->kinds && stack->trust;
}

static void read_registers(const struct trail_target *target,
                           struct outside_stack *stack)
{
    for (size_t i = 0; i < target->thread_count && !stack->has_registers; i++)
        stack->has_registers =
            target->threads[i].id == stack->thread.tid &&
            trail_target_registers(target, i, &stack->registers) == 0;
}

bool outside_stack_walk(struct trail_target *target,
                        const struct outside_thread *thread, unsigned limit,
                        struct outside_stack *stack_ret)
{
    struct outside_stack stack = { .thread = *thread, .info.end = TRAIL_END_ERROR };
    if (!make_room(&stack, limit)) {
        outside_stack_deinit(&stack);
        return false;
    }
    if (!thread->gap) {
        const struct trail_control control = { .size = sizeof(control),
                                               .thread = thread->tid };
        stack.info = (struct trail_info){ .size = sizeof(stack.info),
                                          .kinds = stack.kinds,
                                          .trust = stack.trust };
        stack.count =
            trail_backtrace_target(target, stack.pcs, limit, &control, &stack.info);
        read_registers(target, &stack);
    }
    *stack_ret = stack;
    return true;
}

void outside_stack_deinit(struct outside_stack *stack)
{
    free(stack->pcs);
    free(stack->kinds);
    free(stack->trust);
    stack->pcs = NULL;
    stack->kinds = stack->trust = NULL;
}

const char *outside_stack_gap(const struct outside_stack *stack)
{
    if (stack->thread.gap || stack->count)
        return stack->thread.gap;
    switch (stack->info.error) {
    case ESRCH:
        return "it had ended";
    case EBUSY:
        return "it was not stopped";
    case EPERM:
        return "it may not be looked into; be its user or root";
    case 0:
        return "its stack cannot be read";
    default:
        return strerror(stack->info.error);
    }
}

/* ---- writing ------------------------------------------------------------ */

static void write_registers(struct trail_json *json, const struct trail_target *target,
                            const struct outside_stack *stack)
{
    trail_json_open(json, "registers", '{');
    for (unsigned i = 0; i < TRAIL_REGISTERS; i++) {
        const char *name = trail_register_name(target->machine, i);
        if (name && trail_register_known(&stack->registers, i))
            trail_json_address(json, name, stack->registers.value[i]);
    }
    trail_json_close(json, '}');
}

/* As much as there is of it. */
static void write_code(struct trail_json *json, const struct trail_target *target,
                       const struct outside_stack *stack)
{
    uint8_t bytes[CODE_SIZE];
    uint64_t pc = trail_register(&stack->registers, target->machine->pc);
    uint64_t start = pc > CODE_BEFORE ? pc - CODE_BEFORE : pc;
    size_t size = sizeof(bytes);
    if (trail_target_read(target, start, bytes, size))
        start = pc;
    while (size && start == pc && trail_target_read(target, pc, bytes, size))
        size /= 2;
    if (!size)
        return;
    trail_json_open(json, "code", '{');
    trail_json_address(json, "address", start);
    trail_json_hex(json, "hex", bytes, size);
    trail_json_close(json, '}');
}

static void write_next(struct trail_json *json, const struct trail_info *info)
{
    trail_json_open(json, "next", '{');
    trail_json_address(json, "frame", info->next_frame_addr);
    trail_json_address(json, "pc", info->cursor.opaque[0]);
    trail_json_address(json, "sp", info->cursor.opaque[1]);
    trail_json_hex(json, "cursor", (const uint8_t *)info->cursor.opaque,
                   sizeof(info->cursor.opaque));
    trail_json_close(json, '}');
}

void outside_stack_write(struct trail_json *json, const struct trail_target *target,
                         const struct outside_stack *stack, bool state)
{
    trail_json_open(json, NULL, '{');
    trail_json_number(json, "tid", stack->thread.tid);
    if (stack->thread.name)
        trail_json_string(json, "name", stack->thread.name);
    if (stack->crashed)
        trail_json_bool(json, "crashed", true);
    if (stack->thread.state)
        trail_json_string(json, "state", stack->thread.state);
    trail_json_number(json, "epoch", 1);
    trail_json_open(json, "pcs", '[');
    for (unsigned i = 0; i < stack->count; i++)
        trail_json_address(json, NULL, stack->pcs[i]);
    trail_json_close(json, ']');
    trail_json_text(json, "kinds",
                    (struct trail_text){ (const char *)stack->kinds, stack->count });
    trail_json_text(json, "trust",
                    (struct trail_text){ (const char *)stack->trust, stack->count });
    trail_json_string(json, "end", trail_end_name(stack->info.end));
    if (stack->info.error)
        trail_json_number(json, "error", stack->info.error);
    if (stack->info.end == TRAIL_END_FULL)
        write_next(json, &stack->info);
    if (state && stack->has_registers) {
        write_registers(json, target, stack);
        write_code(json, target, stack);
    }
    trail_json_close(json, '}');
}
