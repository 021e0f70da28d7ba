/* target_core.c -- a core file as a target.
 *
 * Sources: System V gABI, "Note Section"; of Linux, struct elf_prstatus in
 * include/linux/elfcore.h, and fill_files_note in fs/binfmt_elf.c. Input is untrusted.
 */
#include "core/capture/target.h"

#include "core/capture/core_notes.h"
#include "core/trace/elf_tables.h"

enum { VDSO_ENTRY = 33 /* AT_SYSINFO_EHDR */ };

/* What is being read. */
struct core {
    struct trail_target *target;
    uint64_t vdso; /* where it is; 0: not told */
};

/* Bytes of the file; the size is cut to what there is. */
static struct trail_text part(const struct trail_elf *elf, uint64_t offset,
                              uint64_t size)
{
    if (offset > elf->size)
        offset = elf->size;
    if (size > elf->size - offset)
        size = elf->size - offset;
    return (struct trail_text){ (const char *)elf->bytes + offset, (size_t)size };
}

static uint64_t word_at(const struct core *core, struct trail_text bytes, size_t offset)
{
    return trail_machine_word(core->target->machine,
                              (const uint8_t *)bytes.data + offset);
}

/* ---- notes -------------------------------------------------------------- */

/* A thread: its registers are last but for one word. */
static bool on_status(struct core *core, struct trail_text note)
{
    const struct trail_machine *machine = core->target->machine;
    const size_t word = machine->address_size;
    const size_t start = 32 + 10 * word, behind = word;
    struct trail_registers registers;
    if (note.size < start + behind ||
        !trail_target_register_set(machine, (const uint8_t *)note.data + start,
                                   note.size - start - behind, &registers))
        return true; /* of a form that is not known */
    return trail_target_add_thread(core->target, trail_core_thread(machine, note),
                                   &registers);
}

/* Mapped files: how many, the page size, start, end and page of each, and their
 * names. */
static bool on_files(struct core *core, struct trail_text note)
{
    const size_t word = core->target->machine->address_size;
    if (note.size < 2 * word)
        return true;
    uint64_t count = word_at(core, note, 0), page = word_at(core, note, word);
    size_t at = 2 * word;
    if (count > (note.size - at) / (3 * word))
        return true;
    size_t name = at + (size_t)count * 3 * word;
    for (uint64_t i = 0; i < count; i++, at += 3 * word) {
        const char *path = note.data + name;
        const char *end = memchr(path, 0, note.size - name);
        if (!end)
            return true; /* cut */
        name += (size_t)(end - path) + 1;
        if (!trail_target_add_mapping(core->target, word_at(core, note, at),
                                      word_at(core, note, at + word),
                                      page * word_at(core, note, at + 2 * word), path))
            return false;
    }
    return true;
}

/* False: no memory. */
static bool on_note(void *arg, uint32_t type, struct trail_text note)
{
    struct core *core = arg;
    if (type == TRAIL_CORE_STATUS)
        return on_status(core, note);
    return type != TRAIL_CORE_FILES || on_files(core, note);
}

static bool on_vdso_note(void *arg, uint32_t type, struct trail_text note)
{
    struct core *core = arg;
    if (type == TRAIL_CORE_AUXV)
        core->vdso = trail_core_auxv(core->target->machine, note, VDSO_ENTRY);
    return true;
}

static enum trail_status no_memory(const char *name, struct trail_error *err)
{
    return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory for what it lists", name);
}

enum trail_status trail_target_core_begin(struct trail_target *target,
                                          const struct trail_elf *elf, const char *name,
                                          struct trail_error *err)
{
    struct core core = { .target = target };
    target->machine = trail_machine_of(trail_elf_arch(elf));
    if (!target->machine || target->machine->little != elf->little)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "%s: of an architecture whose stacks cannot be unwound",
                          name);
    if (!trail_core_notes(elf, on_note, &core))
        return no_memory(name, err);
    if (target->thread_count == 0)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: has no thread's registers", name);
    return TRAIL_OK;
}

/* ---- segments ----------------------------------------------------------- */

static bool add_segment(struct trail_target *target, const struct trail_elf *elf,
                        const struct trail_elf_segment *segment)
{
    struct trail_text bytes = part(elf, segment->offset, segment->file_size);
    if (segment->type != TRAIL_ELF_LOAD)
        return true;
    return trail_target_add_range(target, segment->address,
                                  segment->address + segment->memory_size,
                                  segment->flags & TRAIL_ELF_EXECUTE) &&
           (!bytes.size ||
            trail_target_add_memory(target, segment->address, bytes.data, bytes.size));
}

/* The vDSO is in no file, and so not among those that the core lists. */
static bool add_vdso(struct trail_target *target, uint64_t vdso)
{
    const struct trail_target_range *range = trail_target_range_of(target, vdso);
    if (!vdso || !range || range->start != vdso || trail_target_image_of(target, vdso))
        return true;
    return trail_target_add_image(target, range->start, range->end, "[vdso]");
}

enum trail_status trail_target_core_end(struct trail_target *target,
                                        const struct trail_elf *elf, const char *name,
                                        struct trail_error *err)
{
    struct core core = { .target = target };
    trail_core_notes(elf, on_vdso_note, &core);
    trail_target_sort(target);
    if (!add_vdso(target, core.vdso))
        return no_memory(name, err);
    trail_target_sort(target);
    return TRAIL_OK;
}

static enum trail_status fill(struct trail_target *target, const struct trail_elf *elf,
                              const char *path, struct trail_error *err)
{
    bool room = true;
    enum trail_status status = trail_target_core_begin(target, elf, path, err);
    for (uint32_t i = 0; !status && room && i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        room = add_segment(target, elf, &segment);
    }
    if (!room)
        return no_memory(path, err);
    return status ? status : trail_target_core_end(target, elf, path, err);
}

enum trail_status trail_target_core(const char *path, struct trail_target **target_ret,
                                    struct trail_error *err)
{
    struct trail_elf elf;
    struct trail_target *target = trail_target_create();
    if (!target)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory", path);
    enum trail_status status =
        trail_os_file_map(path, SIZE_MAX / 2, &target->core, err);
    if (!status && (!trail_elf_parse(target->core.bytes, target->core.size, &elf) ||
                    elf.type != TRAIL_ELF_CORE))
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: not a core file", path);
    if (!status)
        status = fill(target, &elf, path, err);
    if (status)
        trail_target_destroy(target);
    else
        *target_ret = target;
    return status;
}
