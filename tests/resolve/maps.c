/* maps.c -- when an origin map answers in place of the symbolizer that made it. */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/resolve/origin_build.h"
#include "fake.h"
#include "tree.h"

#define ADDRESS 0x1010u

/* ---- a map that says another thing than the symbolizer ------------------ */

static bool with_lines; /* what the next map is made of */

static enum trail_status enumerate(void *image, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err)
{
    const struct trail_text none = { "", 0 };
    (void)image, (void)call, (void)parts, (void)err;
    if (part)
        return TRAIL_OK;
    if (!with_lines)
        return out->symbol(out->arg, 0x1000, 0x1040, trail_text_of("from_map"), none,
                           0);
    assert_ok(out->file(out->arg, 1, trail_text_of("m.c"), none));
    assert_ok(
        out->function(out->arg, 1, trail_text_of("from_map"), none, 0x1000, 0x40));
    assert_ok(out->scope(out->arg, 1, 0, 1, 0, 0, 0));
    return out->range(out->arg, 0x1000, 0x1040, 1, 1, 7, 1);
}

static const struct trail_symbolizer maker = { .abi = TRAIL_SYMBOLIZER_ABI,
                                               .size = sizeof(maker),
                                               .enumerate = enumerate };

static const struct fake_row rows[] = { { ADDRESS, "asked", "a.c", 1, 0 }, { 0 } };

struct setting {
    struct tree *tree;
    struct fake fake;
    struct trail_link link;
    struct origin_info info; /* of the map that is written next */
    char directory[512], store[512], path[512];
    unsigned flags;
    size_t directories;
    struct trail_answer answer;
    char gap[1024];
};

static void setting_init(struct setting *setting, struct tree *tree)
{
    *setting = (struct setting){ .tree = tree, .fake = { .rows = rows } };
    with_lines = true;
    snprintf(setting->directory, sizeof(setting->directory), "%s/symbols", tree->root);
    snprintf(setting->store, sizeof(setting->store), "%s/store", tree->root);
    snprintf(setting->path, sizeof(setting->path), "%s", tree->path);
    mkdir(setting->directory, 0755);
    mkdir(setting->store, 0755);
    setting->link = fake_link(&setting->fake, "fake");
    setting->info = (struct origin_info){ .format = TRAIL_FORMAT_ELF,
                                          .id_kind = TRAIL_ID_BUILD_ID,
                                          .id_size = (uint32_t)tree->key.size,
                                          .plugin = "fake",
                                          .release = "1.0",
                                          .route = TRAIL_ROUTE_EMBEDDED };
    memcpy(setting->info.id, tree->key.data, tree->key.size);
}

static const char *map_path(const struct setting *setting, const char *directory)
{
    static char path[1024];
    assert_true(trail_store_path(directory, setting->tree->key, TRAIL_STORE_ORIGIN,
                                 path, sizeof(path)));
    return path;
}

static void write_map(const struct setting *setting, const char *directory)
{
    const struct trail_call call = { .size = sizeof(call), .threads = 1 };
    const struct trail_origin_job job = {
        .symbolizer = &maker, .call = &call, .info = setting->info, .threads = 1
    };
    struct trail_error err = { "" };
    assert_ok_err(trail_origin_build(&job, map_path(setting, directory), &err), err);
}

/* Who answers: "asked" or "from_map"; "": nobody. */
static const char *who(struct setting *setting)
{
    static char name[64];
    const char *directories[] = { setting->directory };
    const struct trail_resolver_options options = {
        .links = &setting->link,
        .link_count = 1,
        .image_limit = 4,
        .routes = { .directories = directories,
                    .directory_count = setting->directories,
                    .store = setting->store },
    };
    struct trail_resolver *resolver = NULL;
    struct trail_arena arena = { 0 };
    struct trail_gap gap;
    uint64_t address = ADDRESS;
    struct trail_target target = fake_target(setting->path);
    target.given = false;
    target.module.id = setting->tree->key;
    assert_ok(trail_resolver_create(&options, &resolver, NULL));
    assert_ok(trail_resolver_lookup(resolver, &target, &address, 1, setting->flags,
                                    &arena, &setting->answer, &gap));
    snprintf(name, sizeof(name), "%s",
             setting->answer.frame_count ? setting->answer.frames[0].function : "");
    snprintf(setting->gap, sizeof(setting->gap), "%s", gap.reason ? gap.detail : "");
    trail_arena_deinit(&arena);
    trail_resolver_destroy(resolver);
    return name;
}

/* ---- tests -------------------------------------------------------------- */

static void a_map_answers_in_place_of_the_plugin_that_made_it(void **state)
{
    struct setting setting;
    setting_init(&setting, *state);
    assert_string_equal(who(&setting), "asked");
    write_map(&setting, setting.store);
    setting.fake.opens = 0;
    assert_string_equal(who(&setting), "from_map");
    assert_int_equal(setting.fake.opens, 0);
    assert_int_equal(setting.answer.route, TRAIL_ROUTE_STORE);
    assert_int_equal(setting.answer.rank, 3);
    unlink(setting.path); /* nothing of the module is needed */
    assert_string_equal(who(&setting), "from_map");
}

