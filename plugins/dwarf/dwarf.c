/* dwarf.c -- opens and closes the debug information of a module. */
#include "dwarf.h"

#include <stdlib.h>

#include "reader.h"
#include "results.h"
#include "warm.h"

const char *const dwarf_section_names[DWARF_SECTIONS] = {
    [DWARF_INFO] = ".debug_info",
    [DWARF_ABBREV] = ".debug_abbrev",
    [DWARF_LINE] = ".debug_line",
    [DWARF_STR] = ".debug_str",
    [DWARF_LINE_STR] = ".debug_line_str",
    [DWARF_RANGES] = ".debug_ranges",
    [DWARF_RNGLISTS] = ".debug_rnglists",
    [DWARF_ADDR] = ".debug_addr",
    [DWARF_STR_OFFSETS] = ".debug_str_offsets",
    [DWARF_ARANGES] = ".debug_aranges",
    [DWARF_CU_INDEX] = ".debug_cu_index",
};

bool dwarf_set_init(struct dwarf *image, struct dwarf_set *set, uint32_t number,
                    const struct dwarf_file *file)
{
    /* Where names are first: numbers may run out. */
    static const enum dwarf_section with_texts[] = { DWARF_STR, DWARF_LINE_STR,
                                                     DWARF_LINE, DWARF_INFO };
    set->file = *file;
    set->number = number;
    set->is_big_endian = image->input.is_big_endian;
    set->will_read = image->input.will_read;
    for (size_t i = 0; i < sizeof(with_texts) / sizeof(*with_texts); i++)
        if (!texts_add_section(&image->stretches, file->sections[with_texts[i]],
                               &set->texts[with_texts[i]]))
            return false;
    for (size_t i = 0; i < DWARF_SECTIONS; i++)
        image->section_bytes += file->sections[i].size;
    return true;
}

/* 0 and 1 are never code, but tombstones. */
static bool set_code(struct dwarf *image, const struct dwarf_input *input)
{
    size_t count = input->code_count;
    image->code = malloc((count + 1) * sizeof(*image->code));
    if (!image->code)
        return false;
    if (!count)
        return true;
    memcpy(image->code, input->code, count * sizeof(*image->code));
    image->low = image->code[0].start < 2 ? 2 : image->code[0].start;
    image->high = image->code[count - 1].end;
    if (image->high < image->low)
        image->high = image->low;
    if (image->high - image->low > UINT32_MAX - 1)
        image->high = image->low + UINT32_MAX - 1;
    return true;
}

bool dwarf_is_code(const struct dwarf *image, uint64_t address)
{
    size_t low = 0, high = image->input.code_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (image->code[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < image->input.code_count && image->code[low].start <= address;
}

enum trail_status dwarf_open(const struct dwarf_input *input, struct dwarf **dwarf_ret,
                             struct trail_error *err)
{
    if (!input->main.sections[DWARF_INFO].size ||
        !input->main.sections[DWARF_ABBREV].size)
        return trail_fail(err, TRAIL_NOT_FOUND, "it has no debug information");
    struct dwarf *image = calloc(1, sizeof(*image));
    if (!image)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for debug information");
    image->input = *input;
    atomic_flag_clear(&image->lock);
    if (!set_code(image, input) ||
        !dwarf_set_init(image, &image->main, 0, &input->main) ||
        !dwarf_set_init(image, &image->alt, 1, &input->alt) ||
        !dwarf_set_init(image, &image->package, 2, &input->package)) {
        dwarf_close(image);
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for debug information");
    }
    *dwarf_ret = image;
    return TRAIL_OK;
}

static void free_set(struct dwarf_set *set)
{
    vector_free(&set->units);
}

void dwarf_close(struct dwarf *image)
{
    if (!image)
        return;
    while (image->idle) {
        struct worker *worker = image->idle;
        image->idle = worker->next;
        worker_destroy(worker);
    }
    worker_destroy(image->worker);
    warm_destroy(image->warm);
    free_set(&image->main);
    free_set(&image->alt);
    free_set(&image->package);
    for (uint32_t i = 0; i < image->split_sets.count; i++) {
        free_set(image->split_sets.at[i]);
        free(image->split_sets.at[i]);
    }
    vector_free(&image->split_sets);
    vector_free(&image->owners);
    vector_free(&image->stretches.of);
    free(image->halves);
    free(image->visits);
    free(image->code);
    free(image);
}

bool dwarf_list_units(struct dwarf *image)
{
    return set_list_units(&image->main) && set_list_units(&image->alt);
}

struct worker *dwarf_begin(struct dwarf *image, const struct trail_call *call)
{
    if (!image->worker)
        image->worker = worker_create(image);
    if (!image->worker)
        return NULL;
    worker_begin(image->worker, call);
    return image->worker;
}

bool dwarf_function_of(struct dwarf *image, uint32_t function,
                       struct dwarf_function *function_ret)
{
    const struct worker *worker = image->worker;
    if (!worker || !function || function >= worker->functions.count)
        return false;
    struct function_entry entry = worker->functions.at[function];
    *function_ret = (struct dwarf_function){
        .name = texts_get(&worker->texts, entry.name),
        .scope_size = entry.scope_size,
        .linkage = texts_get(&worker->texts, entry.linkage),
        .start = entry.size ? image->low + entry.start : 0,
        .size = entry.size,
    };
    return true;
}

bool dwarf_source_of(struct dwarf *image, uint32_t file,
                     struct dwarf_source *source_ret)
{
    struct worker *worker = image->worker;
    if (!worker || !file || file >= worker->files.count)
        return false;
    struct file_entry entry = worker->files.at[file];
    *source_ret = (struct dwarf_source){
        .path = texts_get(&worker->texts, results_path(worker, &entry)),
        .directory = texts_get(&worker->texts, entry.compilation),
    };
    return source_ret->path != NULL;
}
