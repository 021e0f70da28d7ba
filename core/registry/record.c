/* record.c -- the identity record of a plugin, read out of a file's bytes and judged.
 */
#include "core/registry/record.h"
#include "core/os/os.h"
#include "core/registry/registry.h"
#include "core/trace/elf.h"

/* A table may be older and smaller than ours, or newer and larger, within reason. */
#define SYMBOLIZER_TABLE_MIN offsetof(struct trail_symbolizer, enumerate)
#define SINK_TABLE_MIN       offsetof(struct trail_sink, flush)
#define TABLE_MAX            65536u

#define ELF_TYPE_SHARED 3
#define ELF_HEADER_SIZE 64

/* ---- kinds, names ------------------------------------------------------- */

const char *trail_kind_name(uint32_t kind)
{
    switch (kind) {
    case TRAIL_KIND_SYMBOLIZER:
        return "symbolizer";
    case TRAIL_KIND_SINK:
        return "sink";
    default:
        return "unknown";
    }
}

bool trail_record_name_valid(const char *name)
{
    size_t size = strlen(name);

    return size > 0 && size < sizeof(((struct trail_record_desc *)0)->name) &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == size;
}

void trail_record_symbol(uint32_t kind, const char *name,
                         char symbol_ret[TRAIL_RECORD_SYMBOL_SIZE])
{
    snprintf(symbol_ret, TRAIL_RECORD_SYMBOL_SIZE, "trail_%s_%.31s",
             trail_kind_name(kind), name);
    for (char *at = symbol_ret; *at; at++)
        if (*at == '-')
            *at = '_';
}

bool trail_record_table_sane(uint32_t kind, uint64_t size)
{
    size_t minimum =
        kind == TRAIL_KIND_SYMBOLIZER ? SYMBOLIZER_TABLE_MIN : SINK_TABLE_MIN;

    return size >= minimum && size <= TABLE_MAX && size % sizeof(uint32_t) == 0;
}

/* ---- the container ------------------------------------------------------ */

/* The ELF header of this very program as it lies in memory; false if the platform
 * cannot find it, and then the loader is left to refuse what is foreign. */
static bool own_header(struct trail_elf *own_ret)
{
    struct trail_os_module own;
    uint64_t start, end;

    return trail_os_module_at((uint64_t)(uintptr_t)trail_os_library_suffix, &own,
                              &start, &end) &&
           end - start >= ELF_HEADER_SIZE &&
           trail_elf_parse((const uint8_t *)(uintptr_t)start, ELF_HEADER_SIZE, own_ret);
}

static enum trail_status check_container(const uint8_t *bytes, size_t size,
                                         struct trail_elf *elf_ret,
                                         struct trail_error *err)
{
    struct trail_elf own;

    if (size == 0)
        return trail_fail(err, TRAIL_REFUSED, "is empty; install it again");
    if (!trail_elf_parse(bytes, size, elf_ret))
        return trail_fail(err, TRAIL_REFUSED,
                          "is not an ELF file; remove it from the plugin directory");
    if (own_header(&own) &&
        (own.is64 != elf_ret->is64 || own.little != elf_ret->little ||
         own.machine != elf_ret->machine))
        return trail_fail(err, TRAIL_REFUSED,
                          "is for another machine (%d-bit %s-endian, ELF machine %u; "
                          "this is %d-bit %s-endian, %u); build it for this one",
                          elf_ret->is64 ? 64 : 32, elf_ret->little ? "little" : "big",
                          elf_ret->machine, own.is64 ? 64 : 32,
                          own.little ? "little" : "big", own.machine);
    if (elf_ret->type != ELF_TYPE_SHARED)
        return trail_fail(err, TRAIL_REFUSED,
                          "is not a shared object; link it with -shared");
    if (!trail_elf_whole(elf_ret))
        return trail_fail(err, TRAIL_REFUSED, "is cut short; install it again");
    return TRAIL_OK;
}

/* ---- the record --------------------------------------------------------- */

