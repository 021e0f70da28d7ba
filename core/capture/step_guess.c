/* step_guess.c -- a frame's caller where no rules cover its code. */
#include "core/capture/step_guess.h"

#include "backtrail/backtrail.h"

/* A direct call's target is taken for the start of the function that a pc is in if it
 * lies no further before it; bytes. */
#define FUNCTION_LIMIT 65536u
#define CODE_SIZE      48 /* bytes of a function's first instructions that are read */

/* ---- shared ------------------------------------------------------------- */

/* Whether [address, address + size) may be the stack's. */
static bool in_stack(const struct trail_stepper *stepper, uint64_t address,
                     uint64_t size)
{
    if (address + size < address)
        return false;
    return stepper->stack_end == 0 ||
           (address >= stepper->stack_start && address + size <= stepper->stack_end);
}

static bool read_word(const struct trail_stepper *stepper, uint64_t address,
                      uint64_t *word_ret)
{
    return trail_machine_read_word(stepper->machine, stepper->read, stepper->arg,
                                   address, word_ret);
}

/* The caller as a return leaves it: what a call preserves is taken for unchanged. */
static void go_to(const struct trail_machine *machine, struct trail_step_frame *frame,
                  uint64_t pc, uint64_t sp, enum trail_trust trust)
{
    frame->registers.known &= machine->preserved;
    trail_register_set(&frame->registers, machine->pc, pc);
    trail_register_set(&frame->registers, machine->sp, sp);
    frame->interrupted = false;
    frame->trust = (uint8_t)trust;
}

/* ---- signal trampolines ------------------------------------------------- */

/* It may lie where no module is. */
static bool matches(const struct trail_stepper *stepper,
                    const struct trail_trampoline *trampoline, uint64_t pc)
{
    uint8_t code[sizeof(trampoline->code)];
    return trampoline->code_size &&
           stepper->read(stepper->arg, pc, code, trampoline->code_size) &&
           memcmp(code, trampoline->code, trampoline->code_size) == 0;
}

static const struct trail_trampoline *trampoline_at(const struct trail_stepper *stepper,
                                                    uint64_t pc)
{
    for (unsigned i = 0; i < TRAIL_TRAMPOLINES; i++)
        if (matches(stepper, &stepper->machine->trampolines[i], pc))
            return &stepper->machine->trampolines[i];
    return NULL;
}

/* Whether `pc` is where a function, or a signal's handler, goes when it is done. */
static bool is_returned_to(const struct trail_stepper *stepper, uint64_t pc)
{
    return trail_step_follows_call(stepper, pc) || trampoline_at(stepper, pc) != NULL;
}

static bool load_registers(const struct trail_stepper *stepper,
                           const struct trail_signal_frame *signal, uint64_t sp,
                           struct trail_registers *registers_ret)
{
    uint64_t start = sp + signal->start;
    if (signal->indirect) {
        if (!read_word(stepper, start, &start))
            return false;
        start += signal->base;
    }
    return trail_machine_load(stepper->machine, signal, stepper->read, stepper->arg,
                              start, registers_ret);
}

bool trail_step_trampoline(const struct trail_stepper *stepper,
                           struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t pc = trail_register(&frame->registers, machine->pc);
    uint64_t sp = trail_register(&frame->registers, machine->sp);
    const struct trail_trampoline *trampoline = trampoline_at(stepper, pc);
    bool vague = frame->trust == TRAIL_TRUST_FP && !machine->exact_record;
    if (!trampoline || vague ||
        !load_registers(stepper, trampoline->frame, sp, &frame->registers))
        return false;
    frame->interrupted = true;
    frame->trust = TRAIL_TRUST_CFI;
    return true;
}

/* ---- frame pointers ----------------------------------------------------- */

bool trail_step_frame_pointer(const struct trail_stepper *stepper,
                              struct trail_step_frame *frame, uint32_t *end_ret)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t fp = trail_register(&frame->registers, machine->fp);
    uint64_t sp = trail_register(&frame->registers, machine->sp);
    int8_t low = machine->record_fp < machine->record_return ? machine->record_fp
                                                             : machine->record_return;
    uint64_t record = fp + (uint64_t)(int64_t)low, caller_fp, pc;
    *end_ret = TRAIL_END_NO_CFI;
    if (fp == 0 || fp % machine->address_size != 0 || record < sp || record > fp ||
        !in_stack(stepper, record, 2 * (uint64_t)machine->address_size) ||
        !read_word(stepper, fp + (uint64_t)(int64_t)machine->record_fp, &caller_fp) ||
        !read_word(stepper, fp + (uint64_t)(int64_t)machine->record_return, &pc))
        return false;
    pc &= machine->return_mask;
    if (pc == 0)
        *end_ret = TRAIL_END_BASE;
    if (pc == 0 || !is_returned_to(stepper, pc))
        return false;
    go_to(machine, frame, pc, fp + machine->record_size, TRAIL_TRUST_FP);
    trail_register_set(&frame->registers, machine->fp, caller_fp);
    return true;
}

