/* names.c -- what a function is called. */
#include "names.h"

#include <stdlib.h>

#include "constants.h"
#include "results.h"
#include "scopes.h"

#define HOPS_MAX 16 /* references followed from one DIE */

/* ---- other units ----------------------------------------------------- */

static const struct dwarf_set *set_of(const struct worker *worker, uint64_t die)
{
    const struct dwarf *image = worker->image;
    uint32_t number = (uint32_t)(die >> 48);
    if (number == worker->unit.set->number)
        return worker->unit.set;
    if (number == image->main.number)
        return &image->main;
    return number == image->alt.number ? &image->alt : NULL;
}

static struct foreign_unit *least_used(struct worker *worker)
{
    struct foreign_unit *oldest = &worker->foreign[0];
    for (unsigned i = 1; i < FOREIGN_MAX; i++)
        if (worker->foreign[i].used < oldest->used)
            oldest = &worker->foreign[i];
    return oldest;
}

/* The unit that has `die`, if that is another than the one in hand. NULL: none. */
static struct foreign_unit *find_foreign(struct worker *worker, uint64_t die)
{
    const struct dwarf_set *set = set_of(worker, die);
    uint64_t offset = die & DIE_OFFSET_MASK;
    if (!worker->foreign) {
        worker->foreign = calloc(FOREIGN_MAX, sizeof(*worker->foreign));
        if (!worker->foreign) {
            worker_no_memory(worker);
            return NULL;
        }
    }
    for (unsigned i = 0; i < FOREIGN_MAX; i++) {
        struct foreign_unit *held = &worker->foreign[i];
        if (held->used && held->context.set == set &&
            offset >= held->context.unit.offset && offset < held->context.unit.end) {
            held->used = ++worker->foreign_clock;
            return held;
        }
    }
    if (!dwarf_list_units(worker->image)) {
        worker_no_memory(worker);
        return NULL;
    }
    const struct unit *unit = set ? set_unit_of(set, offset) : NULL;
    if (!unit)
        return NULL;
    struct foreign_unit *foreign = least_used(worker);
    const struct dwarf_set *alt = &worker->image->alt;
    foreign->used = 0; /* until all of it is there */
    unit_context_init(&foreign->context, set, set == alt ? NULL : alt, unit);
    struct dwarf_bytes section = set->file.sections[DWARF_ABBREV];
    size_t read =
        abbrevs_compile(&foreign->abbrevs, section, unit->abbrevs, unit->sizes, 0);
    if (!read)
        worker_no_memory(worker);
    if (!read || !worker_spend(worker, read))
        return NULL;
    struct attributes root;
    foreign->context.abbrevs = &foreign->abbrevs;
    unit_read_root(&foreign->context, &root);
    foreign->scopes.of.count = 0;
    foreign->scopes.are_read = false;
    foreign->used = ++worker->foreign_clock;
    return foreign;
}

static bool is_in_hand(const struct worker *worker, uint64_t die)
{
    const struct unit_context *unit = &worker->unit;
    uint64_t offset = die & DIE_OFFSET_MASK;
    return die >> 48 == unit->set->number && offset >= unit->unit.offset &&
           offset < unit->unit.end;
}

/* ---- one DIE --------------------------------------------------------- */

/* Where a DIE lies. */
struct place {
    const struct unit_context *context;
    struct foreign_unit *foreign; /* NULL: the unit in hand */
    uint64_t offset;
};

static bool find_place(struct worker *worker, uint64_t die, struct place *place)
{
    *place =
        (struct place){ .context = &worker->unit, .offset = die & DIE_OFFSET_MASK };
    if (is_in_hand(worker, die))
        return true;
    place->foreign = find_foreign(worker, die);
    if (!place->foreign)
        return false;
    place->context = &place->foreign->context;
    return true;
}

/* The class of the DIE at `offset`; DIE_BAD: there is none. */
static enum die_class read_die(const struct unit_context *context, uint64_t offset,
                               struct attributes *attributes)
{
    const uint8_t *info = context->sections[DWARF_INFO].at;
    const uint8_t *at = info + offset, *end = info + context->unit.end;
    if (offset < context->unit.die || offset >= context->unit.end)
        return DIE_BAD;
    uint64_t code = bytes_uleb(&at, end);
    const struct abbrev *abbrev = abbrevs_find(context->abbrevs, code);
    if (!code || !abbrev || abbrev->class == DIE_BAD ||
        !die_read(context, abbrev, at, end, attributes))
        return DIE_BAD;
    return abbrev->class;
}

static uint32_t text_slot(const struct unit_context *context,
                          const struct attributes *attributes, enum attribute_slot slot)
{
    return has_slot(attributes, slot)
               ? value_text(context, attributes->form[slot], attributes->value[slot])
               : 0;
}

/* The DIE that says more. */
static uint64_t next_die(const struct unit_context *context,
                         const struct attributes *attributes)
{
    static const enum attribute_slot slots[] = { SLOT_ORIGIN, SLOT_SPECIFICATION };
    for (unsigned i = 0; i < 2; i++)
        if (has_slot(attributes, slots[i]))
            return value_die(context, attributes->form[slots[i]],
                             attributes->value[slots[i]]);
    return DIE_NONE;
}

