/* verify.c -- `symbols verify`: files held against their names and checksums. */
#include "agent/progress.h"
#include "agent/symbols/interrupt.h"
#include "agent/symbols/map_file.h"
#include "agent/symbols/sums.h"
#include "agent/symbols/symbols.h"
#include "core/resolve/files.h"

/* A folder, and the checksums in it. */
struct checking {
    const char *directory;
    struct sums sums;
    bool has_sums;
    size_t checked, wrong;
};

TRAIL_PRINTF(2, 3)
static void tell_wrong(struct checking *checking, const char *format, ...)
{
    char text[SYMBOLS_PATH_SIZE + 512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    progress_hide();
    failure("%s", text);
    checking->wrong++;
}

/* ---- what a file says it is --------------------------------------------- */

/* The kind that a name ends with; false: of none. */
static bool kind_of(const char *name, enum trail_store_kind *kind_ret)
{
    size_t size = strlen(name);
    for (int kind = 0; kind < TRAIL_STORE_KINDS; kind++) {
        const char *ending = trail_store_ending((enum trail_store_kind)kind);
        size_t length = strlen(ending);
        if (size < length || strcmp(name + size - length, ending) != 0)
            continue;
        *kind_ret = (enum trail_store_kind)kind;
        return true;
    }
    return false;
}

/* The id that a name begins with, as bare hex; false: it is none. */
static bool id_of(const char *name, enum trail_store_kind kind,
                  char hex_ret[2 * 64 + 1])
{
    size_t size = strlen(name) - strlen(trail_store_ending(kind));
    if (size == 0 || size % 2 || size > (size_t)2 * 64 ||
        strspn(name, "0123456789abcdef") < size)
        return false;
    memcpy(hex_ret, name, size);
    hex_ret[size] = 0;
    return true;
}

static enum trail_status check_elf(const char *path, const char *hex,
                                   struct trail_error *err)
{
    const struct trail_wanted any = { .role = TRAIL_ROLE_DEBUG };
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *file = NULL;
    struct trail_text id = { 0 };
    uint32_t id_kind;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    char found[2 * 64 + 1] = "none";
    enum trail_status status =
        trail_symbol_file_open(path, TRAIL_ROUTE_GIVEN, &any, &search, &file);
    if (status)
        return trail_fail(err, status, "%s", search.detail);
    if (!trail_symbol_file_whole(file))
        status =
            trail_fail(err, TRAIL_BAD_INPUT, "%.200s: is cut short or damaged", path);
    else if (trail_symbol_file_key(file->file.bytes, file->file.size, hash, &id,
                                   &id_kind))
        trail_hex(id, found, sizeof(found));
    if (!status && strcmp(found, hex) != 0)
        status = trail_fail(err, TRAIL_REFUSED,
                            "%.100s: has id %.64s, which is not its name", path, found);
    trail_symbol_file_close(file);
    return status;
}

static enum trail_status check_map(const char *path, const char *hex,
                                   struct trail_error *err)
{
    struct map_file map;
    enum trail_status status = map_file_open(path, true, &map, err);
    if (status)
        return status;
    if (strcmp(map.id, hex) != 0)
        status = trail_fail(err, TRAIL_REFUSED,
                            "%.100s: is the map of %.64s, which is not its name", path,
                            map.id);
    map_file_close(&map);
    return status;
}

/* ---- one file ----------------------------------------------------------- */

/* Whether what it holds is what it is called. */
static bool check_contents(struct checking *checking, const char *path,
                           const char *name, enum trail_store_kind kind)
{
    char hex[2 * 64 + 1];
    struct trail_error err = { "" };
    enum trail_status status;
    if (!id_of(name, kind, hex)) {
        tell_wrong(checking, "%s: is not called by an id in hexadecimal", path);
        return false;
    }
    if (kind == TRAIL_STORE_ORIGIN)
        status = check_map(path, hex, &err);
    else
        status = check_elf(path, hex, &err);
    if (status)
        tell_wrong(checking, "%s", err.text);
    return status == TRAIL_OK;
}

static void check_sum(struct checking *checking, const char *path, const char *name)
{
    char hex[SUMS_HEX_SIZE];
    struct trail_error err = { "" };
    const struct sum *sum = sums_find(&checking->sums, name);
    if (!sum)
        tell_wrong(checking, "%s: is not in " SUMS_NAME, path);
    else if (sums_hash_file(path, hex, &err))
        tell_wrong(checking, "%s", err.text);
    else if (strcmp(hex, sum->hex) != 0)
        tell_wrong(checking, "%s: is not what " SUMS_NAME " says; it was changed",
                   path);
}

static enum trail_status check_file(void *arg, const char *name)
{
    struct checking *checking = arg;
    char path[SYMBOLS_PATH_SIZE];
    enum trail_store_kind kind;
    bool ours = kind_of(name, &kind);
    bool listed = sums_find(&checking->sums, name) != NULL;
    if (interrupt_came())
        return TRAIL_CANCELLED;
    if ((!ours && !listed) || strcmp(name, SUMS_NAME) == 0)
        return TRAIL_OK;
    snprintf(path, sizeof(path), "%s/%s", checking->directory, name);
    checking->checked++;
    if ((!ours || check_contents(checking, path, name, kind)) && checking->has_sums)
        check_sum(checking, path, name);
    return TRAIL_OK;
}

/* ---- folders ------------------------------------------------------------ */

static void check_listed(struct checking *checking)
{
    struct trail_os_stat stat;
    for (size_t i = 0; i < checking->sums.count; i++) {
        char path[SYMBOLS_PATH_SIZE];
        snprintf(path, sizeof(path), "%s/%s", checking->directory,
                 checking->sums.at[i].name);
        if (trail_os_stat_path(path, &stat, NULL) == TRAIL_NOT_FOUND)
            tell_wrong(checking, "%s: is missing, though " SUMS_NAME " lists it", path);
    }
}

static void open_sums(struct checking *checking)
{
    struct trail_error err = { "" };
    enum trail_status status = sums_read(checking->directory, &checking->sums, &err);
    checking->has_sums = status == TRAIL_OK;
    if (status && status != TRAIL_NOT_FOUND)
        tell_wrong(checking, "%s", err.text);
}

static void check_directory(struct checking *checking, const char *path)
{
    struct trail_error err = { "" };
    size_t before = checking->checked + checking->wrong;
    checking->directory = path;
    open_sums(checking);
    if (trail_os_directory_list(path, check_file, checking, &err) && !interrupt_came())
        tell_wrong(checking, "%s", err.text);
    check_listed(checking);
    if (checking->checked + checking->wrong == before && !interrupt_came())
        tell_wrong(checking, "%s: has no .origin, .debug or .exe file", path);
    sums_deinit(&checking->sums);
}

/* A file alone: what the checksums beside it say of it counts, if they do. */
static void check_alone(struct checking *checking, const char *path)
{
    char directory[SYMBOLS_PATH_SIZE];
    enum trail_store_kind kind;
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    snprintf(directory, sizeof(directory), "%.*s", slash ? (int)(slash - path) : 1,
             slash ? path : ".");
    if (slash == path)
        snprintf(directory, sizeof(directory), "/");
    checking->directory = directory;
    checking->checked++;
    if (!kind_of(name, &kind)) {
        tell_wrong(checking, "%s: is no .origin, .debug or .exe file", path);
        return;
    }
    open_sums(checking);
    if (check_contents(checking, path, name, kind) && checking->has_sums &&
        sums_find(&checking->sums, name))
        check_sum(checking, path, name);
    sums_deinit(&checking->sums);
}

int symbols_verify(struct symbols_session *session, char **arguments, int count)
{
    struct checking checking = { .wrong = 0 };
    struct trail_os_stat stat;
    struct trail_error err = { "" };
    (void)session;
    progress_begin(0, "verifying");
    for (int i = 0; i < count && !interrupt_came(); i++) {
        if (trail_os_stat_path(arguments[i], &stat, &err))
            tell_wrong(&checking, "%s", err.text);
        else if (stat.directory)
            check_directory(&checking, arguments[i]);
        else
            check_alone(&checking, arguments[i]);
    }
    progress_end();
    printf("%zu files checked, %zu things wrong\n", checking.checked, checking.wrong);
    return checking.wrong ? EXIT_FAILED : EXIT_DONE;
}
