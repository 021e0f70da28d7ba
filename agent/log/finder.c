/* finder.c -- the files of a log's modules, and their names by the resolver. */
#define _POSIX_C_SOURCE 200809L

#include "agent/log/finder.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/progress.h"

/* A module whose file is there. */
struct log_found {
    struct trail_target target;
    uint8_t id[64];
    struct log_image image;
    char path[1024];
    bool lines, told; /* an address had a line; what is missing was told */
    char gap[1024];   /* "": nothing is missing */
};

/* A search under way. */
struct search {
    struct log_module *module;
    struct log_found *found;
    bool given;              /* on the command line */
    char id_hex[2 * 64 + 1]; /* of the module as the log has it; "": not told */
    char other[256];         /* what was found, and is not it */
    bool unlinked;           /* that is an object file */
};

/* ---- finding ------------------------------------------------------------- */

/* Take the file if it is the module's. */
static bool try_file(struct search *search, const char *path)
{
    struct log_found *found = search->found;
    struct log_module *module = search->module;
    struct trail_text id = { 0 };
    struct trail_error err;
    if (strlen(path) >= sizeof(found->path))
        return false;
    enum trail_status status = log_image_open(path, &found->image, &err);
    if (status) {
        if (status != TRAIL_NOT_FOUND || search->given) {
            search->unlinked = status == TRAIL_UNSUPPORTED;
            snprintf(search->other, sizeof(search->other), "%s", err.text);
        }
        return false;
    }
    bool has = trail_elf_build_id(&found->image.elf, &id) && id.size <= 64;
    if (!has)
        id.size = 0;
    if (module->id_size && !log_same(id, (struct trail_text){ (const char *)module->id,
                                                              module->id_size })) {
        char hex[2 * 64 + 1];
        trail_hex(id, hex, sizeof(hex));
        snprintf(search->other, sizeof(search->other), "%.100s has id %.130s", path,
                 has ? hex : "none");
        log_image_close(&found->image);
        return false;
    }
    memcpy(found->path, path, strlen(path) + 1);
    if (id.size)
        memcpy(found->id, id.data, id.size);
    found->target = (struct trail_target){
        .module = { .size = sizeof(found->target.module),
                    .format = TRAIL_FORMAT_ELF,
                    .arch = trail_elf_arch(&found->image.elf),
                    .id_kind = id.size ? TRAIL_ID_BUILD_ID : TRAIL_ID_NONE,
                    .path = trail_text_of(module->name),
                    .id = { (const char *)found->id, id.size },
                    .link_start = found->image.link_start,
                    .link_end = found->image.link_end },
        .path = found->path,
    };
    return true;
}

/* DIR/NAME with each ending that it may have. */
static bool try_name(struct search *search, const char *root, const char *name)
{
    static const char *const endings[] = { "", ".debug", ".ko", ".ko.debug" };
    char path[1024];
    for (size_t i = 0; i < (search->module->kernel ? 4u : 2u); i++) {
        int size = snprintf(path, sizeof(path), "%s/%s%s", root, name, endings[i]);
        if (size < (int)sizeof(path) && try_file(search, path))
            return true;
    }
    return false;
}

/* The kernel says "snd_hda" of snd-hda.ko, and each of the dashes may be one. */
static bool try_dashes(struct search *search, const char *root)
{
    enum { DASHES = 5 };
    char name[256];
    char *at[DASHES];
    size_t count = 0, size = strlen(search->module->name);
    if (size >= sizeof(name))
        return false;
    memcpy(name, search->module->name, size + 1);
    for (char *c = name; *c; c++)
        if (*c == '_' && count < DASHES)
            at[count++] = c;
    for (unsigned dashes = 1; dashes < 1u << count; dashes++) {
        for (size_t i = 0; i < count; i++)
            *at[i] = dashes >> i & 1 ? '-' : '_';
        if (try_name(search, root, name))
            return true;
    }
    return false;
}

