/* core_facts.c -- what a core file says beside stacks: which signal it was, whose.
 *
 * Sources: of Linux, struct elf_prstatus and elf_prpsinfo in include/linux/elfcore.h,
 * siginfo_t in include/uapi/asm-generic/siginfo.h. Input is untrusted.
 */
#include "agent/outside/core_facts.h"

#include <stdlib.h>

#include "core/capture/core_notes.h"
#include "core/capture/target.h"
#include "core/trace/elf_tables.h"
#include "core/trace/signal_words.h"

enum {
    ENTRY = 9,           /* AT_ENTRY */
    SIGNAL_CURRENT = 12, /* pr_cursig of a status */
    NAME_SIZE = 16,      /* pr_fname */
    FAULTS =
        1u << 4 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 11, /* that have an address */
};

/* What is being read. */
struct reading {
    const struct trail_target *target;
    struct outside_core *core;
    uint64_t entry;
    bool has_status, has_signal;
};

/* The first thread is the one that the signal was for. */
static void on_status(struct reading *reading, struct trail_text note)
{
    struct outside_signal *signal = &reading->core->facts.signal;
    uint32_t number =
        trail_core_u32(reading->target->machine, note, SIGNAL_CURRENT) & 0xffff;
    if (!reading->has_status && !reading->has_signal)
        signal->number = (int)number;
    reading->has_status = true;
}

/* Number, errno and code, then what depends on the number: an address for faults that
 * the processor found, whose codes are positive. */
static void on_signal(struct reading *reading, struct trail_text note)
{
    const struct trail_machine *machine = reading->target->machine;
    struct outside_signal *signal = &reading->core->facts.signal;
    const size_t word = machine->address_size, address = word == 8 ? 16 : 12;
    if (reading->has_signal || note.size < address + word)
        return;
    reading->has_signal = true;
    signal->number = (int)trail_core_u32(machine, note, 0);
    signal->code = (int)trail_core_u32(machine, note, 8);
    signal->has_code = true;
    signal->has_address = trail_signal_has_address(signal->number, signal->code);
    if (signal->has_address)
        signal->address =
            trail_machine_word(machine, (const uint8_t *)note.data + address);
}

/* State letters and flags, then user, group, process and its relatives, name and
 * arguments. User and group are of 16 bits on the older 32-bit machines. */
static void on_process(struct reading *reading, struct trail_text note)
{
    const struct trail_machine *machine = reading->target->machine;
    struct outside_core *core = reading->core;
    const size_t ids = machine->address_size == 8 ? 16 : 8;
    const bool narrow = note.size == 124;
    const size_t process = ids + (narrow ? 4 : 8), name = process + 16;
    if (note.size < name + NAME_SIZE)
        return;
    uint32_t user = trail_core_u32(machine, note, ids);
    core->process.uid = narrow ? user & 0xffff : user;
    core->process.pid = (int32_t)trail_core_u32(machine, note, process);
    memcpy(core->name, note.data + name, NAME_SIZE);
}

static bool on_note(void *arg, uint32_t type, struct trail_text note)
{
    struct reading *reading = arg;
    if (type == TRAIL_CORE_STATUS)
        on_status(reading, note);
    else if (type == TRAIL_CORE_SIGNAL)
        on_signal(reading, note);
    else if (type == TRAIL_CORE_PROCESS)
        on_process(reading, note);
    else if (type == TRAIL_CORE_AUXV)
        reading->entry = trail_core_auxv(reading->target->machine, note, ENTRY);
    return true;
}

/* The program is the image that it was started in. */
static void take_program(struct reading *reading)
{
    const struct trail_target_image *image =
        trail_target_image_of(reading->target, reading->entry);
    struct trail_os_process *process = &reading->core->process;
    if (image && image->path)
        snprintf(process->exe, sizeof(process->exe), "%s", image->path);
}

/* The name that the core has is that of its first thread, whose id is the process's. */
static bool take_threads(struct reading *reading)
{
    const struct trail_target *target = reading->target;
    struct outside_core *core = reading->core;
    core->threads = calloc(target->thread_count + 1, sizeof(*core->threads));
    if (!core->threads)
        return false;
    for (size_t i = 0; i < target->thread_count; i++) {
        core->threads[i].tid = target->threads[i].id;
        if (core->name[0] && core->threads[i].tid == core->process.pid)
            core->threads[i].name = core->name;
    }
    core->facts.threads = core->threads;
    core->facts.thread_count = target->thread_count;
    return true;
}

/* The disk or a limit can cut it short; then it lacks memory, most often of stacks. */
void outside_core_cut(const struct trail_elf *elf, struct outside_core *core)
{
    uint64_t wanted = 0;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        uint64_t end = segment.offset + segment.file_size;
        if (end >= segment.offset && end > wanted)
            wanted = end;
    }
    if (wanted <= elf->size && !elf->cut)
        return;
    snprintf(core->lack, sizeof(core->lack),
             "the core file is cut: %llu of %llu bytes are there",
             (unsigned long long)elf->size, (unsigned long long)wanted);
    core->missing = (struct outside_missing){ .what = "memory", .reason = core->lack };
    core->facts.missing = &core->missing;
    core->facts.missing_count = 1;
}

enum trail_status outside_core_fill(const struct trail_target *target,
                                    const struct trail_elf *elf, const char *name,
                                    struct outside_core *core, struct trail_error *err)
{
    struct reading reading = { .target = target, .core = core };
    *core = (struct outside_core){ .process.os = "linux" };
    core->facts.process = &core->process;
    trail_core_notes(elf, on_note, &reading);
    take_program(&reading);
    if (!take_threads(&reading))
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory for its threads", name);
    bool crashed = core->facts.signal.number != 0;
    core->facts.why = crashed ? "crash" : "dump";
    if (crashed && target->thread_count)
        core->facts.crashed_tid = target->threads[0].id;
    return TRAIL_OK;
}

void outside_core_deinit(struct outside_core *core)
{
    free(core->threads);
    core->threads = NULL;
}
