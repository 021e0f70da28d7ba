/* lines.c -- looks up addresses in the line table that libdw has read and sorted. */
#include "lines.h"

#include <dwarf.h>
#include <libelf.h>
#include <string.h>

#include "debug.h"
#include "plugins/elf/code.h"
#include "program.h"

/* Not among the names of dwarf.h. */
#define AT_GNU_DISCRIMINATOR 0x2136u

static uint32_t number_of(int number)
{
    return number > 0 ? (uint32_t)number : 0;
}

static bool read_row(Dwarf_Line *line, struct row *row_ret)
{
    int number = 0, column = 0;
    unsigned int discriminator = 0;
    size_t file = 0;
    Dwarf_Addr address = 0;
    Dwarf_Files *files = NULL;
    struct row row = { 0 };

    if (dwarf_lineaddr(line, &address) || dwarf_lineendsequence(line, &row.ends) ||
        dwarf_line_file(line, &files, &file))
        return false;
    dwarf_lineno(line, &number);
    dwarf_linecol(line, &column);
    dwarf_linediscriminator(line, &discriminator);
    row.address = address;
    row.file = file <= UINT32_MAX ? (uint32_t)file : 0;
    row.line = number_of(number);
    row.column = number_of(column);
    row.discriminator = discriminator;
    *row_ret = row;
    return true;
}

/* libdw's rows, which it has sorted. */
static bool read_rows(Dwarf_Die *unit_die, struct rows *rows)
{
    Dwarf_Lines *lines = NULL;
    size_t count = 0;
    struct row row;
    if (dwarf_getsrclines(unit_die, &lines, &count))
        return true;
    for (size_t i = 0; i < count; i++)
        if (read_row(dwarf_onesrcline(lines, i), &row) && !rows_add(rows, &row))
            return false;
    return true;
}

static bool find_program(Dwarf_Die *unit_die, struct program *program)
{
    Dwarf_Attribute held;
    Dwarf_Word offset = 0;
    Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(unit_die->cu));
    size_t ident_size = 0;
    const char *ident = elf_getident(elf, &ident_size);
    Elf_Data *data = debug_section(elf, ".debug_line");
    if (!data)
        data = debug_section(elf, ".zdebug_line");
    if (!data || !data->d_buf || !ident || ident_size <= EI_DATA ||
        dwarf_formudata(dwarf_attr(unit_die, DW_AT_stmt_list, &held), &offset))
        return false;
    *program = (struct program){ .bytes = data->d_buf,
                                 .size = data->d_size,
                                 .offset = offset,
                                 .is_big_endian = ident[EI_DATA] == ELFDATA2MSB };
    return true;
}

/* Where a sequence of dropped code begins the table, its rows may lie between those of
 * live code: read the table again, one sequence at a time. */
static void drop_dead_rows(Dwarf_Die *unit_die, const struct code *code,
                           struct rows *rows)
{
    struct program program;
    struct rows alive = { 0 };
    if (!rows->count || code_holds(code, rows->at[0].address) ||
        !find_program(unit_die, &program))
        return;
    if (!program_run(&program, code, &alive)) {
        rows_deinit(&alive);
        return;
    }
    rows_deinit(rows);
    *rows = alive;
}

bool lines_read(Dwarf_Die *unit_die, const struct code *code, struct lines *lines)
{
    *lines = (struct lines){ 0 };
    if (!read_rows(unit_die, &lines->rows)) {
        lines_deinit(lines);
        return false;
    }
    drop_dead_rows(unit_die, code, &lines->rows);
    if (dwarf_getsrcfiles(unit_die, &lines->files, &lines->file_count))
        lines->file_count = 0;
    return true;
}

void lines_deinit(struct lines *lines)
{
    rows_deinit(&lines->rows);
    *lines = (struct lines){ 0 };
}

/* The rest of `path` behind the directory, or NULL if it does not lie in there. */
static const char *below(const char *path, struct trail_text directory)
{
    size_t size = directory.size;
    if (!size || strncmp(path, directory.data, size) != 0 || path[size] != '/')
        return NULL;
    return path + size + 1;
}

/* libdw puts the compilation directory before names that are relative to it. If that
 * is relative too (builds with mapped prefixes) it would count twice: take it off. */
static const char *without_relative(Dwarf_Files *files, const char *path)
{
    const char *const *directories = NULL;
    size_t count = 0;
    if (dwarf_getsrcdirs(files, &directories, &count) || !count || !directories[0])
        return path;
    struct trail_text own = trail_text_of(directories[0]);
    const char *rest = below(path, own);
    for (size_t i = 1; rest && i < count; i++) {
        struct trail_text other = trail_text_of(directories[i]);
        if (other.size > own.size && below(path, other))
            return path; /* it came with a directory of its own */
    }
    return rest ? rest : path;
}

/* The name as it was given to the compiler. Where the unit was named by a relative
 * path, so was what lies below its directory; libdw has joined the two. */
static const char *given_name(const struct lines *lines, const char *path)
{
    if (path[0] != '/')
        return without_relative(lines->files, path);
    const char *rest = lines->is_relative ? below(path, lines->directory) : NULL;
    return rest ? rest : path;
}

static const char *file_name(const struct lines *lines, uint32_t file)
{
    if (file >= lines->file_count)
        return NULL;
    const char *path = dwarf_filesrc(lines->files, file, NULL, NULL);
    return path ? given_name(lines, path) : NULL;
}

bool lines_find(const struct lines *lines, uint64_t address, struct place *place_ret)
{
    const struct row *row = rows_find(&lines->rows, address);
    if (!row)
        return false;
    *place_ret = (struct place){ file_name(lines, row->file), row->line, row->column,
                                 row->discriminator };
    return true;
}

/* 0: none, or out of bounds. */
static uint32_t number_attribute(Dwarf_Die *die, unsigned int name, bool *found)
{
    Dwarf_Attribute held;
    Dwarf_Word number = 0;
    *found = dwarf_formudata(dwarf_attr(die, name, &held), &number) == 0 &&
             number <= INT32_MAX;
    return *found ? (uint32_t)number : 0;
}

struct place lines_call_place(const struct lines *lines, Dwarf_Die *die)
{
    bool found;
    struct place place = { 0 };
    place.line = number_attribute(die, DW_AT_call_line, &found);
    place.column = number_attribute(die, DW_AT_call_column, &found);
    place.discriminator = number_attribute(die, AT_GNU_DISCRIMINATOR, &found);
    uint32_t file = number_attribute(die, DW_AT_call_file, &found);
    if (found)
        place.file = file_name(lines, file);
    return place;
}