/* A file below a root: by its id, by its name alone and by the module's path. */
static bool try_root(struct search *search, const char *root)
{
    char path[1024];
    const char *name = search->module->name, *slash = strrchr(name, '/');
    const char *base = slash ? slash + 1 : name;
    if (strlen(search->id_hex) > 2) {
        snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s.debug", root, search->id_hex,
                 search->id_hex + 2);
        if (try_file(search, path))
            return true;
    }
    if (base[0] && try_name(search, root, base))
        return true;
    if (slash && !strstr(name, "..") &&
        try_name(search, root, name + strspn(name, "/")))
        return true;
    return search->module->kernel && try_dashes(search, root);
}

static bool search_everywhere(struct log_finder *finder, struct search *search)
{
    const char *name = search->module->name;
    if (search->given)
        return try_file(search, name);
    for (size_t i = 0; i < finder->routes.directory_count; i++)
        if (try_root(search, finder->routes.directories[i]))
            return true;
    if (!search->module->kernel && name[0] && try_file(search, name))
        return true;
    return search->id_hex[0] && try_root(search, "/usr/lib/debug");
}

static void note(void *arg, const char *line)
{
    (void)arg;
    progress_hide();
    fprintf(stderr, "backtrail: %s\n", line);
}

/* "[vdso]" and "[unloaded]" are no files that somebody could copy. */
static bool is_file(const struct log_module *module)
{
    return module->name[0] != '[' || strchr(module->name, '/');
}

static void note_missing(struct log_finder *finder, const struct search *search)
{
    char text[1024];
    const char *name = search->module->name;
    if (search->given) {
        finder->failed = true;
        note(NULL, search->other);
        return;
    }
    const char *remedy = "copy the file, or its debug file, to a --symbols DIR";
    if (search->other[0])
        remedy = search->unlinked
                     ? "its frames stay as they are"
                     : "give the files of the build that ran with --symbols DIR";
    snprintf(text, sizeof(text), "%.300s%s%s%s: %s%s; %s", name[0] ? name : "a module",
             search->id_hex[0] ? " [" : "", search->id_hex,
             search->id_hex[0] ? "]" : "",
             search->other[0] ? "not found: " : "not found", search->other, remedy);
    note(NULL, text);
}

static void find(void *arg, struct log_module *module)
{
    struct log_finder *finder = arg;
    struct search search = { .module = module };
    struct log_found *found = calloc(1, sizeof(*found));
    if (!found)
        return;
    search.found = found;
    search.given = finder->given && strcmp(finder->given, module->name) == 0;
    trail_hex((struct trail_text){ (const char *)module->id, module->id_size },
              search.id_hex, sizeof(search.id_hex));
    if (!search_everywhere(finder, &search)) {
        if (is_file(module))
            note_missing(finder, &search);
        free(found);
        return;
    }
    module->usable = true;
    module->fixed = found->image.fixed;
    module->program = found->image.program;
    module->link_start = found->image.link_start;
    module->link_end = found->image.link_end;
    if (search.given) {
        found->target.given = true;
        module->id_size = (uint8_t)found->target.module.id.size;
        memcpy(module->id, found->id, module->id_size);
    }
    module->state = found;
    log_image_close(&found->image);
}

static void release(void *arg, struct log_module *module)
{
    struct log_finder *finder = arg;
    struct log_found *found = module->state;
    for (size_t i = 0; i < LOG_OPEN_LIMIT; i++)
        if (finder->open[i] == found)
            finder->open[i] = NULL;
    if (!found)
        return;
    if (found->gap[0] && !found->told && !found->lines)
        note(NULL, found->gap);
    log_image_close(&found->image);
    free(found);
}

/* ---- asking -------------------------------------------------------------- */

/* The module's file open; the one opened longest ago makes room. NULL: it is gone. */
static struct log_image *image_of(struct log_finder *finder, struct log_module *module)
{
    struct log_found *found = module->state;
    if (!found)
        return NULL;
    if (found->image.open)
        return &found->image;
    if (log_image_open(found->path, &found->image, NULL))
        return NULL;
    struct log_found **slot = &finder->open[finder->next++ % LOG_OPEN_LIMIT];
    if (*slot)
        log_image_close(&(*slot)->image);
    *slot = found;
    return &found->image;
}

