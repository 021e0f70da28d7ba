/* reason.c -- what a crash was. */
#include "core/crash/reason.h"

#include "core/capture/checked.h"
#include "core/capture/own.h"
#include "core/capture/register_names.h"
#include "core/capture/stamps.h"
#include "core/trace/epoch.h"

#define CODE_BEFORE 32u
#define CODE_AFTER  32u

void trail_reason_registers(struct trail_crash_state *crash)
{
    crash->registers.known = 0;
    if (!trail_own_context(crash->fatal.ucontext, &crash->registers))
        crash->registers.known = 0;
}

TRAIL_OWN_CODE
void trail_reason_walk(struct trail_backtrace *backtrace_ret, const void *ucontext)
{
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_INTERRUPTED | TRAIL_CHECKED,
                                           .ucontext = ucontext };
    const struct trail_info info = { .size = sizeof(info),
                                     .kinds = backtrace_ret->kinds,
                                     .trust = backtrace_ret->trust };
    struct trail_walk walk;
    trail_walk_init(&walk, backtrace_ret->addresses, TRAIL_MAX_FRAMES, &info);
    walk.ucontext = ucontext;
    walk.at = (struct trail_at){ 0, 0, 0, 0 };
    backtrace_ret->epoch = trail_epoch_now();
    backtrace_ret->count = 0;
    trail_checked_walk(&walk, &control, walk.at);
    const bool is_full = walk.end == TRAIL_END_FULL;
    backtrace_ret->count = walk.count;
    backtrace_ret->flags = (sizeof(uintptr_t) == 8 ? TRAIL_INFO_64_BIT : 0) |
                           (walk.end != TRAIL_END_BASE ? TRAIL_INFO_TRUNCATED : 0);
    backtrace_ret->end = walk.end;
    backtrace_ret->error = walk.error;
    backtrace_ret->next_frame_addr = is_full ? walk.at.sp : 0;
    backtrace_ret->cursor = (struct trail_cursor){ { 0 } };
    backtrace_ret->cursor.opaque[0] = is_full ? walk.at.pc : 0;
    backtrace_ret->cursor.opaque[1] = is_full ? walk.at.sp : 0;
    trail_stamps_note(backtrace_ret);
}

void trail_reason_stack(struct trail_crash_state *crash)
{
    struct trail_os_registers at;
    struct trail_backtrace *backtrace = &crash->backtrace;

    /* What is known for certain, should the walk itself crash. */
    memset(backtrace->addresses, 0, sizeof(backtrace->addresses));
    backtrace->stamp_count = 0;
    backtrace->end = TRAIL_END_ERROR;
    backtrace->flags = TRAIL_INFO_TRUNCATED;
    if (trail_os_context(crash->fatal.ucontext, &at)) {
        backtrace->addresses[0] = (uintptr_t)at.pc;
        backtrace->kinds[0] = TRAIL_PC_CURRENT;
        backtrace->trust[0] = TRAIL_TRUST_CONTEXT;
    }
    trail_reason_walk(backtrace, crash->fatal.ucontext);
}

struct trail_signal_facts trail_reason_facts(const struct trail_crash_state *crash)
{
    const struct trail_os_fatal *fatal = &crash->fatal;
    struct trail_os_registers at = { 0, 0, 0 };
    uint8_t byte;
    trail_os_context(fatal->ucontext, &at);
    struct trail_signal_facts facts = {
        .number = fatal->number,
        .code = fatal->code,
        .address = fatal->address,
        .pc = at.pc,
        .sp = at.sp,
        .access = (enum trail_signal_access)fatal->access,
        .is_mapped = trail_os_copy(fatal->address, &byte, 1) == 0,
    };
    if (facts.access == TRAIL_ACCESS_READ && facts.address == facts.pc)
        facts.access =
            TRAIL_ACCESS_EXECUTE; /* some processors do not tell these apart */
    return facts;
}

void trail_reason_put_signal(struct trail_json *json,
                             const struct trail_crash_state *crash)
{
    const struct trail_os_fatal *fatal = &crash->fatal;
    const struct trail_signal_facts facts = trail_reason_facts(crash);
    const char *code = trail_signal_code_name(fatal->number, fatal->code);
    const char *meaning = trail_signal_meaning(&facts);
    const char *access = trail_signal_access_name(facts.access);

    trail_json_open(json, "signal", '{');
    trail_json_number(json, "number", fatal->number);
    trail_json_string(json, "name", trail_signal_name(fatal->number));
    trail_json_number(json, "code", fatal->code);
    if (code)
        trail_json_string(json, "code_name", code);
    if (trail_signal_has_address(fatal->number, fatal->code))
        trail_json_address(json, "address", fatal->address);
    if (meaning)
        trail_json_string(json, "meaning", meaning);
    if (access)
        trail_json_string(json, "access", access);
    if (fatal->sender)
        trail_json_number(json, "sender", fatal->sender);
    if (fatal->system_call >= 0)
        trail_json_number(json, "system_call", fatal->system_call);
    trail_json_close(json, '}');
}

void trail_reason_put_registers(struct trail_json *json,
                                const struct trail_crash_state *crash)
{
    const struct trail_machine *machine = trail_machine_native();
    if (!machine || !crash->registers.known)
        return;
    trail_json_open(json, "registers", '{');
    for (unsigned i = 0; i < TRAIL_REGISTERS; i++) {
        const char *name = trail_register_name(machine, i);
        if (name && trail_register_known(&crash->registers, i))
            trail_json_address(json, name, trail_register(&crash->registers, i));
    }
    trail_json_close(json, '}');
}

void trail_reason_put_code(struct trail_json *json,
                           const struct trail_crash_state *crash)
{
    uint8_t bytes[CODE_BEFORE + CODE_AFTER];
    struct trail_os_registers at;
    if (!trail_os_context(crash->fatal.ucontext, &at))
        return;
    /* Less of it at the edge of what is mapped. */
    uint64_t start = at.pc < CODE_BEFORE ? 0 : at.pc - CODE_BEFORE;
    size_t size = sizeof(bytes);
    if (trail_os_copy(start, bytes, size)) {
        start = at.pc & ~(uint64_t)4095;
        start = at.pc - start > CODE_BEFORE ? at.pc - CODE_BEFORE : start;
        size = 4096 - (size_t)(start & 4095);
        size = size < sizeof(bytes) ? size : sizeof(bytes);
        if (trail_os_copy(start, bytes, size))
            return;
    }
    trail_json_open(json, "code", '{');
    trail_json_address(json, "address", start);
    trail_json_hex(json, "hex", bytes, size);
    trail_json_close(json, '}');
}
