/* rejected.c -- what could not be used, kept for a person to look at. */
#include "agent/daemon/rejected.h"

#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "agent/daemon/say.h"
#include "core/os/os.h"

struct kept {
    char name[64];
    uint64_t size;
};

struct rejected {
    char directory[1024];
    struct trail_os_mutex lock;
    struct kept kept[REJECTED_COUNT + 1]; /* oldest first */
    size_t count;
    uint64_t size, number;
    struct say_limit said;
};

static void path_of(const struct rejected *rejected, const char *name, char path[1200])
{
    snprintf(path, 1200, "%s/%s", rejected->directory, name);
}

static void drop_oldest(struct rejected *rejected)
{
    char path[1200];
    path_of(rejected, rejected->kept[0].name, path);
    trail_os_file_remove(path, NULL);
    rejected->size -= rejected->kept[0].size;
    rejected->count--;
    memmove(rejected->kept, rejected->kept + 1,
            rejected->count * sizeof(rejected->kept[0]));
}

static void enter(struct rejected *rejected, const char *name, uint64_t size)
{
    struct kept *kept = &rejected->kept[rejected->count++];
    snprintf(kept->name, sizeof(kept->name), "%s", name);
    kept->size = size;
    rejected->size += size;
    while (rejected->count > REJECTED_COUNT ||
           (rejected->size > REJECTED_SIZE && rejected->count > 1))
        drop_oldest(rejected);
}

static enum trail_status enter_found(void *arg, const char *name)
{
    struct rejected *rejected = arg;
    struct trail_os_stat found;
    char path[1200];
    path_of(rejected, name, path);
    if (strlen(name) < sizeof(rejected->kept[0].name) &&
        trail_os_stat_path(path, &found, NULL) == TRAIL_OK && found.regular)
        enter(rejected, name, found.size);
    return TRAIL_OK;
}

enum trail_status rejected_create(const char *directory, struct rejected **rejected_ret,
                                  struct trail_error *err)
{
    struct rejected *rejected = calloc(1, sizeof(*rejected));
    if (!rejected)
        return trail_fail(err, TRAIL_NO_MEMORY, "rejected: out of memory");
    snprintf(rejected->directory, sizeof(rejected->directory), "%s", directory);
    trail_os_mutex_init(&rejected->lock);
    enum trail_status status =
        trail_os_directory_list(directory, enter_found, rejected, err);
    if (status) {
        rejected_destroy(rejected);
        return status;
    }
    *rejected_ret = rejected;
    return TRAIL_OK;
}

void rejected_destroy(struct rejected *rejected)
{
    if (!rejected)
        return;
    trail_os_mutex_deinit(&rejected->lock);
    free(rejected);
}

/* A stranger's bytes that are no UTF-8 are not told. */
static void set_text(json_t *head, const char *key, const char *text)
{
    json_t *value = json_string(text);
    json_object_set_new(head, key, value ? value : json_string("(not UTF-8)"));
}

/* The whole file; NULL: no memory. */
static char *make_file(const char *source, const char *name, uint32_t uid,
                       const void *bytes, size_t size, const char *why,
                       size_t *size_ret)
{
    size_t shown = size < REJECTED_SHOWN ? size : REJECTED_SHOWN;
    json_t *head = json_object();
    set_text(head, "why", why);
    set_text(head, "source", source);
    set_text(head, "name", name);
    json_object_set_new(head, "uid", json_integer(uid));
    json_object_set_new(head, "size", json_integer((json_int_t)size));
    json_object_set_new(head, "cut", json_boolean(shown < size));
    char *line = head ? json_dumps(head, JSON_COMPACT) : NULL;
    size_t line_size = line ? strlen(line) : 0;
    char *file = line ? malloc(line_size + 1 + shown + 1) : NULL;
    if (file) {
        memcpy(file, line, line_size);
        file[line_size] = '\n';
        if (shown)
            memcpy(file + line_size + 1, bytes, shown);
        *size_ret = line_size + 1 + shown;
    }
    free(line);
    json_decref(head);
    return file;
}

void rejected_keep(struct rejected *rejected, const char *source, const char *name,
                   uint32_t uid, const void *bytes, size_t size, const char *why)
{
    char called[64], path[1200];
    size_t file_size = 0;
    char *file = make_file(source, name, uid, bytes, bytes ? size : 0, why, &file_size);
    trail_os_mutex_lock(&rejected->lock);
    snprintf(called, sizeof(called), "%020" PRIu64 "-%06" PRIu64, trail_os_time_ns(),
             rejected->number++ % 1000000);
    path_of(rejected, called, path);
    if (file && trail_os_file_write(path, file, file_size, 0600, NULL) == TRAIL_OK)
        enter(rejected, called, file_size);
    say_limited(&rejected->said, "%s: rejected %s: %s", source,
                name[0] ? name : "a line", why);
    trail_os_mutex_unlock(&rejected->lock);
    free(file);
}
