/* routes.c -- where a module's symbols may lie, in order. */
#include "core/resolve/routes.h"

#include <stdlib.h>

/* Where distributions put separate debug files (GDB manual, "Separate Debug Files"). */
static const char system_debug_root[] = "/usr/lib/debug";

const char *trail_route_name(uint32_t route)
{
    static const char *const names[] = {
        "",           "given",        "symbols-dir", "embedded",  "memory",
        "debug-link", "build-id-dir", "store",       "debuginfod"
    };
    return route < sizeof(names) / sizeof(names[0]) ? names[route] : "";
}

/* A path put together; false: too long, or holding a zero byte. */
struct path {
    char text[1024];
    size_t size;
    bool bad;
};

static void path_add(struct path *path, const char *bytes, size_t size)
{
    if (size >= sizeof(path->text) - path->size || memchr(bytes, 0, size)) {
        path->bad = true;
        return;
    }
    memcpy(path->text + path->size, bytes, size);
    path->size += size;
    path->text[path->size] = 0;
}

static void path_add_string(struct path *path, const char *string)
{
    path_add(path, string, strlen(string));
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* One directive of a layout; see struct trail_symbolizer. */
static void layout_part(struct path *path, char directive, const char *name,
                        const char *id_hex)
{
    switch (directive) {
    case 'n':
        path_add_string(path, base_name(name));
        break;
    case 'N':
        path_add_string(path, name + strspn(name, "/"));
        break;
    case 'i':
        path_add_string(path, id_hex);
        break;
    case '2':
        path_add(path, id_hex, strlen(id_hex) < 2 ? strlen(id_hex) : 2);
        break;
    case 'r':
        path_add_string(path, strlen(id_hex) < 2 ? "" : id_hex + 2);
        break;
    default:
        path->bad = true;
    }
}

/* `root`/layout with its directives filled in; false: it cannot be. */
static bool layout_path(const char *root, const char *layout, const char *name,
                        struct trail_text id, struct path *path_ret)
{
    char id_hex[2 * 64 + 1];
    trail_hex(id, id_hex, sizeof(id_hex));
    *path_ret = (struct path){ .size = 0 };
    path_add_string(path_ret, root);
    path_add_string(path_ret, "/");
    for (const char *at = layout; *at; at++) {
        bool by_id = *at == '%' && strchr("i2r", at[1]) && at[1];
        bool by_name = *at == '%' && strchr("nN", at[1]) && at[1];
        /* Without the one it goes by, it is the path of a directory. */
        if ((by_id && id.size == 0) || (by_name && !base_name(name)[0]))
            return false;
        if (*at == '%' && at[1])
            layout_part(path_ret, *++at, name, id_hex);
        else
            path_add(path_ret, at, 1);
    }
    return !path_ret->bad;
}

/* Try every layout below one root. Names that climb out of it are not followed. */
static enum trail_status try_layouts(const char *root, uint32_t route,
                                     const char *const *layouts, const char *name,
                                     const struct trail_wanted *wanted,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret)
{
    struct path path;
    if (strstr(name, ".."))
        name = base_name(name);
    for (; layouts && *layouts; layouts++) {
        if (layout_path(root, *layouts, name, wanted->id, &path) &&
            trail_symbol_file_open(path.text, route, wanted, search, file_ret) ==
                TRAIL_OK)
            return TRAIL_OK;
    }
    return TRAIL_NOT_FOUND;
}

enum trail_status trail_routes_image(const struct trail_target *target,
                                     struct trail_search *search,
                                     struct trail_symbol_file **file_ret)
{
    struct trail_wanted wanted = { .role = TRAIL_ROLE_IMAGE };
    if (target->module.flags & TRAIL_MODULE_VDSO) {
        if (target->memory)
            return trail_symbol_file_memory("[vdso]", target->memory,
                                            target->memory_size, file_ret);
        snprintf(search->detail, sizeof(search->detail),
                 "the vDSO is in no file, and its process is not this one");
        return TRAIL_NOT_FOUND;
    }
    if (!target->path[0]) {
        snprintf(search->detail, sizeof(search->detail), "it has no file");
        return TRAIL_NOT_FOUND;
    }
    if (!target->given)
        wanted.id = target->module.id;
    return trail_symbol_file_open(
        target->path, target->given ? TRAIL_ROUTE_GIVEN : TRAIL_ROUTE_EMBEDDED, &wanted,
        search, file_ret);
}

/* Files people put into a symbol directory under the module's own name or path. */
static const char *const plain_layouts[] = { "%n", "%N", "%n.debug", "%N.debug", NULL };

enum trail_status trail_routes_directories(const struct trail_routes *routes,
                                           const struct trail_target *target,
                                           const char *const *layouts,
                                           struct trail_search *search,
                                           struct trail_symbol_file **file_ret)
{
    char name[1024];
    const struct trail_wanted wanted = { .role = TRAIL_ROLE_DEBUG,
                                         .id = target->module.id };
    snprintf(name, sizeof(name), "%.*s", (int)target->module.path.size,
             target->module.path.data);
    if (wanted.id.size == 0) /* nothing to compare: a name alone proves nothing */
        return TRAIL_NOT_FOUND;
    for (size_t i = 0; i < routes->directory_count; i++) {
        const char *root = routes->directories[i];
        if (!try_layouts(root, TRAIL_ROUTE_SYMBOLS_DIR, layouts, name, &wanted, search,
                         file_ret) ||
            !try_layouts(root, TRAIL_ROUTE_SYMBOLS_DIR, plain_layouts, name, &wanted,
                         search, file_ret))
            return TRAIL_OK;
    }
    return TRAIL_NOT_FOUND;
}

/* ---- companions --------------------------------------------------------- */

struct companion {
    const struct trail_wanted wanted;
    const char *name;
    struct trail_search *search;
    struct trail_symbol_file **file_ret;
};

static enum trail_status try_path(const struct companion *companion, uint32_t route,
                                  const char *directory, const char *between)
{
    struct path path = { .size = 0 };
    path_add_string(&path, directory);
    path_add_string(&path, between);
    path_add_string(&path, companion->name);
    if (path.bad)
        return TRAIL_NOT_FOUND;
    return trail_symbol_file_open(path.text, route, &companion->wanted,
                                  companion->search, companion->file_ret);
}

/* Directory of the file that mentions the companion, links followed: debug files lie
 * beside the program, not beside the link that it was started by. */
static bool mentioned_in(const struct trail_target *target,
                         const struct trail_want *want, char *directory_ret,
                         size_t size)
{
    char path[1024];
    const struct trail_text *from = want->from ? &want->from->name : NULL;
    if (from && from->size && from->data[0] != '[')
        snprintf(path, sizeof(path), "%.*s", (int)from->size, from->data);
    else
        snprintf(path, sizeof(path), "%s", target->path);
    if (!trail_os_path_real(path, directory_ret, size))
        return false;
    char *slash = strrchr(directory_ret, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

/* Beside the file, in .debug/ below, under the system's root and in the symbol
 * directories; "(GDB manual, Separate Debug Files)" has the order. */
static enum trail_status by_name(const struct trail_routes *routes,
                                 const struct trail_target *target,
                                 const struct trail_want *want,
                                 const struct companion *companion)
{
    char directory[1024];
    struct path below_root = { .size = 0 };
    for (size_t i = 0; i < routes->directory_count; i++)
        if (!try_path(companion, TRAIL_ROUTE_SYMBOLS_DIR, routes->directories[i], "/"))
            return TRAIL_OK;
    if (companion->name[0] == '/')
        return try_path(companion, TRAIL_ROUTE_DEBUG_LINK, "", "");
    if (!mentioned_in(target, want, directory, sizeof(directory)))
        return TRAIL_NOT_FOUND;
    path_add_string(&below_root, system_debug_root);
    path_add_string(&below_root, directory);
    if (!try_path(companion, TRAIL_ROUTE_DEBUG_LINK, directory, "/") ||
        !try_path(companion, TRAIL_ROUTE_DEBUG_LINK, directory, "/.debug/") ||
        (!below_root.bad &&
         !try_path(companion, TRAIL_ROUTE_DEBUG_LINK, below_root.text, "/")))
        return TRAIL_OK;
    return TRAIL_NOT_FOUND;
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
    const struct companion companion = {
        .wanted = { .role = want->role,
                    .id = want->id,
                    .crc = want->crc,
                    .has_crc = want->has_crc != 0 },
        .name = name,
        .search = search,
        .file_ret = file_ret,
    };
    /* .gnu_debuglink holds a file name; one with a directory in it is an attempt. */
    bool named = name[0] && (want->role != TRAIL_ROLE_DEBUG || !strchr(name, '/'));
    bool provable = want->id.size || want->has_crc || want->role == TRAIL_ROLE_DWO ||
                    want->role == TRAIL_ROLE_DWP;

    if (want->id.size) {
        for (size_t i = 0; i < routes->directory_count; i++)
            if (!try_layouts(routes->directories[i], TRAIL_ROUTE_SYMBOLS_DIR, layouts,
                             name, &companion.wanted, search, file_ret))
                return TRAIL_OK;
        if (!try_layouts(system_debug_root, TRAIL_ROUTE_BUILD_ID_DIR, layouts, name,
                         &companion.wanted, search, file_ret))
            return TRAIL_OK;
    }
    if (named && provable && !by_name(routes, target, want, &companion))
        return TRAIL_OK;
    return search->mismatch ? TRAIL_REFUSED : TRAIL_NOT_FOUND;
}
