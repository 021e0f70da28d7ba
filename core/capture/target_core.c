/* target_core.c -- a core file as a target.
 *
 * Sources: System V gABI, "Note Section"; of Linux, struct elf_prstatus in
 * include/linux/elfcore.h, and fill_files_note in fs/binfmt_elf.c. Input is untrusted.
 */
#include "core/capture/target.h"

#include "core/trace/elf_tables.h"

enum {
    NOTE_SEGMENT = 4, /* PT_NOTE */
    NOTE_HEADER = 12,
    STATUS_NOTE = 1,        /* NT_PRSTATUS */
    AUXV_NOTE = 6,          /* NT_AUXV */
    FILE_NOTE = 0x46494c45, /* NT_FILE */
    VDSO_ENTRY = 33,        /* AT_SYSINFO_EHDR */
};

/* What is being read. */
struct core {
    struct trail_target *target;
    struct trail_elf elf;
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

static uint32_t u32_at(const struct core *core, struct trail_text bytes, size_t offset)
{
    const uint8_t *at = (const uint8_t *)bytes.data + offset;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++)
        value |= (uint32_t)at[i] << 8 * (core->target->machine->little ? i : 3 - i);
    return value;
}

/* ---- notes -------------------------------------------------------------- */

/* A thread: its id stands behind two words of signal masks, its registers are last but
 * for one. */
static bool on_status(struct core *core, struct trail_text note)
{
    const struct trail_machine *machine = core->target->machine;
    const size_t word = machine->address_size;
    const size_t id = 16 + 2 * word, start = id + 16 + 8 * word, behind = word;
    struct trail_registers registers;
    if (note.size < start + behind ||
        !trail_target_register_set(machine, (const uint8_t *)note.data + start,
                                   note.size - start - behind, &registers))
        return true; /* of a form that is not known */
    return trail_target_add_thread(core->target, (int32_t)u32_at(core, note, id),
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

static void on_auxv(struct core *core, struct trail_text note)
{
    const size_t word = core->target->machine->address_size;
    for (size_t at = 0; at + 2 * word <= note.size; at += 2 * word)
        if (word_at(core, note, at) == VDSO_ENTRY)
            core->vdso = word_at(core, note, at + word);
}

static bool on_note(struct core *core, struct trail_text owner, uint32_t type,
                    struct trail_text note)
{
    if (owner.size != 5 || memcmp(owner.data, "CORE", 5) != 0)
        return true;
    if (type == STATUS_NOTE)
        return on_status(core, note);
    if (type == FILE_NOTE)
        return on_files(core, note);
    if (type == AUXV_NOTE)
        on_auxv(core, note);
    return true;
}

/* False: no memory. Whatever is damaged ends the list. */
static bool read_notes(struct core *core, struct trail_text notes)
{
    while (notes.size >= NOTE_HEADER) {
        size_t owner = u32_at(core, notes, 0), note = u32_at(core, notes, 4);
        uint32_t type = u32_at(core, notes, 8);
        size_t left = notes.size - NOTE_HEADER;
        size_t owner_room = (owner + 3) & ~(size_t)3, room = (note + 3) & ~(size_t)3;
        if (owner > left || owner_room > left || note > left - owner_room)
            return true;
        const char *at = notes.data + NOTE_HEADER;
        if (!on_note(core, (struct trail_text){ at, owner }, type,
                     (struct trail_text){ at + owner_room, note }))
            return false;
        if (room > left - owner_room)
            return true;
        notes.data = at + owner_room + room;
        notes.size = left - owner_room - room;
    }
    return true;
}

/* ---- segments ----------------------------------------------------------- */

static bool add_segment(struct core *core, const struct trail_elf_segment *segment)
{
    struct trail_target *target = core->target;
    struct trail_text bytes = part(&core->elf, segment->offset, segment->file_size);
    if (segment->type == NOTE_SEGMENT)
        return read_notes(core, bytes);
    if (segment->type != TRAIL_ELF_LOAD)
        return true;
    return trail_target_add_range(target, segment->address,
                                  segment->address + segment->memory_size,
                                  segment->flags & TRAIL_ELF_EXECUTE) &&
           (!bytes.size ||
            trail_target_add_memory(target, segment->address, bytes.data, bytes.size));
}

/* The vDSO is in no file, and so not among those that the core lists. */
static bool add_vdso(struct core *core)
{
    const struct trail_target_range *range =
        trail_target_range_of(core->target, core->vdso);
    if (!core->vdso || !range || range->start != core->vdso ||
        trail_target_image_of(core->target, core->vdso))
        return true;
    return trail_target_add_image(core->target, range->start, range->end, "[vdso]");
}

static enum trail_status fill(struct core *core, const char *path,
                              struct trail_error *err)
{
    struct trail_target *target = core->target;
    bool room = true;
    for (uint32_t i = 0; room && i < core->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&core->elf, i);
        room = add_segment(core, &segment);
    }
    trail_target_sort(target);
    if (room && add_vdso(core)) {
        trail_target_sort(target);
        return TRAIL_OK;
    }
    return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory for what it lists", path);
}

enum trail_status trail_target_core(const char *path, struct trail_target **target_ret,
                                    struct trail_error *err)
{
    struct core core = { .target = trail_target_create() };
    struct trail_target *target = core.target;
    if (!target)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory", path);
    enum trail_status status =
        trail_os_file_map(path, SIZE_MAX / 2, &target->core, err);
    if (!status &&
        (!trail_elf_parse(target->core.bytes, target->core.size, &core.elf) ||
         core.elf.type != TRAIL_ELF_CORE))
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: not a core file", path);
    if (!status) {
        target->machine = trail_machine_of(trail_elf_arch(&core.elf));
        if (!target->machine || target->machine->little != core.elf.little)
            status = trail_fail(err, TRAIL_UNSUPPORTED,
                                "%s: of an architecture whose stacks cannot be unwound",
                                path);
    }
    if (!status)
        status = fill(&core, path, err);
    if (!status && target->thread_count == 0)
        status =
            trail_fail(err, TRAIL_BAD_INPUT, "%s: has no thread's registers", path);
    if (status)
        trail_target_destroy(target);
    else
        *target_ret = target;
    return status;
}
