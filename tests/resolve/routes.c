/* routes.c -- where symbol files are looked for, and which are refused: the key is
 * compared, never assumed. */
#include "fake.h"
#include "tree.h"

#define LINKED_BY TREE_LINKED_BY

static const char *const layouts[] = { ".build-id/%2/%r.debug", NULL };

/* ---- debug links -------------------------------------------------------- */

static enum trail_status companion(struct tree *tree, const char *symbols,
                                   struct trail_want want)
{
    char directory[512];
    const char *directories[] = { directory };
    struct trail_target target = fake_target(tree->path);
    snprintf(directory, sizeof(directory), "%s/%s", tree->root, symbols ? symbols : "");
    const struct trail_routes routes = { .directories = directories,
                                         .directory_count = symbols ? 1 : 0 };
    want.size = sizeof(want);
    tree->search = (struct trail_search){ .mismatch = false };
    return trail_routes_companion(&routes, &target, layouts, &want, &tree->search,
                                  &tree->file);
}

static struct trail_want want_link(const struct tree *tree)
{
    return (struct trail_want){ .role = TRAIL_ROLE_DEBUG,
                                .name = trail_text_of("prog.debug"),
                                .crc = tree->crc,
                                .has_crc = 1 };
}

static void a_debug_link_is_followed_if_its_checksum_is_right(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);

    assert_int_equal(companion(tree, NULL, want), TRAIL_NOT_FOUND);
    tree_put(tree, LINKED_BY, "app/.debug/prog.debug");
    assert_ok(companion(tree, NULL, want));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_DEBUG_LINK);
    assert_int_equal(tree->file->source.role, TRAIL_ROLE_DEBUG);
    assert_string_equal(tree_found(tree), "app/.debug/prog.debug");
    tree_put(tree, LINKED_BY, "app/prog.debug"); /* beside comes first */
    assert_ok(companion(tree, NULL, want));
    assert_string_equal(tree_found(tree), "app/prog.debug");
}

static void a_debug_link_with_another_checksum_is_refused(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);
    char both[2][16];
    snprintf(both[0], sizeof(both[0]), "%08x", tree->crc);
    snprintf(both[1], sizeof(both[1]), "%08x", tree->crc ^ 1);

    tree_put(tree, LINKED_BY, "app/prog.debug");
    want.crc ^= 1;
    assert_int_equal(companion(tree, NULL, want), TRAIL_REFUSED);
    assert_true(tree->search.mismatch);
    assert_contains(tree->search.detail, both[0]);
    assert_contains(tree->search.detail, both[1]);
}

static void an_id_decides_where_there_is_one(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);
    char hex[80];

    tree_put(tree, LINKED_BY, "app/prog.debug");
    want.id = tree->key;
    want.crc ^= 1; /* with an equal id the checksum does not matter */
    assert_ok(companion(tree, NULL, want));
    assert_string_equal(tree_found(tree), "app/prog.debug");

    trail_hex(tree->key, hex, sizeof(hex));
    tree->id[0] ^= 1;
    want.crc ^= 1; /* nor does it help */
    assert_int_equal(companion(tree, NULL, want), TRAIL_REFUSED);
    assert_contains(tree->search.detail, hex);
    trail_hex(tree->key, hex, sizeof(hex));
    assert_contains(tree->search.detail, hex);
}

static void a_file_that_nothing_proves_is_not_taken(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);

    tree_put(tree, LINKED_BY, "app/prog.debug");
    tree_put(tree, LINKED_BY, "symbols/prog.debug");
    want.has_crc = 0;
    assert_int_equal(companion(tree, "symbols", want), TRAIL_NOT_FOUND);
}

static void a_debug_link_with_a_directory_in_it_is_not_followed(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);
    char absolute[512];
    snprintf(absolute, sizeof(absolute), "%s",
             tree_put(tree, LINKED_BY, "elsewhere/prog.debug"));
    const char *const names[] = { "../elsewhere/prog.debug", absolute, "..", ".", "" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        want.name = trail_text_of(names[i]);
        assert_int_equal(companion(tree, NULL, want), TRAIL_NOT_FOUND);
        assert_int_equal(companion(tree, "elsewhere", want), TRAIL_NOT_FOUND);
    }
}

