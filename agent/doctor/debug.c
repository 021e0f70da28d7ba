/* debug.c -- whether a module's lines are known, and if not, what is missing. */
#include "agent/doctor/doctor.h"

static const char install[] = "compile with -g, " DOCTOR_DEBUG_PACKAGE;

/* The file that has the debug information; NULL: none has. */
static const struct trail_elf *with_debug_info(const struct doctor_module *module,
                                               struct trail_elf_section *section_ret)
{
    const struct trail_elf *files[] = { &module->file.elf,
                                        module->debug ? &module->debug_elf : NULL };
    static const char *const names[] = { ".debug_info", ".zdebug_info" };
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; files[i] && k < 2; k++)
            if (trail_elf_section_named(files[i], names[k], section_ret) &&
                section_ret->type != TRAIL_ELF_NOBITS)
                return files[i];
    return NULL;
}

/* How a section is packed: "zlib", "zstd"; "" if it is not. ELFxx_Chdr begins with a
 * number for it (gABI, "Section Compression"). */
static const char *packing_of(const struct trail_elf *elf,
                              const struct trail_elf_section *section)
{
    struct trail_text bytes;
    if (section->name.size > 2 && memcmp(section->name.data, ".z", 2) == 0)
        return "zlib (.zdebug)";
    if (!(section->flags & TRAIL_ELF_COMPRESSED) ||
        !trail_elf_contents(elf, section, &bytes) || bytes.size < 4)
        return "";
    switch (bytes.data[elf->little ? 0 : 3]) {
    case 1:
        return "zlib";
    case 2:
        return "zstd";
    default:
        return "an unknown method";
    }
}

static void check_packing(struct doctor_module *module, const struct trail_elf *elf,
                          const struct trail_elf_section *section)
{
    const char *packing = packing_of(elf, section);
    if (!packing[0])
        return;
    if (module->sample.with_lines)
        doctor_note(module->report, DOCTOR_OK, "compression", NULL,
                    "debug sections are packed with %s, and were read", packing);
    else
        doctor_note(module->report, DOCTOR_WARN, "compression",
                    "objcopy --decompress-debug-sections FILE",
                    "debug sections are packed with %s, and %s did not read them",
                    packing, module->reader ? module->reader->name : "nobody");
}

/* ---- dwz files ---------------------------------------------------------- */

/* .gnu_debugaltlink: a terminated name, and the id of the file. */
static void check_alt(struct doctor_module *module, const struct trail_elf *elf)
{
    struct trail_text link;
    struct trail_symbol_file *found = NULL;
    struct trail_search search = { .mismatch = false };
    if (!trail_elf_section(elf, ".gnu_debugaltlink", &link))
        return;
    const char *end = memchr(link.data, 0, link.size);
    size_t name_size = end ? (size_t)(end - link.data) : link.size;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_ALT,
                               .name = { link.data, name_size } };
    if (end)
        want.id = (struct trail_text){ end + 1, link.size - name_size - 1 };
    if (module->debug && elf == &module->debug_elf)
        want.from = &module->debug->source;
    enum trail_status status = trail_routes_companion(
        &module->session->routes, &module->file.target,
        module->reader ? module->reader->symbolizer->layouts : NULL, &want, &search,
        &found);
    if (!status)
        doctor_note(module->report, DOCTOR_OK, "dwz file", NULL, "%s (%s)", found->path,
                    trail_route_name(found->source.route));
    else
        doctor_note(module->report, DOCTOR_WARN, "dwz file",
                    "install the debug package that has it, or give its directory with "
                    "--symbols DIR",
                    "%.*s: %s", (int)(name_size < 512 ? name_size : 512), link.data,
                    search.mismatch ? search.detail : "is not there");
    trail_symbol_file_close(found);
}

/* ---- split debug information -------------------------------------------- */

static void directory_of(const char *path, char *directory_ret, size_t size)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        snprintf(directory_ret, size, ".");
    else
        snprintf(directory_ret, size, "%.*s", (int)(slash - path), path);
}

