/* file.c -- one file or image, examined from top to bottom. */
#include "agent/doctor/doctor.h"

#include <stdlib.h>

#include "core/trace/cfi_reader.h"

static const char *arch_name(uint32_t arch)
{
    static const char *const names[] = {
        "an unknown machine", "x86-64", "x86",     "AArch64",    "ARM",
        "RISC-V 64",          "s390x",  "PowerPC", "PowerPC 64", "wasm32"
    };
    return arch < sizeof(names) / sizeof(names[0]) ? names[arch] : names[0];
}

static const char *format_name(uint32_t format)
{
    static const char *const names[] = { "unknown", "ELF",         "Mach-O",
                                         "PE",      "WebAssembly", "JIT" };
    return format < sizeof(names) / sizeof(names[0]) ? names[format] : names[0];
}

static const char not_a_module[] = "give a program, a library or a process id";

/* The linker's own word on whether a position-independent file is a program: DF_1_PIE
 * in DT_FLAGS_1. */
static bool is_pie(const struct trail_elf *elf)
{
    struct trail_elf_segment dynamic;
    struct trail_text bytes;
    if (!trail_elf_segment_of(elf, TRAIL_ELF_DYNAMIC_SEGMENT, &dynamic) ||
        dynamic.file_size > SIZE_MAX ||
        !trail_elf_at(elf, dynamic.address, (size_t)dynamic.file_size, &bytes))
        return false;
    struct trail_cfi_reader reader = { .bytes = (const uint8_t *)bytes.data,
                                       .end = bytes.size,
                                       .little = elf->little };
    size_t width = elf->is64 ? 8 : 4;
    while (!reader.bad) {
        uint64_t tag = trail_cfi_fixed(&reader, width);
        uint64_t value = trail_cfi_fixed(&reader, width);
        if (tag == 0x6ffffffb)
            return !reader.bad && value & 0x08000000;
    }
    return false;
}

/* What an ELF file is to its loader. */
static const char *kind_name(const struct trail_elf *elf)
{
    struct trail_elf_segment segment;
    bool interpreted = trail_elf_segment_of(elf, TRAIL_ELF_INTERPRETER, &segment);
    switch (elf->type) {
    case TRAIL_ELF_RELOCATABLE:
        return "object file, not linked";
    case TRAIL_ELF_EXECUTABLE:
        return interpreted ? "program at a fixed address, linked dynamically"
                           : "program at a fixed address, linked statically";
    case TRAIL_ELF_DYNAMIC:
        if (!is_pie(elf))
            return "shared object";
        return interpreted ? "position-independent program, linked dynamically"
                           : "position-independent program, linked statically";
    case TRAIL_ELF_CORE:
        return "core file";
    default:
        return "of an unknown type";
    }
}

static const char *kind_remedy(const struct trail_elf *elf)
{
    if (elf->type == TRAIL_ELF_RELOCATABLE)
        return "give the program, library or kernel that it is linked into";
    if (elf->type == TRAIL_ELF_CORE)
        return "give the program that it is of";
    return not_a_module;
}

static bool check_kind(struct doctor_module *module)
{
    const struct trail_module *known = &module->file.target.module;
    const struct trail_elf *elf = &module->file.elf;
    if (!module->file.is_elf) {
        doctor_note(module->report, DOCTOR_OK, "file", NULL, "%s",
                    format_name(known->format));
        return false;
    }
    bool linked = elf->type == TRAIL_ELF_EXECUTABLE || elf->type == TRAIL_ELF_DYNAMIC;
    doctor_note(module->report, linked ? DOCTOR_OK : DOCTOR_BAD, "file",
                linked ? NULL : kind_remedy(elf), "ELF, %s, %s-bit, %s-endian; %s",
                arch_name(known->arch), elf->is64 ? "64" : "32",
                elf->little ? "little" : "big", kind_name(elf));
    return linked;
}

static void check_id(struct doctor_module *module)
{
    if (module->file.id_hex[0])
        doctor_note(module->report, DOCTOR_OK, "build id", NULL, "%s",
                    module->file.id_hex);
    else
        doctor_note(module->report, DOCTOR_WARN, "build id", "link with -Wl,--build-id",
                    "none: nothing proves which debug file belongs to it");
}

/* ---- the symbolizers ---------------------------------------------------- */

static bool is_ready(const struct trail_plugin *plugin)
{
    return plugin->symbolizer && (plugin->state == TRAIL_PLUGIN_LOADED ||
                                  plugin->state == TRAIL_PLUGIN_BUILT_IN);
}

