/* lines_header.c -- the header of a line number program: its files and directories. */
#include "lines.h"

#include "constants.h"
#include "results.h"

#define FORMATS_MAX  16 /* kinds of content of an entry */
#define NO_DIRECTORY UINT32_MAX

/* What entries of a DWARF 5 table consist of. */
struct entry_format {
    unsigned count;
    uint64_t content[FORMATS_MAX], form[FORMATS_MAX];
};

/* A header being read. */
struct header_reader {
    struct worker *worker;
    struct form_sizes sizes; /* those of the line table */
    const uint8_t *at, *end;
};

static bool add_file(struct header_reader *reader, uint64_t directory, uint32_t name)
{
    struct line_header *line = &reader->worker->line;
    if (!vector_room(&line->files, 1))
        return worker_no_memory(reader->worker);
    line->files.at[line->files.count++] = (struct line_file){
        directory < NO_DIRECTORY ? (uint32_t)directory : NO_DIRECTORY, name
    };
    return true;
}

static bool add_directory(struct header_reader *reader, uint32_t name)
{
    struct line_header *line = &reader->worker->line;
    if (!vector_room(&line->directories, 1))
        return worker_no_memory(reader->worker);
    line->directories.at[line->directories.count++] = name;
    return true;
}

/* ---- before DWARF 5 -------------------------------------------------- */

static uint32_t text_at(const struct header_reader *reader, const uint8_t *at)
{
    const struct unit_context *unit = &reader->worker->unit;
    return texts_of_offset(&unit->texts[DWARF_LINE],
                           (uint64_t)(at - unit->sections[DWARF_LINE].at));
}

/* Both tables count from 1: number 0 is the compilation directory, or no file. */
static bool read_old_tables(struct header_reader *reader)
{
    if (!add_directory(reader, 0) || !add_file(reader, NO_DIRECTORY, 0))
        return false;
    const uint8_t *at = reader->at, *end = reader->end;
    while (at && at < end && *at) {
        if (!add_directory(reader, text_at(reader, at)))
            return false;
        at = bytes_skip_string(at, end);
    }
    at = at && at < end ? at + 1 : NULL;
    while (at && at < end && *at) {
        uint32_t name = text_at(reader, at);
        at = bytes_skip_string(at, end);
        if (!at)
            break;
        uint64_t directory = bytes_uleb(&at, end);
        at = bytes_skip_leb(bytes_skip_leb(at, end), end); /* time and size */
        if (!add_file(reader, directory, name))
            return false;
    }
    return true;
}

/* ---- DWARF 5 --------------------------------------------------------- */

static bool read_format(struct header_reader *reader, struct entry_format *format)
{
    if (reader->at >= reader->end)
        return false;
    format->count = *reader->at++;
    if (format->count > FORMATS_MAX)
        return false;
    for (unsigned i = 0; i < format->count; i++) {
        format->content[i] = bytes_uleb(&reader->at, reader->end);
        format->form[i] = bytes_uleb(&reader->at, reader->end);
    }
    return true;
}

/* A value in an entry; `size` as of form_size. */
static uint64_t number_at(const struct header_reader *reader, const uint8_t *at,
                          int size)
{
    const struct unit_context *unit = &reader->worker->unit;
    if (size == FORM_LEB)
        return bytes_uleb(&at, reader->end);
    if (size == FORM_STRING)
        return (uint64_t)(at - unit->sections[DWARF_LINE].at);
    return size > 0 && size <= 8 ? bytes_number(at, (unsigned)size, unit->is_big_endian)
                                 : 0;
}

static uint32_t text_of(const struct header_reader *reader, uint64_t form,
                        uint64_t value)
{
    const struct unit_context *unit = &reader->worker->unit;
    if (form == DW_FORM_string)
        return texts_of_offset(&unit->texts[DWARF_LINE], value);
    return value_text(unit, (uint16_t)form, value);
}

/* False: it is cut short. */
static bool read_entry(struct header_reader *reader, const struct entry_format *format,
                       uint32_t *name_ret, uint64_t *directory_ret)
{
    *name_ret = 0;
    *directory_ret = 0;
    for (unsigned i = 0; i < format->count; i++) {
        const uint8_t *at = reader->at;
        int size = form_size(format->form[i], reader->sizes);
        reader->at = form_skip(at, reader->end, size, reader->sizes,
                               reader->worker->unit.is_big_endian);
        if (!reader->at)
            return false;
        uint64_t value = number_at(reader, at, size);
        if (format->content[i] == DW_LNCT_path)
            *name_ret = text_of(reader, format->form[i], value);
        else if (format->content[i] == DW_LNCT_directory_index)
            *directory_ret = value;
    }
    return true;
}

/* False: damaged, or out of memory. */
static bool read_table(struct header_reader *reader, bool is_of_directories)
{
    struct entry_format format;
    if (!read_format(reader, &format))
        return false;
    uint64_t count = bytes_uleb(&reader->at, reader->end);
    if (count && !format.count)
        return false;
    for (uint64_t i = 0; i < count && reader->at < reader->end; i++) {
        uint32_t name;
        uint64_t directory;
        if (!read_entry(reader, &format, &name, &directory))
            return false;
        if (!(is_of_directories ? add_directory(reader, name)
                                : add_file(reader, directory, name)))
            return false;
    }
    return true;
}