static bool terminated(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/* What ends up on a terminal must not be able to do anything to it. */
static bool plain(const char *text)
{
    for (; *text; text++)
        if (*text < '!' || *text > '~')
            return false;
    return true;
}

static enum trail_status read_desc(const struct trail_elf *elf,
                                   struct trail_record_desc *desc_ret,
                                   struct trail_error *err)
{
    struct trail_text bytes;
    struct trail_record_desc desc;

    if (!trail_elf_note(elf, TRAIL_RECORD_OWNER, TRAIL_RECORD_NOTE_TYPE, &bytes))
        return trail_fail(err, TRAIL_REFUSED,
                          "has no identity record; a plugin ends with "
                          "TRAIL_SYMBOLIZER or TRAIL_SINK");
    if (bytes.size < sizeof(desc))
        return trail_fail(err, TRAIL_REFUSED,
                          "its identity record has %zu bytes, not %zu; rebuild it",
                          bytes.size, sizeof(desc));
    memcpy(&desc, bytes.data, sizeof(desc));
    if (desc.version != TRAIL_RECORD_VERSION)
        return trail_fail(
            err, TRAIL_REFUSED,
            "its identity record is of version %u, this program reads %d; "
            "rebuild it with this program's headers",
            desc.version, TRAIL_RECORD_VERSION);
    if (!terminated(desc.name, sizeof(desc.name)) ||
        !terminated(desc.release, sizeof(desc.release)) || !plain(desc.release))
        return trail_fail(err, TRAIL_REFUSED,
                          "its identity record is damaged (name or release is no "
                          "plain text); rebuild it");
    *desc_ret = desc;
    return TRAIL_OK;
}

static enum trail_status check_desc(const struct trail_record_desc *desc,
                                    const char *name, struct trail_error *err)
{
    bool symbolizer = desc->kind == TRAIL_KIND_SYMBOLIZER;
    uint32_t abi = symbolizer ? TRAIL_SYMBOLIZER_ABI : TRAIL_SINK_ABI;
    uint32_t shape = symbolizer ? TRAIL_SYMBOLIZER_SHAPE : TRAIL_SINK_SHAPE;
    const char *kind = trail_kind_name(desc->kind);

    if (!symbolizer && desc->kind != TRAIL_KIND_SINK)
        return trail_fail(err, TRAIL_REFUSED,
                          "its kind %u is unknown here; it may need a newer program",
                          desc->kind);
    if (desc->abi != abi)
        return trail_fail(err, TRAIL_REFUSED,
                          "was built for %s ABI %u, this program has %u; rebuild it "
                          "with this program's headers",
                          kind, desc->abi, abi);
    if (desc->shape != shape)
        return trail_fail(err, TRAIL_REFUSED,
                          "was built with other declarations (%s shape %08x, this "
                          "program has %08x); rebuild it with this program's headers",
                          kind, desc->shape, shape);
    if (!trail_record_table_sane(desc->kind, desc->table))
        return trail_fail(err, TRAIL_REFUSED,
                          "its table has %u bytes, which no %s has; rebuild it with "
                          "this program's headers",
                          desc->table, kind);
    if (!trail_record_name_valid(desc->name))
        return trail_fail(err, TRAIL_REFUSED,
                          "its record bears no valid name; use a-z, 0-9 and '-'");
    if (strcmp(desc->name, name) != 0)
        return trail_fail(err, TRAIL_REFUSED,
                          "its record says '%s'; rename the file to %s%s", desc->name,
                          desc->name, trail_os_library_suffix);
    return TRAIL_OK;
}

/* The exported table starts with its ABI and size: two words that need no relocation,
 * so the file shows already what the loaded table will say. */
static enum trail_status check_table(const struct trail_elf *elf,
                                     const struct trail_record_desc *desc,
                                     struct trail_error *err)
{
    char symbol[TRAIL_RECORD_SYMBOL_SIZE];
    uint64_t address, size;
    struct trail_text bytes;
    uint32_t words[2];

    trail_record_symbol(desc->kind, desc->name, symbol);
    if (!trail_elf_exported(elf, symbol, &address, &size))
        return trail_fail(
            err, TRAIL_REFUSED,
            "does not export %s; end it with %s, and do not strip its "
            "section table",
            symbol, desc->kind == TRAIL_KIND_SINK ? "TRAIL_SINK" : "TRAIL_SYMBOLIZER");
    if (size < desc->table || !trail_elf_at(elf, address, sizeof(words), &bytes))
        return trail_fail(err, TRAIL_REFUSED,
                          "%s is smaller than its record says; rebuild it", symbol);
    memcpy(words, bytes.data, sizeof(words));
    if (words[0] != desc->abi || words[1] != desc->table)
        return trail_fail(err, TRAIL_REFUSED,
                          "%s says abi %u, size %u, but its record %u, %u; set .abi "
                          "and .size as the header shows",
                          symbol, words[0], words[1], desc->abi, desc->table);
    return TRAIL_OK;
}

enum trail_status trail_record_read(const uint8_t *bytes, size_t size, const char *name,
                                    struct trail_record_desc *desc_ret,
                                    struct trail_error *err)
{
    struct trail_elf elf;
    struct trail_record_desc desc;

    enum trail_status status = check_container(bytes, size, &elf, err);
    if (!status)
        status = read_desc(&elf, &desc, err);
    if (status)
        return status;
    *desc_ret = desc;
    status = check_desc(&desc, name, err);
    if (!status)
        status = check_table(&elf, &desc, err);
    return status;
}
