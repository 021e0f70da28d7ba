/* resolver.c -- asking the symbolizers about addresses of one module. */
#include "core/resolve/resolver.h"

#include <stdlib.h>

#include "core/resolve/cache.h"
#include "core/resolve/demangle.h"
#include "core/resolve/gaps.h"
#include "core/resolve/origin_answer.h"

#define CHAIN_LIMIT 1024 /* inlined calls kept at one address */

struct trail_resolver {
    struct trail_os_mutex lock;
    struct trail_link *links;
    size_t link_count;
    struct trail_routes routes;
    struct trail_cache cache;
    uint64_t timeout_ns;
};

enum trail_status trail_resolver_create(const struct trail_resolver_options *options,
                                        struct trail_resolver **resolver_ret,
                                        struct trail_error *err)
{
    struct trail_resolver *resolver = calloc(1, sizeof(*resolver));
    struct trail_link *links = calloc(options->link_count + 1, sizeof(*links));
    if (!resolver || !links) {
        free(resolver);
        free(links);
        return trail_fail(err, TRAIL_NO_MEMORY, "resolver: out of memory");
    }
    if (options->link_count)
        memcpy(links, options->links, options->link_count * sizeof(*links));
    *resolver = (struct trail_resolver){
        .links = links,
        .link_count = options->link_count,
        .routes = options->routes,
        .cache = { .limit = options->image_limit,
                   .size_limit = { .bytes = options->cache_bytes,
                                   .files = options->cache_files },
                   .until_ns = UINT64_MAX },
        .timeout_ns = options->timeout_ns,
    };
    trail_os_mutex_init(&resolver->lock);
    *resolver_ret = resolver;
    return TRAIL_OK;
}

void trail_resolver_destroy(struct trail_resolver *resolver)
{
    if (!resolver)
        return;
    trail_cache_deinit(&resolver->cache);
    trail_os_mutex_deinit(&resolver->lock);
    free(resolver->links);
    free(resolver);
}

void trail_resolver_end_by(struct trail_resolver *resolver, uint64_t until_ns)
{
    atomic_store(&resolver->cache.until_ns, until_ns); /* no lock: a lookup has it */
}

size_t trail_resolver_open_count(struct trail_resolver *resolver)
{
    trail_os_mutex_lock(&resolver->lock);
    size_t count = resolver->cache.count;
    trail_os_mutex_unlock(&resolver->lock);
    return count;
}

void trail_resolver_open_size(struct trail_resolver *resolver, uint64_t *bytes_ret,
                              size_t *files_ret)
{
    trail_os_mutex_lock(&resolver->lock);
    struct trail_open_size size = trail_cache_measure(&resolver->cache);
    trail_os_mutex_unlock(&resolver->lock);
    *bytes_ret = size.bytes;
    *files_ret = size.files;
}

/* ---- collecting answers ------------------------------------------------- */

/* One module's lookup under way. */
struct lookup {
    const struct trail_target *target;
    struct trail_arena *arena;
    unsigned flags;
    const uint64_t *addresses;
    size_t count;
    struct trail_answer *answers;
    /* the part that one symbolizer is asked about: */
    uint64_t *asked;
    size_t *asked_index; /* into addresses */
    size_t asked_count;
    struct trail_answer *fresh; /* its answers, by place in asked */
    size_t answered;            /* of asked: up to the last that was emitted */
    bool *late;                 /* by address: its time is over, nobody else is asked */
    uint64_t deadline_ns;       /* of the module, whoever is asked; 0: none */
    const struct trail_plugin *plugin;
    const struct trail_symbol_file *file; /* the map that is asked in its place; NULL */
    /* what to say where nobody answers: */
    size_t readers; /* symbolizers that read this kind of module */
    bool opened;
    struct trail_search search;
    struct trail_error err;
    enum trail_status status; /* of the last open that failed */
};

static uint32_t rank_of(const struct trail_found *found)
{
    if (found->flags & TRAIL_FOUND_UNSIZED)
        return 1;
    return found->flags & TRAIL_FOUND_FROM_SYMTAB ? 2 : 3;
}

