/* split.c -- the other half of a split unit. */
#include "split.h"

#include <stdlib.h>

#include "constants.h"
#include "start.h"

#define SETS_MAX        65000 /* .dwo files of one module */
#define SECTIONS_MAX    16    /* columns of an index */
#define FIRST_SPLIT_SET 3     /* after the main file, the common one and the package */

/* ---- a package ------------------------------------------------------- */

/* .debug_cu_index: a hash table of ids, and for each unit its part of each section. */
struct unit_index {
    const uint8_t *ids, *rows, *columns, *offsets, *sizes;
    uint32_t version, column_count, unit_count, slot_count;
    bool is_big;
};

static bool open_index(const struct dwarf *image, struct unit_index *index)
{
    struct dwarf_bytes section = image->package.file.sections[DWARF_CU_INDEX];
    bool is_big = image->input.is_big_endian;
    if (section.size < 16)
        return false;
    uint32_t version = bytes_u32(section.at, is_big);
    if (version != 2) /* DWARF 5 has 16 bits and padding */
        version = bytes_u16(section.at, is_big);
    *index = (struct unit_index){
        .version = version,
        .column_count = bytes_u32(section.at + 4, is_big),
        .unit_count = bytes_u32(section.at + 8, is_big),
        .slot_count = bytes_u32(section.at + 12, is_big),
        .is_big = is_big,
    };
    uint64_t slots = index->slot_count, columns = index->column_count;
    uint64_t cells = columns * index->unit_count;
    bool is_sound = (version == 2 || version == 5) && slots && !(slots & (slots - 1)) &&
                    columns <= SECTIONS_MAX && index->unit_count <= slots &&
                    16 + slots * 12 + columns * 4 + cells * 8 <= section.size;
    if (!is_sound)
        return false;
    index->ids = section.at + 16;
    index->rows = index->ids + slots * 8;
    index->columns = index->rows + slots * 4;
    index->offsets = index->columns + columns * 4;
    index->sizes = index->offsets + cells * 4;
    return true;
}

/* The row of a unit, from 1; 0: it is not there. */
static uint32_t row_of(const struct unit_index *index, uint64_t id)
{
    uint32_t mask = index->slot_count - 1;
    uint32_t slot = (uint32_t)id & mask, step = ((uint32_t)(id >> 32) & mask) | 1;
    for (uint32_t i = 0; i < index->slot_count; i++, slot = (slot + step) & mask) {
        uint32_t row = bytes_u32(index->rows + slot * 4, index->is_big);
        if (!row || row > index->unit_count)
            return 0;
        if (bytes_u64(index->ids + (size_t)slot * 8, index->is_big) == id)
            return row;
    }
    return 0;
}

/* The part that a unit has of a section; empty: none. `offset_ret` may be NULL. */
static struct dwarf_bytes part_of(const struct unit_index *index, uint32_t row,
                                  unsigned kind, struct dwarf_bytes section,
                                  uint64_t *offset_ret)
{
    const struct dwarf_bytes none = { NULL, 0 };
    for (uint32_t i = 0; i < index->column_count; i++) {
        if (bytes_u32(index->columns + i * 4, index->is_big) != kind)
            continue;
        size_t cell = ((size_t)(row - 1) * index->column_count + i) * 4;
        uint64_t offset = bytes_u32(index->offsets + cell, index->is_big);
        uint64_t size = bytes_u32(index->sizes + cell, index->is_big);
        if (offset > section.size || size > section.size - offset)
            return none;
        if (offset_ret)
            *offset_ret = offset;
        return (struct dwarf_bytes){ section.at + offset, (size_t)size };
    }
    return none;
}

static bool find_in_package(const struct dwarf *image, uint64_t id,
                            struct split_half *half)
{
    const struct dwarf_bytes *sections = image->package.file.sections;
    struct unit_index index;
    uint64_t offset = 0;
    if (!open_index(image, &index))
        return false;
    uint32_t row = row_of(&index, id);
    if (!row)
        return false;
    struct dwarf_bytes info =
        part_of(&index, row, DW_SECT_INFO, sections[DWARF_INFO], &offset);
    if (!info.size ||
        unit_read_header(&image->package, offset, &half->unit) != UNIT_READABLE)
        return false;
    half->set = &image->package;
    half->abbrevs = part_of(&index, row, DW_SECT_ABBREV, sections[DWARF_ABBREV], NULL);
    half->str_offsets =
        part_of(&index, row, DW_SECT_STR_OFFSETS, sections[DWARF_STR_OFFSETS], NULL);
    if (index.version == 5)
        half->rnglists =
            part_of(&index, row, DW_SECT_RNGLISTS, sections[DWARF_RNGLISTS], NULL);
    return true;
}