static void a_map_in_a_symbol_directory_serves_too(void **state)
{
    struct setting setting;
    setting_init(&setting, *state);
    setting.directories = 1;
    write_map(&setting, setting.directory);
    assert_string_equal(who(&setting), "from_map");
    assert_int_equal(setting.answer.route, TRAIL_ROUTE_SYMBOLS_DIR);
}

static void a_map_of_another_plugin_release_shape_or_module_is_passed_by(void **state)
{
    struct setting setting;
    for (int i = 0; i < 4; i++) {
        setting_init(&setting, *state);
        if (i == 0)
            snprintf(setting.info.plugin, sizeof(setting.info.plugin), "other");
        if (i == 1)
            snprintf(setting.info.release, sizeof(setting.info.release), "1.0.1");
        if (i == 2)
            setting.info.shape ^= 1;
        if (i == 3)
            setting.info.id[0] ^= 1;
        write_map(&setting, setting.store);
        assert_string_equal(who(&setting), "asked");
    }
}

static void whoever_wants_discriminators_or_no_cache_gets_no_map(void **state)
{
    struct setting setting;
    setting_init(&setting, *state);
    write_map(&setting, setting.store);
    setting.flags = TRAIL_LOOKUP_DISCRIMINATORS;
    assert_string_equal(who(&setting), "asked");
    setting.flags = TRAIL_LOOKUP_NO_CACHE;
    assert_string_equal(who(&setting), "asked");
}

/* The source that a map was made from, as it was then. */
static void made_from(struct setting *setting, const char *path, uint32_t route)
{
    static char source[512];
    struct trail_os_stat stat;
    assert_ok(trail_os_stat_path(path, &stat, NULL));
    snprintf(source, sizeof(source), "%s", path);
    setting->info.source = trail_text_of(source);
    setting->info.source_size = stat.size;
    setting->info.source_modified_ns = stat.modified_ns;
    setting->info.route = route;
    write_map(setting, setting->store);
}

static void a_file_on_an_earlier_route_makes_a_map_stale(void **state)
{
    struct tree *tree = *state;
    struct setting setting;
    const struct timespec earlier[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    setting_init(&setting, tree);
    setting.info.route = TRAIL_ROUTE_STORE;
    write_map(&setting, setting.store);
    assert_string_equal(who(&setting), "from_map"); /* the module has no lines */
    tree_put(tree, TREE_LINKED_BY, "app/x64-debuglink.debug");
    assert_string_equal(who(&setting), "asked");
    setting.info.route = TRAIL_ROUTE_DEBUG_LINK;
    write_map(&setting, setting.store);
    assert_string_equal(who(&setting), "from_map");

    setting.directories = 1;
    const char *file = tree_put(tree, TREE_LINKED_BY, "symbols/prog.debug");
    assert_string_equal(who(&setting), "asked");
    assert_int_equal(utimensat(AT_FDCWD, file, earlier, 0), 0);
    made_from(&setting, file, TRAIL_ROUTE_SYMBOLS_DIR);
    assert_string_equal(who(&setting), "from_map");
    tree_put_changed(tree, TREE_LINKED_BY, "symbols/prog.debug", "chain_leaf",
                     "MARKED_one"); /* of the same id and size */
    assert_string_equal(who(&setting), "asked");
}

static void a_map_without_lines_gives_way_to_a_file_that_has_them(void **state)
{
    struct tree *tree = *state;
    struct setting setting;
    setting_init(&setting, tree);
    with_lines = false;
    write_map(&setting, setting.store);
    assert_string_equal(who(&setting), "from_map");
    tree_put(tree, TREE_LINKED_BY, "app/x64-debuglink.debug");
    assert_string_equal(who(&setting), "asked");
}

static void a_damaged_map_is_passed_over_and_told(void **state)
{
    struct setting setting;
    setting_init(&setting, *state);
    write_map(&setting, setting.store);
    FILE *map = fopen(map_path(&setting, setting.store), "r+b");
    assert_non_null(map);
    assert_int_equal(fseek(map, 24, SEEK_SET), 0);
    fputs("damaged", map);
    fclose(map);
    assert_string_equal(who(&setting), "asked");
    setting.fake.rows = NULL;
    assert_string_equal(who(&setting), "");
    assert_contains(setting.gap, "passed over");
    assert_contains(setting.gap, map_path(&setting, setting.store));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(a_map_answers_in_place_of_the_plugin_that_made_it,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_map_in_a_symbol_directory_serves_too, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(
        a_map_of_another_plugin_release_shape_or_module_is_passed_by, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        whoever_wants_discriminators_or_no_cache_gets_no_map, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_file_on_an_earlier_route_makes_a_map_stale,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_map_without_lines_gives_way_to_a_file_that_has_them, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_damaged_map_is_passed_over_and_told, tree_make,
                                    tree_remove),
};
TRAIL_TEST_MAIN(tests)
