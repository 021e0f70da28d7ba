/* routes.c -- where a module's symbols may lie, in order. */
#include "core/resolve/routes.h"

#include "core/resolve/layout.h"
#include "core/trace/elf_tables.h"

/* Where distributions put separate debug files (GDB manual, "Separate Debug Files"). */
static const char system_debug_root[] = "/usr/lib/debug";
/* Links of build-id directories to debug files, and to the modules themselves. */
static const char *const id_layouts[] = { ".build-id/%2/%r.debug", ".build-id/%2/%r",
                                          NULL };
/* Files people put into a symbol directory under the module's own name or path, or as
 * they came out of a store. */
static const char *const plain_layouts[] = { "%n",       "%N",       "%n.debug",
                                             "%N.debug", "%i.debug", "%i.exe",
                                             NULL };

const char *trail_route_name(uint32_t route)
{
    static const char *const names[] = {
        "",           "given",        "symbols-dir", "embedded",  "memory",
        "debug-link", "build-id-dir", "store",       "debuginfod"
    };
    return route < sizeof(names) / sizeof(names[0]) ? names[route] : "";
}

/* ---- picking the best --------------------------------------------------- */

/* One search under way: an earlier file stands unless a later one tells more. */
struct pick {
    struct trail_wanted wanted;
    struct trail_search *search;
    uint32_t at_least; /* enum trail_symbol_rank; worse ones are passed over */
    bool with_code;    /* a file without code is passed over */
    struct trail_symbol_file *best;
};

/* Only files of the module itself are compared; of parts the first is as good. */
static bool pick_is_over(const struct pick *pick)
{
    bool ranked =
        pick->wanted.role == TRAIL_ROLE_DEBUG || pick->wanted.role == TRAIL_ROLE_IMAGE;
    return pick->best && (!ranked || pick->best->rank == TRAIL_RANK_INFORMATION);
}

static bool pick_offer(struct pick *pick, struct trail_symbol_file *file)
{
    bool ranked = pick->wanted.role == TRAIL_ROLE_DEBUG;
    if ((ranked && file->rank < pick->at_least) ||
        (pick->with_code && !file->has_code) ||
        (pick->best && file->rank <= pick->best->rank)) {
        trail_symbol_file_close(file);
        return pick_is_over(pick);
    }
    trail_symbol_file_close(pick->best);
    pick->best = file;
    return pick_is_over(pick);
}

/* True: nothing better can come. */
static bool pick_try(struct pick *pick, const char *path, uint32_t route)
{
    struct trail_symbol_file *file = NULL;
    if (trail_symbol_file_open(path, route, &pick->wanted, pick->search, &file))
        return pick_is_over(pick);
    return pick_offer(pick, file);
}

static enum trail_status pick_take(const struct pick *pick,
                                   struct trail_symbol_file **file_ret)
{
    if (!pick->best)
        return pick->search->mismatch ? TRAIL_REFUSED : TRAIL_NOT_FOUND;
    *file_ret = pick->best;
    return TRAIL_OK;
}

/* Every layout below one root. Names that climb out of it are not followed. */
static bool pick_layouts(struct pick *pick, const char *root, uint32_t route,
                         const char *const *layouts, const char *name)
{
    struct trail_path path;
    if (strstr(name, ".."))
        name = trail_path_base(name);
    for (; layouts && *layouts; layouts++)
        if (trail_layout_path(root, *layouts, name, pick->wanted.id, &path) &&
            pick_try(pick, path.text, route))
            return true;
    return pick_is_over(pick);
}

/* ---- the module itself -------------------------------------------------- */

/* The file by way of its process. What was passed over there is told only if nothing
 * was told before. */
static enum trail_status live_image(const struct trail_target *target,
                                    const struct trail_wanted *wanted,
                                    struct trail_search *search,
                                    struct trail_symbol_file **file_ret)
{
    struct trail_search passed = *search;
    if (target->live.pid == 0)
        return TRAIL_NOT_FOUND;
    enum trail_status status =
        trail_live_file(&target->live, target->path, wanted, &passed, file_ret);
    if (status && !search->mismatch)
        *search = passed;
    return status;
}

/* The kernel's own module lies in the memory of every process, whole. */
static enum trail_status vdso_image(const struct trail_target *target,
                                    struct trail_search *search,
                                    struct trail_symbol_file **file_ret)
{
    const struct trail_wanted wanted = { .role = TRAIL_ROLE_IMAGE,
                                         .id = target->module.id };
    if (target->memory)
        return trail_symbol_file_memory("[vdso]", target->memory, target->memory_size,
                                        file_ret);
    if (target->live.pid)
        return trail_live_memory(&target->live, &wanted, search, file_ret);
    snprintf(search->detail, sizeof(search->detail),
             "the vDSO is in no file, and its process is not this one");
    return TRAIL_NOT_FOUND;
}

