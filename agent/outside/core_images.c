/* core_images.c -- where the files are that a core was mapped from.
 *
 * Sources: System V gABI, "Dynamic Section"; struct r_debug and link_map of glibc's
 * link.h. What the core says is untrusted.
 */
#include "agent/outside/core_images.h"

#include <stdlib.h>

#include "core/capture/core_notes.h"
#include "core/capture/target.h"
#include "core/trace/elf_tables.h"

enum {
    PROGRAM_ENTRY = 9,   /* AT_ENTRY */
    PROGRAM_NAME = 31,   /* AT_EXECFN */
    LOADER_DEBUG = 21,   /* DT_DEBUG */
    PATH_SIZE = 4096,    /* bytes, with its end */
    DYNAMIC_LIMIT = 512, /* entries looked at */
    LIBRARY_LIMIT = 4096,
};

struct search {
    struct trail_target *target;
    const struct outside_places *places;
    uint64_t entry, name; /* of the auxiliary vector; 0: not told */
};

static bool on_note(void *arg, uint32_t type, struct trail_text note)
{
    struct search *search = arg;
    const struct trail_machine *machine = search->target->machine;
    if (type == TRAIL_CORE_AUXV) {
        search->entry = trail_core_auxv(machine, note, PROGRAM_ENTRY);
        search->name = trail_core_auxv(machine, note, PROGRAM_NAME);
    }
    return true;
}

static bool read_word(const struct search *search, uint64_t address, uint64_t *word_ret)
{
    uint8_t bytes[8];
    const struct trail_machine *machine = search->target->machine;
    if (trail_target_read(search->target, address, bytes, machine->address_size))
        return false;
    *word_ret = trail_machine_word(machine, bytes);
    return true;
}

/* Text in the core's memory; false: there is none, or it is too long. */
static bool read_path(const struct search *search, uint64_t address,
                      char path_ret[PATH_SIZE])
{
    for (size_t i = 0; i < PATH_SIZE; i++) {
        if (trail_target_read(search->target, address + i, &path_ret[i], 1))
            return false;
        if (!path_ret[i])
            return i > 0;
    }
    return false;
}

/* `path` of the core, on this machine. */
static bool place(const struct search *search, const char *path,
                  char path_ret[PATH_SIZE])
{
    const char *root = search->places->root ? search->places->root : "";
    int size = snprintf(path_ret, PATH_SIZE, "%s%s", root, path);
    return size > 0 && size < PATH_SIZE;
}

/* ---- images that the core lists ----------------------------------------- */

static bool is_file(const char *path)
{
    struct trail_os_stat stat;
    return trail_os_stat_path(path, &stat, NULL) == TRAIL_OK && stat.regular;
}

static bool rename_image(struct trail_target_image *image, const char *path)
{
    size_t size = strlen(path) + 1;
    char *copy = malloc(size);
    if (!copy)
        return false;
    memcpy(copy, path, size);
    free(image->path);
    image->path = copy;
    return true;
}

/* Those below the root, and the program, take the places of the paths in the core. A
 * file that is another than was mapped is still refused when it is looked into. */
static bool move_images(struct search *search)
{
    struct trail_target *target = search->target;
    const struct trail_target_image *program =
        trail_target_image_of(target, search->entry);
    char path[PATH_SIZE];
    bool room = true;
    for (size_t i = 0; room && i < target->image_count; i++) {
        struct trail_target_image *image = &target->images[i];
        if (image == program && search->places->program)
            room = rename_image(image, search->places->program);
        else if (search->places->root && image->path && image->path[0] == '/' &&
                 place(search, image->path, path) && is_file(path))
            room = rename_image(image, path);
    }
    return room;
}

/* ---- images that it does not list ---------------------------------------- */

/* The first segment's file offset 0 lies at bias + this. */
static bool find_base(const struct trail_elf *elf, uint64_t *base_ret,
                      uint64_t *end_ret)
{
    uint64_t start;
    if (!trail_elf_extent(elf, &start, end_ret))
        return false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type != TRAIL_ELF_LOAD)
            continue;
        *base_ret = segment.address - segment.offset;
        return segment.offset < TRAIL_TARGET_PAGE && *base_ret < *end_ret;
    }
    return false;
}

/* Run-time minus link-time address, of what has its entry at `entry`. */
static uint64_t bias_by_entry(const struct search *search, const struct trail_elf *elf,
                              uint64_t entry)
{
    const size_t at = 24; /* e_entry */
    return entry - trail_machine_word(search->target->machine, elf->bytes + at);
}

