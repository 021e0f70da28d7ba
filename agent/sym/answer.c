/* answer.c -- what is known of one symbol. */
#include "agent/sym/sym.h"

#include <inttypes.h>

#include "agent/resolve/style.h"

#define EXTENT_LIMIT                                                                   \
    4096u /* bytes of a symbol that has no size, and nothing after it */

/* Room that a symbol without a size has: up to the next one, or its section's end. */
static uint64_t room_of(const struct module_file *module, uint64_t start)
{
    struct trail_elf_section section;
    struct trail_elf_symbols symbols;
    const struct trail_elf *elf = &module->elf;
    if (!module->is_elf || !trail_elf_section_of(elf, start, &section))
        return 0;
    uint64_t end = section.address + section.size;
    if (end - start > EXTENT_LIMIT)
        end = start + EXTENT_LIMIT;
    if (!trail_elf_symbols(elf, TRAIL_ELF_SYMTAB, &symbols) &&
        !trail_elf_symbols(elf, TRAIL_ELF_DYNSYM, &symbols))
        return end - start;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        bool mapping = symbol.name.size && symbol.name.data[0] == '$';
        if (symbol.section && !mapping && symbol.value > start && symbol.value < end)
            end = symbol.value;
    }
    return end - start;
}

static bool has_symbols(const struct module_file *module)
{
    struct trail_elf_symbols symbols;
    return module->is_elf &&
           ((trail_elf_symbols(&module->elf, TRAIL_ELF_SYMTAB, &symbols) &&
             symbols.count > 1) ||
            (trail_elf_symbols(&module->elf, TRAIL_ELF_DYNSYM, &symbols) &&
             symbols.count > 1));
}

static enum trail_status nothing_known(const struct module_file *module,
                                       uint64_t address, const struct trail_gap *gap,
                                       struct trail_error *err)
{
    const struct trail_module *known = &module->target.module;
    const char *path = module->path;
    if (known->link_end && (address < known->link_start || address >= known->link_end))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: 0x%" PRIx64 " lies outside of it: it has 0x%" PRIx64
                          " to 0x%" PRIx64,
                          path, address, known->link_start, known->link_end - 1);
    bool unknown = gap->reason && strcmp(gap->reason, "no_symbol") == 0;
    if (unknown && !has_symbols(module))
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "%s: no symbol covers 0x%" PRIx64 ", and the file itself has "
                          "none; give its debug file with --symbols DIR",
                          path, address);
    return trail_fail(err, TRAIL_NOT_FOUND, "%s: 0x%" PRIx64 ": %s; %s", path, address,
                      gap->reason ? gap->detail : "no function covers the address",
                      gap->reason ? gap->remedy : "it may be padding between two");
}

static enum trail_status lookup(const struct sym_session *session,
                                struct sym_answer *answer, uint64_t address,
                                struct trail_answer *at, struct trail_gap *gap,
                                struct trail_error *err)
{
    unsigned flags = session->options->mangled ? TRAIL_LOOKUP_MANGLED : 0;
    if (trail_resolver_lookup(session->resolver, &answer->module->target, &address, 1,
                              flags, &answer->arena, at, gap))
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    return TRAIL_OK;
}

/* The frame of the symbol itself, which others are inlined into. NULL: nobody knows
 * one; padding may have a line all the same. */
static const struct trail_named *symbol_of(const struct trail_answer *at)
{
    const struct trail_named *outermost =
        at->frame_count ? &at->frames[at->frame_count - 1] : NULL;
    return outermost && outermost->function[0] ? outermost : NULL;
}

static void describe(struct sym_answer *answer)
{
    const struct trail_named *symbol = symbol_of(&answer->at);
    answer->symbol = symbol;
    answer->start = symbol->function_start;
    answer->size = symbol->function_size;
    answer->extent =
        answer->size ? answer->size : room_of(answer->module, answer->start);
    if (answer->module->id_hex[0])
        snprintf(answer->id, sizeof(answer->id), "%s+0x%" PRIx64,
                 answer->module->id_hex, answer->start);
}

enum trail_status sym_answer_get(const struct sym_session *session,
                                 const struct sym_module *module, uint64_t asked,
                                 struct sym_answer *answer_ret, struct trail_error *err)
{
    struct trail_gap gap;
    struct sym_answer answer = { .module = &module->file,
                                 .code = module->apart ? &module->code : &module->file,
                                 .asked = asked,
                                 .address = asked };
    if (session->options->return_address && asked)
        answer.address--;
    enum trail_status status =
        lookup(session, &answer, answer.address, &answer.at, &gap, err);
    if (!status && !symbol_of(&answer.at))
        status = nothing_known(answer.module, answer.asked, &gap, err);
    if (!status) {
        describe(&answer);
        status = lookup(session, &answer, answer.start, &answer.first, &gap, err);
    }
    if (status) {
        trail_arena_deinit(&answer.arena);
        return status;
    }
    *answer_ret = answer;
    return TRAIL_OK;
}

void sym_answer_release(struct sym_answer *answer)
{
    trail_arena_deinit(&answer->arena);
}

bool sym_name_at(const struct sym_session *session, const struct module_file *module,
                 uint64_t address, char *name_ret, size_t size)
{
    struct sym_answer answer = { .module = module };
    struct trail_gap gap;
    const struct trail_named *symbol = NULL;
    if (!lookup(session, &answer, address, &answer.at, &gap, NULL))
        symbol = symbol_of(&answer.at);
    if (symbol) {
        uint64_t offset = address - symbol->function_start;
        if (offset)
            snprintf(name_ret, size, "%s+0x%" PRIx64, symbol->function, offset);
        else
            snprintf(name_ret, size, "%s", symbol->function);
    }
    trail_arena_deinit(&answer.arena);
    return symbol != NULL;
}

void sym_place(const struct trail_named *named, char *place_ret, size_t size)
{
    char path[STYLE_PATH_SIZE];
    place_ret[0] = 0;
    if (!named->file[0])
        return;
    style_join_path(named, path, sizeof(path));
    if (named->column)
        snprintf(place_ret, size, "%s:%" PRIu32 ":%" PRIu32, path, named->line,
                 named->column);
    else if (named->line)
        snprintf(place_ret, size, "%s:%" PRIu32, path, named->line);
    else
        snprintf(place_ret, size, "%s", path);
}
