/* cache.c -- modules kept open within bounds of bytes, descriptors and time, and what
 * is given back.
 */
#include "fake.h"
#include "tree.h"

/* A resolver that keeps so much. */
static struct trail_resolver *bounded(const struct trail_link *links, size_t count,
                                      uint64_t bytes, size_t files)
{
    const struct trail_resolver_options options = { .links = links,
                                                    .link_count = count,
                                                    .image_limit = 100,
                                                    .cache_bytes = bytes,
                                                    .cache_files = files };
    struct trail_resolver *resolver = NULL;
    assert_ok(trail_resolver_create(&options, &resolver, NULL));
    return resolver;
}

static struct trail_gap ask(struct trail_resolver *resolver, const char *path,
                            const uint64_t *addresses, size_t count)
{
    struct trail_arena arena = { 0 };
    struct trail_answer answers[8];
    struct trail_gap gap;
    struct trail_target target = fake_target(path);
    assert_ok(trail_resolver_lookup(resolver, &target, addresses, count, 0, &arena,
                                    answers, &gap));
    trail_arena_deinit(&arena); /* reasons are no part of it */
    return gap;
}

static const uint64_t one[] = { 0x10 };

/* Twelve modules of one size, asked about in order; which of them are open is seen by
 * asking again from the last. */
static unsigned opens_of_twelve(struct tree *tree, struct trail_resolver *resolver,
                                struct fake *fake)
{
    char path[12][512];
    for (size_t i = 0; i < 12; i++) {
        char name[24];
        snprintf(name, sizeof(name), "many/%zu", i);
        snprintf(path[i], sizeof(path[i]), "%s", tree_put(tree, TREE_LINKED, name));
        ask(resolver, path[i], one, 1);
    }
    unsigned before = fake->opens;
    assert_int_equal(before, 12);
    for (size_t i = 12; i-- > 9;)
        ask(resolver, path[i], one, 1);
    return fake->opens - before;
}

static void files_over_the_bound_of_descriptors_are_closed_oldest_first(void **state)
{
    struct fake fake = { .rows = NULL };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_resolver *resolver = bounded(&link, 1, 0, 3);
    uint64_t bytes;
    size_t files;
    assert_int_equal(opens_of_twelve(*state, resolver, &fake), 0);
    trail_resolver_open_size(resolver, &bytes, &files);
    assert_int_equal(files, 3);
    trail_resolver_destroy(resolver);
    assert_int_equal(fake.closes, fake.opens);
}

static void files_over_the_bound_of_bytes_are_closed_oldest_first(void **state)
{
    struct tree *tree = *state;
    struct fake fake = { .rows = NULL };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_os_stat stat;
    uint64_t bytes;
    size_t files;
    assert_ok(trail_os_stat_path(tree->path, &stat, NULL));
    struct trail_resolver *resolver = bounded(&link, 1, 4 * stat.size - 1, 0);
    assert_int_equal(opens_of_twelve(tree, resolver, &fake), 0);
    trail_resolver_open_size(resolver, &bytes, &files);
    assert_int_equal(bytes, 3 * stat.size);
    assert_int_equal(files, 3);
    trail_resolver_destroy(resolver);
}

static void a_module_larger_than_the_bound_answers_and_is_closed(void **state)
{
    struct tree *tree = *state;
    const struct fake_row rows[] = { { 0x10, "f", "f.c", 1, 0 }, { 0 } };
    struct fake fake = { .rows = rows };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_resolver *resolver = bounded(&link, 1, 1, 0);
    struct trail_gap gap = ask(resolver, tree->path, one, 1);
    assert_null(gap.reason);
    assert_int_equal(trail_resolver_open_count(resolver), 0);
    assert_int_equal(fake.closes, 1);
    trail_resolver_destroy(resolver);
}

