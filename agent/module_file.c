/* module_file.c -- a file that addresses are looked up in: mapped, and what it is. */
#include "agent/module_file.h"

#include "origin/map.h"

/* What the file is, by its first bytes. */
static uint32_t format_of(const uint8_t *bytes, size_t size)
{
    static const struct {
        uint8_t magic[4];
        size_t size;
        uint32_t format;
    } magics[] = { { { 0x7f, 'E', 'L', 'F' }, 4, TRAIL_FORMAT_ELF },
                   { { 0, 'a', 's', 'm' }, 4, TRAIL_FORMAT_WASM },
                   { { 'M', 'Z' }, 2, TRAIL_FORMAT_PE },
                   { { 0xcf, 0xfa, 0xed, 0xfe }, 4, TRAIL_FORMAT_MACHO },
                   { { 0xce, 0xfa, 0xed, 0xfe }, 4, TRAIL_FORMAT_MACHO },
                   { { 0xca, 0xfe, 0xba, 0xbe }, 4, TRAIL_FORMAT_MACHO } };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (size >= magics[i].size &&
            memcmp(bytes, magics[i].magic, magics[i].size) == 0)
            return magics[i].format;
    return TRAIL_FORMAT_UNKNOWN;
}

static void set_id(struct module_file *module, struct trail_text id, uint32_t kind)
{
    struct trail_module *known = &module->target.module;
    if (id.size == 0 || id.size > sizeof(module->id))
        return;
    memcpy(module->id, id.data, id.size);
    known->id = (struct trail_text){ (const char *)module->id, id.size };
    known->id_kind = kind;
    trail_hex(known->id, module->id_hex, sizeof(module->id_hex));
}

static void describe_elf(struct module_file *module)
{
    struct trail_module *known = &module->target.module;
    struct trail_text id;
    known->arch = trail_elf_arch(&module->elf);
    trail_elf_extent(&module->elf, &known->link_start, &known->link_end);
    if (trail_elf_build_id(&module->elf, &id))
        set_id(module, id, TRAIL_ID_BUILD_ID);
}

/* What a map says of the module that it is of. */
static enum trail_status describe_map(struct module_file *module, const char *name,
                                      struct trail_error *err)
{
    struct origin_map map;
    struct trail_error why = { "" };
    enum trail_status status =
        origin_map_open(module->file.bytes, module->file.size, &map, &why);
    if (status)
        return trail_fail(err, status, "%.120s: %.120s", name, why.text);
    const struct trail_text id = { (const char *)map.info.id, map.info.id_size };
    snprintf(module->path, sizeof(module->path), "%s", name);
    module->target.module =
        (struct trail_module){ .size = sizeof(struct trail_module),
                               .format = map.info.format,
                               .arch = map.info.arch,
                               .path = trail_text_of(module->path) };
    set_id(module, id, map.info.id_kind);
    module->target.is_map = true;
    return TRAIL_OK;
}

static bool is_map(const struct trail_os_file *file)
{
    const size_t size = sizeof(ORIGIN_MAGIC) - 1;
    return file->size >= size && memcmp(file->bytes, ORIGIN_MAGIC, size) == 0;
}

static enum trail_status describe(struct module_file *module, const char *name,
                                  struct trail_error *err)
{
    const struct trail_os_file *file = &module->file;
    struct trail_module *known = &module->target.module;
    snprintf(module->path, sizeof(module->path), "%s", name);
    *known = (struct trail_module){ .size = sizeof(*known),
                                    .format = format_of(file->bytes, file->size),
                                    .path = trail_text_of(module->path) };
    if (known->format == TRAIL_FORMAT_UNKNOWN)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: is no ELF, Mach-O, PE or WebAssembly file", name);
    module->is_elf =
        file->size && trail_elf_parse(file->bytes, file->size, &module->elf);
    if (module->is_elf)
        describe_elf(module);
    if (known->format == TRAIL_FORMAT_ELF && (!module->is_elf || module->elf.cut))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%s: is cut short or damaged; get a whole copy", name);
    return TRAIL_OK;
}

static enum trail_status open_file(const char *path, const char *name, bool maps,
                                   struct module_file *module_ret,
                                   struct trail_error *err)
{
    *module_ret = (struct module_file){ .file = { .fd = -1 } };
    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &module_ret->file, err);
    if (status)
        return status;
    if (maps && is_map(&module_ret->file))
        status = describe_map(module_ret, name, err);
    else
        status = describe(module_ret, name, err);
    if (status) {
        module_file_close(module_ret);
        return status;
    }
    snprintf(module_ret->opened, sizeof(module_ret->opened), "%s", path);
    module_ret->target.path = module_ret->opened;
    module_ret->target.given = true;
    return TRAIL_OK;
}

enum trail_status module_file_open(const char *path, const char *name,
                                   struct module_file *module_ret,
                                   struct trail_error *err)
{
    return open_file(path, name, false, module_ret, err);
}

enum trail_status module_file_open_or_map(const char *path, const char *name,
                                          struct module_file *module_ret,
                                          struct trail_error *err)
{
    return open_file(path, name, true, module_ret, err);
}

enum trail_status module_file_memory(const uint8_t *bytes, size_t size,
                                     const char *name, struct module_file *module_ret,
                                     struct trail_error *err)
{
    *module_ret =
        (struct module_file){ .file = { .fd = -1, .bytes = bytes, .size = size } };
    enum trail_status status = describe(module_ret, name, err);
    module_ret->file = (struct trail_os_file){ .fd = -1 }; /* not ours to close */
    if (status)
        return status;
    module_ret->target.path = "";
    module_ret->target.memory = bytes;
    module_ret->target.memory_size = size;
    module_ret->target.module.flags = TRAIL_MODULE_FROM_MEMORY | TRAIL_MODULE_VDSO;
    return TRAIL_OK;
}

void module_file_hash(struct module_file *module)
{
    struct trail_text key;
    uint32_t kind;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    if (!module->id_hex[0] && module->is_elf &&
        trail_symbol_file_key(module->elf.bytes, module->elf.size, hash, &key, &kind))
        set_id(module, key, kind);
}

void module_file_close(struct module_file *module)
{
    if (module->file.bytes)
        trail_os_file_close(&module->file);
    *module = (struct module_file){ .file = { .fd = -1 } };
}

bool module_file_code(const struct module_file *module, uint64_t start, uint64_t size,
                      struct trail_text *code_ret)
{
    struct trail_elf_section section;
    struct trail_text bytes;
    if (!module->is_elf)
        return false;
    if (trail_elf_section_of(&module->elf, start, &section)) {
        if (!trail_elf_contents(&module->elf, &section, &bytes))
            return false;
        uint64_t skip = start - section.address;
        uint64_t rest = bytes.size - skip;
        *code_ret = (struct trail_text){ bytes.data + skip,
                                         (size_t)(size < rest ? size : rest) };
        return true;
    }
    return module->elf.shnum == 0 && size <= SIZE_MAX &&
           trail_elf_at(&module->elf, start, (size_t)size, code_ret);
}
