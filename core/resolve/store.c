/* store.c -- the store of symbol files: one folder, files called by their id. */
#include "core/resolve/store.h"

#include <stdlib.h>

#include "core/resolve/files.h"

#define ID_LIMIT 64 /* bytes */

static const char *const endings[TRAIL_STORE_KINDS] = {
    [TRAIL_STORE_EXE] = ".exe",
    [TRAIL_STORE_DEBUG] = ".debug",
    [TRAIL_STORE_ORIGIN] = ".origin",
};

const char *trail_store_ending(enum trail_store_kind kind)
{
    return endings[kind];
}

bool trail_store_default(char *path_ret, size_t size)
{
    const char *cache = trail_os_environment("XDG_CACHE_HOME");
    const char *home = trail_os_environment("HOME");
    int length = -1;
    if (cache && cache[0] == '/')
        length = snprintf(path_ret, size, "%s/backtrail", cache);
    else if (home && home[0] == '/')
        length = snprintf(path_ret, size, "%s/.cache/backtrail", home);
    return length > 0 && (size_t)length < size;
}

bool trail_store_path(const char *store, struct trail_text id,
                      enum trail_store_kind kind, char *path_ret, size_t size)
{
    char hex[2 * ID_LIMIT + 1];
    if (id.size == 0 || id.size > ID_LIMIT)
        return false;
    trail_hex(id, hex, sizeof(hex));
    int length = snprintf(path_ret, size, "%s/%s%s", store, hex, endings[kind]);
    return length > 0 && (size_t)length < size;
}

bool trail_store_exists(const char *store)
{
    struct trail_os_stat stat;
    return trail_os_stat_path(store, &stat, NULL) == TRAIL_OK && stat.directory;
}

/* ---- adding ------------------------------------------------------------- */

enum trail_status trail_store_put(const char *store, struct trail_text id,
                                  enum trail_store_kind kind, const void *bytes,
                                  size_t size, struct trail_error *err)
{
    char path[1024];
    if (!trail_store_path(store, id, kind, path, sizeof(path)))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: its path is too long", store);
    enum trail_status status = trail_os_directory_make(store, 0755, err);
    if (!status)
        status = trail_os_file_write(path, bytes, size, 0644, err);
    return status;
}

static void entry_fill(const char *path, struct trail_text id,
                       enum trail_store_kind kind, struct trail_store_entry *ret)
{
    struct trail_os_stat stat = { 0 };
    trail_os_stat_path(path, &stat, NULL);
    *ret = (struct trail_store_entry){ .kind = kind,
                                       .size = stat.size,
                                       .modified_ns = stat.modified_ns };
    trail_hex(id, ret->id, sizeof(ret->id));
    snprintf(ret->path, sizeof(ret->path), "%s", path);
}

/* Whether what lies at `path` is of this id and no worse than a file of `rank`. */
static bool has_as_good(const char *path, struct trail_text id, uint32_t id_kind,
                        uint32_t rank)
{
    const struct trail_wanted wanted = { .role = TRAIL_ROLE_DEBUG,
                                         .id = id,
                                         .id_kind = id_kind };
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *there = NULL;
    bool good =
        !trail_symbol_file_open(path, TRAIL_ROUTE_STORE, &wanted, &search, &there) &&
        there->rank >= rank;
    trail_symbol_file_close(there);
    return good;
}

static enum trail_status add_file(const char *store,
                                  const struct trail_symbol_file *file,
                                  struct trail_store_entry *entry_ret, bool *added_ret,
                                  struct trail_error *err)
{
    struct trail_text id;
    uint32_t id_kind;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    char path[1024];
    if (!trail_symbol_file_whole(file))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%.180s: is no ELF file, or is cut short; get a whole copy",
                          file->path);
    if (!trail_symbol_file_key(file->file.bytes, file->file.size, hash, &id, &id_kind))
        return trail_fail(
            err, TRAIL_BAD_INPUT,
            "%.140s: has no build-id and no code to be found by; `symbols "
            "index` its program, or link that with -Wl,--build-id",
            file->path);
    enum trail_store_kind kind = file->has_code ? TRAIL_STORE_EXE : TRAIL_STORE_DEBUG;
    if (!trail_store_path(store, id, kind, path, sizeof(path)))
        return trail_fail(err, TRAIL_BAD_INPUT, "%.200s: its path is too long", store);
    enum trail_status status = TRAIL_OK;
    bool added = !has_as_good(path, id, id_kind, file->rank);
    if (added)
        status =
            trail_store_put(store, id, kind, file->file.bytes, file->file.size, err);
    if (status)
        return status;
    entry_fill(path, id, kind, entry_ret);
    entry_ret->by_hash = id_kind == TRAIL_ID_TEXT_HASH;
    *added_ret = added;
    return TRAIL_OK;
}

enum trail_status trail_store_add(const char *store, const char *path,
                                  struct trail_store_entry *entry_ret, bool *added_ret,
                                  struct trail_error *err)
{
    const struct trail_wanted any = { .role = TRAIL_ROLE_IMAGE };
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *file = NULL;
    enum trail_status status =
        trail_symbol_file_open(path, TRAIL_ROUTE_GIVEN, &any, &search, &file);
    if (status)
        return trail_fail(err, status, "%.250s", search.detail);
    status = add_file(store, file, entry_ret, added_ret, err);
    trail_symbol_file_close(file);
    return status;
}

/* ---- listing ------------------------------------------------------------ */

struct listing {
    const char *store;
    bool (*each)(void *arg, const struct trail_store_entry *entry);
    void *arg;
};

/* The kind of a name that is an id and an ending; false: it is none of ours. */
static bool name_parse(const char *name, size_t *id_size_ret,
                       enum trail_store_kind *kind_ret)
{
    size_t size = strspn(name, "0123456789abcdef");
    if (size == 0 || size % 2 || size > (size_t)2 * ID_LIMIT)
        return false;
    for (int kind = 0; kind < TRAIL_STORE_KINDS; kind++)
        if (strcmp(name + size, endings[kind]) == 0) {
            *id_size_ret = size;
            *kind_ret = (enum trail_store_kind)kind;
            return true;
        }
    return false;
}

static enum trail_status list_name(void *arg, const char *name)
{
    const struct listing *listing = arg;
    struct trail_store_entry entry = { .size = 0 };
    struct trail_os_stat stat;
    size_t id_size;
    if (!name_parse(name, &id_size, &entry.kind))
        return TRAIL_OK;
    int length =
        snprintf(entry.path, sizeof(entry.path), "%s/%s", listing->store, name);
    if (length < 0 || (size_t)length >= sizeof(entry.path) ||
        trail_os_stat_path(entry.path, &stat, NULL) || !stat.regular)
        return TRAIL_OK;
    memcpy(entry.id, name, id_size);
    entry.id[id_size] = 0;
    entry.size = stat.size;
    entry.modified_ns = stat.modified_ns;
    return listing->each(listing->arg, &entry) ? TRAIL_OK : TRAIL_CANCELLED;
}

enum trail_status trail_store_list(const char *store,
                                   bool (*each)(void *arg,
                                                const struct trail_store_entry *entry),
                                   void *arg, struct trail_error *err)
{
    struct listing listing = { .store = store, .each = each, .arg = arg };
    enum trail_status status = trail_os_directory_list(store, list_name, &listing, err);
    return status == TRAIL_CANCELLED || status == TRAIL_NOT_FOUND ? TRAIL_OK : status;
}

enum trail_status trail_store_remove(const struct trail_store_entry *entry,
                                     struct trail_error *err)
{
    return trail_os_file_remove(entry->path, err);
}