/* Sanitizers keep what was freed for a while. */
static bool frees_late(void)
{
    struct trail_os_library *program = NULL;
    bool late = false;
    if (!trail_os_library_open(NULL, &program, NULL)) {
        late = trail_os_library_symbol(program, "__asan_init") != NULL;
        trail_os_library_close(program);
    }
    return late;
}

/* KiB of this process that are no file's. */
static unsigned long anonymous(void)
{
    char line[256];
    unsigned long size = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file))
        if (strncmp(line, "RssAnon:", 8) == 0)
            size = strtoul(line + 8, NULL, 10);
    fclose(file);
    return size;
}

static const struct fake_row pinned[] = { { 0x10, "f", "f.c", 1, 0 }, { 0 } };

/* What an answer leaves lies above what the image had, as it does in an app: the heap
 * cannot shrink by itself. */
static void memory_is_given_back_when_modules_are_closed(void **state)
{
    struct tree *tree = *state;
    enum { ROUNDS = 3 };
    if (frees_late())
        skip();
    void *pins[ROUNDS];
    struct fake fake = { .rows = pinned, .hold_count = 3072 };
    struct trail_link link = fake_link(&fake, "fake");
    struct trail_resolver *resolver = bounded(&link, 1, 0, 0);
    unsigned long before = anonymous();
    for (size_t i = 0; i < ROUNDS; i++) {
        ask(resolver, tree->path, one, 1);
        pins[i] = malloc((size_t)100 << 10); /* no hole is as large */
        assert_true(anonymous() > before + (64u << 10));
        trail_resolver_destroy(resolver);
        resolver = bounded(&link, 1, 0, 0);
    }
    assert_int_equal(fake.opens, ROUNDS);
    unsigned long after = anonymous();
    for (size_t i = 0; i < ROUNDS; i++)
        free(pins[i]);
    trail_resolver_destroy(resolver);
    assert_in_range(after, 0, before + (32u << 10));
}

/* ---- time --------------------------------------------------------------- */

static void what_ran_out_of_time_is_not_asked_of_the_next(void **state)
{
    struct tree *tree = *state;
    const uint64_t four[] = { 0x10, 0x20, 0x30, 0x40 };
    const struct fake_row some[] = { { 0x10, "a", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
                                     { 0x20, "b", "b.c", 1, 0 },
                                     { 0 } };
    struct fake slow = { .rows = some, .cancel_at = 0x30 }, next = { .rows = some };
    struct trail_link links[] = { fake_link(&slow, "slow"), fake_link(&next, "next") };
    struct trail_resolver *resolver = bounded(links, 2, 0, 0);
    struct trail_gap gap = ask(resolver, tree->path, four, 4);
    assert_int_equal(next.asked_count, 1); /* 0x10 may have a line there */
    assert_int_equal(next.asked[0], 0x10);
    assert_string_equal(gap.reason, "timeout");
    trail_resolver_destroy(resolver);
}

static void a_module_that_took_too_long_to_open_is_not_opened_by_the_next(void **state)
{
    struct tree *tree = *state;
    struct fake slow = { .open_status = TRAIL_CANCELLED,
                         .open_text = "its time ran out" };
    struct fake next = { .rows = NULL };
    struct trail_link links[] = { fake_link(&slow, "slow"), fake_link(&next, "next") };
    struct trail_resolver *resolver = bounded(links, 2, 0, 0);
    struct trail_gap gap = ask(resolver, tree->path, one, 1);
    assert_int_equal(next.opens, 0);
    assert_string_equal(gap.reason, "timeout");
    trail_resolver_destroy(resolver);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(
        files_over_the_bound_of_descriptors_are_closed_oldest_first, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(
        files_over_the_bound_of_bytes_are_closed_oldest_first, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_module_larger_than_the_bound_answers_and_is_closed, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(memory_is_given_back_when_modules_are_closed,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(what_ran_out_of_time_is_not_asked_of_the_next,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_module_that_took_too_long_to_open_is_not_opened_by_the_next, tree_make,
        tree_remove),
};
TRAIL_TEST_MAIN(tests)
