/* A plugin file that has not changed is not read again; a registry that looks late
 * reads none before it is asked. */
#define _XOPEN_SOURCE 700

#include "box.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "core/registry/known.h"

#define LONG_AFTER UINT64_C(10000000000) /* ns */

/* A plugin, taken, with a copy in the state directory that is known. */
struct setting {
    struct box box;
    struct trail_plugin_file file;
    char copy[200], path[200];
};

static void setting_open(struct setting *setting, uint64_t after_ns)
{
    char plugins[120];
    struct trail_error err;
    box_open(&setting->box);
    box_copy(&setting->box, "good.so", "good.so");
    snprintf(setting->path, sizeof(setting->path), "%s",
             box_path(&setting->box, "good.so"));
    assert_ok(trail_plugin_file_open(setting->path, TRAIL_PLUGIN_FILE_TAKE,
                                     &setting->file, &err));
    snprintf(plugins, sizeof(plugins), "%s/plugins", setting->box.state);
    assert_ok(trail_os_directory_make(plugins, 0700, &err));
    snprintf(setting->copy, sizeof(setting->copy), "%s/%s.so", plugins,
             setting->file.hash);
    assert_ok(trail_os_file_write(setting->copy, setting->file.bytes,
                                  setting->file.size, 0500, &err));
    trail_known_add(setting->path, setting->box.state, &setting->file, setting->copy,
                    setting->file.stat.changed_ns + after_ns);
}

static void setting_close(struct setting *setting)
{
    trail_plugin_file_close(&setting->file);
    box_close(&setting->box);
}

static bool is_known(const struct setting *setting)
{
    struct trail_plugin_file kept;
    if (!trail_known_open(setting->path, setting->box.state, &kept))
        return false;
    assert_true(kept.is_kept);
    assert_string_equal(kept.hash, setting->file.hash);
    assert_int_equal(kept.size, setting->file.size);
    assert_memory_equal(kept.bytes, setting->file.bytes, kept.size);
    trail_plugin_file_close(&kept);
    return true;
}

static void the_copy_of_an_unchanged_file_is_known(void **unused)
{
    (void)unused;
    struct setting setting;
    setting_open(&setting, LONG_AFTER);
    assert_true(is_known(&setting));
    struct trail_registry *registry = box_registry(&setting.box);
    assert_int_equal(box_load(registry, "good"), 1);
    assert_string_equal(box_find(registry, "good.so")->hash, setting.file.hash);
    trail_registry_destroy(registry);
    setting_close(&setting);
}

static void a_file_that_was_written_again_is_not_known(void **unused)
{
    (void)unused;
    struct setting setting;
    setting_open(&setting, LONG_AFTER);
    FILE *file = fopen(setting.path, "r+b"); /* the same file, of the same size */
    assert_non_null(file);
    assert_int_equal(fputc(0x7f, file), 0x7f);
    assert_int_equal(fclose(file), 0);
    assert_false(is_known(&setting));
    setting_close(&setting);
}

static void a_file_that_others_may_write_to_is_not_known(void **unused)
{
    (void)unused;
    struct setting setting;
    setting_open(&setting, LONG_AFTER);
    assert_int_equal(chmod(setting.path, 0666), 0);
    assert_false(is_known(&setting));
    setting_close(&setting);
}

static void a_copy_that_was_touched_is_not_believed(void **unused)
{
    (void)unused;
    struct setting setting;
    setting_open(&setting, LONG_AFTER);
    assert_int_equal(chmod(setting.copy, 0700), 0);
    assert_false(is_known(&setting));
    setting_close(&setting);
}

static void a_file_of_this_very_moment_is_not_noted(void **unused)
{
    (void)unused;
    struct setting setting;
    setting_open(&setting, 1);
    assert_false(is_known(&setting));
    setting_close(&setting);
}

static void a_note_that_is_damaged_is_passed_over(void **unused)
{
    (void)unused;
    static const char *const notes[] = { "", "1 2 3", "x", "1 2 3 4 5 abc \n" };
    for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
        struct setting setting;
        char place[300];
        setting_open(&setting, LONG_AFTER);
        snprintf(place, sizeof(place), "%s/plugins/%llx-%llx.known", setting.box.state,
                 (unsigned long long)setting.file.stat.device,
                 (unsigned long long)setting.file.stat.inode);
        assert_true(is_known(&setting));
        assert_ok(trail_os_file_write(place, notes[i], strlen(notes[i]), 0600, NULL));
        assert_false(is_known(&setting));
        setting_close(&setting);
    }
}

/* ---- looking late ------------------------------------------------------- */

static struct trail_registry *late_registry(const struct box *box,
                                            const char *const *directories,
                                            size_t count)
{
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = count,
                                                    .state_directory = box->state,
                                                    .looks_late = true };
    struct trail_registry *registry = NULL;
    assert_ok(trail_registry_create(&options, &registry, NULL));
    return registry;
}

static void what_is_looked_at_late_is_judged_when_it_is_asked_for(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *plugin = NULL;
    struct trail_error err;
    box_open(&box);
    box_copy(&box, "wrong-abi.so", "wrong-abi.so");
    box_copy(&box, "good.so", "good.so");
    const char *const directories[] = { box.plugins };
    struct trail_registry *registry = late_registry(&box, directories, 1);
    assert_int_equal(box_find(registry, "wrong-abi.so")->state, TRAIL_PLUGIN_FOUND);
    assert_int_equal(box_find(registry, "good.so")->kind, 0);
    assert_int_equal(box_load(registry, "good"), 1);
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "wrong-abi",
                                         &plugin, &err),
                     TRAIL_REFUSED);
    assert_contains(err.text, "ABI 99");
    trail_registry_destroy(registry);
    box_close(&box);
}

static void what_is_looked_at_late_hides_none_of_another_kind(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *plugin = NULL;
    char first[120];
    struct trail_error err;
    box_open(&box);
    box_copy(&box, "good-sink.so", "good-sink.so");
    snprintf(first, sizeof(first), "%s/first", box.root);
    assert_int_equal(rename(box.plugins, first), 0);
    assert_ok(trail_os_directory_make(box.plugins, 0755, &err));
    box_copy(&box, "good-sink-symbolizer.so", "good-sink.so");
    const char *const directories[] = { first, box.plugins };
    struct trail_registry *registry = late_registry(&box, directories, 2);
    assert_ok(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good-sink", &plugin,
                                  &err));
    assert_int_equal(plugin->kind, TRAIL_KIND_SYMBOLIZER);
    assert_ok(
        trail_registry_load(registry, TRAIL_KIND_SINK, "good-sink", &plugin, &err));
    assert_int_equal(plugin->kind, TRAIL_KIND_SINK);
    trail_registry_destroy(registry);
    box_close(&box);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_copy_of_an_unchanged_file_is_known),
    cmocka_unit_test(a_file_that_was_written_again_is_not_known),
    cmocka_unit_test(a_file_that_others_may_write_to_is_not_known),
    cmocka_unit_test(a_copy_that_was_touched_is_not_believed),
    cmocka_unit_test(a_file_of_this_very_moment_is_not_noted),
    cmocka_unit_test(a_note_that_is_damaged_is_passed_over),
    cmocka_unit_test(what_is_looked_at_late_is_judged_when_it_is_asked_for),
    cmocka_unit_test(what_is_looked_at_late_hides_none_of_another_kind),
};

TRAIL_TEST_MAIN(tests)
