/* walk.c -- the modules at a path. */
#define _POSIX_C_SOURCE 200809L

#include "agent/symbols/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "agent/options.h"
#include "agent/symbols/interrupt.h"
#include "core/os/os.h"
#include "core/trace/elf_tables.h"

/* Of an ELF header, up to and with e_type. */
#define HEAD_SIZE 18

static enum trail_status add_file(struct walk *walk, const char *path, uint64_t size,
                                  bool given, struct trail_error *err)
{
    size_t length = strlen(path) + 1;
    char *copy = malloc(length);
    if (copy && walk->count == walk->room) {
        size_t room = walk->room ? 2 * walk->room : 64;
        struct walk_file *grown = realloc(walk->at, room * sizeof(*grown));
        if (grown) {
            walk->at = grown;
            walk->room = room;
        }
    }
    if (!copy || walk->count == walk->room) {
        free(copy);
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", path);
    }
    memcpy(copy, path, length);
    walk->at[walk->count++] =
        (struct walk_file){ .path = copy, .size = size, .given = given };
    return TRAIL_OK;
}

/* A program or a library, with its code or without: object files and cores have no
 * addresses that a trace could hold. */
static bool is_module(const uint8_t *head, size_t size)
{
    static const uint8_t magic[] = { 0x7f, 'E', 'L', 'F' };
    if (size < HEAD_SIZE || memcmp(head, magic, sizeof(magic)) != 0)
        return false;
    bool big = head[5] == 2;
    unsigned type = big ? head[16] * 256u + head[17] : head[17] * 256u + head[16];
    return type == TRAIL_ELF_EXECUTABLE || type == TRAIL_ELF_DYNAMIC;
}

static void tell(struct walk *walk, const char *path, int reason)
{
    failure("%s: %s", path, strerror(reason));
    walk->failed = true;
}

static enum trail_status look_at_file(struct walk *walk, const char *path,
                                      const struct stat *st, struct trail_error *err)
{
    uint8_t head[HEAD_SIZE];
    FILE *file = st->st_size >= HEAD_SIZE ? fopen(path, "rb") : NULL;
    if (!file) {
        if (st->st_size >= HEAD_SIZE)
            tell(walk, path, errno);
        return TRAIL_OK;
    }
    size_t got = fread(head, 1, sizeof(head), file);
    fclose(file);
    if (!is_module(head, got))
        return TRAIL_OK;
    return add_file(walk, path, (uint64_t)st->st_size, false, err);
}

/* ---- folders ------------------------------------------------------------ */

struct folder {
    struct walk *walk;
    const char *path;
    unsigned depth;
    struct trail_error *err;
};

static enum trail_status look_into(struct walk *walk, const char *path, unsigned depth,
                                   struct trail_error *err);

static enum trail_status look_at(void *arg, const char *name)
{
    const struct folder *folder = arg;
    char path[4096];
    struct stat st;
    const char *slash = folder->path[strlen(folder->path) - 1] == '/' ? "" : "/";
    int size = snprintf(path, sizeof(path), "%s%s%s", folder->path, slash, name);
    if (interrupt_came())
        return TRAIL_CANCELLED;
    if (folder->walk->looked_at++ == WALK_FILE_LIMIT)
        return trail_fail(folder->err, TRAIL_BAD_INPUT,
                          "%s: more than %u files; name folders below it", folder->path,
                          WALK_FILE_LIMIT);
    if (size < 0 || (size_t)size >= sizeof(path) || lstat(path, &st))
        tell(folder->walk, path, (size_t)size >= sizeof(path) ? ENAMETOOLONG : errno);
    else if (S_ISDIR(st.st_mode))
        return look_into(folder->walk, path, folder->depth + 1, folder->err);
    else if (S_ISREG(st.st_mode))
        return look_at_file(folder->walk, path, &st, folder->err);
    return TRAIL_OK;
}

/* The errors of look_at are errors of all; a folder that cannot be read is told. */
static enum trail_status look_into(struct walk *walk, const char *path, unsigned depth,
                                   struct trail_error *err)
{
    struct trail_error why = { "" };
    struct folder folder = { .walk = walk, .path = path, .depth = depth, .err = &why };
    if (depth > WALK_DEPTH_LIMIT) {
        tell(walk, path, ELOOP);
        return TRAIL_OK;
    }
    enum trail_status status = trail_os_directory_list(path, look_at, &folder, &why);
    if (status == TRAIL_IO || status == TRAIL_NOT_FOUND) {
        failure("%s", why.text);
        walk->failed = true;
        return TRAIL_OK;
    }
    return status ? trail_fail(err, status, "%s", why.text) : TRAIL_OK;
}

enum trail_status walk_add(struct walk *walk, const char *path, struct trail_error *err)
{
    struct trail_os_stat stat;
    struct trail_error why = { "" };
    if (trail_os_stat_path(path, &stat, &why)) {
        failure("%s", why.text);
        walk->failed = true;
        return TRAIL_OK;
    }
    if (stat.directory)
        return look_into(walk, path, 0, err);
    return add_file(walk, path, stat.size, true, err);
}

void walk_deinit(struct walk *walk)
{
    for (size_t i = 0; i < walk->count; i++)
        free(walk->at[i].path);
    free(walk->at);
    *walk = (struct walk){ .count = 0 };
}
