/* text_hash.c -- modules without an id: known by where their segments lie and by the
 * beginning of their code, in memory as in the file.
 */
#include "core/trace/stamp.h"
#include "fake.h"
#include "tree.h"

#define NO_ID "debuglink-badcrc-noid/x64-debuglink"

struct mapped {
    size_t compared;
};

static bool compare(void *arg, const struct trail_os_module *module)
{
    struct mapped *mapped = arg;
    struct trail_os_file file = { .fd = -1 };
    uint8_t in_memory[TRAIL_TEXT_HASH_SIZE], in_file[TRAIL_TEXT_HASH_SIZE];
    const char *path = module->main_program ? "/proc/self/exe" : module->path;
    if (module->vdso || trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file, NULL))
        return true;
    assert_true(trail_stamp_text_hash(module, in_memory));
    assert_true(trail_symbol_file_text_hash(file.bytes, file.size, in_file));
    assert_memory_equal(in_memory, in_file, sizeof(in_file));
    mapped->compared++;
    trail_os_file_close(&file);
    return true;
}

static void what_is_mapped_has_the_hash_of_its_file(void **state)
{
    (void)state;
    struct mapped mapped = { 0 };
    trail_os_modules(compare, &mapped);
    assert_true(mapped.compared >= 2); /* this program, libc */
}

/* A module that a trace knows by the hash of `file`. */
static struct trail_target target_by(const char *file, const char *path,
                                     uint8_t hash[TRAIL_TEXT_HASH_SIZE])
{
    struct trail_target target = fake_target(path);
    struct trail_os_file opened = { .fd = -1 };
    assert_ok(trail_os_file_map(file, TRAIL_SYMBOL_FILE_LIMIT, &opened, NULL));
    assert_true(trail_symbol_file_text_hash(opened.bytes, opened.size, hash));
    trail_os_file_close(&opened);
    target.given = false;
    target.module.id = (struct trail_text){ (char *)hash, TRAIL_TEXT_HASH_SIZE };
    target.module.id_kind = TRAIL_ID_TEXT_HASH;
    return target;
}

static void a_file_is_compared_by_its_code_where_there_is_no_id(void **state)
{
    struct tree *tree = *state;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    char path[512], other[512], hex[2 * TRAIL_TEXT_HASH_SIZE + 1];
    snprintf(path, sizeof(path), "%s", tree_put(tree, NO_ID, "app/no-id"));
    snprintf(other, sizeof(other), "%s", tree_put(tree, "x64-cpp-gcc", "app/other"));
    struct trail_target target = target_by(path, path, hash);
    assert_ok(trail_routes_image(&target, &tree->search, &tree->file));
    assert_string_equal(tree_found(tree), "app/no-id");

    target.path = other;
    trail_hex(target.module.id, hex, sizeof(hex));
    assert_int_equal(trail_routes_image(&target, &tree->search, &tree->file),
                     TRAIL_REFUSED);
    assert_true(tree->search.mismatch);
    assert_contains(tree->search.detail, hex);
    assert_contains(tree->search.detail, "app/other: has id ");
}

static void its_copy_in_a_symbol_directory_is_found(void **state)
{
    struct tree *tree = *state;
    uint8_t hash[TRAIL_TEXT_HASH_SIZE];
    char directory[512];
    const char *directories[] = { directory };
    const struct trail_routes routes = { .directories = directories,
                                         .directory_count = 1 };
    snprintf(directory, sizeof(directory), "%s/symbols", tree->root);
    tree_put(tree, "x64-cpp-gcc", "symbols/srv/no-id"); /* of its name, and another */
    const char *copy = tree_put(tree, NO_ID, "symbols/no-id.debug");
    struct trail_target target = target_by(copy, "/srv/no-id", hash);
    assert_ok(
        trail_routes_directories(&routes, &target, NULL, &tree->search, &tree->file));
    assert_string_equal(tree_found(tree), "symbols/no-id.debug");
}

static void every_byte_of_what_is_hashed_counts(void **state)
{
    (void)state;
    const uint8_t code[TRAIL_TEXT_HASH_TEXT + 1] = { 1, 2, 3 };
    uint8_t changed[sizeof(code)];
    for (size_t i = 0; i < sizeof(code); i += 4) {
        struct trail_text_hash a = trail_text_hash_start(), b = a;
        memcpy(changed, code, sizeof(code));
        changed[i] ^= 0x40;
        trail_text_hash_code(&a, code, sizeof(code));
        trail_text_hash_code(&b, changed, sizeof(changed));
        assert_int_equal(a.value == b.value, i == TRAIL_TEXT_HASH_TEXT);
    }
    struct trail_text_hash hashes[4] = { { 0 } };
    for (size_t i = 0; i < 4; i++) {
        hashes[i] = trail_text_hash_start();
        trail_text_hash_segment(&hashes[i], 0x1000 + (i == 1), 0x80 + (i == 2),
                                5 - (i == 3));
        for (size_t j = 0; j < i; j++)
            assert_true(hashes[i].value != hashes[j].value);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_mapped_has_the_hash_of_its_file),
    cmocka_unit_test_setup_teardown(a_file_is_compared_by_its_code_where_there_is_no_id,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(its_copy_in_a_symbol_directory_is_found, tree_make,
                                    tree_remove),
    cmocka_unit_test(every_byte_of_what_is_hashed_counts),
};
TRAIL_TEST_MAIN(tests)