static void find_reader(struct doctor_module *module)
{
    struct trail_registry *registry = module->session->registry;
    for (size_t i = 0; registry && i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (!module->reader && is_ready(plugin) &&
            plugin->symbolizer->reads(&module->file.target.module))
            module->reader = plugin;
    }
}

/* One symbolizer that was refused may be the one that is missing. */
static const char *refused_reason(const struct doctor_module *module)
{
    struct trail_registry *registry = module->session->registry;
    for (size_t i = 0; registry && i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        if (plugin->state == TRAIL_PLUGIN_REFUSED && plugin->reason[0])
            return plugin->reason;
    }
    return "";
}

static void check_reader(struct doctor_module *module)
{
    const struct doctor_sample *sample = &module->sample;
    struct doctor_report *report = module->report;
    if (!module->reader)
        doctor_note(report, DOCTOR_BAD, "reader",
                    "add one that does to \"symbolizers\" in the config; 'backtrail "
                    "plugins' lists them",
                    "no symbolizer reads %s files%s%s",
                    format_name(module->file.target.module.format),
                    refused_reason(module)[0] ? "; refused: " : "",
                    refused_reason(module));
    else if (sample->plugin)
        doctor_note(report, DOCTOR_OK, "reader", NULL, "%s %s", sample->plugin->name,
                    sample->plugin->release);
    else if (sample->asked)
        doctor_note(report, DOCTOR_WARN, "reader", NULL, "%s, which knows nothing: %s",
                    module->reader->name,
                    sample->gap[0] ? sample->gap : "it gave no reason");
    else
        doctor_note(report, DOCTOR_OK, "reader", NULL, "%s", module->reader->name);
}

/* ---- all of it ---------------------------------------------------------- */

static bool has_code(const struct trail_elf *elf)
{
    for (uint32_t i = 0; i < elf->phnum; i++) {
        struct trail_elf_segment segment = trail_elf_segment_at(elf, i);
        if (segment.type == TRAIL_ELF_LOAD && segment.flags & TRAIL_ELF_EXECUTE &&
            segment.memory_size)
            return true;
    }
    return false;
}

static void examine(struct doctor_module *module)
{
    bool linked = check_kind(module);
    find_reader(module);
    if (!linked) {
        check_reader(module);
        return;
    }
    check_id(module);
    if (!has_code(&module->file.elf)) {
        doctor_note(module->report, DOCTOR_OK, "code", NULL,
                    "none: no frame can lie in it");
        return;
    }
    doctor_find_debug(module);
    doctor_list_functions(module);
    doctor_ask_sample(module);
    check_reader(module);
    doctor_check_symbols(module);
    doctor_check_debug(module);
    doctor_check_unwind(module);
}

static void release(struct doctor_module *module)
{
    free(module->functions.at);
    trail_symbol_file_close(module->debug);
    module_file_close(&module->file);
}

/* A file that is no module may still be something that people run. */
static void note_unreadable(struct doctor_report *report, const char *path,
                            const char *why)
{
    struct trail_os_file file = { .fd = -1 };
    const char *remedy = not_a_module;
    bool mapped = !trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file, NULL);
    if (mapped && file.size >= 2 && memcmp(file.bytes, "#!", 2) == 0)
        remedy = "a script has no code of its own: give its interpreter, or a process";
    else if (mapped && file.size >= 4 &&
             memcmp(file.bytes,
                    "\x7f"
                    "ELF",
                    4) == 0)
        remedy = NULL; /* damaged: `why` says what to do */
    doctor_note(report, DOCTOR_BAD, "file", remedy, "%s", why);
    if (mapped)
        trail_os_file_close(&file);
}

void doctor_examine_file(const struct doctor_session *session, const char *path,
                         const char *name, struct doctor_report *report)
{
    struct doctor_module module = { .session = session, .report = report };
    struct trail_error err = { "" };
    snprintf(report->subject, sizeof(report->subject), "%s", name);
    if (module_file_open(path, name, &module.file, &err)) {
        note_unreadable(report, path, err.text);
        return;
    }
    examine(&module);
    release(&module);
}

void doctor_examine_memory(const struct doctor_session *session, const uint8_t *bytes,
                           size_t size, const char *name, struct doctor_report *report)
{
    struct doctor_module module = { .session = session, .report = report };
    struct trail_error err = { "" };
    snprintf(report->subject, sizeof(report->subject), "%s", name);
    if (module_file_memory(bytes, size, name, &module.file, &err)) {
        doctor_note(report, DOCTOR_BAD, "file", NULL, "%s", err.text);
        return;
    }
    examine(&module);
    release(&module);
}
