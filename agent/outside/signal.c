/* signal.c -- the signal that ended a program, in words. */
#include "agent/outside/signal.h"

#include "core/trace/signal_words.h"

static struct trail_signal_facts facts_of(const struct trail_target *target,
                                          const struct outside_signal *signal,
                                          const struct outside_stack *crashed)
{
    const struct trail_machine *machine = target->machine;
    struct trail_signal_facts facts = { .number = signal->number,
                                        .code = signal->has_code ? signal->code : 0 };
    uint8_t byte;
    if (crashed && crashed->has_registers) {
        facts.pc = trail_register(&crashed->registers, machine->pc);
        facts.sp = trail_register(&crashed->registers, machine->sp);
    }
    if (signal->has_address) {
        facts.address = signal->address;
        facts.is_mapped = !trail_target_read(target, signal->address, &byte, 1);
        if (facts.address == facts.pc && signal->number == 11)
            facts.access = TRAIL_ACCESS_EXECUTE;
    }
    return facts;
}

void outside_signal_write(struct trail_json *json, const struct trail_target *target,
                          const struct outside_signal *signal,
                          const struct outside_stack *crashed)
{
    const struct trail_signal_facts facts = facts_of(target, signal, crashed);
    const char *code = trail_signal_code_name(signal->number, signal->code);
    const char *meaning = trail_signal_meaning(&facts);
    const char *access = trail_signal_access_name(facts.access);
    trail_json_open(json, "signal", '{');
    trail_json_number(json, "number", signal->number);
    trail_json_string(json, "name", trail_signal_name(signal->number));
    if (signal->has_code)
        trail_json_number(json, "code", signal->code);
    if (signal->has_code && code)
        trail_json_string(json, "code_name", code);
    if (signal->has_address)
        trail_json_address(json, "address", signal->address);
    if (meaning)
        trail_json_string(json, "meaning", meaning);
    if (access)
        trail_json_string(json, "access", access);
    trail_json_close(json, '}');
}
