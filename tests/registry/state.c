/* Copies are made in a directory of one's own, by content, and never trusted. */
#define _XOPEN_SOURCE 700

#include "box.h"
#include "core/registry/file.h"

#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

/* Where the copy of `file_name` lies or will lie. */
static void copy_path(const struct box *box, const struct trail_registry *registry,
                      const char *file_name, char *path_ret, size_t size)
{
    const struct trail_plugin *plugin = box_find(registry, file_name);
    struct trail_plugin_file file;

    assert_non_null(plugin);
    assert_ok(
        trail_plugin_file_open(plugin->path, TRAIL_PLUGIN_FILE_TAKE, &file, NULL));
    snprintf(path_ret, size, "%s/plugins/%s.so", box->state, file.hash);
    trail_plugin_file_close(&file);
}

static void assert_load_fails(const struct box *box, const char *state,
                              enum trail_status expected, const char *words)
{
    const char *const directories[] = { box->plugins };
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = 1,
                                                    .state_directory = state };
    struct trail_registry *registry = NULL;
    const struct trail_plugin *plugin = NULL;
    struct trail_error err = { "" };

    assert_ok(trail_registry_create(&options, &registry, NULL));
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good",
                                         &plugin, &err),
                     expected);
    assert_contains(err.text, words);
    assert_contains(err.text, "set \"state\" in the config or BACKTRAIL_STATE");
    assert_int_equal(box_find(registry, "good.so")->state, TRAIL_PLUGIN_FOUND);
    assert_null(plugin);
    trail_registry_destroy(registry);
}

static void the_copy_is_private_and_named_by_its_hash(void **unused)
{
    (void)unused;
    struct box box;
    struct stat st;
    char path[256];
    size_t size, copy_size;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    assert_int_not_equal(stat(box.state, &st), 0);
    box_load(registry, "good");
    copy_path(&box, registry, "good.so", path, sizeof(path));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0500);
    uint8_t *bytes = box_read_fixture("good.so", &size);
    uint8_t *copy = box_read(path, &copy_size);
    assert_int_equal(size, copy_size);
    assert_memory_equal(bytes, copy, size);
    *strrchr(path, '/') = '\0';
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    free(copy);
    free(bytes);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_copy_that_was_tampered_with_is_written_anew(void **unused)
{
    (void)unused;
    struct box box;
    char path[256], folder[256];
    size_t size, other_size, copy_size;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    snprintf(folder, sizeof(folder), "%s/plugins", box.state);
    assert_int_equal(mkdir(box.state, 0700), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    struct trail_registry *registry = box_registry(&box);
    copy_path(&box, registry, "good.so", path, sizeof(path));

    uint8_t *other = box_read_fixture("good-again.so", &other_size);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(other, 1, other_size, file), other_size);
    fclose(file);
    assert_int_equal(box_load(registry, "good"), 1);
    uint8_t *bytes = box_read_fixture("good.so", &size);
    uint8_t *copy = box_read(path, &copy_size);
    assert_int_equal(size, copy_size);
    assert_memory_equal(bytes, copy, size);
    free(copy);
    free(bytes);
    free(other);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_copy_that_others_can_write_to_is_written_anew(void **unused)
{
    (void)unused;
    struct box box;
    struct stat st;
    char path[256];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    box_load(registry, "good");
    copy_path(&box, registry, "good.so", path, sizeof(path));
    trail_registry_destroy(registry);
    assert_int_equal(chmod(path, 0666), 0);
    registry = box_registry(&box);
    box_load(registry, "good");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0500);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_good_copy_is_used_again(void **unused)
{
    (void)unused;
    struct box box;
    struct stat before, after;
    char path[256];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    box_load(registry, "good");
    copy_path(&box, registry, "good.so", path, sizeof(path));
    trail_registry_destroy(registry);
    assert_int_equal(stat(path, &before), 0);
    registry = box_registry(&box);
    box_load(registry, "good");
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_state_directory_that_cannot_be_made_is_named(void **unused)
{
    (void)unused;
    struct box box;
    char below_a_file[128];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    snprintf(below_a_file, sizeof(below_a_file), "%s/good.so/state", box.plugins);
    assert_load_fails(&box, below_a_file, TRAIL_IO, "good.so");
    assert_load_fails(&box, NULL, TRAIL_IO, "there is no state directory");
    assert_load_fails(&box, "", TRAIL_IO, "there is no state directory");
    assert_false(box_marked(&box));
    box_close(&box);
}

static void a_state_directory_without_leave_to_write_is_named(void **unused)
{
    (void)unused;
    struct box box;
    char state[128];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    snprintf(state, sizeof(state), "%s/locked/state", box.root);
    snprintf(box.state, sizeof(box.state), "%s/locked", box.root);
    assert_int_equal(mkdir(box.state, 0555), 0);
    if (geteuid() == 0)
        assert_int_equal(seteuid(NOBODY), 0);
    assert_load_fails(&box, state, TRAIL_IO, "locked/state: Permission denied");
    if (getuid() == 0)
        assert_int_equal(seteuid(0), 0);
    assert_false(box_marked(&box));
    box_close(&box);
}

static void a_state_directory_that_others_can_write_to_is_refused(void **unused)
{
    (void)unused;
    struct box box;
    char folder[128];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    snprintf(folder, sizeof(folder), "%s/plugins", box.state);
    assert_int_equal(mkdir(box.state, 0700), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_load_fails(&box, box.state, TRAIL_REFUSED, "can be written by others");
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(chmod(box.state, 0777), 0);
    assert_load_fails(&box, box.state, TRAIL_REFUSED, "can be written by others");
    assert_false(box_marked(&box));
    box_close(&box);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_copy_is_private_and_named_by_its_hash),
    cmocka_unit_test(a_copy_that_was_tampered_with_is_written_anew),
    cmocka_unit_test(a_copy_that_others_can_write_to_is_written_anew),
    cmocka_unit_test(a_good_copy_is_used_again),
    cmocka_unit_test(a_state_directory_that_cannot_be_made_is_named),
    cmocka_unit_test(a_state_directory_without_leave_to_write_is_named),
    cmocka_unit_test(a_state_directory_that_others_can_write_to_is_refused),
};

TRAIL_TEST_MAIN(tests)
