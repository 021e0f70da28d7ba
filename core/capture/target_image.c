/* target_image.c -- the unwind tables of an image that is mapped somewhere: from its
 * own file if that can be had and is still the same, else from memory.
 */
#include "core/capture/target.h"

#include <stdlib.h>

#include "core/trace/elf_tables.h"

#define SEGMENT_LIMIT ((uint64_t)256 << 20) /* bytes copied of one image */
/* What trail_cfi_table takes. */
#define TABLE_LIMIT ((uint64_t)INT32_MAX)

void trail_target_image_deinit(struct trail_target_image *image)
{
    trail_os_file_close(&image->file);
    free(image->copy);
    free(image->path);
}

/* ---- its head, and its file --------------------------------------------- */

/* The first page, as far as it is there. */
struct head {
    uint8_t bytes[TRAIL_TARGET_PAGE];
    size_t size; /* 0: it cannot be read */
};

static void read_head(const struct trail_target *target,
                      const struct trail_target_image *image, struct head *head)
{
    uint64_t room = image->end - image->start;
    head->size = room < sizeof(head->bytes) ? (size_t)room : sizeof(head->bytes);
    if (trail_target_read(target, image->start, head->bytes, head->size))
        head->size = 0;
}

/* The headers and, in all files that are linked as usual, the build id are in the first
 * page: a file with another first page is another file. */
struct search {
    const struct head *head;
    struct trail_os_file *file;
};

static bool try_file(void *arg, const char *path, bool proven)
{
    struct search *search = arg;
    struct trail_os_file file = { .fd = -1 };
    const struct head *head = search->head;
    (void)proven;
    if (trail_os_file_map(path, TRAIL_TARGET_FILE_SIZE, &file, NULL))
        return false;
    size_t size = file.size < head->size ? file.size : head->size;
    if (size && memcmp(file.bytes, head->bytes, size) == 0) {
        *search->file = file;
        return true;
    }
    trail_os_file_close(&file);
    return false;
}

static void find_file(const struct trail_target *target,
                      struct trail_target_image *image, const struct head *head)
{
    struct search search = { head, &image->file };
    if (!head->size || !image->path || image->path[0] != '/')
        return;
    if (target->pid)
        trail_os_live_paths(target->pid, image->start, image->end, image->path,
                            image == target->images, try_file, &search);
    else
        try_file(&search, image->path, false);
    image->bytes = image->file.bytes;
    image->size = image->file.size;
}

/* ---- tables ------------------------------------------------------------- */

/* Run-time minus link-time address of what starts with its ELF header; false: none of
 * its segments does. */
static bool find_bias(const struct trail_elf *elf, uint64_t start, uint64_t *bias_ret)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        *bias_ret = start - (segment.address - segment.offset);
        return segment.offset < TRAIL_TARGET_PAGE;
    }
    return false;
}

static void add_table(struct trail_target_image *image,
                      const struct trail_cfi_table *table)
{
    if (table->cfi.size && table->cfi.size <= TABLE_LIMIT &&
        image->table_count < TRAIL_TARGET_TABLES)
        image->tables[image->table_count++] = *table;
}

/* The segments that have the sorted index of .eh_frame, and the index itself. */
static bool find_index(const struct trail_elf *elf, struct trail_elf_segment *load_ret,
                       struct trail_elf_segment *index_ret)
{
    struct trail_elf_segment index;
    if (!trail_elf_segment_of(elf, TRAIL_ELF_EH_FRAME, &index))
        return false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment load = trail_elf_segment_at(elf, i);
        if (load.type != TRAIL_ELF_LOAD || index.address < load.address ||
            index.address - load.address >= load.file_size)
            continue;
        *load_ret = load;
        *index_ret = index;
        return true;
    }
    return false;
}