/* ---- interrupted frames ------------------------------------------------- */

/* Called through a null pointer, or before its first instruction: nothing has been put
 * on top of the return address yet. */
static bool by_top_word(const struct trail_stepper *stepper,
                        struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t sp = trail_register(&frame->registers, machine->sp), pc;
    if (!in_stack(stepper, sp, machine->address_size) || !read_word(stepper, sp, &pc) ||
        !is_returned_to(stepper, pc))
        return false;
    go_to(machine, frame, pc, sp + machine->address_size, TRAIL_TRUST_SCAN);
    return true;
}

static bool is_inside(uint64_t pc, uint64_t target)
{
    return target <= pc && pc - target < FUNCTION_LIMIT;
}

/* What the link register holds leads to the caller until the function calls on: then it
 * is the way back from there, and its call leads elsewhere. */
static bool by_link(const struct trail_stepper *stepper, struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    if (!trail_register_known(&frame->registers, machine->link))
        return false;
    uint64_t pc = trail_register(&frame->registers, machine->pc), target = 0;
    uint64_t link = frame->registers.value[machine->link] & machine->return_mask;
    uint64_t sp = trail_register(&frame->registers, machine->sp);
    enum trail_call_site site = trail_step_call_site(stepper, link, &target);
    if (site != TRAIL_CALL_SITE_INDIRECT &&
        !(site == TRAIL_CALL_SITE_DIRECT && is_inside(pc, target)))
        return false;
    go_to(machine, frame, link, sp, TRAIL_TRUST_SCAN);
    return true;
}

/* ---- code --------------------------------------------------------------- */

static bool reads_code(const struct trail_machine *machine)
{
    return machine->link == TRAIL_REGISTER_NONE; /* x86: the only ones that push it */
}

/* Go to the return address at `slot`, with the caller's fp if the function saved it. */
static bool take_slot(const struct trail_stepper *stepper,
                      const struct trail_code_frame *code, uint64_t slot,
                      struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t pc, caller_fp;
    if (!in_stack(stepper, slot, machine->address_size) ||
        !read_word(stepper, slot, &pc) || !is_returned_to(stepper, pc))
        return false;
    bool restores =
        code->saves_fp && read_word(stepper, slot - code->fp_place, &caller_fp);
    go_to(machine, frame, pc, slot + machine->address_size, TRAIL_TRUST_SCAN);
    if (restores)
        trail_register_set(&frame->registers, machine->fp, caller_fp);
    return true;
}

/* About to return: what there is still to pop says where the return address is. */
static bool by_epilogue(const struct trail_stepper *stepper,
                        struct trail_step_frame *frame)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t pc = trail_register(&frame->registers, machine->pc);
    uint64_t start = trail_register(&frame->registers, machine->sp);
    uint8_t bytes[CODE_SIZE];
    struct trail_code_frame code;
    size_t size = sizeof(bytes);
    while (size > 0 && !trail_step_read_code(stepper, pc, bytes, size))
        size /= 2;
    if (!trail_code_epilogue(bytes, size, machine->address_size, &code))
        return false;
    if (code.has_fp)
        start = trail_register(&frame->registers, machine->fp);
    uint64_t depth = code.has_fp ? code.fp_depth : code.depth;
    if (start < trail_register(&frame->registers, machine->sp))
        return false;
    return take_slot(stepper, &code, start + depth, frame);
}

/* Whether the word at `slot` is the return address of the function that starts at
 * `target` and that the frame is in, as its first instructions have it. */
static bool is_confirmed(const struct trail_stepper *stepper,
                         const struct trail_step_frame *frame, uint64_t target,
                         uint64_t slot, struct trail_code_frame *code_ret)
{
    const struct trail_machine *machine = stepper->machine;
    uint64_t pc = trail_register(&frame->registers, machine->pc);
    uint8_t bytes[CODE_SIZE];
    size_t size = pc - target < sizeof(bytes) ? (size_t)(pc - target) : sizeof(bytes);
    if (size > 0 && !trail_step_read_code(stepper, target, bytes, size))
        return false;
    *code_ret = trail_code_prologue(bytes, size, machine->address_size);
    if (code_ret->has_fp)
        return trail_register_known(&frame->registers, machine->fp) &&
               frame->registers.value[machine->fp] + code_ret->fp_depth == slot;
    return trail_register(&frame->registers, machine->sp) + code_ret->depth == slot;
}