/* What a chain of DIEs says. */
struct names {
    uint32_t name, linkage;
    struct place last; /* the last DIE of the chain: the one that was declared */
};

static void chase(struct worker *worker, uint64_t die, struct names *names)
{
    *names = (struct names){ 0 };
    for (unsigned hop = 0; hop < HOPS_MAX && die != DIE_NONE; hop++) {
        struct place place;
        struct attributes attributes;
        if (!worker_spend(worker, 64) || !find_place(worker, die, &place) ||
            !read_die(place.context, place.offset, &attributes))
            return;
        names->last = place;
        if (!names->linkage)
            names->linkage = text_slot(place.context, &attributes, SLOT_LINKAGE);
        if (!names->name)
            names->name = text_slot(place.context, &attributes, SLOT_NAME);
        if (names->name && names->linkage)
            return;
        die = next_die(place.context, &attributes);
    }
}

/* ---- the names around it --------------------------------------------- */

#define QUALIFIED_MAX                                                                  \
    4096 /* bytes of a name with its scopes; of a longer one, itself */

/* A name that is put together from its end. */
struct qualified {
    char text[QUALIFIED_MAX];
    size_t start;
    bool is_too_long;
};

static void put_before(struct qualified *name, const char *text, size_t size)
{
    if (size > name->start) {
        name->is_too_long = true;
        return;
    }
    name->start -= size;
    memcpy(name->text + name->start, text, size);
}

static void put_scope_before(struct worker *worker, struct qualified *name,
                             const struct unit_context *context, uint64_t offset)
{
    struct attributes attributes;
    uint32_t text = 0;
    const char *unnamed = "(anonymous namespace)";
    for (unsigned hop = 0; hop < HOPS_MAX; hop++) {
        enum die_class class = read_die(context, offset, &attributes);
        if (class == DIE_BAD)
            break;
        if (class != DIE_SCOPE)
            unnamed = "(anonymous)";
        text = text_slot(context, &attributes, SLOT_NAME);
        uint64_t next = next_die(context, &attributes);
        if (text || next == DIE_NONE || next >> 48 != context->set->number)
            break;
        offset = next & DIE_OFFSET_MASK;
    }
    const char *own = text ? texts_get(&worker->texts, text) : unnamed;
    put_before(name, "::", 2);
    put_before(name, own, strlen(own));
}

/* Put the names of its scopes in front of a name, if there are any. */
static void qualify(struct worker *worker, const struct names *names,
                    struct function_entry *entry)
{
    const struct place *last = &names->last;
    struct name_scopes *scopes =
        last->foreign ? &last->foreign->scopes : &worker->name_scopes;
    if (!scopes->are_read && !scopes_read(worker, last->context, scopes))
        return;
    uint32_t scope = scopes_find(worker, last->context, scopes, last->offset);
    if (!scope)
        return;
    struct qualified name = { .start = QUALIFIED_MAX };
    const char *own = texts_get(&worker->texts, names->name);
    size_t own_size = strlen(own);
    put_before(&name, own, own_size);
    for (; scope; scope = scopes->of.at[scope - 1].parent)
        put_scope_before(worker, &name, last->context, scopes->of.at[scope - 1].start);
    if (name.is_too_long)
        return;
    size_t size = QUALIFIED_MAX - name.start;
    uint32_t text = texts_make(&worker->texts, name.text + name.start, size);
    if (!text) {
        worker_no_memory(worker);
        return;
    }
    entry->name = text;
    entry->scope_size = (uint32_t)(size - own_size);
}

/* ---- functions ------------------------------------------------------- */

static uint32_t make_function(struct worker *worker, uint64_t die, uint32_t start,
                              uint32_t size)
{
    struct names names;
    chase(worker, die, &names);
    if (!names.name && !names.linkage)
        return 0;
    struct function_entry entry = {
        .name = names.name, .linkage = names.linkage, .start = start, .size = size
    };
    if (names.name && !names.linkage)
        qualify(worker, &names, &entry);
    return results_add_function(worker, &entry);
}

uint32_t names_placed_function(struct worker *worker, uint64_t die, uint32_t start,
                               uint32_t size)
{
    return make_function(worker, die, start, size);
}

uint32_t names_function(struct worker *worker, uint64_t die)
{
    uint64_t hash = die * UINT64_C(0x9e3779b97f4a7c15);
    struct cached_name *cached = &worker->name_cache[hash >> (64 - NAME_CACHE_BITS)];
    if (cached->die == die)
        return cached->function;
    uint32_t function = make_function(worker, die, 0, 0);
    /* That a DIE of another unit has no name may only mean that it was not reached. */
    if (!worker->status && (function || is_in_hand(worker, die)))
        *cached = (struct cached_name){ die, function };
    return function;
}

void names_forget(struct worker *worker)
{
    memset(worker->name_cache, 0, sizeof(*worker->name_cache) << NAME_CACHE_BITS);
    for (unsigned i = 0; worker->foreign && i < FOREIGN_MAX; i++)
        worker->foreign[i].used = 0;
}

void names_deinit(struct worker *worker)
{
    for (unsigned i = 0; worker->foreign && i < FOREIGN_MAX; i++) {
        abbrevs_deinit(&worker->foreign[i].abbrevs);
        vector_free(&worker->foreign[i].scopes.of);
    }
    free(worker->foreign);
    worker->foreign = NULL;
}
