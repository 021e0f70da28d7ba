/* opened.h -- the debug information of a fixture, opened by plugins/dwarf. */
#ifndef TEST_DWARF_OPENED_H
#define TEST_DWARF_OPENED_H

#include "plugins/dwarf/dwarf.h"
#include "plugins/elf/sections.h"
#include "symbolize/elf_files.h"

struct opened {
    struct elf_files *files;
    struct sections sections, alt_sections;
    struct dwarf_input input;
    struct dwarf_range code[64];
    struct dwarf *dwarf;
};

static inline void opened_take(struct sections *sections, const struct binary *binary,
                               struct dwarf_file *file)
{
    struct section_bytes bytes[DWARF_SECTIONS];
    assert_ok(
        sections_read(sections, binary, dwarf_section_names, DWARF_SECTIONS, bytes));
    for (size_t i = 0; i < DWARF_SECTIONS; i++)
        file->sections[i] = (struct dwarf_bytes){ bytes[i].at, bytes[i].size };
}

/* Reads the sections; opened_start() goes on. A fixture without units is closed again:
 * false. */
static inline bool opened_read(struct opened *opened, const char *fixture)
{
    *opened = (struct opened){ .files = elf_files_open(fixture) };
    const struct files *files = &opened->files->files;
    const struct spans *spans = &opened->files->code.spans;
    if (!files->with_units) {
        elf_files_close(opened->files);
        return false;
    }
    opened_take(&opened->sections, files->with_units, &opened->input.main);
    assert_true(spans->count <= 64);
    for (size_t i = 0; i < spans->count; i++)
        opened->code[i] = (struct dwarf_range){ spans->at[i].start, spans->at[i].end };
    opened->input.code = opened->code;
    opened->input.code_count = spans->count;
    opened->input.is_big_endian = files->main.is_big_endian;
    return true;
}

static inline void opened_start(struct opened *opened)
{
    struct trail_error err = { "" };
    dwarf_close(opened->dwarf);
    opened->dwarf = NULL;
    assert_ok_err(dwarf_open(&opened->input, &opened->dwarf, &err), err);
}

static inline void opened_close(struct opened *opened)
{
    dwarf_close(opened->dwarf);
    sections_deinit(&opened->sections);
    elf_files_close(opened->files);
}

#endif
