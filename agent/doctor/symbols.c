/* symbols.c -- whether a module's functions have names, and who knows them. */
#include "agent/doctor/doctor.h"

#include <stdlib.h>

/* ---- the debug file ----------------------------------------------------- */

/* Name and CRC of .gnu_debuglink: a terminated name, padded to four bytes, the CRC. */
static bool debug_link(const struct trail_elf *elf, struct trail_want *want)
{
    struct trail_text link;
    if (!trail_elf_section(elf, ".gnu_debuglink", &link))
        return false;
    const char *end = memchr(link.data, 0, link.size);
    if (!end || end == link.data)
        return false;
    size_t at = ((size_t)(end - link.data) + 4) & ~(size_t)3;
    if (at > link.size || link.size - at < 4)
        return false;
    const uint8_t *crc = (const uint8_t *)link.data + at;
    want->name = (struct trail_text){ link.data, (size_t)(end - link.data) };
    want->has_crc = 1;
    for (size_t i = 0; i < 4; i++)
        want->crc = want->crc << 8 | crc[elf->little ? 3 - i : i];
    return true;
}

void doctor_find_debug(struct doctor_module *module)
{
    const struct trail_routes *routes = &module->session->routes;
    const struct trail_target *target = &module->file.target;
    const char *const *layouts =
        module->reader ? module->reader->symbolizer->layouts : NULL;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_DEBUG,
                               .id = target->module.id };
    struct trail_symbol_file *found = NULL;
    struct trail_search elsewhere = { .mismatch = false };
    enum trail_status status =
        trail_routes_directories(routes, target, layouts, &module->search, &found);
    if (status && (debug_link(&module->file.elf, &want) || want.id.size))
        status =
            trail_routes_companion(routes, target, layouts, &want, &elsewhere, &found);
    if (!module->search.mismatch)
        module->search = elsewhere;
    if (!status &&
        trail_elf_parse(found->file.bytes, found->file.size, &module->debug_elf))
        module->debug = found;
    else
        trail_symbol_file_close(found);
}

/* ---- functions ---------------------------------------------------------- */

static int by_address(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static size_t sort_unique(uint64_t *at, size_t count)
{
    size_t kept = 0;
    if (count)
        qsort(at, count, sizeof(*at), by_address);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || at[kept - 1] != at[i])
            at[kept++] = at[i];
    return kept;
}

/* Whether the symbol is a function; of assembler code, whether it may well be one. */
static bool is_counted(const struct trail_elf *elf,
                       const struct trail_elf_symbol *symbol, bool labels)
{
    if (!labels)
        return symbol->type == TRAIL_ELF_FUNCTION && symbol->section && symbol->size;
    if (symbol->type != TRAIL_ELF_NOTYPE || symbol->section == 0 ||
        symbol->section >= elf->shnum || symbol->name.size == 0 ||
        symbol->name.data[0] == '$')
        return false;
    struct trail_elf_section section = trail_elf_section_at(elf, symbol->section);
    return (section.flags & TRAIL_ELF_CODE) != 0;
}

static struct doctor_functions functions_of(const struct trail_elf *elf, uint32_t type,
                                            bool labels)
{
    struct trail_elf_symbols symbols;
    struct doctor_functions functions = { NULL, 0 };
    uint64_t thumb = trail_elf_arch(elf) == TRAIL_ARCH_ARM ? 1 : 0;
    if (!trail_elf_symbols(elf, type, &symbols))
        return functions;
    functions.at = calloc(symbols.count + 1, sizeof(*functions.at));
    for (size_t i = 0; functions.at && i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        if (is_counted(elf, &symbol, labels))
            functions.at[functions.count++] = symbol.value & ~thumb;
    }
    functions.count = sort_unique(functions.at, functions.count);
    return functions;
}

void doctor_list_functions(struct doctor_module *module)
{
    const struct trail_elf *main = &module->file.elf;
    const struct {
        const struct trail_elf *elf;
        uint32_t type;
        bool labels;
        const char *source;
    } tables[] = {
        { main, TRAIL_ELF_SYMTAB, false, ".symtab" },
        { module->debug ? &module->debug_elf : NULL, TRAIL_ELF_SYMTAB, false,
          "the debug file" },
        { main, TRAIL_ELF_DYNSYM, false, ".dynsym" },
        { main, TRAIL_ELF_SYMTAB, true, "labels" },
    };
    module->function_source = "";
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        if (!tables[i].elf)
            continue;
        struct doctor_functions functions =
            functions_of(tables[i].elf, tables[i].type, tables[i].labels);
        if (functions.count) {
            module->functions = functions;
            module->function_source = tables[i].source;
            module->labels = tables[i].labels;
            return;
        }
        free(functions.at);
    }
}

