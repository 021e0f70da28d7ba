/* Bad plugins are refused by name, none of their code runs, and the good ones load. */
#define _XOPEN_SOURCE 700

#include "box.h"

#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static const struct {
    const char *file, *reason;
} wrong[] = {
    { "wrong-abi.so", "was built for symbolizer ABI 99, this program has 1; rebuild" },
    { "wrong-shape.so", "(symbolizer shape deadbeef, this program has" },
    { "wrong-kind.so", "its kind 7 is unknown here" },
    { "no-record.so", "has no identity record" },
    { "other-name.so", "its record says 'elsewhere'; rename the file to elsewhere.so" },
    { "bad-release.so", "its identity record is damaged" },
    { "small-table.so", "its table has 16 bytes, which no symbolizer has" },
    { "huge-table.so", "trail_symbolizer_huge_table is smaller than its record says" },
    { "lying-table.so", "trail_symbolizer_lying_table says abi 1, size 24" },
    { "no-export.so", "does not export trail_symbolizer_no_export" },
};

static void every_wrong_plugin_is_refused_by_name_and_none_runs(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        box_copy(&box, wrong[i].file, wrong[i].file);
    struct trail_registry *registry = box_registry(&box);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        box_assert_refused(registry, wrong[i].file, wrong[i].reason);
    assert_false(box_marked(&box));
    trail_registry_destroy(registry);
    box_close(&box);
}

static void good_plugins_load_beside_wrong_ones(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *sink = NULL;

    box_open(&box);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        box_copy(&box, wrong[i].file, wrong[i].file);
    box_copy(&box, "good.so", "good.so");
    box_copy(&box, "good-sink.so", "good-sink.so");
    struct trail_registry *registry = box_registry(&box);
    assert_false(box_marked(&box));
    assert_int_equal(box_load(registry, "good"), 1);
    assert_true(box_marked(&box));
    assert_ok(trail_registry_load(registry, TRAIL_KIND_SINK, "good-sink", &sink, NULL));
    assert_non_null(sink->sink);
    assert_null(sink->symbolizer);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void files_that_are_no_plugins_are_refused(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    box_write(&box, "text.so", "#!/bin/sh\necho no\n", 18);
    box_write(&box, "empty.so", "", 0);
    box_write(&box, "magic.so", "\177ELF", 4);
    box_write(&box, "notes.txt", "not looked at", 13);
    assert_int_equal(mkdir(box_path(&box, "folder.so"), 0755), 0);
    assert_int_equal(mkfifo(box_path(&box, "pipe.so"), 0644), 0);
    assert_int_equal(symlink("nowhere", box_path(&box, "dangling.so")), 0);
    struct trail_registry *registry = box_registry(&box);
    box_assert_refused(registry, "text.so", "is not an ELF file");
    box_assert_refused(registry, "empty.so", "is empty");
    box_assert_refused(registry, "magic.so", "is not an ELF file");
    box_assert_refused(registry, "folder.so", "is a directory");
    box_assert_refused(registry, "pipe.so", "is not a regular file");
    box_assert_refused(registry, "dangling.so", "No such file");
    assert_null(box_find(registry, "notes.txt"));
    assert_int_equal(trail_registry_count(registry), 6);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_plugin_of_another_machine_is_refused(void **unused)
{
    (void)unused;
    struct box box;
    size_t size;
    uint8_t *bytes = box_read_fixture("good.so", &size);

    box_open(&box);
    bytes[18] ^= 1; /* e_machine */
    box_write(&box, "good.so", bytes, size);
    struct trail_registry *registry = box_registry(&box);
    box_assert_refused(registry, "good.so", "is for another machine");
    trail_registry_destroy(registry);
    free(bytes);
    box_close(&box);
}

static void a_name_outside_the_alphabet_is_refused(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    box_copy(&box, "good.so", "Good.so");
    box_copy(&box, "good.so", "goo_d.so");
    box_copy(&box, "good.so", "good.1.so");
    box_copy(&box, "good.so", "a-name-that-is-longer-than-any-record-can-hold.so");
    struct trail_registry *registry = box_registry(&box);
    for (size_t i = 0; i < trail_registry_count(registry); i++) {
        assert_int_equal(trail_registry_at(registry, i)->state, TRAIL_PLUGIN_REFUSED);
        assert_contains(trail_registry_at(registry, i)->reason, "rename the file");
    }
    assert_int_equal(trail_registry_count(registry), 4);
    assert_false(box_marked(&box));
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_file_that_others_can_write_to_is_refused(void **unused)
{
    (void)unused;
    static const mode_t modes[] = { 0666, 0664, 0646 };
    struct box box;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(box_path(&box, "good.so"), modes[i]), 0);
        struct trail_registry *registry = box_registry(&box);
        box_assert_refused(registry, "good.so", "can be written by others; chmod go-w");
        trail_registry_destroy(registry);
    }
    assert_false(box_marked(&box));
    box_close(&box);
}

static void a_directory_that_others_can_write_to_is_refused(void **unused)
{
    (void)unused;
    static const mode_t modes[] = { 0777, 01777, 0775 };
    struct box box;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
        assert_int_equal(chmod(box.plugins, modes[i]), 0);
        struct trail_registry *registry = box_registry(&box);
        box_assert_refused(registry, "good.so", "its directory");
        box_assert_refused(registry, "good.so", "can be written by others; chmod go-w");
        trail_registry_destroy(registry);
    }
    assert_false(box_marked(&box));
    box_close(&box);
}

