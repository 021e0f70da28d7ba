/* target_bytes.c -- memory that was copied as a target. */
#include "core/capture/target.h"

#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "core/trace/elf_tables.h"

static const struct trail_machine *machine_named(const char *name)
{
    for (uint32_t arch = 1; arch <= TRAIL_ARCH_WASM32; arch++) {
        const struct trail_machine *machine = trail_machine_of(arch);
        if (machine && strcmp(machine->name, name) == 0)
            return machine;
    }
    return NULL;
}

static bool add_thread(struct trail_target *target,
                       const struct trail_target_snapshot *snapshot)
{
    const struct trail_machine *machine = target->machine;
    struct trail_registers registers = { .known = 0 };
    for (unsigned i = 0; i < machine->register_count; i++)
        if (snapshot->more && snapshot->more_known >> i & 1)
            trail_register_set(&registers, i, snapshot->more[i]);
    trail_register_set(&registers, machine->pc, snapshot->pc);
    trail_register_set(&registers, machine->sp, snapshot->sp);
    if (snapshot->fp)
        trail_register_set(&registers, machine->fp, snapshot->fp);
    if (snapshot->link && machine->link != TRAIL_REGISTER_NONE)
        trail_register_set(&registers, machine->link, snapshot->link);
    return trail_target_add_thread(target, snapshot->thread, &registers);
}

/* Its code, for telling what a return address can be. */
static bool add_code(struct trail_target *target, const struct trail_elf *elf,
                     uint64_t bias)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        uint64_t start = bias + segment.address;
        if (segment.type == TRAIL_ELF_LOAD && segment.flags & TRAIL_ELF_EXECUTE &&
            !trail_target_add_range(target, start, start + segment.memory_size, true))
            return false;
    }
    return true;
}

/* The image that starts there, if its file has not been found; else a new one. */
static struct trail_target_image *image_for(struct trail_target *target, uint64_t start,
                                            uint64_t end)
{
    struct trail_target_image *image = trail_target_image_of(target, start);
    if (image && image->start == start && !image->bytes) {
        image->table_count = 0;
        image->looked = false;
        return image;
    }
    return trail_target_add_image(target, start, end, NULL)
               ? &target->images[target->image_count - 1]
               : NULL;
}

enum trail_status trail_target_add_module(struct trail_target *target,
                                          const struct trail_target_module *module,
                                          struct trail_error *err)
{
    struct trail_elf elf;
    uint64_t start, end;
    if (!trail_elf_parse(module->bytes, module->size, &elf) ||
        !trail_elf_extent(&elf, &start, &end))
        return trail_fail(err, TRAIL_BAD_INPUT, "module: not an ELF image");
    if (trail_elf_arch(&elf) != target->machine->arch)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "module: of another architecture than %s",
                          target->machine->name);
    struct trail_target_image *image =
        image_for(target, module->bias + start, module->bias + end);
    if (!image || !add_code(target, &elf, module->bias))
        return trail_fail(err, TRAIL_NO_MEMORY, "module: no memory");
    image->bias = module->bias;
    image->bytes = module->bytes;
    image->size = module->size;
    trail_target_sort(target);
    return TRAIL_OK;
}

static enum trail_status fill(struct trail_target *target,
                              const struct trail_target_snapshot *snapshot,
                              struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    bool room = add_thread(target, snapshot);
    for (size_t i = 0; room && i < snapshot->memory_count; i++)
        room = trail_target_add_memory(target, snapshot->memory[i].address,
                                       snapshot->memory[i].bytes,
                                       snapshot->memory[i].size);
    if (!room)
        return trail_fail(err, TRAIL_NO_MEMORY, "snapshot: no memory");
    for (size_t i = 0; !status && i < snapshot->module_count; i++)
        status = trail_target_add_module(target, &snapshot->modules[i], err);
    trail_target_sort(target);
    return status;
}

enum trail_status trail_target_bytes(const struct trail_target_snapshot *snapshot,
                                     struct trail_target **target_ret,
                                     struct trail_error *err)
{
    const struct trail_machine *machine = NULL;
    if (snapshot->size < sizeof(*snapshot))
        return trail_fail(err, TRAIL_BAD_INPUT, "snapshot: its size is not set");
    machine = machine_named(snapshot->arch);
    if (!machine)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "%s: stacks of this architecture cannot be unwound",
                          snapshot->arch);
    struct trail_target *target = trail_target_create();
    if (!target)
        return trail_fail(err, TRAIL_NO_MEMORY, "snapshot: no memory");
    target->machine = machine;
    enum trail_status status = fill(target, snapshot, err);
    if (status)
        trail_target_destroy(target);
    else
        *target_ret = target;
    return status;
}