/* ---- asking ------------------------------------------------------------- */

/* Addresses spread over the module: of functions, or of what .eh_frame covers. */
static size_t pick(const struct doctor_module *module, uint64_t *to)
{
    const struct doctor_functions *functions = &module->functions;
    struct cfi_facts facts = { .count = 0 };
    struct trail_cfi cfi;
    size_t count = functions->count;
    if (count == 0 && cfi_of_eh_frame(&module->file.elf, &cfi) &&
        cfi_facts_gather(&module->file.elf, &cfi, &facts))
        count = facts.range_count;
    size_t wanted = count < DOCTOR_SAMPLE ? count : DOCTOR_SAMPLE;
    for (size_t i = 0; i < wanted; i++) {
        size_t index = i * count / wanted;
        to[i] = functions->count ? functions->at[index] : facts.ranges[index].start;
    }
    cfi_facts_deinit(&facts);
    return wanted;
}

/* An answer that is better than those before it says who answers. */
static void take_answer(struct doctor_sample *sample, const struct trail_answer *answer,
                        uint32_t *best)
{
    bool lines = false;
    for (uint32_t i = 0; i < answer->frame_count; i++)
        lines = lines || answer->frames[i].line != 0;
    sample->named += answer->frame_count > 0;
    sample->with_lines += lines;
    if (answer->rank <= *best)
        return;
    *best = answer->rank;
    sample->plugin = answer->plugin;
    sample->route = answer->route;
    snprintf(sample->source, sizeof(sample->source), "%s", answer->source);
}

void doctor_ask_sample(struct doctor_module *module)
{
    uint64_t addresses[DOCTOR_SAMPLE];
    struct trail_answer answers[DOCTOR_SAMPLE];
    struct trail_gap gap;
    struct trail_arena arena = { 0 };
    struct doctor_sample *sample = &module->sample;
    uint32_t best = 0;
    sample->asked = pick(module, addresses);
    if (module->session->resolver && sample->asked &&
        !trail_resolver_lookup(module->session->resolver, &module->file.target,
                               addresses, sample->asked, 0, &arena, answers, &gap)) {
        for (size_t i = 0; i < sample->asked; i++)
            take_answer(sample, &answers[i], &best);
        sample->mismatch = gap.reason && strcmp(gap.reason, "id_mismatch") == 0;
        if (gap.reason)
            snprintf(sample->gap, sizeof(sample->gap), "%s", gap.detail);
    }
    trail_arena_deinit(&arena);
}

/* ---- findings ----------------------------------------------------------- */

static void check_mismatch(const struct doctor_module *module)
{
    if (module->search.mismatch && !module->debug)
        doctor_note(module->report, DOCTOR_WARN, "debug file",
                    "install the debug file of this very build", "%s",
                    module->search.detail);
}

void doctor_check_symbols(struct doctor_module *module)
{
    const char *source = module->function_source;
    size_t count = module->functions.count;
    struct trail_elf_section mini;
    bool has_mini = trail_elf_section_named(&module->file.elf, ".gnu_debugdata", &mini);
    check_mismatch(module);
    if (strcmp(source, ".symtab") == 0)
        doctor_note(module->report, DOCTOR_OK, "symbols", NULL, "%zu functions", count);
    else if (strcmp(source, "the debug file") == 0)
        doctor_note(module->report, DOCTOR_OK, "symbols", NULL,
                    "stripped; %zu functions in %s", count, module->debug->path);
    else if (has_mini)
        doctor_note(module->report, DOCTOR_OK, "symbols", NULL,
                    "stripped; .dynsym and .gnu_debugdata name its functions");
    else if (module->file.target.module.flags & TRAIL_MODULE_VDSO)
        doctor_note(module->report, DOCTOR_OK, "symbols", NULL,
                    "%zu functions, as the kernel exports them", count);
    else if (module->labels)
        doctor_note(module->report, DOCTOR_WARN, "symbols",
                    "declare functions in assembler code: .type NAME, @function; "
                    ".size NAME, .-NAME",
                    "%zu labels, none of them declared to be a function", count);
    else if (module->sample.named)
        doctor_note(module->report, DOCTOR_WARN, "symbols", DOCTOR_DEBUG_PACKAGE,
                    "stripped; only the %zu functions that it exports have names",
                    count);
    else if (count)
        doctor_note(module->report, DOCTOR_BAD, "symbols",
                    "see what the line \"reader\" says",
                    "%zu functions, but no symbolizer names them", count);
    else
        doctor_note(module->report, DOCTOR_BAD, "symbols",
                    "link without -s, or " DOCTOR_DEBUG_PACKAGE,
                    "stripped of all: frames will be addresses only");
}
