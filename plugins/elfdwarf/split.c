/* split.c -- asks the host for split debug information, and keeps what it lends. */
#include "split.h"

#include <stdlib.h>

#include "plugins/elf/companions.h"

#define NAME_MAX_SIZE 1024u
#define SECTION_NAME  32u

static const char dwp_ending[] = ".dwp";

/* The sections of a .dwo or .dwp file are those of a program with ".dwo" behind. */
static enum trail_status read_sections(struct split *split, struct dwarf_file *file_ret)
{
    char held[DWARF_SECTIONS][SECTION_NAME];
    const char *names[DWARF_SECTIONS];
    struct section_bytes bytes[DWARF_SECTIONS];
    for (size_t i = 0; i < DWARF_SECTIONS; i++) {
        snprintf(held[i], sizeof(held[i]), "%s%s", dwarf_section_names[i],
                 i == DWARF_CU_INDEX ? "" : ".dwo");
        names[i] = held[i];
    }
    enum trail_status status =
        sections_read(&split->sections, &split->binary, names, DWARF_SECTIONS, bytes);
    for (size_t i = 0; !status && i < DWARF_SECTIONS; i++)
        file_ret->sections[i] = (struct dwarf_bytes){ bytes[i].at, bytes[i].size };
    return status;
}

static enum trail_status open_split(struct image *image, const struct trail_call *call,
                                    uint32_t role, struct trail_text name,
                                    struct dwarf_file *file_ret)
{
    struct split *split = calloc(1, sizeof(*split));
    if (!split)
        return TRAIL_NO_MEMORY;
    enum trail_status status =
        companions_find_named(call, role, name, image->files.with_units,
                              &split->binary);
    if (!status)
        status = read_sections(split, file_ret);
    if (status) {
        sections_deinit(&split->sections);
        binary_close(&split->binary);
        free(split);
        return status;
    }
    split->next = image->splits;
    image->splits = split;
    return TRAIL_OK;
}

static struct trail_text base_of(struct trail_text path)
{
    for (size_t i = path.size; i > 0; i--)
        if (path.data[i - 1] == '/')
            return (struct trail_text){ path.data + i, path.size - i };
    return path;
}

static enum trail_status find_package_of(struct image *image,
                                         const struct trail_call *call,
                                         const struct binary *binary,
                                         struct dwarf_file *package_ret)
{
    char name[NAME_MAX_SIZE];
    struct trail_text base = base_of(binary->source.name);
    if (!base.size || base.size > sizeof(name) - sizeof(dwp_ending))
        return TRAIL_NOT_FOUND;
    memcpy(name, base.data, base.size);
    memcpy(name + base.size, dwp_ending, sizeof(dwp_ending));
    return open_split(image, call, TRAIL_ROLE_DWP, trail_text_of(name), package_ret);
}

enum trail_status split_find_package(struct image *image, const struct trail_call *call,
                                     struct dwarf_file *package_ret)
{
    const struct files *files = &image->files;
    enum trail_status status =
        find_package_of(image, call, files->with_units, package_ret);
    if (status == TRAIL_NOT_FOUND && files->with_units != &files->main)
        status = find_package_of(image, call, &files->main, package_ret);
    return status;
}

/* Where the compiler put it, if that is known for sure. */
static bool try_joined(struct image *image, struct trail_text directory,
                       struct trail_text name, struct dwarf_file *file_ret)
{
    char path[NAME_MAX_SIZE];
    if (!directory.size || directory.data[0] != '/' || !name.size ||
        name.data[0] == '/' || directory.size + 1 + name.size > sizeof(path))
        return false;
    memcpy(path, directory.data, directory.size);
    path[directory.size] = '/';
    memcpy(path + directory.size + 1, name.data, name.size);
    const struct trail_text joined = { path, directory.size + 1 + name.size };
    return !open_split(image, &image->call, TRAIL_ROLE_DWO, joined, file_ret);
}

bool split_find_dwo(void *arg, struct trail_text name, struct trail_text directory,
                    uint64_t id, struct dwarf_file *file_ret)
{
    struct image *image = arg;
    struct trail_text base = base_of(name);
    (void)id; /* compared by the reader */
    *file_ret = (struct dwarf_file){ 0 };
    mtx_lock(&image->lock);
    bool found = try_joined(image, directory, name, file_ret) ||
                 !open_split(image, &image->call, TRAIL_ROLE_DWO, name, file_ret) ||
                 (base.size < name.size &&
                  !open_split(image, &image->call, TRAIL_ROLE_DWO, base, file_ret));
    mtx_unlock(&image->lock);
    return found;
}

void split_close_all(struct image *image)
{
    while (image->splits) {
        struct split *split = image->splits;
        image->splits = split->next;
        sections_deinit(&split->sections);
        binary_close(&split->binary);
        free(split);
    }
}
