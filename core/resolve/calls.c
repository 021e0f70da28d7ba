/* calls.c -- what symbolizers and symbol files say of the calls in a module. */
#include "core/resolve/calls.h"

#include <stdlib.h>

#include "core/resolve/cache.h"
#include "core/resolve/call_before.h"
#include "core/resolve/call_memory.h"
#include "core/resolve/origin_answer.h"
#include "core/trace/elf_tables.h"

#define CALL_LIMIT 65536 /* taken of one question */

/* ---- call sites ---------------------------------------------------------- */

struct asking {
    const uint64_t *addresses;
    size_t count;
    bool tails; /* of functions that start there, not the calls before them */
    struct trail_arena *arena;
    struct trail_known_calls calls;
};

/* Arenas do not grow in place, so room doubles. */
static bool make_room(struct asking *asking)
{
    size_t count = asking->calls.count;
    if (count & (count - 1)) /* not 0, 1, 2, 4, 8 ... */
        return true;
    struct trail_known_call *grown =
        trail_arena_take(asking->arena, (count ? count * 2 : 1) * sizeof(*grown));
    if (!grown)
        return false;
    if (count)
        memcpy(grown, asking->calls.at, count * sizeof(*grown));
    asking->calls.at = grown;
    return true;
}

static enum trail_status add_call(struct asking *asking,
                                  const struct trail_known_call *call,
                                  struct trail_text linkage)
{
    if (asking->calls.count == CALL_LIMIT)
        return TRAIL_OK;
    if (!make_room(asking))
        return TRAIL_NO_MEMORY;
    struct trail_known_call *added = &asking->calls.at[asking->calls.count++];
    *added = *call;
    added->linkage = trail_arena_text(asking->arena, linkage);
    return TRAIL_OK;
}

static enum trail_status on_call(void *arg, uint64_t return_address, uint64_t target,
                                 struct trail_text linkage, int tail)
{
    struct asking *asking = arg;
    const struct trail_known_call call = { .return_address = return_address,
                                           .target = target,
                                           .tail = tail != 0 };
    /* A return address may be the start of a function, which is not what is asked. */
    return call.tail == asking->tails ? add_call(asking, &call, linkage) : TRAIL_OK;
}

/* Take what is known already; the addresses that are left go to `rest`. */
static size_t take_known(struct asking *asking, const struct trail_call_memory *memory,
                         uint64_t *rest)
{
    size_t left = 0;
    for (size_t i = 0; i < asking->count; i++) {
        struct trail_known_calls known;
        if (!trail_call_memory_get(memory, asking->addresses[i], asking->tails,
                                   &known)) {
            rest[left++] = asking->addresses[i];
            continue;
        }
        for (size_t k = 0; k < known.count; k++)
            add_call(asking, &known.at[k], trail_text_of(known.at[k].linkage));
    }
    return left;
}

static void keep_told(const struct asking *asking, struct trail_call_memory *memory,
                      const uint64_t *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        trail_call_memory_put(memory, addresses[i], asking->tails, &asking->calls);
}

static bool ask_calls(void *arg, struct trail_open *open)
{
    struct asking *asking = arg;
    const struct trail_symbolizer *symbolizer = open->link->plugin->symbolizer;
    struct trail_map_out out = { .size = sizeof(out), .arg = asking, .call = on_call };
    struct trail_error err;
    struct trail_call call = trail_open_call(open);
    enum trail_status status = TRAIL_OK;
    uint64_t *rest = trail_arena_take(asking->arena, asking->count * sizeof(*rest));
    if (!rest)
        return true; /* the arena tells of it */
    if (open->map) {
        status = trail_origin_calls(&open->map->origin, asking->addresses,
                                    asking->count, &out);
    } else {
        size_t left = take_known(asking, &open->calls, rest);
        if (left)
            status = symbolizer->calls(open->image, &call, rest, left, &out, &err);
        if (left && !status)
            keep_told(asking, &open->calls, rest, left);
    }
    if (status)
        asking->calls.count = 0; /* half of what is called would mislead */
    return asking->calls.count > 0;
}

static int by_return_address(const void *a, const void *b)
{
    uint64_t left = ((const struct trail_known_call *)a)->return_address;
    uint64_t right = ((const struct trail_known_call *)b)->return_address;
    return (left > right) - (left < right);
}

static enum trail_status ask(struct trail_resolver *resolver,
                             const struct trail_target *target, unsigned flags,
                             struct asking *asking, struct trail_known_calls *calls_ret)
{
    trail_resolver_each(resolver, target, flags | TRAIL_LOOKUP_CALLS, ask_calls,
                        asking);
    if (asking->calls.count)
        qsort(asking->calls.at, asking->calls.count, sizeof(*asking->calls.at),
              by_return_address);
    *calls_ret = asking->calls;
    return asking->arena->failed ? TRAIL_NO_MEMORY : TRAIL_OK;
}

enum trail_status trail_calls_before(struct trail_resolver *resolver,
                                     const struct trail_target *target,
                                     const uint64_t *addresses, size_t count,
                                     unsigned flags, struct trail_arena *arena,
                                     struct trail_known_calls *calls_ret)
{
    struct asking asking = { .addresses = addresses, .count = count, .arena = arena };
    return ask(resolver, target, flags, &asking, calls_ret);
}