enum trail_status trail_routes_image(const struct trail_target *target,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret)
{
    struct trail_wanted wanted = { .role = TRAIL_ROLE_IMAGE };
    uint32_t route = target->given ? TRAIL_ROUTE_GIVEN : TRAIL_ROUTE_EMBEDDED;
    if (target->module.flags & TRAIL_MODULE_VDSO)
        return vdso_image(target, search, file_ret);
    if (!target->given) {
        wanted.id = target->module.id;
        wanted.id_kind = target->module.id_kind;
    }
    if (wanted.id.size == 0 &&
        live_image(target, &wanted, search, file_ret) == TRAIL_OK)
        return TRAIL_OK;
    struct trail_search passed = *search;
    enum trail_status status = TRAIL_NOT_FOUND;
    if (target->path[0])
        status =
            trail_symbol_file_open(target->path, route, &wanted, &passed, file_ret);
    else if (!search->detail[0])
        snprintf(passed.detail, sizeof(passed.detail), "it has no file");
    if (status && wanted.id.size && !live_image(target, &wanted, &passed, file_ret))
        return TRAIL_OK;
    *search = passed;
    if (status && target->live.pid &&
        !trail_live_memory(&target->live, &wanted, search, file_ret))
        return TRAIL_OK;
    return status;
}

/* ---- symbol directories ------------------------------------------------- */

/* The path of the module as text, "" if it has none. */
static void target_name(const struct trail_target *target, char *name_ret, size_t size)
{
    snprintf(name_ret, size, "%.*s", (int)target->module.path.size,
             target->module.path.data ? target->module.path.data : "");
}

enum trail_status trail_routes_directories(const struct trail_routes *routes,
                                           const struct trail_target *target,
                                           const char *const *layouts,
                                           struct trail_search *search,
                                           struct trail_symbol_file **file_ret)
{
    char name[1024];
    struct pick pick = { .wanted = { .role = TRAIL_ROLE_DEBUG,
                                     .id = target->module.id,
                                     .id_kind = target->module.id_kind },
                         .search = search };
    if (pick.wanted.id.size == 0) /* nothing to compare: a name alone proves nothing */
        return TRAIL_NOT_FOUND;
    target_name(target, name, sizeof(name));
    for (size_t i = 0; i < routes->directory_count; i++) {
        const char *root = routes->directories[i];
        if (pick_layouts(&pick, root, TRAIL_ROUTE_SYMBOLS_DIR, layouts, name) ||
            pick_layouts(&pick, root, TRAIL_ROUTE_SYMBOLS_DIR, id_layouts, name) ||
            pick_layouts(&pick, root, TRAIL_ROUTE_SYMBOLS_DIR, plain_layouts, name))
            break;
    }
    return pick_take(&pick, file_ret);
}

/* ---- by id alone -------------------------------------------------------- */