static void name_frame(const struct lookup *lookup, const struct trail_found *found,
                       struct trail_named *named)
{
    struct trail_arena *arena = lookup->arena;
    struct trail_text mangled = found->linkage.size ? found->linkage : found->function;
    *named = (struct trail_named){
        .flags = found->flags,
        .line = found->line,
        .column = found->column,
        .discriminator = found->discriminator,
        .function_start = found->function_start,
        .function_size = found->function_size,
        .file = trail_arena_text(arena, found->file),
        .directory = trail_arena_text(arena, found->directory),
        .symbol = trail_arena_text(arena, found->symbol),
        .aka = trail_arena_text(arena, found->aka),
        .function = trail_arena_text(arena, found->function),
        .linkage = "",
    };
    const char *linkage = trail_arena_text(arena, mangled);
    char *plain = lookup->flags & TRAIL_LOOKUP_MANGLED ? NULL : trail_demangle(linkage);
    if (plain)
        named->function = trail_arena_text(arena, trail_text_of(plain));
    else if (lookup->flags & TRAIL_LOOKUP_MANGLED && found->linkage.size)
        named->function = linkage;
    else if (found->scope_size < found->function.size)
        named->scope_size = found->scope_size;
    if (strcmp(named->function, linkage) != 0)
        named->linkage = linkage;
    free(plain);
}

/* Grow an answer by one frame; arenas do not grow in place, so room doubles. */
static struct trail_named *add_frame(struct trail_arena *arena,
                                     struct trail_answer *answer)
{
    uint32_t count = answer->frame_count;
    bool full = (count & (count - 1)) == 0; /* 0, 1, 2, 4, 8 ... */
    if (full) {
        struct trail_named *grown =
            trail_arena_take(arena, (count ? count * 2u : 1u) * sizeof(*grown));
        if (!grown)
            return NULL;
        if (count)
            memcpy(grown, answer->frames, count * sizeof(*grown));
        answer->frames = grown;
    }
    answer->frame_count++;
    return &answer->frames[count];
}

static enum trail_status on_found(void *arg, const struct trail_found *found)
{
    struct lookup *lookup = arg;
    if (found->index >= lookup->asked_count)
        return TRAIL_BAD_INPUT;
    struct trail_answer *answer = &lookup->fresh[found->index];
    lookup->answered = (size_t)found->index + 1;
    if (answer->frame_count == CHAIN_LIMIT)
        return TRAIL_OK;
    struct trail_named *named = add_frame(lookup->arena, answer);
    if (!named)
        return TRAIL_NO_MEMORY;
    name_frame(lookup, found, named);
    if (answer->frame_count == 1) {
        answer->rank = rank_of(found);
        answer->plugin = lookup->plugin;
        answer->route = lookup->file ? lookup->file->source.route : found->source_route;
        answer->source =
            trail_arena_text(lookup->arena,
                             lookup->file ? lookup->file->source.name : found->source);
    }
    return TRAIL_OK;
}

/* ---- the chain ---------------------------------------------------------- */

/* Gather the addresses that are still worth asking about. */
static void select_weak(struct lookup *lookup)
{
    lookup->asked_count = 0;
    for (size_t i = 0; i < lookup->count; i++) {
        if (lookup->answers[i].rank == 3 || lookup->late[i])
            continue;
        lookup->asked[lookup->asked_count] = lookup->addresses[i];
        lookup->asked_index[lookup->asked_count++] = i;
    }
    memset(lookup->fresh, 0, lookup->asked_count * sizeof(*lookup->fresh));
    lookup->answered = 0;
}

/* The time ran out at the first address that was not answered: neither it nor those
 * behind it are asked about again, since the next one would have no time either. */
static void mark_late(struct lookup *lookup)
{
    for (size_t i = lookup->answered; i < lookup->asked_count; i++)
        lookup->late[lookup->asked_index[i]] = true;
}