enum trail_status trail_calls_tails(struct trail_resolver *resolver,
                                    const struct trail_target *target,
                                    uint64_t function_start, unsigned flags,
                                    struct trail_arena *arena,
                                    struct trail_known_calls *calls_ret)
{
    struct asking asking = {
        .addresses = &function_start, .count = 1, .tails = true, .arena = arena
    };
    return ask(resolver, target, flags, &asking, calls_ret);
}

/* ---- functions by name --------------------------------------------------- */

struct naming {
    const char *linkage;
    struct trail_defined defined;
};

static void look_in(struct naming *naming, const struct trail_elf *elf, uint32_t type)
{
    struct trail_elf_symbols symbols;
    if (!trail_elf_symbols(elf, type, &symbols))
        return;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        bool function =
            symbol.type == TRAIL_ELF_FUNCTION || symbol.type == TRAIL_ELF_IFUNC;
        if (!function || !symbol.section || !symbol.value ||
            !trail_elf_name_is(symbol.name, naming->linkage))
            continue;
        struct trail_defined *defined = &naming->defined;
        if (symbol.type == TRAIL_ELF_IFUNC ||
            (defined->start && defined->start != symbol.value))
            defined->several = true;
        if (!defined->start)
            defined->start = symbol.value;
    }
}

static bool look_for_name(void *arg, struct trail_open *open)
{
    struct naming *naming = arg;
    struct trail_elf elf;
    for (const struct trail_symbol_file *file = open->files; file; file = file->next) {
        bool of_module = file->source.role == TRAIL_ROLE_IMAGE ||
                         file->source.role == TRAIL_ROLE_DEBUG;
        if (!of_module || !file->source.bytes ||
            !trail_elf_parse(file->source.bytes, (size_t)file->source.bytes_size, &elf))
            continue;
        look_in(naming, &elf, TRAIL_ELF_SYMTAB);
        look_in(naming, &elf, TRAIL_ELF_DYNSYM);
    }
    return true;
}

struct trail_defined trail_calls_defined(struct trail_resolver *resolver,
                                         const struct trail_target *target,
                                         const char *linkage, unsigned flags)
{
    struct naming naming = { .linkage = linkage };
    trail_resolver_each(resolver, target, flags | TRAIL_LOOKUP_FILES, look_for_name,
                        &naming);
    return naming.defined;
}

/* ---- landings -------------------------------------------------------------- */

struct landing {
    const struct trail_target *target;
    const uint64_t *addresses;
    size_t count;
    bool *landings;
};

/* The code that ends at `address` in a file, at most TRAIL_CALL_SIZE bytes, and fewer
 * where its section begins. */
static bool code_in_file(const struct trail_elf *elf, uint64_t address,
                         struct trail_text *code_ret)
{
    struct trail_elf_section section;
    struct trail_text bytes;
    if (!address || !trail_elf_section_of(elf, address - 1, &section) ||
        !(section.flags & TRAIL_ELF_CODE) || !trail_elf_contents(elf, &section, &bytes))
        return false;
    uint64_t end = address - section.address;
    uint64_t size = end < TRAIL_CALL_SIZE ? end : TRAIL_CALL_SIZE;
    *code_ret = (struct trail_text){ bytes.data + (end - size), (size_t)size };
    return true;
}

/* What this process runs, which may be another thing than what its files hold. */
static bool code_in_memory(const struct trail_target *target, uint64_t address,
                           char code[TRAIL_CALL_SIZE])
{
    uint64_t start = target->module.link_start;
    if (address < start || address - start < TRAIL_CALL_SIZE ||
        address - start > target->memory_size)
        return false;
    uint64_t at = (uint64_t)(uintptr_t)target->memory + (address - start);
    return trail_os_copy(at - TRAIL_CALL_SIZE, code, TRAIL_CALL_SIZE) == 0;
}

static void look_before(const struct landing *landing, const struct trail_elf *elf)
{
    uint32_t arch = landing->target->module.arch;
    if (arch == TRAIL_ARCH_UNKNOWN)
        arch = trail_elf_arch(elf);
    for (size_t i = 0; i < landing->count; i++) {
        char copy[TRAIL_CALL_SIZE];
        struct trail_text code = { copy, sizeof(copy) };
        bool known = landing->target->memory
                         ? code_in_memory(landing->target, landing->addresses[i], copy)
                         : code_in_file(elf, landing->addresses[i], &code);
        if (known)
            landing->landings[i] = trail_call_before(arch, (const uint8_t *)code.data,
                                                     code.size) == TRAIL_BEFORE_OTHER;
    }
}

static bool look_for_landings(void *arg, struct trail_open *open)
{
    struct trail_elf elf;
    for (const struct trail_symbol_file *file = open->files; file; file = file->next)
        if (file->has_code && file->source.bytes &&
            trail_elf_parse(file->source.bytes, (size_t)file->source.bytes_size,
                            &elf)) {
            look_before(arg, &elf);
            return true;
        }
    return false;
}

void trail_calls_landings(struct trail_resolver *resolver,
                          const struct trail_target *target, const uint64_t *addresses,
                          size_t count, unsigned flags, bool *landings_ret)
{
    struct landing landing = { target, addresses, count, landings_ret };
    memset(landings_ret, 0, count * sizeof(*landings_ret));
    trail_resolver_each(resolver, target, flags | TRAIL_LOOKUP_FILES, look_for_landings,
                        &landing);
}