static bool pick_store(struct pick *pick, const char *store)
{
    static const enum trail_store_kind kinds[] = { TRAIL_STORE_DEBUG, TRAIL_STORE_EXE };
    char path[1024];
    for (size_t i = 0; store && i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (trail_store_path(store, pick->wanted.id, kinds[i], path, sizeof(path)) &&
            pick_try(pick, path, TRAIL_ROUTE_STORE))
            return true;
    return pick_is_over(pick);
}

static bool pick_servers(struct pick *pick, struct trail_debuginfod *servers)
{
    struct trail_symbol_file *file = NULL;
    if (!servers || trail_debuginfod_find(servers, &pick->wanted, pick->search, &file))
        return pick_is_over(pick);
    return pick_offer(pick, file);
}

/* Build-id directories of the system, the store, the servers. */
static bool pick_by_id(struct pick *pick, const struct trail_routes *routes,
                       const char *const *layouts, const char *name)
{
    if (pick->wanted.id.size == 0)
        return false;
    return pick_layouts(pick, system_debug_root, TRAIL_ROUTE_BUILD_ID_DIR, layouts,
                        name) ||
           pick_layouts(pick, system_debug_root, TRAIL_ROUTE_BUILD_ID_DIR, id_layouts,
                        name) ||
           pick_store(pick, routes->store) || pick_servers(pick, routes->servers);
}

enum trail_status trail_routes_by_id(const struct trail_routes *routes,
                                     const struct trail_target *target, uint32_t role,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret)
{
    char name[1024];
    struct pick pick = { .wanted = { .role = role,
                                     .id = target->module.id,
                                     .id_kind = target->module.id_kind },
                         .search = search,
                         .with_code = role == TRAIL_ROLE_IMAGE };
    target_name(target, name, sizeof(name));
    pick_by_id(&pick, routes, NULL, name);
    return pick_take(&pick, file_ret);
}

/* ---- companions --------------------------------------------------------- */

struct companion {
    struct pick pick;
    const struct trail_routes *routes;
    const struct trail_target *target;
    const struct trail_want *want;
    const char *name;
    bool named; /* it may be looked for by its name */
};

static bool try_path(struct companion *companion, uint32_t route, const char *directory,
                     const char *between)
{
    struct trail_path path = { .size = 0 };
    trail_path_add_string(&path, directory);
    trail_path_add_string(&path, between);
    trail_path_add_string(&path, companion->name);
    return !path.bad && pick_try(&companion->pick, path.text, route);
}

/* Directory of the file that mentions the companion, links followed: debug files lie
 * beside the program, not beside the link that it was started by. */
static bool mentioned_in(const struct companion *companion, char *directory_ret,
                         size_t size)
{
    char path[1024];
    const struct trail_want *want = companion->want;
    const struct trail_text *from = want->from ? &want->from->name : NULL;
    bool own = !from || from->size == 0 || from->data[0] == '[' ||
               (companion->target->live.pid && want->from->role == TRAIL_ROLE_IMAGE);
    if (own)
        snprintf(path, sizeof(path), "%s", companion->target->path);
    else
        snprintf(path, sizeof(path), "%.*s", (int)from->size, from->data);
    if (!trail_os_path_real(path, directory_ret, size))
        return false;
    char *slash = strrchr(directory_ret, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

/* In the symbol directories by id, and by the name that was mentioned. */
static bool in_directories(struct companion *companion, const char *const *layouts)
{
    const struct trail_routes *routes = companion->routes;
    struct pick *pick = &companion->pick;
    for (size_t i = 0; i < routes->directory_count; i++) {
        const char *root = routes->directories[i];
        if (pick->wanted.id.size &&
            (pick_layouts(pick, root, TRAIL_ROUTE_SYMBOLS_DIR, layouts,
                          companion->name) ||
             pick_layouts(pick, root, TRAIL_ROUTE_SYMBOLS_DIR, id_layouts, "")))
            return true;
        if (companion->named && try_path(companion, TRAIL_ROUTE_SYMBOLS_DIR, root, "/"))
            return true;
    }
    return pick_is_over(pick);
}

/* Beside the file, in .debug/ below and under the system's root: the GDB manual,
 * "Separate Debug Files", has the order. */
static bool beside(struct companion *companion)
{
    char directory[1024];
    struct trail_path below_root = { .size = 0 };
    if (!companion->named)
        return false;
    if (companion->name[0] == '/')
        return try_path(companion, TRAIL_ROUTE_DEBUG_LINK, "", "");
    if (!mentioned_in(companion, directory, sizeof(directory)))
        return false;
    trail_path_add_string(&below_root, system_debug_root);
    trail_path_add_string(&below_root, directory);
    return try_path(companion, TRAIL_ROUTE_DEBUG_LINK, directory, "/") ||
           try_path(companion, TRAIL_ROUTE_DEBUG_LINK, directory, "/.debug/") ||
           (!below_root.bad &&
            try_path(companion, TRAIL_ROUTE_DEBUG_LINK, below_root.text, "/"));
}

/* What a debug file has to beat: the file that mentions it. */
static uint32_t rank_of_from(const struct trail_want *want)
{
    const struct trail_symbol_file *from =
        want->from && want->from->size >= sizeof(*want->from) ? want->from->handle
                                                              : NULL;
    return from && want->role == TRAIL_ROLE_DEBUG ? from->rank : TRAIL_RANK_NOTHING;
}

enum trail_status trail_routes_companion(const struct trail_routes *routes,
                                         const struct trail_target *target,
                                         const char *const *layouts,
                                         const struct trail_want *want,
                                         struct trail_search *search,
                                         struct trail_symbol_file **file_ret)
{
    char name[1024];
    snprintf(name, sizeof(name), "%.*s", (int)want->name.size,
             want->name.data ? want->name.data : "");
    bool provable = want->id.size || want->has_crc || want->role == TRAIL_ROLE_DWO ||
                    want->role == TRAIL_ROLE_DWP;
    uint32_t rank = rank_of_from(want);
    struct companion companion = {
        .pick = { .wanted = { .role = want->role,
                              .id = want->id,
                              .crc = want->crc,
                              .has_crc = want->has_crc != 0 },
                  .search = search,
                  .at_least = rank },
        .routes = routes,
        .target = target,
        .want = want,
        .name = name,
        /* .gnu_debuglink holds a file name; one with a directory in it is an attempt.
         */
        .named = provable && name[0] &&
                 (want->role != TRAIL_ROLE_DEBUG || !strchr(name, '/')),
    };
    if (!in_directories(&companion, layouts)) {
        /* Later than the file that mentions it, so it has to be better. */
        if (want->role == TRAIL_ROLE_DEBUG && want->from)
            companion.pick.at_least = rank + 1;
        if (!beside(&companion))
            pick_by_id(&companion.pick, routes, layouts, name);
    }
    return pick_take(&companion.pick, file_ret);
}

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

bool trail_routes_debug_want(const struct trail_target *target,
                             const struct trail_symbol_file *image,
                             struct trail_want *want_ret)
{
    struct trail_elf elf;
    struct trail_want want = { .size = sizeof(want),
                               .role = TRAIL_ROLE_DEBUG,
                               .from = image ? &image->source : NULL };
    /* A debug file has no code to be known by. */
    if (target->module.id_kind != TRAIL_ID_TEXT_HASH)
        want.id = target->module.id;
    bool linked =
        image && image->source.bytes &&
        trail_elf_parse(image->source.bytes, (size_t)image->source.bytes_size, &elf) &&
        debug_link(&elf, &want);
    *want_ret = want;
    return linked || want.id.size;
}