static void take_better(struct lookup *lookup)
{
    for (size_t i = 0; i < lookup->asked_count; i++) {
        struct trail_answer *kept = &lookup->answers[lookup->asked_index[i]];
        if (lookup->fresh[i].rank > kept->rank)
            *kept = lookup->fresh[i];
    }
}

/* A map is a cached answer, and has no discriminators. */
static unsigned open_flags(unsigned flags)
{
    if (flags & TRAIL_LOOKUP_NO_CACHE)
        return 0;
    return flags & TRAIL_LOOKUP_DISCRIMINATORS ? TRAIL_OPEN_KEEP
                                               : TRAIL_OPEN_KEEP | TRAIL_OPEN_MAPS;
}

/* An address takes pages here and there, each of which comes at a price. */
#define MAP_BYTES_PER_ADDRESS (512u << 10)

static void call_for_pages(struct trail_map *map, size_t count)
{
    if (map->is_in_memory || map->origin.bytes_size / count > MAP_BYTES_PER_ADDRESS)
        return;
    trail_os_will_read(map->origin.bytes, map->origin.bytes_size);
    map->is_in_memory = true;
}

static enum trail_status ask_open(struct trail_open *open, struct lookup *lookup)
{
    lookup->file = open->map ? open->map->file : NULL;
    if (open->map && lookup->asked_count)
        call_for_pages(open->map, lookup->asked_count);
    if (open->map)
        return trail_origin_answer(&open->map->origin, lookup->asked,
                                   lookup->asked_count, on_found, lookup);
    struct trail_call call = trail_open_call(open);
    return open->link->plugin->symbolizer->resolve(open->image, &call, lookup->asked,
                                                   lookup->asked_count, on_found,
                                                   lookup, &lookup->err);
}

/* Who is to be named as the one that answered. */
static const struct trail_plugin *answerer(const struct trail_open *open,
                                           struct trail_arena *arena)
{
    if (open->link->plugin)
        return open->link->plugin;
    struct trail_plugin *maker = trail_arena_take(arena, sizeof(*maker));
    if (maker) {
        const char *name = open->map->origin.info.plugin;
        memset(maker, 0, sizeof(*maker));
        snprintf(maker->name, sizeof(maker->name), "%s", name);
    }
    return maker;
}

static void ask_link(struct trail_resolver *resolver, const struct trail_link *link,
                     struct lookup *lookup)
{
    struct trail_open *open = NULL;

    lookup->readers++;
    enum trail_status status =
        trail_cache_open(&resolver->cache, link, &resolver->routes, lookup->target,
                         lookup->deadline_ns, open_flags(lookup->flags), &open,
                         &lookup->search, &lookup->err);
    if (status == TRAIL_CANCELLED)
        mark_late(lookup);
    if (status) {
        /* What another could open is neither missing nor unreadable. */
        if (!lookup->opened && (status != TRAIL_NOT_FOUND || !lookup->status))
            lookup->status = status;
        return;
    }
    lookup->opened = true;
    lookup->status = TRAIL_OK;
    lookup->plugin = answerer(open, lookup->arena);
    status = ask_open(open, lookup);
    if (status)
        lookup->status = status;
    if (status == TRAIL_CANCELLED)
        mark_late(lookup);
    lookup->search = open->search;
    take_better(lookup);
    trail_cache_done(&resolver->cache, open);
}

/* ---- the lookup --------------------------------------------------------- */

static struct trail_gap explain(const struct trail_resolver *resolver,
                                const struct lookup *lookup)
{
    struct trail_outcome outcome = {
        .target = lookup->target,
        .routes = &resolver->routes,
        .search = &lookup->search,
        .message = lookup->err.text,
        .worst = 3,
        .readers = lookup->readers,
        .opened = lookup->opened,
        .status = lookup->status,
    };
    for (size_t i = 0; i < lookup->count; i++) {
        if (lookup->answers[i].rank < outcome.worst)
            outcome.worst = lookup->answers[i].rank;
        outcome.timed_out = outcome.timed_out || lookup->late[i];
    }
    return trail_gap_explain(&outcome, lookup->arena);
}