/* ---- the header ------------------------------------------------------ */

/* The bytes of the whole table of the unit; NULL: there is none. */
static const uint8_t *find_table(const struct unit_context *unit,
                                 const uint8_t **end_ret, uint8_t *offset_size_ret)
{
    struct dwarf_bytes section = unit->sections[DWARF_LINE];
    if (!unit->has_lines || unit->lines >= section.size ||
        section.size - unit->lines < 16)
        return NULL;
    const uint8_t *at = section.at + unit->lines, *end = section.at + section.size;
    uint64_t length = bytes_u32(at, unit->is_big_endian);
    *offset_size_ret = 4;
    at += 4;
    if (length == UINT32_MAX) {
        length = bytes_u64(at, unit->is_big_endian);
        *offset_size_ret = 8;
        at += 8;
    }
    if (length > bytes_left(at, end) || length < 20)
        return NULL;
    *end_ret = at + length;
    return at;
}

/* The fixed part. Returns where the tables begin; NULL: unusable. */
static const uint8_t *read_fixed(struct line_header *line, const uint8_t *at,
                                 const uint8_t *end, uint8_t offset_size, bool is_big)
{
    uint16_t version = bytes_u16(at, is_big);
    at += 2;
    if (version < 2 || version > 5)
        return NULL;
    line->version = (uint8_t)version;
    if (version == 5)
        at += 2; /* sizes of an address and a segment selector */
    uint64_t header_size = bytes_number(at, offset_size, is_big);
    at += offset_size;
    if (header_size > bytes_left(at, end) || header_size < 7)
        return NULL;
    line->program = at + header_size;
    line->end = end;
    line->instruction_size = *at++;
    if (version >= 4)
        at++; /* operations in an instruction; 1 wherever this is read */
    at++;     /* whether a row is a statement */
    line->line_base = (int8_t)*at++;
    line->line_range = *at++;
    line->opcode_base = *at++;
    line->operand_counts = at;
    if (!line->line_range || !line->opcode_base ||
        bytes_left(at, line->program) < line->opcode_base)
        return NULL;
    return at + line->opcode_base - 1;
}

bool lines_read_header(struct worker *worker)
{
    struct line_header *line = &worker->line;
    struct header_reader reader = { .worker = worker };
    line->directories.count = line->files.count = line->numbers.count = 0;
    line->version = 5;
    line->is_usable = false;
    const uint8_t *at = find_table(&worker->unit, &reader.end, &reader.sizes.offset);
    if (!at)
        return true;
    set_will_read(worker->unit.set, at, bytes_left(at, reader.end));
    reader.sizes.address = worker->unit.unit.sizes.address;
    reader.sizes.version = 5;
    reader.at = read_fixed(line, at, reader.end, reader.sizes.offset,
                           worker->unit.is_big_endian);
    if (!reader.at)
        return true;
    reader.end = line->program;
    if (!worker_spend(worker, bytes_left(reader.at, reader.end)))
        return false;
    if (line->version < 5)
        read_old_tables(&reader);
    else if (read_table(&reader, true))
        read_table(&reader, false);
    if (worker->status || !vector_room(&line->numbers, line->files.count + 1))
        return worker_no_memory(worker);
    line->numbers.count = line->files.count;
    memset(line->numbers.at, 0, line->numbers.count * sizeof(*line->numbers.at));
    line->is_usable = true;
    return true;
}

/* ---- files ----------------------------------------------------------- */

static bool is_absolute(const struct worker *worker, uint32_t text)
{
    const char *path = texts_get(&worker->texts, text);
    return path && path[0] == '/';
}

/* Where the file lies, if its name does not say. Directory 0 is that of the
 * compilation, whatever its spelling in the table: paths start from there, unless the
 * compiler was told a whole path of the source file. */
static void find_directory(const struct worker *worker, uint32_t index,
                           struct file_entry *entry)
{
    const struct line_header *line = &worker->line;
    const struct unit_context *unit = &worker->unit;
    uint32_t compilation = unit->directory;
    if (index && index < line->directories.count)
        entry->directory = line->directories.at[index];
    if (!compilation && line->directories.count)
        compilation = line->directories.at[0];
    if (!index && is_absolute(worker, unit->name))
        entry->directory = compilation;
    else if (!is_absolute(worker, entry->directory))
        entry->compilation = compilation;
}

uint32_t lines_file_slowly(struct worker *worker, uint64_t index)
{
    struct line_header *line = &worker->line;
    struct line_file file = line->files.at[index];
    struct file_entry entry = { .name = file.name };
    if (!file.name)
        return 0;
    if (!is_absolute(worker, file.name))
        find_directory(worker, file.directory, &entry);
    uint32_t number = results_add_file(worker, &entry);
    line->numbers.at[index] = number;
    return number;
}