/* A table with an index, over the bytes of the segment that has both. */
static void add_indexed(struct trail_target_image *image,
                        const struct trail_machine *machine, const uint8_t *bytes,
                        const struct trail_elf_segment *load,
                        const struct trail_elf_segment *index, uint64_t bias,
                        bool relocated)
{
    struct trail_cfi_table table = trail_cfi_table_of(machine);
    size_t offset = (size_t)(index->address - load->address);
    uint64_t moved = relocated ? bias : 0;
    table.cfi.bytes = bytes;
    table.cfi.size = (size_t)load->file_size;
    table.cfi.address = load->address + moved;
    table.index = bytes + offset;
    table.index_size = table.cfi.size - offset;
    table.index_address = index->address + moved;
    table.bias = bias - moved;
    add_table(image, &table);
}

static void add_section(struct trail_target_image *image,
                        const struct trail_machine *machine,
                        const struct trail_elf *elf, const char *name, bool debug_frame)
{
    struct trail_cfi_table table = trail_cfi_table_of(machine);
    struct trail_elf_section section;
    struct trail_text bytes;
    if (!trail_elf_section_named(elf, name, &section) ||
        section.flags & TRAIL_ELF_COMPRESSED ||
        !trail_elf_contents(elf, &section, &bytes))
        return;
    table.cfi.bytes = (const uint8_t *)bytes.data;
    table.cfi.size = bytes.size;
    table.cfi.address = section.address;
    table.cfi.debug_frame = debug_frame;
    table.bias = image->bias;
    add_table(image, &table);
}

static void tables_of_file(struct trail_target_image *image,
                           const struct trail_machine *machine,
                           const struct trail_elf *elf)
{
    struct trail_elf_segment load, index;
    struct trail_text bytes;
    if (find_index(elf, &load, &index) &&
        trail_elf_at(elf, load.address, (size_t)load.file_size, &bytes))
        add_indexed(image, machine, (const uint8_t *)bytes.data, &load, &index,
                    image->bias, false);
    else
        add_section(image, machine, elf, ".eh_frame", false);
    add_section(image, machine, elf, ".debug_frame", true);
}

static void tables_of_memory(const struct trail_target *target,
                             struct trail_target_image *image,
                             const struct trail_elf *elf)
{
    struct trail_elf_segment load, index;
    if (!find_index(elf, &load, &index) || load.file_size > SEGMENT_LIMIT)
        return;
    image->copy = malloc((size_t)load.file_size);
    if (image->copy && !trail_target_read(target, image->bias + load.address,
                                          image->copy, (size_t)load.file_size))
        add_indexed(image, target->machine, image->copy, &load, &index, image->bias,
                    true);
}

void trail_target_image_look(const struct trail_target *target,
                             struct trail_target_image *image)
{
    struct head head;
    struct trail_elf elf;
    if (image->looked)
        return;
    image->looked = true;
    if (!image->bytes) {
        read_head(target, image, &head);
        find_file(target, image, &head);
    }
    bool parsed = image->bytes
                      ? trail_elf_parse(image->bytes, image->size, &elf)
                      : head.size && trail_elf_parse(head.bytes, head.size, &elf);
    if (!parsed || trail_elf_arch(&elf) != target->machine->arch)
        return;
    /* That of an image in a buffer is given. */
    if (image->path && !find_bias(&elf, image->start, &image->bias))
        return;
    if (image->bytes)
        tables_of_file(image, target->machine, &elf);
    else
        tables_of_memory(target, image, &elf);
}

bool trail_target_image_is_code(const struct trail_target *target,
                                struct trail_target_image *image, uint64_t pc)
{
    struct trail_elf elf;
    trail_target_image_look(target, image);
    if (!image->bytes || !trail_elf_parse(image->bytes, image->size, &elf))
        return false;
    for (uint32_t i = 0; i < elf.phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(&elf, i);
        if (segment.type == TRAIL_ELF_LOAD && segment.flags & TRAIL_ELF_EXECUTE &&
            pc - image->bias >= segment.address &&
            pc - image->bias - segment.address < segment.memory_size)
            return true;
    }
    return false;
}
