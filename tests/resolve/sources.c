/* sources.c -- which of several files of one module is read: the earliest route, unless
 * a later one tells more; and what is said where there is none.
 */
#define _XOPEN_SOURCE 700

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake.h"
#include "tree.h"

/* One lookup of app/prog by its id, with routes of the test's own. */
struct asked {
    struct tree *tree;
    struct fake fake;
    char directory[512], store[512], path[512];
    const char *directories[1];
    struct trail_link link;
    struct trail_resolver *resolver;
    struct trail_gap gap;
    char detail[600]; /* of the gap */
    struct trail_answer answer;
};

static void asked_init(struct asked *asked, struct tree *tree, bool with_directory,
                       bool with_store)
{
    *asked = (struct asked){ .tree = tree, .fake = { .wants_debug = true } };
    snprintf(asked->directory, sizeof(asked->directory), "%s",
             tree_path(tree, "symbols"));
    snprintf(asked->store, sizeof(asked->store), "%s", tree_path(tree, "store"));
    snprintf(asked->path, sizeof(asked->path), "%s", tree->path);
    asked->directories[0] = asked->directory;
    asked->link = fake_link(&asked->fake, "fake");
    const struct trail_resolver_options options = {
        .links = &asked->link,
        .link_count = 1,
        .image_limit = 4,
        .routes = { .directories = asked->directories,
                    .directory_count = with_directory ? 1 : 0,
                    .store = with_store ? asked->store : NULL },
    };
    assert_ok(trail_resolver_create(&options, &asked->resolver, NULL));
}

static void ask(struct asked *asked)
{
    struct trail_arena arena = { 0 };
    uint64_t address = 0x10;
    struct trail_target target = fake_target(asked->path);
    target.given = false;
    target.module.id = asked->tree->key;
    assert_ok(trail_resolver_lookup(asked->resolver, &target, &address, 1, 0, &arena,
                                    &asked->answer, &asked->gap));
    snprintf(asked->detail, sizeof(asked->detail), "%s",
             asked->gap.reason ? asked->gap.detail : "");
    trail_arena_deinit(&arena);
}

/* Where a file of `key` lies in the store: ".debug". */
static const char *stored(struct tree *tree, const char *ending)
{
    static char to[160];
    char hex[80];
    trail_hex(tree->key, hex, sizeof(hex));
    snprintf(to, sizeof(to), "store/%s%s", hex, ending);
    return to;
}

/* ---- the best of all combinations --------------------------------------- */

enum content {
    ABSENT,
    NAMES, /* a symbol table; the module itself exports only */
    INFORMATION,
    CONTENTS,
};

static void place(struct tree *tree, const char *to, enum content content)
{
    unlink(tree_path(tree, to));
    if (content == INFORMATION)
        tree_put(tree, TREE_LINKED_BY, to);
    if (content == NAMES)
        tree_put_changed(tree, TREE_LINKED_BY, to, ".debug_info", ".other_info");
}

/* Symbol directory, module, debug link, store: the order in which they are tried. */
enum { ROUTES = 4 };
static const uint32_t routes_in_order[ROUTES] = { TRAIL_ROUTE_SYMBOLS_DIR,
                                                  TRAIL_ROUTE_EMBEDDED,
                                                  TRAIL_ROUTE_DEBUG_LINK,
                                                  TRAIL_ROUTE_STORE };

static uint32_t expected(const enum content contents[ROUTES])
{
    int best_rank = 0;
    uint32_t best = TRAIL_ROUTE_NONE;
    for (size_t i = 0; i < ROUTES; i++) {
        int rank = (int)contents[i] * 2;
        if (i == 1 && contents[i] == NAMES)
            rank--; /* it exports, it has no table of its own */
        if (i == 2 && contents[1] == ABSENT)
            continue; /* nobody names it */
        if (rank > best_rank) {
            best_rank = rank;
            best = routes_in_order[i];
        }
    }
    return best;
}

static void the_earliest_file_is_read_unless_a_later_one_tells_more(void **state)
{
    struct tree *tree = *state;
    for (unsigned n = 1; n < 81; n++) {
        const enum content contents[ROUTES] = { n % 3, n / 3 % 3, n / 9 % 3, n / 27 };
        struct asked asked;
        place(tree, "symbols/prog", contents[0]);
        place(tree, "app/prog", contents[1]);
        if (contents[1] == NAMES)
            tree_put(tree, TREE_LINKED, "app/prog");
        place(tree, "app/x64-debuglink.debug", contents[2]);
        place(tree, stored(tree, ".debug"), contents[3]);
        asked_init(&asked, tree, true, true);
        ask(&asked);
        if (asked.fake.best_route != expected(contents))
            print_error("case %u: %s\n", n, asked.fake.best);
        assert_int_equal(asked.fake.best_route, expected(contents));
        trail_resolver_destroy(asked.resolver);
    }
}