static void symbol_directories_come_first(void **state)
{
    struct tree *tree = *state;
    struct trail_want want = want_link(tree);

    tree_put(tree, LINKED_BY, "app/prog.debug");
    tree_put(tree, LINKED_BY, "symbols/prog.debug");
    assert_ok(companion(tree, "symbols", want));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_SYMBOLS_DIR);
    assert_string_equal(tree_found(tree), "symbols/prog.debug");
}

/* ---- the module itself, and symbol directories -------------------------- */

static void a_module_replaced_on_disk_is_refused_with_both_ids(void **state)
{
    struct tree *tree = *state;
    struct trail_target target = fake_target(tree->path);
    char hex[80];
    target.given = false;
    target.module.id = tree->key;
    tree->search = (struct trail_search){ .mismatch = false };

    assert_ok(trail_routes_image(&target, &tree->search, &tree->file));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_EMBEDDED);
    assert_string_equal(tree_found(tree), "app/prog");
    trail_hex(tree->key, hex, sizeof(hex));
    tree->id[3] ^= 0x10;
    assert_int_equal(trail_routes_image(&target, &tree->search, &tree->file),
                     TRAIL_REFUSED);
    assert_true(tree->search.mismatch);
    assert_contains(tree->search.detail, hex);
    trail_hex(tree->key, hex, sizeof(hex));
    assert_contains(tree->search.detail, hex);

    target.given = true; /* the user named this very file */
    assert_ok(trail_routes_image(&target, &tree->search, &tree->file));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_GIVEN);
}

static enum trail_status in_directory(struct tree *tree, const char *module,
                                      bool has_id)
{
    char directory[512];
    const char *directories[] = { "/nonexistent", directory };
    struct trail_target target = fake_target(module);
    if (has_id)
        target.module.id = tree->key;
    snprintf(directory, sizeof(directory), "%s/symbols", tree->root);
    const struct trail_routes routes = { .directories = directories,
                                         .directory_count = 2 };
    tree->search = (struct trail_search){ .mismatch = false };
    return trail_routes_directories(&routes, &target, layouts, &tree->search,
                                    &tree->file);
}

static void symbol_directories_are_searched_by_id_and_by_name(void **state)
{
    struct tree *tree = *state;
    static const char *const places[] = { "symbols/srv/prog.debug", "symbols/srv/prog",
                                          "symbols/prog.debug", "symbols/prog" };
    char hex[80], by_id[128];
    trail_hex(tree->key, hex, sizeof(hex));
    snprintf(by_id, sizeof(by_id), "symbols/.build-id/%.2s/%s.debug", hex, hex + 2);

    assert_int_equal(in_directory(tree, "/srv/prog", true), TRAIL_NOT_FOUND);
    for (size_t i = 0; i < 4; i++) {
        tree_put(tree, LINKED_BY, places[i]);
        assert_int_equal(in_directory(tree, "/srv/prog", false), TRAIL_NOT_FOUND);
        assert_ok(in_directory(tree, "/srv/prog", true));
        assert_int_equal(tree->file->source.route, TRAIL_ROUTE_SYMBOLS_DIR);
        tree_found(tree);
    }
    tree_put(tree, LINKED_BY, by_id);
    assert_ok(in_directory(tree, "/srv/prog", true));
    assert_string_equal(tree_found(tree), by_id);
}

static void a_symbol_file_of_another_id_is_refused(void **state)
{
    struct tree *tree = *state;
    tree_put(tree, "x64-clang19-dw5-O2", "symbols/prog");
    assert_int_not_equal(in_directory(tree, "/srv/prog", true), TRAIL_OK);
    assert_true(tree->search.mismatch);
    tree_put(tree, LINKED_BY, "symbols/srv/prog"); /* and does not hide the right one */
    assert_ok(in_directory(tree, "/srv/prog", true));
    assert_string_equal(tree_found(tree), "symbols/srv/prog");
}