/* ---- a .dwo file ----------------------------------------------------- */

/* The id that a split unit has: in its header, or, before DWARF 5, in its root DIE. */
static uint64_t id_of(struct worker *worker, const struct dwarf_set *set,
                      const struct unit *unit)
{
    struct unit_context context;
    struct attributes root;
    if (unit->sizes.version >= 5)
        return unit->type == DW_UT_split_compile ? unit->dwo_id : 0;
    unit_context_init(&context, set, NULL, unit);
    if (!abbrevs_compile(&worker->root_abbrevs, set->file.sections[DWARF_ABBREV],
                         unit->abbrevs, unit->sizes, 0)) {
        worker_no_memory(worker);
        return 0;
    }
    context.abbrevs = &worker->root_abbrevs;
    unit_read_root(&context, &root);
    return has_slot(&root, SLOT_DWO_ID) ? root.value[SLOT_DWO_ID] : 0;
}

static struct dwarf_set *add_set(struct worker *worker, const struct dwarf_file *file)
{
    struct dwarf *image = worker->image;
    uint32_t count = image->split_sets.count;
    struct dwarf_set *set = calloc(1, sizeof(*set));
    if (!set || count == SETS_MAX || !vector_room(&image->split_sets, 1) ||
        !dwarf_set_init(image, set, FIRST_SPLIT_SET + count, file)) {
        free(set);
        worker_no_memory(worker);
        return NULL;
    }
    image->split_sets.at[image->split_sets.count++] = set;
    return set;
}

static struct trail_text text_of(const struct worker *worker, uint32_t text)
{
    return trail_text_of(texts_get(&worker->texts, text));
}

static bool find_in_file(struct worker *worker, struct trail_text name, uint64_t id,
                         struct split_half *half)
{
    const struct dwarf_input *input = &worker->image->input;
    struct dwarf_file file;
    struct trail_text directory = text_of(worker, worker->unit.directory);
    memset(&file, 0, sizeof(file));
    if (!input->find_dwo || !input->find_dwo(input->arg, name, directory, id, &file))
        return false;
    struct dwarf_set *set = add_set(worker, &file);
    if (!set)
        return false;
    if (!set_list_units(set))
        return worker_no_memory(worker);
    for (uint32_t i = 0; i < set->units.count; i++) {
        if (id_of(worker, set, &set->units.at[i]) != id)
            continue;
        half->set = set;
        half->unit = set->units.at[i];
        half->abbrevs = file.sections[DWARF_ABBREV];
        half->str_offsets = file.sections[DWARF_STR_OFFSETS];
        half->rnglists = file.sections[DWARF_RNGLISTS];
        return true;
    }
    return false;
}

/* ---- either ---------------------------------------------------------- */

const struct split_half *split_find(struct worker *worker, uint32_t index,
                                    const struct attributes *root)
{
    struct dwarf *image = worker->image;
    const struct unit *skeleton = &image->main.units.at[index];
    if (!image->halves) {
        image->halves = calloc(image->main.units.count + 1u, sizeof(*image->halves));
        if (!image->halves) {
            worker_no_memory(worker);
            return NULL;
        }
    }
    struct split_half *half = &image->halves[index];
    if (half->state != SPLIT_UNKNOWN)
        return half;
    uint64_t id = skeleton->dwo_id;
    if (skeleton->sizes.version < 5)
        id = has_slot(root, SLOT_DWO_ID) ? root->value[SLOT_DWO_ID] : 0;
    uint32_t name = value_text(&worker->unit, root->form[SLOT_DWO_NAME],
                               root->value[SLOT_DWO_NAME]);
    bool is_found = find_in_package(image, id, half) ||
                    (name && find_in_file(worker, text_of(worker, name), id, half));
    if (worker->status)
        return NULL;
    half->state = is_found ? SPLIT_FOUND : SPLIT_MISSING;
    return half;
}

bool split_find_all(struct worker *worker)
{
    const uint8_t *first;
    const struct dwarf_set *main = &worker->image->main;
    for (uint32_t i = 0; i < main->units.count; i++) {
        const struct unit *unit = &main->units.at[i];
        if (split_may_be(unit) && !start_unit(worker, i, &first))
            return false;
    }
    return true;
}