static void check_split(struct doctor_module *module, const struct trail_elf *elf)
{
    char directory[1024], packed[1100];
    struct doctor_split split;
    struct trail_os_stat stat;
    const char *path = module->file.target.path;
    directory_of(path, directory, sizeof(directory));
    if (!doctor_split_read(elf, directory, &split))
        return;
    snprintf(packed, sizeof(packed), "%s.dwp", path);
    bool has_package = trail_os_stat_path(packed, &stat, NULL) == TRAIL_OK;
    if (has_package && module->sample.with_lines == 0)
        doctor_note(module->report, DOCTOR_WARN, "split debug info",
                    "keep the .dwo files where they were built, too",
                    "%s is there, but %s does not read it", packed,
                    module->reader ? module->reader->name : "nobody");
    else if (has_package)
        doctor_note(module->report, DOCTOR_OK, "split debug info", NULL, "%s", packed);
    else if (split.missing)
        doctor_note(module->report, DOCTOR_WARN, "split debug info",
                    "keep the .dwo files, or pack them: dwp -e FILE -o FILE.dwp",
                    "%zu of %zu .dwo files are missing, like %s", split.missing,
                    split.count, split.example);
    else
        doctor_note(module->report, DOCTOR_OK, "split debug info", NULL,
                    "all %zu .dwo files are there", split.count);
}

/* ---- debug info --------------------------------------------------------- */

/* DWARF version of the first unit; 0: it is packed or cut off. */
static unsigned version_of(const struct trail_elf *elf,
                           const struct trail_elf_section *section)
{
    struct trail_text info;
    if (packing_of(elf, section)[0] || !trail_elf_contents(elf, section, &info) ||
        info.size < 14)
        return 0;
    const uint8_t *at = (const uint8_t *)info.data;
    bool wide = at[0] == 0xff && at[1] == 0xff && at[2] == 0xff && at[3] == 0xff;
    at += wide ? 12 : 4;
    return elf->little ? at[0] | (unsigned)at[1] << 8 : at[1] | (unsigned)at[0] << 8;
}

static void note_found(struct doctor_module *module, const struct trail_elf *elf,
                       const struct trail_elf_section *section)
{
    char version[32] = "DWARF";
    unsigned number = version_of(elf, section);
    bool apart = elf != &module->file.elf;
    const struct doctor_sample *sample = &module->sample;
    if (number >= 2 && number <= 5)
        snprintf(version, sizeof(version), "DWARF %u", number);
    const char *place = apart ? module->debug->path : "in the file itself";
    const char *route = apart ? trail_route_name(module->debug->source.route) : "";
    if (sample->with_lines == 0 && sample->asked)
        doctor_note(module->report, DOCTOR_WARN, "debug info",
                    "see the other lines; if they are fine, the file may be damaged",
                    "%s, %s%s%s%s, but no symbolizer gets lines from it", version,
                    place, apart ? " (" : "", route, apart ? ")" : "");
    else
        doctor_note(module->report, DOCTOR_OK, "debug info", NULL, "%s, %s%s%s%s",
                    version, place, apart ? " (" : "", route, apart ? ")" : "");
}

static void check_lines(struct doctor_module *module)
{
    const struct doctor_sample *sample = &module->sample;
    if (sample->with_lines == 0)
        return;
    bool most = 2 * sample->with_lines >= sample->asked;
    doctor_note(module->report, most ? DOCTOR_OK : DOCTOR_WARN, "lines",
                most ? NULL : "compile all of it with -g",
                "%zu of %zu functions looked up have a line", sample->with_lines,
                sample->asked);
}

void doctor_check_debug(struct doctor_module *module)
{
    struct trail_elf_section section;
    const struct trail_elf *elf = with_debug_info(module, &section);
    if (elf) {
        note_found(module, elf, &section);
        check_packing(module, elf, &section);
        check_alt(module, elf);
        check_split(module, elf);
    } else if (module->sample.with_lines) {
        doctor_note(module->report, DOCTOR_OK, "debug info", NULL, "%s (%s)",
                    module->sample.source, trail_route_name(module->sample.route));
    } else {
        bool vdso = module->file.target.module.flags & TRAIL_MODULE_VDSO;
        doctor_note(module->report, vdso ? DOCTOR_OK : DOCTOR_WARN, "debug info",
                    vdso ? NULL : install, "none%s",
                    vdso ? ", as the kernel maps it"
                    : module->sample.named
                        ? ": frames have names, but no files and lines"
                        : ": no files and lines");
    }
    check_lines(module);
}
