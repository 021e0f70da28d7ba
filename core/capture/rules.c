/* rules.c -- the tables of rules, and what fills them. */
#include "core/capture/rules.h"

#include "core/capture/own.h"

#define PAGE    4096u
#define ALIGNED (TRAIL_RULES_SIZE - 1)

/* Room for three tables that are aligned to their size, and for one that serves before
 * these are chosen. Only what is used is memory. */
static _Alignas(PAGE) _Atomic uint64_t room[5 * TRAIL_RULE_SLOTS];
#define EARLY (room + 4 * TRAIL_RULE_SLOTS)

TRAIL_HOT_DATA struct trail_rules trail_rules = { .first = EARLY, .second = EARLY };

static void empty_table(_Atomic uint64_t *table)
{
    for (uintptr_t i = 0; i < TRAIL_RULE_SLOTS; i++)
        atomic_store_explicit(&table[i], 0, memory_order_relaxed);
}

__attribute__((noinline, cold)) void trail_rules_empty(uint64_t generation)
{
    empty_table(trail_rules.first);
    if (atomic_load(&trail_rules.second_used))
        empty_table(trail_rules.second);
    /* A rule that another capture keeps meanwhile is that of a live frame. */
    atomic_store_explicit(&trail_rules.generation, generation, memory_order_release);
    atomic_fetch_add_explicit(&trail_rules.emptied, 1, memory_order_relaxed);
}

void trail_rules_init(uintptr_t sp)
{
    uintptr_t start = ((uintptr_t)room + ALIGNED) & ~ALIGNED;
    uintptr_t other = start + 2 * TRAIL_RULES_SIZE; /* bit 18 differs */
    if (trail_rules.first != trail_rules.second)
        return;
    /* The stack below is where it will grow to: not to be met either. */
    bool met = trail_rules_class(start) == trail_rules_class(sp) ||
               trail_rules_class(start) == trail_rules_class(sp - TRAIL_RULES_SIZE / 2);
    trail_rules.second = (void *)(met ? start : other);
    trail_rules.first = (void *)(met ? other : start);
    trail_rules_empty(trail_os_loader_generation());
}

/* ---- working out -------------------------------------------------------- */

uint64_t trail_rules_make(uintptr_t key)
{
    struct trail_step_frame frame = { .interrupted = true };
    struct trail_cfi_table table;
    struct trail_cfi_row row;
    struct trail_stepper stepper;
    const struct trail_machine *machine = trail_machine_native();

    atomic_fetch_add_explicit(&trail_rules.worked_out, 1, memory_order_relaxed);
    if (key - 1 >= TRAIL_PC_LIMIT || !machine)
        return trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false);
    trail_own_stepper(&stepper, &(struct trail_own){ 0 });
    trail_register_set(&frame.registers, machine->pc, key - 1);
    if (trail_step_row(&stepper, &frame, &table, &row))
        return trail_rule_of_row(&table, &row, key - 1);
    /* Not left by a call but planted there: makecontext's end of the stack. */
    trail_register_set(&frame.registers, machine->pc, key);
    if (trail_step_row(&stepper, &frame, &table, &row) && row.function_start == key)
        return trail_rule_make(TRAIL_RULE_END, 0, 0, false);
    return trail_rule_make(TRAIL_RULE_NO_CFI, 0, 0, false);
}

__attribute__((noinline, cold)) uint64_t trail_rules_find(_Atomic uint64_t *table,
                                                          uintptr_t key, bool keep)
{
    uintptr_t slot = (key << TRAIL_KEY_SHIFT) / sizeof(uint64_t) % TRAIL_RULE_SLOTS;
    _Atomic uint64_t *first = &table[slot], *second = &table[slot ^ 1];
    uint64_t rule = atomic_load_explicit(first, memory_order_relaxed);
    if (trail_rule_is_of(rule, key) && trail_rule_kind(rule) != TRAIL_RULE_NONE)
        return rule;
    uint64_t beside = atomic_load_explicit(second, memory_order_relaxed);
    if (trail_rule_is_of(beside, key) && trail_rule_kind(beside) != TRAIL_RULE_NONE)
        return beside;

    uint64_t made = trail_rules_make(key);
    if (trail_rule_kind(made) == TRAIL_RULE_NO_CFI)
        return made; /* it may be code that comes and goes without the loader */
    made |= trail_rule_tag(key);
    if (keep) {
        if (table == trail_rules.second)
            atomic_store_explicit(&trail_rules.second_used, true, memory_order_relaxed);
        atomic_store_explicit(second, rule, memory_order_relaxed);
        atomic_store_explicit(first, made, memory_order_relaxed);
    }
    return made;
}
