/* box.c -- a directory of its own for each registry test. */
#define _XOPEN_SOURCE 700

#include "box.h"

#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

void box_open(struct box *box)
{
    snprintf(box->root, sizeof(box->root), "/tmp/trail-registry-XXXXXX");
    assert_non_null(mkdtemp(box->root));
    assert_int_equal(chmod(box->root, 0755), 0);
    snprintf(box->plugins, sizeof(box->plugins), "%s/plugins", box->root);
    snprintf(box->state, sizeof(box->state), "%s/state", box->root);
    snprintf(box->marker, sizeof(box->marker), "%s/marker", box->root);
    assert_int_equal(mkdir(box->plugins, 0755), 0);
    assert_int_equal(chmod(box->plugins, 0755), 0);
    assert_int_equal(setenv("TRAIL_TEST_MARKER", box->marker, 1), 0);
}

static int remove_one(const char *path, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

void box_close(struct box *box)
{
    assert_int_equal(nftw(box->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

uint8_t *box_read(const char *path, size_t *size_ret)
{
    struct stat st;
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &st), 0);
    *size_ret = (size_t)st.st_size;
    uint8_t *bytes = malloc(*size_ret + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size_ret, file), *size_ret);
    fclose(file);
    return bytes;
}

uint8_t *box_read_fixture(const char *name, size_t *size_ret)
{
    char path[1024];

    snprintf(path, sizeof(path), "%s/%s", TEST_FIXTURE_DIR, name);
    return box_read(path, size_ret);
}

const char *box_path(const struct box *box, const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s", box->plugins, name);
    return path;
}

void box_write(const struct box *box, const char *name, const void *bytes, size_t size)
{
    const char *path = box_path(box, name);

    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0644), 0);
}

void box_copy(const struct box *box, const char *fixture, const char *name)
{
    size_t size;
    uint8_t *bytes = box_read_fixture(fixture, &size);

    box_write(box, name, bytes, size);
    free(bytes);
}

struct trail_registry *box_registry(const struct box *box)
{
    const char *const directories[] = { box->plugins };
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = 1,
                                                    .state_directory = box->state };
    struct trail_registry *registry = NULL;
    struct trail_error err = { "" };

    assert_ok_err(trail_registry_create(&options, &registry, &err), err);
    return registry;
}

const struct trail_plugin *box_find(const struct trail_registry *registry,
                                    const char *file_name)
{
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        const struct trail_plugin *plugin = trail_registry_at(registry, i);
        const char *slash = strrchr(plugin->path, '/');
        if (slash && strcmp(slash + 1, file_name) == 0)
            return plugin;
    }
    return NULL;
}

void box_assert_refused(struct trail_registry *registry, const char *file_name,
                        const char *reason)
{
    const struct trail_plugin *plugin = box_find(registry, file_name), *loaded = NULL;
    struct trail_error err = { "" };

    assert_non_null(plugin);
    if (plugin->state != TRAIL_PLUGIN_REFUSED)
        print_error("%s: %s\n", file_name, trail_plugin_state_name(plugin->state));
    assert_int_equal(plugin->state, TRAIL_PLUGIN_REFUSED);
    assert_contains(plugin->reason, file_name);
    assert_contains(plugin->reason, reason);
    assert_null(strchr(plugin->reason, '\n'));

    uint32_t kind =
        plugin->kind == TRAIL_KIND_SINK ? TRAIL_KIND_SINK : TRAIL_KIND_SYMBOLIZER;
    enum trail_status status =
        trail_registry_load(registry, (enum trail_plugin_kind)kind, plugin->name,
                            &loaded, &err);
    assert_true(status == TRAIL_REFUSED || plugin->kind > TRAIL_KIND_SINK);
    assert_null(loaded);
    if (status == TRAIL_REFUSED)
        assert_string_equal(err.text, plugin->reason);
}

static enum trail_status take_line(void *arg, const struct trail_found *found)
{
    *(uint32_t *)arg = found->line;
    return TRAIL_OK;
}

uint32_t box_answer(const struct trail_plugin *plugin)
{
    const struct trail_call call = { .size = sizeof(call), .threads = 1 };
    const uint64_t address = 0x1000;
    uint32_t line = 0;

    assert_ok(
        plugin->symbolizer->resolve(NULL, &call, &address, 1, take_line, &line, NULL));
    return line;
}

uint32_t box_load(struct trail_registry *registry, const char *name)
{
    const struct trail_plugin *plugin = NULL;
    struct trail_error err = { "" };

    assert_ok_err(
        trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, name, &plugin, &err), err);
    assert_int_equal(plugin->state, TRAIL_PLUGIN_LOADED);
    assert_string_equal(plugin->name, name);
    return box_answer(plugin);
}

bool box_marked(const struct box *box)
{
    return access(box->marker, F_OK) == 0;
}
