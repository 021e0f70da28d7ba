/* core_notes.c -- what the kernel tells in a core file beside memory. */
#include "core/capture/core_notes.h"

#include "core/trace/elf_tables.h"

enum { NOTE_SEGMENT = 4 /* PT_NOTE */, NOTE_HEADER = 12 };

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

static uint32_t u32_of(const char *bytes, bool little)
{
    const uint8_t *at = (const uint8_t *)bytes;
    uint32_t value = 0;
    for (size_t i = 0; i < 4; i++)
        value |= (uint32_t)at[i] << 8 * (little ? i : 3 - i);
    return value;
}

static bool each_of(const struct trail_elf *elf, struct trail_text notes,
                    bool (*each)(void *arg, uint32_t type, struct trail_text note),
                    void *arg)
{
    while (notes.size >= NOTE_HEADER) {
        size_t owner = u32_of(notes.data, elf->little);
        size_t note = u32_of(notes.data + 4, elf->little);
        uint32_t type = u32_of(notes.data + 8, elf->little);
        size_t left = notes.size - NOTE_HEADER;
        size_t owner_room = (owner + 3) & ~(size_t)3, room = (note + 3) & ~(size_t)3;
        if (owner > left || owner_room > left || note > left - owner_room)
            return true;
        const char *at = notes.data + NOTE_HEADER;
        if (owner == 5 && memcmp(at, "CORE", 5) == 0 &&
            !each(arg, type, (struct trail_text){ at + owner_room, note }))
            return false;
        if (room > left - owner_room)
            return true;
        notes.data = at + owner_room + room;
        notes.size = left - owner_room - room;
    }
    return true;
}

bool trail_core_notes(const struct trail_elf *elf,
                      bool (*each)(void *arg, uint32_t type, struct trail_text note),
                      void *arg)
{
    bool more = true;
    for (uint32_t i = 0; more && i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type == NOTE_SEGMENT)
            more =
                each_of(elf, part(elf, segment.offset, segment.file_size), each, arg);
    }
    return more;
}

uint32_t trail_core_u32(const struct trail_machine *machine, struct trail_text note,
                        size_t offset)
{
    bool there = offset <= note.size && note.size - offset >= 4;
    return there ? u32_of(note.data + offset, machine->little) : 0;
}

/* It stands behind the signal and two words of signal masks. */
int64_t trail_core_thread(const struct trail_machine *machine, struct trail_text note)
{
    return (int32_t)trail_core_u32(machine, note, 16 + 2u * machine->address_size);
}

uint64_t trail_core_auxv(const struct trail_machine *machine, struct trail_text note,
                         uint64_t type)
{
    const size_t word = machine->address_size;
    const uint8_t *bytes = (const uint8_t *)note.data;
    for (size_t at = 0; at + 2 * word <= note.size; at += 2 * word)
        if (trail_machine_word(machine, bytes + at) == type)
            return trail_machine_word(machine, bytes + at + word);
    return 0;
}