static void a_file_of_the_same_id_in_a_symbol_directory_hides_that_of_the_store(
    void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    tree_put(tree, TREE_LINKED_BY, stored(tree, ".debug"));
    tree_put_changed(tree, TREE_LINKED_BY, "symbols/prog.debug", "chain_leaf",
                     "MARKED_one");
    asked_init(&asked, tree, true, true);
    ask(&asked);
    assert_string_equal(asked.fake.best, tree_path(tree, "symbols/prog.debug"));
    trail_resolver_destroy(asked.resolver);
}

static void a_module_that_is_gone_is_answered_by_the_file_of_its_id(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    static const char *const endings[] = { ".debug", ".exe" };
    for (size_t i = 0; i < 2; i++) {
        unlink(tree->path);
        unlink(tree_path(tree, stored(tree, ".debug")));
        tree_put(tree, i ? TREE_LINKED : TREE_LINKED_BY, stored(tree, endings[i]));
        asked_init(&asked, tree, false, true);
        ask(&asked);
        assert_int_equal(asked.fake.source_count, 1);
        assert_int_equal(asked.fake.roles[0], TRAIL_ROLE_IMAGE);
        assert_int_equal(asked.fake.routes[0], TRAIL_ROUTE_STORE);
        trail_resolver_destroy(asked.resolver);
    }
}

static void a_file_that_comes_later_is_found_though_the_module_is_open(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    const struct timespec long_ago[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };
    asked_init(&asked, tree, false, true);
    mkdir(asked.store, 0755);
    assert_int_equal(utimensat(AT_FDCWD, asked.store, long_ago, 0), 0);
    ask(&asked);
    ask(&asked);
    assert_int_equal(asked.fake.opens, 1);
    assert_int_equal(asked.fake.best_route, TRAIL_ROUTE_EMBEDDED);
    tree_put(tree, TREE_LINKED_BY, stored(tree, ".debug"));
    ask(&asked);
    assert_int_equal(asked.fake.opens, 2);
    assert_int_equal(asked.fake.best_route, TRAIL_ROUTE_STORE);
    trail_resolver_destroy(asked.resolver);
    assert_int_equal(asked.fake.closes, 2);
}

/* ---- gaps --------------------------------------------------------------- */

static void assert_gap(struct asked *asked, const char *reason, const char *detail,
                       const char *remedy)
{
    ask(asked);
    assert_non_null(asked->gap.reason);
    assert_string_equal(asked->gap.reason, reason);
    assert_contains(asked->detail, detail);
    assert_contains(asked->gap.remedy, remedy);
    trail_resolver_destroy(asked->resolver);
}

static void a_directory_that_lacks_the_id_is_named(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    unlink(tree->path);
    asked_init(&asked, tree, true, true);
    assert_gap(&asked, "dir_lacks_build_id", asked.directory, "symbols export");
}

static void a_store_that_was_never_built_is_named(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    unlink(tree->path);
    asked_init(&asked, tree, false, true);
    assert_gap(&asked, "store_never_built", asked.store, "backtrail symbols add");
    asked_init(&asked, tree, false, true);
    mkdir(asked.store, 0755);
    assert_gap(&asked, "not_found", "app/prog", "--symbols");
}

static void another_build_in_the_store_is_refused_with_both_ids(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    char hex[80];
    trail_hex(tree->key, hex, sizeof(hex));
    unlink(tree->path);
    tree_put(tree, "x64-cpp-gcc", stored(tree, ".debug"));
    asked_init(&asked, tree, false, true);
    ask(&asked);
    assert_contains(asked.detail, "a68c8c293d328441bf0324f9821cd1740b93797e");
    assert_gap(&asked, "id_mismatch", hex, "--symbols");
}

static void a_stripped_module_without_an_id_says_so(void **state)
{
    struct tree *tree = *state;
    struct asked asked;
    struct trail_text none = { NULL, 0 };
    asked_init(&asked, tree, true, true);
    tree->key = none;
    snprintf(asked.path, sizeof(asked.path), "%s",
             tree_put(tree, "debuglink-badcrc-noid/x64-debuglink", "app/no-id"));
    assert_gap(&asked, "stripped_no_id", "build-id", "--build-id");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(
        the_earliest_file_is_read_unless_a_later_one_tells_more, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        a_file_of_the_same_id_in_a_symbol_directory_hides_that_of_the_store, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        a_module_that_is_gone_is_answered_by_the_file_of_its_id, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        a_file_that_comes_later_is_found_though_the_module_is_open, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(a_directory_that_lacks_the_id_is_named, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_store_that_was_never_built_is_named, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(another_build_in_the_store_is_refused_with_both_ids,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(a_stripped_module_without_an_id_says_so, tree_make,
                                    tree_remove),
};
TRAIL_TEST_MAIN(tests)