/* Whether the symbolizer can be asked about the module; now is when it is loaded. One
 * that cannot be loaded is left out from then on. */
static bool reads(struct trail_link *link, const struct trail_target *target)
{
    if (link->load && link->load(link->arg, link))
        link->plugin = NULL;
    link->load = NULL;
    return link->plugin && link->plugin->symbolizer->reads(&target->module);
}

static void ask_links(struct trail_resolver *resolver, struct lookup *lookup)
{
    for (size_t i = 0; i < resolver->link_count; i++) {
        select_weak(lookup);
        if (lookup->asked_count == 0)
            break;
        if (reads(&resolver->links[i], lookup->target))
            ask_link(resolver, &resolver->links[i], lookup);
    }
}

/* A map that was named has its answers, and needs nobody to read it. */
static void ask_map(struct trail_resolver *resolver, struct lookup *lookup)
{
    static const struct trail_link nobody = { .plugin = NULL };
    select_weak(lookup);
    if (lookup->asked_count)
        ask_link(resolver, &nobody, lookup);
}

enum trail_status trail_resolver_lookup(struct trail_resolver *resolver,
                                        const struct trail_target *target,
                                        const uint64_t *addresses, size_t count,
                                        unsigned flags, struct trail_arena *arena,
                                        struct trail_answer *answers,
                                        struct trail_gap *gap_ret)
{
    struct lookup lookup = {
        .target = target,
        .arena = arena,
        .flags = flags,
        .addresses = addresses,
        .count = count,
        .answers = answers,
        .asked = trail_arena_take(arena, count * sizeof(uint64_t)),
        .asked_index = trail_arena_take(arena, count * sizeof(size_t)),
        .fresh = trail_arena_take(arena, count * sizeof(struct trail_answer)),
        .late = trail_arena_take(arena, count * sizeof(bool)),
        .deadline_ns =
            resolver->timeout_ns ? trail_os_mono_ns() + resolver->timeout_ns : 0,
    };
    memset(answers, 0, count * sizeof(*answers));
    *gap_ret = (struct trail_gap){ 0 };
    if (arena->failed)
        return TRAIL_NO_MEMORY;

    trail_os_mutex_lock(&resolver->lock);
    if (target->is_map)
        ask_map(resolver, &lookup);
    else
        ask_links(resolver, &lookup);
    trail_os_mutex_unlock(&resolver->lock);
    *gap_ret = explain(resolver, &lookup);
    return arena->failed ? TRAIL_NO_MEMORY : TRAIL_OK;
}

void trail_resolver_each(struct trail_resolver *resolver,
                         const struct trail_target *target, unsigned flags,
                         bool (*visit)(void *arg, struct trail_open *open), void *arg)
{
    bool done = false;
    unsigned how = open_flags(flags);
    if (!(flags & TRAIL_LOOKUP_CALLS)) /* who wants the files wants no map of them */
        how &= ~(unsigned)TRAIL_OPEN_MAPS;
    if (flags & TRAIL_LOOKUP_FILES)
        how |= TRAIL_OPEN_FILES;
    uint64_t deadline_ns =
        resolver->timeout_ns ? trail_os_mono_ns() + resolver->timeout_ns : 0;
    trail_os_mutex_lock(&resolver->lock);
    for (size_t i = 0; i < resolver->link_count && !done; i++) {
        struct trail_link *link = &resolver->links[i];
        struct trail_open *open = NULL;
        struct trail_search search = { 0 };
        struct trail_error err;
        if (!reads(link, target) ||
            (flags & TRAIL_LOOKUP_CALLS && !link->plugin->symbolizer->calls) ||
            trail_cache_open(&resolver->cache, link, &resolver->routes, target,
                             deadline_ns, how, &open, &search, &err))
            continue;
        done = visit(arg, open);
        trail_cache_done(&resolver->cache, open);
    }
    trail_os_mutex_unlock(&resolver->lock);
}
