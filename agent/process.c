/* process.c -- the modules that are mapped in a process, each once. */
#define _GNU_SOURCE

#include "agent/process.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "core/os/os.h"

#define MAPS_LIMIT   ((size_t)64 << 20) /* bytes of /proc/PID/maps */
#define MODULE_LIMIT 8192u
#define VDSO_LIMIT   ((uint64_t)1 << 20)

static const char as_root[] = "run it as root or as the process's user";

/* ---- one module --------------------------------------------------------- */

struct walk {
    int64_t pid;
    void (*each)(void *arg, const struct process_module *module);
    void *arg;
    size_t generated; /* executable mappings of no file */
};

static bool is_same_file(const char *path, const struct process_mapping *mapping)
{
    struct trail_os_stat stat;
    return trail_os_stat_path(path, &stat, NULL) == TRAIL_OK &&
           stat.inode == mapping->inode && stat.regular &&
           major((dev_t)stat.device) == mapping->major &&
           minor((dev_t)stat.device) == mapping->minor;
}

/* Overlay and btrfs give files other device numbers in maps than stat does: then the
 * inode alone has to do. */
static bool is_same_inode(const char *path, const struct process_mapping *mapping)
{
    struct trail_os_stat stat;
    return trail_os_stat_path(path, &stat, NULL) == TRAIL_OK &&
           stat.inode == mapping->inode && stat.regular;
}

/* The very file that is mapped: by its path as the process sees it, if that is still
 * the same file, else through the mapping. */
static bool open_path(const struct walk *walk, const struct process_mapping *mapping,
                      char *path_ret, size_t size)
{
    struct trail_os_stat stat;
    snprintf(path_ret, size, "/proc/%" PRId64 "/root%s", walk->pid, mapping->path);
    if (is_same_file(path_ret, mapping))
        return true;
    snprintf(path_ret, size, "/proc/%" PRId64 "/map_files/%" PRIx64 "-%" PRIx64,
             walk->pid, mapping->start, mapping->end);
    if (trail_os_stat_path(path_ret, &stat, NULL) == TRAIL_OK)
        return true;
    snprintf(path_ret, size, "/proc/%" PRId64 "/root%s", walk->pid, mapping->path);
    return is_same_inode(path_ret, mapping);
}

/* Memory that has a name and a number like a file, where runtimes put code that they
 * generate: it is a module only if it is an ELF image. */
static bool is_generated(const char *opened, const struct process_mapping *mapping)
{
    static const char *const names[] = { "/memfd:", "/dev/zero", "/SYSV", "/dev/shm/" };
    char magic[4] = "";
    bool memory = false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        memory = memory || strncmp(mapping->path, names[i], strlen(names[i])) == 0;
    FILE *file = memory && opened ? fopen(opened, "rb") : NULL;
    bool elf = file && fread(magic, 1, sizeof(magic), file) == sizeof(magic) &&
               memcmp(magic,
                      "\x7f"
                      "ELF",
                      sizeof(magic)) == 0;
    if (file)
        fclose(file);
    return memory && !elf;
}

static void take_file(struct walk *walk, const struct process_mapping *mapping)
{
    char path[1200];
    bool opened = open_path(walk, mapping, path, sizeof(path));
    const struct process_module module = { .name = mapping->path,
                                           .opened = opened ? path : NULL };
    if (is_generated(module.opened, mapping))
        walk->generated++;
    else
        walk->each(walk->arg, &module);
}

/* The kernel's own module is in no file: it is read from the process. */
static void take_vdso(const struct walk *walk, const struct process_mapping *mapping)
{
    char path[64];
    uint64_t size = mapping->end - mapping->start;
    uint8_t *bytes = size <= VDSO_LIMIT ? malloc((size_t)size) : NULL;
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/mem", walk->pid);
    FILE *memory = bytes ? fopen(path, "rb") : NULL;
    bool read = memory && fseeko(memory, (off_t)mapping->start, SEEK_SET) == 0 &&
                fread(bytes, 1, (size_t)size, memory) == size;
    const struct process_module module = { .name = mapping->path,
                                           .bytes = read ? bytes : NULL,
                                           .size = (size_t)size,
                                           .vdso = true };
    if (memory)
        fclose(memory);
    walk->each(walk->arg, &module);
    free(bytes);
}

/* ---- all of them -------------------------------------------------------- */

/* Modules that were seen: a file has several mappings, and may have two names. */
struct seen {
    struct {
        uint64_t inode;
        unsigned major, minor;
    } at[MODULE_LIMIT];
    size_t count;
};

static bool is_new(struct seen *seen, const struct process_mapping *mapping)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->at[i].inode == mapping->inode &&
            seen->at[i].major == mapping->major && seen->at[i].minor == mapping->minor)
            return false;
    if (seen->count == MODULE_LIMIT)
        return false;
    seen->at[seen->count].inode = mapping->inode;
    seen->at[seen->count].major = mapping->major;
    seen->at[seen->count++].minor = mapping->minor;
    return true;
}

static void take_line(struct walk *walk, struct seen *seen, char *line)
{
    struct process_mapping mapping;
    if (!process_mapping_parse(line, &mapping) || !mapping.executable)
        return;
    if (strcmp(mapping.path, "[vdso]") == 0)
        take_vdso(walk, &mapping);
    else if (mapping.path[0] == '/' && mapping.inode && is_new(seen, &mapping))
        take_file(walk, &mapping);
    else if (!mapping.path[0] || strncmp(mapping.path, "[anon", 5) == 0 ||
             strncmp(mapping.path, "//anon", 6) == 0)
        walk->generated++;
}

enum trail_status process_each_module(
    int64_t pid, void (*each)(void *arg, const struct process_module *module),
    void *arg, size_t *generated_ret, struct trail_error *err)
{
    char path[64], *maps = NULL;
    size_t size = 0;
    struct walk walk = { .pid = pid, .each = each, .arg = arg };
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return errno == ENOENT
                   ? trail_fail(err, TRAIL_NOT_FOUND, "no such process")
                   : trail_fail(err, TRAIL_IO, "%s; %s", strerror(errno), as_root);
    struct seen *seen = calloc(1, sizeof(*seen));
    size_t room = 0, lines = 0;
    ssize_t got;
    while (seen && size < MAPS_LIMIT && (got = getline(&maps, &room, file)) > 0) {
        size += (size_t)got;
        lines++;
        maps[strcspn(maps, "\n")] = 0;
        take_line(&walk, seen, maps);
    }
    int reason = ferror(file) ? errno : 0;
    free(maps);
    free(seen);
    fclose(file);
    *generated_ret = walk.generated;
    if (reason)
        return trail_fail(err, TRAIL_IO, "its mappings cannot be read: %s; %s",
                          strerror(reason), as_root);
    if (lines == 0)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "has no mappings: it is a kernel thread, or has ended");
    return TRAIL_OK;
}