static void a_link_into_a_directory_that_others_can_write_to_is_refused(void **unused)
{
    (void)unused;
    struct box box;
    char open_to_all[128], target[160];

    box_open(&box);
    snprintf(open_to_all, sizeof(open_to_all), "%s/open", box.root);
    snprintf(target, sizeof(target), "%s/good.so", open_to_all);
    box_copy(&box, "good.so", "good.so");
    assert_int_equal(mkdir(open_to_all, 0755), 0);
    assert_int_equal(rename(box_path(&box, "good.so"), target), 0);
    assert_int_equal(symlink(target, box_path(&box, "good.so")), 0);

    struct trail_registry *registry = box_registry(&box);
    assert_int_equal(box_load(registry, "good"), 1); /* a link as such is fine */
    trail_registry_destroy(registry);
    assert_int_equal(chmod(open_to_all, 01777), 0);
    registry = box_registry(&box);
    box_assert_refused(registry, "good.so", "can be written by others");
    trail_registry_destroy(registry);
    box_close(&box);
}

/* Who may do everything can show this only by becoming someone else. */
static void a_file_of_another_user_or_without_leave_to_read_is_refused(void **unused)
{
    (void)unused;
    struct box box;

    if (geteuid() != 0)
        skip();
    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    box_copy(&box, "good-sink.so", "good-sink.so");
    assert_int_equal(chown(box_path(&box, "good.so"), 12345, 0), 0);
    assert_int_equal(chmod(box_path(&box, "good-sink.so"), 0600), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    struct trail_registry *registry = box_registry(&box);
    box_assert_refused(registry, "good.so", "belongs to user 12345");
    box_assert_refused(registry, "good-sink.so", "Permission denied");
    trail_registry_destroy(registry);
    assert_int_equal(seteuid(0), 0);
    assert_false(box_marked(&box));
    box_close(&box);
}

static void an_unreadable_directory_is_listed_and_others_still_load(void **unused)
{
    (void)unused;
    struct box box;
    char file[128];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    snprintf(file, sizeof(file), "%s/plain", box.root);
    fclose(fopen(file, "w"));
    const char *const directories[] = { "/nonexistent/plugins", file, box.plugins };
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = 3,
                                                    .state_directory = box.state };
    struct trail_registry *registry = NULL;
    assert_ok(trail_registry_create(&options, &registry, NULL));
    assert_int_equal(trail_registry_count(registry), 2);
    assert_string_equal(trail_registry_at(registry, 0)->path, file);
    assert_contains(trail_registry_at(registry, 0)->reason, "is not a directory");
    assert_int_equal(box_load(registry, "good"), 1);
    trail_registry_destroy(registry);
    box_close(&box);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_wrong_plugin_is_refused_by_name_and_none_runs),
    cmocka_unit_test(good_plugins_load_beside_wrong_ones),
    cmocka_unit_test(files_that_are_no_plugins_are_refused),
    cmocka_unit_test(a_plugin_of_another_machine_is_refused),
    cmocka_unit_test(a_name_outside_the_alphabet_is_refused),
    cmocka_unit_test(a_file_that_others_can_write_to_is_refused),
    cmocka_unit_test(a_directory_that_others_can_write_to_is_refused),
    cmocka_unit_test(a_link_into_a_directory_that_others_can_write_to_is_refused),
    cmocka_unit_test(a_file_of_another_user_or_without_leave_to_read_is_refused),
    cmocka_unit_test(an_unreadable_directory_is_listed_and_others_still_load),
};

TRAIL_TEST_MAIN(tests)