/* Add the file as the image at `bias`, or where its entry is `entry`. */
static enum trail_status add_file(struct search *search, const char *path,
                                  uint64_t bias, uint64_t entry,
                                  struct trail_error *err)
{
    struct trail_target *target = search->target;
    struct trail_os_file file = { .fd = -1 };
    struct trail_elf elf;
    uint64_t base, end;
    enum trail_status status =
        trail_os_file_map(path, TRAIL_TARGET_FILE_SIZE, &file, err);
    if (status)
        return status;
    if (!trail_elf_parse(file.bytes, file.size, &elf) ||
        !find_base(&elf, &base, &end) ||
        trail_elf_arch(&elf) != target->machine->arch) {
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: not an ELF file of %s", path,
                            target->machine->name);
        goto out;
    }
    if (entry)
        bias = bias_by_entry(search, &elf, entry);
    if (!trail_target_add_image(target, bias + base, bias + end, path)) {
        status = trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory", path);
        goto out;
    }
    struct trail_target_image *image = &target->images[target->image_count - 1];
    image->bias = bias;
    image->file = file;
    image->bytes = file.bytes;
    image->size = file.size;
    file = (struct trail_os_file){ .fd = -1 };
    trail_target_sort(target);
out:
    trail_os_file_close(&file);
    return status;
}

/* Where the loader's list begins; 0: there is none. */
static uint64_t find_list(const struct search *search)
{
    const struct trail_target_image *program =
        trail_target_image_of(search->target, search->entry);
    const uint64_t word = search->target->machine->address_size;
    struct trail_elf elf;
    struct trail_elf_segment dynamic;
    if (!program || !program->bytes ||
        !trail_elf_parse(program->bytes, program->size, &elf) ||
        !trail_elf_segment_of(&elf, TRAIL_ELF_DYNAMIC_SEGMENT, &dynamic))
        return 0;
    uint64_t at = program->bias + dynamic.address, tag = 1, value = 0;
    for (int i = 0; tag && i < DYNAMIC_LIMIT; i++, at += 2 * word) {
        if (!read_word(search, at, &tag) || !read_word(search, at + word, &value))
            return 0;
        if (tag == LOADER_DEBUG)
            break;
    }
    uint64_t first = 0;
    bool found =
        tag == LOADER_DEBUG && value && read_word(search, value + word, &first);
    return found ? first : 0;
}

/* l_addr, l_name, l_ld, l_next. The first one is the program. */
static void add_libraries(struct search *search)
{
    const uint64_t word = search->target->machine->address_size;
    uint64_t at = find_list(search);
    for (int i = 0; at && i < LIBRARY_LIMIT; i++) {
        uint64_t bias, name, next = 0;
        char path[PATH_SIZE], placed[PATH_SIZE];
        if (!read_word(search, at, &bias) || !read_word(search, at + word, &name) ||
            !read_word(search, at + 3 * word, &next))
            return;
        if (i && read_path(search, name, path) && path[0] == '/' &&
            place(search, path, placed))
            (void)add_file(search, placed, bias, 0, NULL);
        at = next;
    }
}

/* The program as it was called, if nobody says where it is. Without an entry point it
 * is taken to be where it was linked for. */
static enum trail_status add_program(struct search *search, struct trail_error *err)
{
    char path[PATH_SIZE], placed[PATH_SIZE];
    if (search->places->program)
        return add_file(search, search->places->program, 0, search->entry, err);
    if (!search->entry)
        return TRAIL_OK;
    if (read_path(search, search->name, path) && place(search, path, placed) &&
        is_file(placed))
        (void)add_file(search, placed, 0, search->entry, NULL);
    return TRAIL_OK;
}

enum trail_status outside_core_images(struct trail_target *target,
                                      const struct outside_places *places,
                                      struct trail_error *err)
{
    struct search search = { .target = target, .places = places };
    struct trail_elf elf;
    if (trail_elf_parse(target->core.bytes, target->core.size, &elf))
        trail_core_notes(&elf, on_note, &search);
    if (places->program && !is_file(places->program))
        return trail_fail(err, TRAIL_NOT_FOUND, "%s: no such file", places->program);
    if (!move_images(&search))
        return trail_fail(err, TRAIL_NO_MEMORY, "core: no memory for its paths");
    if (search.entry ? trail_target_image_of(target, search.entry) != NULL
                     : target->image_count > 0)
        return TRAIL_OK;
    enum trail_status status = add_program(&search, err);
    if (!status)
        add_libraries(&search);
    return status;
}