/* ---- scan --------------------------------------------------------------- */

struct scan {
    const struct trail_stepper *stepper;
    uint64_t start; /* address of the first word */
    size_t count;
    uint8_t bytes[TRAIL_SCAN_WORDS * 8];
};

static void scan_open(struct scan *scan, const struct trail_stepper *stepper,
                      uint64_t sp)
{
    const size_t size = stepper->machine->address_size;
    scan->stepper = stepper;
    scan->start = (sp + size - 1) / size * size;
    scan->count = TRAIL_SCAN_WORDS;
    while (scan->count > 0 &&
           (!in_stack(stepper, scan->start, scan->count * size) ||
            !stepper->read(stepper->arg, scan->start, scan->bytes, scan->count * size)))
        scan->count = scan->count > 8 ? scan->count - 8 : scan->count - 1;
}

static uint64_t scan_word(const struct scan *scan, size_t index)
{
    const struct trail_machine *machine = scan->stepper->machine;
    return trail_machine_word(machine, scan->bytes + index * machine->address_size) &
           machine->return_mask;
}

/* The slot of a word that the frame's function was called from, as far as direct calls
 * and its first instructions tell. */
static bool by_confirmed_slot(const struct scan *scan, struct trail_step_frame *frame)
{
    const struct trail_stepper *stepper = scan->stepper;
    uint64_t pc = trail_register(&frame->registers, stepper->machine->pc);
    for (size_t i = 0; i < scan->count; i++) {
        uint64_t target = 0;
        uint64_t slot = scan->start + i * stepper->machine->address_size;
        struct trail_code_frame code;
        if (trail_step_call_site(stepper, scan_word(scan, i), &target) ==
                TRAIL_CALL_SITE_DIRECT &&
            is_inside(pc, target) && is_confirmed(stepper, frame, target, slot, &code))
            return take_slot(stepper, &code, slot, frame);
    }
    return false;
}

/* Of many words: only those that may be code are looked up. */
static bool is_trampoline_code(const struct trail_stepper *stepper, uint64_t word)
{
    return (!stepper->is_code || stepper->is_code(stepper->arg, word)) &&
           trampoline_at(stepper, word);
}

/* The nearest word that is behind a call; one that calls the code at hand is better. */
static bool by_likely_slot(const struct scan *scan, struct trail_step_frame *frame)
{
    const struct trail_stepper *stepper = scan->stepper;
    uint64_t pc = trail_register(&frame->registers, stepper->machine->pc);
    size_t nearest = scan->count;
    for (size_t i = 0; i < scan->count; i++) {
        uint64_t target = 0;
        enum trail_call_site site =
            trail_step_call_site(stepper, scan_word(scan, i), &target);
        bool calls_here = site == TRAIL_CALL_SITE_DIRECT && is_inside(pc, target);
        if (site != TRAIL_CALL_SITE_INDIRECT && site != TRAIL_CALL_SITE_DIRECT &&
            !is_trampoline_code(stepper, scan_word(scan, i)))
            continue;
        if (calls_here || nearest == scan->count)
            nearest = i;
        if (calls_here)
            break;
    }
    if (nearest == scan->count)
        return false;
    size_t size = stepper->machine->address_size;
    go_to(stepper->machine, frame, scan_word(scan, nearest),
          scan->start + (nearest + 1) * size, TRAIL_TRUST_SCAN);
    return true;
}

bool trail_step_guess(const struct trail_stepper *stepper,
                      struct trail_step_frame *frame, uint32_t *end_ret)
{
    const struct trail_machine *machine = stepper->machine;
    bool code = reads_code(machine);
    struct scan scan;

    if (trail_step_trampoline(stepper, frame))
        return true;
    if (frame->interrupted &&
        (code ? by_top_word(stepper, frame) || by_epilogue(stepper, frame)
              : by_link(stepper, frame)))
        return true;
    scan_open(&scan, stepper, trail_register(&frame->registers, machine->sp));
    if (code && by_confirmed_slot(&scan, frame))
        return true;
    /* fp may be data, and point to zeros: they are the end only if nothing leads on,
     * but for a chain of frame pointers that has come to its own. */
    bool no_fp = trail_register_known(&frame->registers, machine->fp) &&
                 frame->registers.value[machine->fp] == 0;
    bool chain_ends = no_fp && frame->trust == TRAIL_TRUST_FP;
    if (trail_step_frame_pointer(stepper, frame, end_ret) ||
        (!chain_ends && by_likely_slot(&scan, frame)))
        return true;
    /* What the ABI has the first function set; but one that was interrupted may have
     * had anything in it. */
    if (no_fp && !frame->interrupted)
        *end_ret = TRAIL_END_BASE;
    return false;
}
