/* fuzz_dwarf.c -- any bytes as the sections of debug information: addresses are
 * resolved cold and warm, all is enumerated, and what is told has its order.
 *
 * Input, little-endian: a byte of flags, the start (8 bytes) and size (4) of the code,
 * then for each section of the main file and of a second one its size (3 bytes), then
 * the sections. tests/fuzz/dwarf_seeds.py makes such files of ELF files.
 */
#include <stdlib.h>

#include "plugins/dwarf/bytes.h"
#include "plugins/dwarf/dwarf.h"

enum flags {
    IS_BIG_ENDIAN = 1,
    SECOND_IS_ALT = 2,
    SECOND_IS_PACKAGE = 4,
    SECOND_IS_DWO = 8,
};

/* Bytes of code. Two stretches of painting (flatten.c) would be more; but what a unit
 * claims is walked byte by byte, and few inputs a second find little. */
#define CODE_MAX 0xffff

#define HEAD_SIZE (13 + 2 * DWARF_SECTIONS * 3)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take_sections(const uint8_t *sizes, const uint8_t **at, const uint8_t *end,
                          struct dwarf_file *file)
{
    for (size_t i = 0; i < DWARF_SECTIONS; i++) {
        size_t size = (size_t)bytes_number(sizes + i * 3, 3, false);
        if (size > bytes_left(*at, end))
            size = bytes_left(*at, end);
        file->sections[i] = (struct dwarf_bytes){ *at, size };
        *at += size;
    }
}

static bool find_dwo(void *arg, struct trail_text name, struct trail_text directory,
                     uint64_t id, struct dwarf_file *file_ret)
{
    (void)name, (void)directory, (void)id;
    *file_ret = *(const struct dwarf_file *)arg;
    return file_ret->sections[DWARF_INFO].size != 0;
}

/* ---- what is told --------------------------------------------------------------- */

static void check_frames(struct dwarf *dwarf, const struct origin_frame *frames,
                         uint32_t count)
{
    struct dwarf_function function;
    struct dwarf_source source;
    if (!count || count > ORIGIN_CHAIN_MAX)
        abort();
    for (uint32_t i = 0; i < count; i++) {
        if (frames[i].function &&
            dwarf_function_of(dwarf, frames[i].function, &function) && !function.name &&
            !function.linkage)
            abort();
        if (frames[i].file && dwarf_source_of(dwarf, frames[i].file, &source) &&
            strlen(source.path) > UINT32_MAX)
            abort();
    }
}

static enum trail_status on_chain(void *arg, size_t index,
                                  const struct dwarf_chain *chain)
{
    (void)index;
    check_frames(arg, chain->frames, chain->count);
    return TRAIL_OK;
}

/* The ids that were sent so far. */
struct sent {
    uint32_t files, functions, scopes;
};

static enum trail_status on_file(void *arg, uint32_t id, struct trail_text file,
                                 struct trail_text directory)
{
    struct sent *sent = arg;
    (void)file, (void)directory;
    if (id != ++sent->files)
        abort();
    return TRAIL_OK;
}

static enum trail_status on_function(void *arg, uint32_t id, struct trail_text name,
                                     struct trail_text linkage, uint64_t start,
                                     uint64_t bytes)
{
    struct sent *sent = arg;
    (void)start;
    /* One without a name has no place: it stands for a half that is missing. */
    if (id != ++sent->functions || (!name.data && !linkage.data && bytes))
        abort();
    return TRAIL_OK;
}

static enum trail_status on_scope(void *arg, uint32_t id, uint32_t parent,
                                  uint32_t function, uint32_t file, uint32_t line,
                                  uint32_t column)
{
    struct sent *sent = arg;
    (void)line, (void)column;
    if (id != ++sent->scopes || parent >= id || function > sent->functions ||
        file > sent->files)
        abort();
    return TRAIL_OK;
}

static enum trail_status on_range(void *arg, uint64_t start, uint64_t end,
                                  uint32_t scope, uint32_t file, uint32_t line,
                                  uint32_t column)
{
    const struct sent *sent = arg;
    (void)line, (void)column;
    if (start >= end || scope > sent->scopes || file > sent->files)
        abort();
    return TRAIL_OK;
}

static enum trail_status on_call(void *arg, uint64_t return_address, uint64_t target,
                                 struct trail_text linkage, int tail)
{
    (void)arg, (void)return_address, (void)tail;
    if (!target && !linkage.size && !linkage.data)
        abort();
    return TRAIL_OK;
}

static void enumerate(struct dwarf *dwarf)
{
    for (uint32_t part = 0; part < 2; part++) {
        struct sent sent = { 0, 0, 0 };
        struct trail_map_out out = { .size = sizeof(out),
                                     .arg = &sent,
                                     .file = on_file,
                                     .function = on_function,
                                     .scope = on_scope,
                                     .range = on_range,
                                     .call = on_call };
        dwarf_enumerate(dwarf, NULL, part, 2, &out);
    }
}

/* ---- the questions --------------------------------------------------------------- */

#define QUESTIONS 32

static void ask(struct dwarf *dwarf, const struct dwarf_range *code)
{
    static struct origin_frame frames[ORIGIN_CHAIN_MAX];
    uint64_t addresses[QUESTIONS];
    struct sent sent = { 0, 0, 0 };
    struct trail_map_out out = { .size = sizeof(out), .arg = &sent, .call = on_call };
    uint64_t step = (code->end - code->start) / QUESTIONS + 1;
    for (size_t i = 0; i < QUESTIONS; i++)
        addresses[i] = code->start + i * step;
    dwarf_resolve(dwarf, NULL, addresses, 1, on_chain, dwarf);
    for (size_t i = 0; i < 4; i++) /* cold at first, then warm */
        dwarf_resolve(dwarf, NULL, addresses, QUESTIONS, on_chain, dwarf);
    for (size_t i = 0; i < QUESTIONS; i++) {
        uint32_t count = dwarf_lookup(dwarf, addresses[i], frames);
        if (count)
            check_frames(dwarf, frames, count);
    }
    dwarf_calls(dwarf, NULL, addresses, 4, &out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD_SIZE)
        return 0;
    struct dwarf_range code = { .start = bytes_u64(data + 1, false) };
    code.end = code.start + (bytes_u32(data + 9, false) & CODE_MAX);
    struct dwarf_file second;
    struct dwarf_input input = {
        .is_big_endian = data[0] & IS_BIG_ENDIAN,
        .code = &code,
        .code_count = code.end > code.start,
        .arg = &second,
    };
    const uint8_t *at = data + HEAD_SIZE, *end = data + size;
    take_sections(data + 13, &at, end, &input.main);
    take_sections(data + 13 + DWARF_SECTIONS * 3, &at, end, &second);
    if (data[0] & SECOND_IS_ALT)
        input.alt = second;
    if (data[0] & SECOND_IS_PACKAGE)
        input.package = second;
    if (data[0] & SECOND_IS_DWO)
        input.find_dwo = find_dwo;
    struct dwarf *dwarf;
    if (dwarf_open(&input, &dwarf, NULL))
        return 0;
    ask(dwarf, &code);
    enumerate(dwarf);
    dwarf_close(dwarf);
    return 0;
}
