/* store.c -- the store of symbol files: what goes in, under which name, and out. */
#define _XOPEN_SOURCE 700

#include "core/resolve/store.h"

#include <stdlib.h>
#include <unistd.h>

#include "core/resolve/files.h"
#include "tree.h"

#define NO_ID   "debuglink-badcrc-noid/x64-debuglink"
#define NO_ID_2 "debuglink-noid/x64-debuglink" /* the same code */
#define NO_KEY  "debuglink-noid/x64-debuglink.debug"

static const char *store_of(const struct tree *tree)
{
    static char path[512];
    snprintf(path, sizeof(path), "%s/cache/store", tree->root);
    return path;
}

static void add(struct tree *tree, const char *path, bool want_added,
                struct trail_store_entry *entry_ret)
{
    struct trail_error err = { "" };
    bool added = !want_added;
    assert_ok_err(trail_store_add(store_of(tree), path, entry_ret, &added, &err), err);
    assert_int_equal(added, want_added);
}

static void a_file_is_kept_under_the_id_that_it_carries(void **state)
{
    struct tree *tree = *state;
    struct trail_store_entry entry;
    char path[1024], hex[80];
    trail_hex(tree->key, hex, sizeof(hex));
    assert_false(trail_store_exists(store_of(tree)));
    add(tree, tree->path, true, &entry);
    assert_int_equal(entry.kind, TRAIL_STORE_EXE);
    assert_string_equal(entry.id, hex);
    assert_true(trail_store_path(store_of(tree), tree->key, TRAIL_STORE_EXE, path,
                                 sizeof(path)));
    assert_string_equal(entry.path, path);
    assert_contains(path, hex);
    add(tree, tree_put(tree, TREE_LINKED_BY, "x"), true, &entry);
    assert_int_equal(entry.kind, TRAIL_STORE_DEBUG);
    assert_contains(entry.path, ".debug");
    assert_true(trail_store_exists(store_of(tree)));
}

static void code_without_an_id_is_kept_once_under_its_hash(void **state)
{
    struct tree *tree = *state;
    struct trail_store_entry entry, again;
    add(tree, tree_put(tree, NO_ID, "x"), true, &entry);
    assert_int_equal(entry.kind, TRAIL_STORE_EXE);
    assert_int_equal(strlen(entry.id), 2 * TRAIL_TEXT_HASH_SIZE);
    assert_true(entry.by_hash);
    add(tree, tree_put(tree, NO_ID_2, "y"), false, &again);
    assert_string_equal(again.path, entry.path);
    add(tree, tree->path, true, &again);
    assert_false(again.by_hash);
}

static void a_file_without_a_key_or_its_end_is_refused_with_the_remedy(void **state)
{
    struct tree *tree = *state;
    struct trail_store_entry entry;
    struct trail_error err;
    bool added;
    assert_int_equal(trail_store_add(store_of(tree), tree_put(tree, NO_KEY, "y"),
                                     &entry, &added, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "--build-id");
    FILE *file = fopen(tree_put(tree, TREE_LINKED_BY, "z"), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(truncate(tree_path(tree, "z"), ftell(file) / 2), 0);
    fclose(file);
    assert_int_equal(trail_store_add(store_of(tree), tree_path(tree, "z"), &entry,
                                     &added, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "/z: is no ELF file, or is cut short");
    assert_int_equal(trail_store_add(store_of(tree), tree_path(tree, "none"), &entry,
                                     &added, &err),
                     TRAIL_NOT_FOUND);
}

static void a_better_file_takes_the_place_of_a_worse_one_and_never_back(void **state)
{
    struct tree *tree = *state;
    struct trail_store_entry entry;
    char worse[512], better[512];
    snprintf(worse, sizeof(worse), "%s",
             tree_put_changed(tree, TREE_LINKED_BY, "w", ".debug_info", ".other_info"));
    snprintf(better, sizeof(better), "%s", tree_put(tree, TREE_LINKED_BY, "b"));
    add(tree, worse, true, &entry);
    add(tree, better, true, &entry);
    add(tree, worse, false, &entry);
    add(tree, better, false, &entry);
}

struct listed {
    size_t count;
    struct trail_store_entry last;
};

static bool take(void *arg, const struct trail_store_entry *entry)
{
    struct listed *listed = arg;
    listed->count++;
    listed->last = *entry;
    return true;
}

static void entries_alone_are_listed_and_can_be_removed(void **state)
{
    struct tree *tree = *state;
    struct trail_store_entry entry;
    struct listed listed = { 0 };
    assert_ok(trail_store_list(store_of(tree), take, &listed, NULL)); /* not there */
    add(tree, tree->path, true, &entry);
    tree_put(tree, TREE_LINKED, "cache/store/README");
    tree_put(tree, TREE_LINKED, "cache/store/abc.exe");    /* half a byte */
    tree_put(tree, TREE_LINKED, "cache/store/ABCD.exe");   /* not as it is written */
    tree_put(tree, TREE_LINKED, "cache/store/abcd.exe.x"); /* being written */
    assert_ok(trail_store_list(store_of(tree), take, &listed, NULL));
    assert_int_equal(listed.count, 1);
    assert_string_equal(listed.last.path, entry.path);
    assert_int_equal(listed.last.size, entry.size);
    assert_ok(trail_store_remove(&listed.last, NULL));
    assert_int_equal(trail_store_remove(&listed.last, NULL), TRAIL_NOT_FOUND);
    assert_ok(trail_store_list(store_of(tree), take, &listed, NULL));
    assert_int_equal(listed.count, 1);
}

static void it_is_where_caches_are_unless_the_config_says(void **state)
{
    (void)state;
    char path[256];
    setenv("HOME", "/srv/ada", 1);
    unsetenv("XDG_CACHE_HOME");
    assert_true(trail_store_default(path, sizeof(path)));
    assert_string_equal(path, "/srv/ada/.cache/backtrail");
    setenv("XDG_CACHE_HOME", "/var/cache/ada", 1);
    assert_true(trail_store_default(path, sizeof(path)));
    assert_string_equal(path, "/var/cache/ada/backtrail");
    setenv("XDG_CACHE_HOME", "relative", 1);
    unsetenv("HOME");
    assert_false(trail_store_default(path, sizeof(path)));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(a_file_is_kept_under_the_id_that_it_carries,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(code_without_an_id_is_kept_once_under_its_hash,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_file_without_a_key_or_its_end_is_refused_with_the_remedy, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        a_better_file_takes_the_place_of_a_worse_one_and_never_back, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(entries_alone_are_listed_and_can_be_removed,
                                    tree_make, tree_remove),
    cmocka_unit_test(it_is_where_caches_are_unless_the_config_says),
};
TRAIL_TEST_MAIN(tests)
