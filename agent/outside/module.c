/* module.c -- who an image of a target is, read from the target's memory. */
#include "agent/outside/module.h"

#include "core/trace/elf_tables.h"

enum {
    BUILD_ID_NOTE = 3, /* NT_GNU_BUILD_ID */
    NOTE_SEGMENT = 4,  /* PT_NOTE */
};

#define NOTES_LIMIT 4096 /* bytes that are looked at of one segment */

/* What is known of an image while it is read. `elf` is of its first page. */
struct reading {
    const struct trail_target *target;
    struct trail_mapped *module;
    struct trail_elf elf;
    uint8_t head[TRAIL_TARGET_PAGE];
};

static bool read_head(struct reading *reading, const struct trail_target_image *image)
{
    uint64_t extent = image->end - image->start;
    size_t size =
        extent < sizeof(reading->head) ? (size_t)extent : sizeof(reading->head);
    if (image->bytes)
        return trail_elf_parse(image->bytes, image->size, &reading->elf);
    return !trail_target_read(reading->target, image->start, reading->head, size) &&
           trail_elf_parse(reading->head, size, &reading->elf);
}

/* A note may be aligned to 4 bytes or to 8, and the wrong one finds nothing. */
static bool take_notes(struct reading *reading, const uint8_t *notes, size_t size)
{
    struct trail_mapped *module = reading->module;
    for (uint64_t align = 4; align <= 8; align += 4) {
        struct trail_text id;
        if (!trail_elf_notes_find(notes, size, reading->elf.little, align, "GNU",
                                  BUILD_ID_NOTE, &id) ||
            id.size == 0 || id.size > sizeof(module->id))
            continue;
        memcpy(module->id, id.data, id.size);
        module->id_size = (uint8_t)id.size;
        return true;
    }
    return false;
}

static void read_id(struct reading *reading)
{
    uint8_t notes[NOTES_LIMIT];
    for (uint32_t i = 0; i < reading->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&reading->elf, i);
        size_t size = segment.file_size < sizeof(notes) ? (size_t)segment.file_size
                                                        : sizeof(notes);
        if (segment.type == NOTE_SEGMENT &&
            !trail_target_read(reading->target, reading->module->bias + segment.address,
                               notes, size) &&
            take_notes(reading, notes, size))
            return;
    }
}

/* As trail_stamp_text_hash does it inside a process. */
static void read_text_hash(struct reading *reading)
{
    struct trail_text_hash hash = trail_text_hash_start();
    struct trail_mapped *module = reading->module;
    struct trail_elf_segment code = { 0 };
    uint8_t bytes[TRAIL_TEXT_HASH_TEXT];
    for (uint32_t i = 0; i < reading->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&reading->elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        trail_text_hash_segment(&hash, segment.address, segment.memory_size,
                                segment.flags);
        if (segment.flags & TRAIL_ELF_EXECUTE && !code.memory_size)
            code = segment;
    }
    size_t size =
        code.memory_size < sizeof(bytes) ? (size_t)code.memory_size : sizeof(bytes);
    if (!size ||
        trail_target_read(reading->target, module->bias + code.address, bytes, size))
        return;
    trail_text_hash_code(&hash, bytes, size);
    trail_text_hash_id(&hash, module->text_hash);
    module->has_text_hash = true;
}

static void add_range(struct trail_mapped *module, uint64_t start, uint64_t end,
                      uint32_t flags)
{
    if (module->range_count == TRAIL_MAP_RANGES)
        return;
    module->ranges[module->range_count++] =
        (struct trail_os_segment){ .start = start,
                                   .end = end,
                                   .load = true,
                                   .readable = flags & 4,
                                   .writable = flags & 2,
                                   .executable = flags & 1 };
}

static void read_ranges(struct reading *reading)
{
    for (uint32_t i = 0; i < reading->elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&reading->elf, i);
        uint64_t start = reading->module->bias + segment.address;
        uint64_t end = start + segment.memory_size;
        if (segment.type == TRAIL_ELF_LOAD && end > start)
            add_range(reading->module, start, end, segment.flags);
    }
}

void outside_module_read(const struct trail_target *target,
                         struct trail_target_image *image,
                         struct trail_mapped *module_ret)
{
    static char unnamed[] = "";
    struct reading reading = { .target = target, .module = module_ret };
    trail_target_image_look(target, image);
    *module_ret = (struct trail_mapped){ .path = image->path ? image->path : unnamed,
                                         .bias = image->bias,
                                         .first = 1 };
    module_ret->vdso = strcmp(module_ret->path, "[vdso]") == 0;
    if (read_head(&reading, image)) {
        read_ranges(&reading);
        read_id(&reading);
        if (!module_ret->id_size)
            read_text_hash(&reading);
    }
    /* Whatever its headers say, or do not: it is where it is. */
    if (!module_ret->range_count)
        add_range(module_ret, image->start, image->end, 5);
}
