/* find.c -- the module that a symbol's id or name means. */
#include "agent/sym/sym.h"

#include <stdlib.h>

#include "core/resolve/demangle.h"

/* Where distributions put debug files, and links from ids to programs. */
static const char *const system_roots[] = { "/usr/lib/debug", "/usr/lib", NULL };

/* What a file of the right id has. */
enum {
    HAS_CODE = 1,
    HAS_SYMBOLS = 2,
};

/* The best files so far. */
struct search {
    const char *prefix; /* hex digits, lower case */
    char found[1024];   /* path; "": none yet */
    char code[1024];    /* path of one with code */
    char id[2 * 64 + 1];
    char other[2 * 64 + 1]; /* another id that begins so, "": none */
    unsigned has;           /* what `found` has */
    /* the directory under way: */
    const char *directory;
    const char *rest; /* of the id: only files whose names begin so are opened */
};

static unsigned look_into(const struct module_file *module)
{
    struct trail_elf_section section;
    struct trail_elf_symbols symbols;
    struct trail_text bytes;
    unsigned has = 0;
    if (trail_elf_section_named(&module->elf, ".text", &section) &&
        trail_elf_contents(&module->elf, &section, &bytes))
        has |= HAS_CODE;
    if (trail_elf_symbols(&module->elf, TRAIL_ELF_SYMTAB, &symbols))
        has |= HAS_SYMBOLS;
    return has;
}

static void take_file(struct search *search, const char *path,
                      const struct module_file *module)
{
    unsigned has = look_into(module);
    if (search->found[0] && strcmp(search->id, module->id_hex) != 0) {
        snprintf(search->other, sizeof(search->other), "%s", module->id_hex);
        return;
    }
    if (has & HAS_CODE && !search->code[0])
        snprintf(search->code, sizeof(search->code), "%s", path);
    if (search->found[0] && has <= search->has)
        return;
    snprintf(search->found, sizeof(search->found), "%s", path);
    snprintf(search->id, sizeof(search->id), "%s", module->id_hex);
    search->has = has;
}

static void try_file(struct search *search, const char *path)
{
    struct module_file module;
    if (module_file_open(path, path, &module, NULL))
        return;
    if (module.id_hex[0] &&
        strncmp(module.id_hex, search->prefix, strlen(search->prefix)) == 0)
        take_file(search, path, &module);
    module_file_close(&module);
}

static enum trail_status try_entry(void *arg, const char *name)
{
    struct search *search = arg;
    char path[1024];
    int size = snprintf(path, sizeof(path), "%s/%s", search->directory, name);
    if (size > 0 && (size_t)size < sizeof(path) &&
        strncmp(name, search->rest, strlen(search->rest)) == 0)
        try_file(search, path);
    return TRAIL_OK;
}

static void try_directory(struct search *search, const char *directory,
                          const char *rest)
{
    search->directory = directory;
    search->rest = rest;
    trail_os_directory_list(directory, try_entry, search, NULL);
}

/* `root`/.build-id/xx/yyyy and yyyy.debug. */
static void try_root(struct search *search, const char *root)
{
    char directory[1024];
    int size = snprintf(directory, sizeof(directory), "%s/.build-id/%.2s", root,
                        search->prefix);
    if (size > 0 && (size_t)size < sizeof(directory))
        try_directory(search, directory, search->prefix + 2);
}

static void look_everywhere(const struct sym_session *session, struct search *search)
{
    const struct sym_options *options = session->options;
    for (size_t i = 0; i < options->file_count; i++)
        try_file(search, options->files[i]);
    for (size_t i = 0; i < session->routes.directory_count; i++) {
        try_root(search, session->routes.directories[i]);
        try_directory(search, session->routes.directories[i], "");
    }
    for (const char *const *at = system_roots; *at; at++)
        try_root(search, *at);
}

enum trail_status sym_find_id(const struct sym_session *session, const char *prefix,
                              struct sym_module *module_ret, struct trail_error *err)
{
    char lower[2 * 64 + 1];
    struct search search = { .prefix = lower };
    size_t size = strlen(prefix);
    if (size >= sizeof(lower))
        return trail_fail(err, TRAIL_NOT_FOUND, "%.40s...: no id is that long", prefix);
    for (size_t i = 0; i <= size; i++)
        lower[i] =
            (char)(prefix[i] >= 'A' && prefix[i] <= 'F' ? prefix[i] | 0x20 : prefix[i]);
    look_everywhere(session, &search);
    if (search.other[0])
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: several ids begin so, %.40s and %.40s; give more digits",
                          prefix, search.id, search.other);
    if (!search.found[0])
        return trail_fail(err, TRAIL_NOT_FOUND,
                          "%s: no file of this id among those of -e, in the --symbols "
                          "directories, nor in /usr/lib/debug; give its file with -e",
                          prefix);
    enum trail_status status = sym_module_open(search.found, module_ret, err);
    if (!status && !(search.has & HAS_CODE) && search.code[0])
        module_ret->apart =
            !module_file_open(search.code, search.code, &module_ret->code, NULL);
    return status;
}

enum trail_status sym_module_open(const char *path, struct sym_module *module_ret,
                                  struct trail_error *err)
{
    module_ret->apart = false;
    return module_file_open(path, path, &module_ret->file, err);
}

void sym_module_close(struct sym_module *module)
{
    module_file_close(&module->file);
    if (module->apart)
        module_file_close(&module->code);
    module->apart = false;
}

/* ---- by name ------------------------------------------------------------ */

static bool is_function(const struct trail_elf_symbol *symbol)
{
    return symbol->section != 0 && symbol->section < 0xff00 &&
           (symbol->type == TRAIL_ELF_FUNCTION || symbol->type == TRAIL_ELF_IFUNC ||
            symbol->type == TRAIL_ELF_NOTYPE);
}

/* Whether people would call it so: demangled, with or without its arguments. */
static bool is_called(struct trail_text mangled, const char *name)
{
    char text[1024];
    size_t size = strlen(name);
    if (trail_elf_name_is(mangled, name))
        return true;
    if (mangled.size < 3 || mangled.size >= sizeof(text) || mangled.data[0] != '_')
        return false;
    snprintf(text, sizeof(text), "%.*s", (int)mangled.size, mangled.data);
    char *plain = trail_demangle(text);
    bool same = plain && strncmp(plain, name, size) == 0 &&
                (plain[size] == 0 || plain[size] == '(');
    free(plain);
    return same;
}

size_t sym_find_name(const struct module_file *module, const char *name,
                     bool (*each)(void *arg, uint64_t address), void *arg)
{
    struct trail_elf_symbols symbols;
    size_t found = 0;
    if (!module->is_elf ||
        (!trail_elf_symbols(&module->elf, TRAIL_ELF_SYMTAB, &symbols) &&
         !trail_elf_symbols(&module->elf, TRAIL_ELF_DYNSYM, &symbols)))
        return 0;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        if (!is_function(&symbol) || !is_called(symbol.name, name))
            continue;
        uint64_t thumb = module->target.module.arch == TRAIL_ARCH_ARM ? 1 : 0;
        found++;
        if (!each(arg, symbol.value & ~thumb))
            break;
    }
    return found;
}