/* The kernel counts to the next symbol, so that padding is part of a size. */
static bool size_fits(const struct log_symbol *symbol, uint64_t size, uint64_t padding)
{
    return size == 0 || (symbol->size <= size && size - symbol->size <= padding);
}

/* The one symbol of that size; false: there is none, or which of several it is cannot
 * be told. */
static bool choose(const struct log_symbol *symbols, size_t count, uint64_t size,
                   uint64_t padding, uint64_t *address_ret)
{
    const struct log_symbol *chosen = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!size_fits(&symbols[i], size, padding))
            continue;
        if (chosen && chosen->address != symbols[i].address)
            return false;
        chosen = &symbols[i];
    }
    if (chosen)
        *address_ret = chosen->address;
    return chosen != NULL;
}

static bool exists(void *arg, struct trail_text name)
{
    char path[1024];
    (void)arg;
    if (name.size >= sizeof(path))
        return false;
    memcpy(path, name.data, name.size);
    path[name.size] = 0;
    return access(path, R_OK) == 0;
}

static bool symbol(void *arg, struct log_module *module, struct trail_text name,
                   uint64_t size, uint64_t *address_ret)
{
    enum { ALIGNMENT = 64 };
    struct log_image *image = image_of(arg, module);
    const struct log_symbol *symbols = NULL;
    size_t count = image ? log_image_symbols(image, name, &symbols) : 0;
    return choose(symbols, count, size, 0, address_ret) ||
           choose(symbols, count, size, ALIGNMENT - 1, address_ret);
}

static const char *symbol_at(void *arg, struct log_module *module, uint64_t address)
{
    struct log_symbol found;
    struct log_image *image = image_of(arg, module);
    return image && log_image_symbol_at(image, address, &found) ? found.name : NULL;
}

static bool of_offset(void *arg, struct log_module *module, uint64_t offset,
                      uint64_t *address_ret)
{
    struct log_image *image = image_of(arg, module);
    return image && log_image_of_offset(image, offset, address_ret);
}

static bool text(void *arg, struct log_module *module, uint64_t *address_ret)
{
    struct log_image *image = image_of(arg, module);
    return image && log_image_text(image, address_ret);
}

/* What is missing is told once a module. That it has no lines is not known before its
 * last address: some code of every program has none. */
static void tell_gap(struct log_found *found, const struct log_module *module,
                     const struct trail_gap *gap)
{
    snprintf(found->gap, sizeof(found->gap), "%.300s%s%.130s%s: %s: %.300s; %.200s",
             module->name, gap->want[0] ? " [" : "", gap->want, gap->want[0] ? "]" : "",
             gap->reason, gap->detail, gap->remedy);
    if (strcmp(gap->reason, "no_line_info") == 0)
        return;
    note(NULL, found->gap);
    found->told = true;
}

static enum trail_status lookup(void *arg, struct log_module *module, uint64_t address,
                                struct trail_arena *arena,
                                struct trail_answer *answer_ret)
{
    struct log_finder *finder = arg;
    struct log_found *found = module->state;
    struct trail_gap gap = { 0 };
    if (!found)
        return TRAIL_OK;
    enum trail_status status =
        trail_resolver_lookup(finder->resolver, &found->target, &address, 1,
                              finder->flags, arena, answer_ret, &gap);
    found->lines = found->lines || answer_ret->rank == 3;
    if (gap.reason && !found->told && strcmp(gap.reason, "no_symbol") != 0)
        tell_gap(found, module, &gap);
    return status;
}

struct log_backend log_finder_backend(struct log_finder *finder)
{
    return (struct log_backend){
        .arg = finder,
        .find = find,
        .exists = exists,
        .symbol = symbol,
        .symbol_at = symbol_at,
        .of_offset = of_offset,
        .text = text,
        .lookup = lookup,
        .release = release,
        .note = note,
    };
}