static void a_file_without_a_name_is_looked_for_by_its_id_alone(void **state)
{
    struct tree *tree = *state;
    static const char *const by_name[] = { "%n", "%N", ".build-id/%2/%r.debug", NULL };
    const char *directories[] = { tree->root };
    const struct trail_routes routes = { .directories = directories,
                                         .directory_count = 1 };
    const struct trail_target target = fake_target(tree->path);
    const struct trail_want want = { .size = sizeof(want),
                                     .role = TRAIL_ROLE_DEBUG,
                                     .id = tree->key };
    snprintf(tree->search.detail, sizeof(tree->search.detail), "what is known");
    assert_int_equal(trail_routes_companion(&routes, &target, by_name, &want,
                                            &tree->search, &tree->file),
                     TRAIL_NOT_FOUND);
    assert_null(strstr(tree->search.detail, "directory"));
}

static void no_module_path_climbs_out_of_its_directory(void **state)
{
    struct tree *tree = *state;
    tree_put(tree, LINKED_BY, "prog");
    tree_put(tree, "x64-asm-lines", "symbols/unrelated");
    static const char *const paths[] = { "../prog", "/../prog", "x/../../prog",
                                         "/srv/../../prog" };
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(in_directory(tree, paths[i], true), TRAIL_NOT_FOUND);
}

/* ---- the same through a resolver ---------------------------------------- */

static void a_mismatch_is_the_gap_that_is_told(void **state)
{
    struct tree *tree = *state;
    struct fake fake = { .rows = NULL };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);
    struct trail_target target = fake_target(tree->path);
    struct trail_arena arena = { 0 };
    struct trail_answer answer;
    struct trail_gap gap;
    uint64_t address = 0x10;
    char hex[80];
    target.given = false;
    tree->id[0] ^= 1;
    target.module.id = tree->key;
    trail_hex(tree->key, hex, sizeof(hex));

    assert_ok(trail_resolver_lookup(resolver, &target, &address, 1, 0, &arena, &answer,
                                    &gap));
    assert_string_equal(gap.reason, "id_mismatch");
    assert_string_equal(gap.want, hex);
    assert_contains(gap.detail, hex);
    assert_int_equal(fake.opens, 0); /* a wrong file is never read */
    trail_arena_deinit(&arena);
    trail_resolver_destroy(resolver);
}

static void a_symbolizer_is_given_what_it_asks_the_host_for(void **state)
{
    struct tree *tree = *state;
    struct fake fake = { .want = want_link(tree) };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);
    struct trail_target target = fake_target(tree->path);
    struct trail_arena arena = { 0 };
    struct trail_answer answer;
    struct trail_gap gap;
    uint64_t address = 0x10;

    tree_put(tree, LINKED_BY, "app/prog.debug");
    assert_ok(trail_resolver_lookup(resolver, &target, &address, 1, 0, &arena, &answer,
                                    &gap));
    assert_int_equal(fake.source_count, 1);
    assert_int_equal(fake.roles[0], TRAIL_ROLE_IMAGE);
    assert_int_equal(fake.routes[0], TRAIL_ROUTE_GIVEN);
    assert_ok(fake.want_status);
    assert_contains(fake.want_found, "/app/prog.debug");
    assert_int_equal(fake.want_route, TRAIL_ROUTE_DEBUG_LINK);
    trail_arena_deinit(&arena);
    trail_resolver_destroy(resolver);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(a_debug_link_is_followed_if_its_checksum_is_right,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_debug_link_with_another_checksum_is_refused,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(an_id_decides_where_there_is_one, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_file_that_nothing_proves_is_not_taken, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_debug_link_with_a_directory_in_it_is_not_followed,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(symbol_directories_come_first, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_module_replaced_on_disk_is_refused_with_both_ids,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(symbol_directories_are_searched_by_id_and_by_name,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_symbol_file_of_another_id_is_refused, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_file_without_a_name_is_looked_for_by_its_id_alone,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(no_module_path_climbs_out_of_its_directory,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_mismatch_is_the_gap_that_is_told, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_symbolizer_is_given_what_it_asks_the_host_for,
                                    tree_make, tree_remove),
};
TRAIL_TEST_MAIN(tests)
