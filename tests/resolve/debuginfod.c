/* debuginfod.c -- questions to servers: each is asked once, and a slow server costs its
 * deadline once. The fetch itself is the test's own.
 */
#include <stdatomic.h>

#include "core/resolve/debuginfod.h"
#include "core/resolve/fetch.h"
#include "tree.h"

void __wrap_trail_fetch(struct trail_fetcher *fetcher,
                        const struct trail_fetch_order *order,
                        struct trail_fetch_answer *answer_ret);
void __wrap_trail_os_cond_wait(struct trail_os_cond *cond, struct trail_os_mutex *mutex,
                               uint64_t until_ns);
void __real_trail_os_cond_wait(struct trail_os_cond *cond, struct trail_os_mutex *mutex,
                               uint64_t until_ns);

static char answer_path[512]; /* "": there is none */
static _Atomic unsigned fetches;
static _Atomic bool held; /* fetches do not end */
static int64_t asker;
static unsigned waits; /* of the asking thread */

void __wrap_trail_fetch(struct trail_fetcher *fetcher,
                        const struct trail_fetch_order *order,
                        struct trail_fetch_answer *answer_ret)
{
    (void)order;
    atomic_fetch_add(&fetches, 1);
    while (atomic_load(&held) && !atomic_load(fetcher->closing)) {
    }
    *answer_ret = (struct trail_fetch_answer){ .status = TRAIL_NOT_FOUND };
    if (answer_path[0])
        answer_ret->status = TRAIL_OK;
    memcpy(answer_ret->path, answer_path, sizeof(answer_path));
}

void __wrap_trail_os_cond_wait(struct trail_os_cond *cond, struct trail_os_mutex *mutex,
                               uint64_t until_ns)
{
    if (trail_os_tid() == asker)
        waits++;
    __real_trail_os_cond_wait(cond, mutex, until_ns);
}

static struct trail_debuginfod *start(uint64_t timeout_ns)
{
    const char *const urls[] = { "http://one.example", "http://two.example", NULL };
    const struct trail_debuginfod_options options = { .urls = urls,
                                                      .cache = "/nonexistent",
                                                      .timeout_ns = timeout_ns };
    struct trail_debuginfod *servers = NULL;
    assert_ok(trail_debuginfod_create(&options, &servers, NULL));
    assert_string_equal(getenv("DEBUGINFOD_URLS"),
                        "http://one.example http://two.example");
    atomic_store(&fetches, 0);
    asker = trail_os_tid();
    return servers;
}

static enum trail_status find(struct trail_debuginfod *servers, struct tree *tree)
{
    const struct trail_wanted wanted = { .role = TRAIL_ROLE_DEBUG, .id = tree->key };
    tree->search = (struct trail_search){ .mismatch = false };
    waits = 0;
    return trail_debuginfod_find(servers, &wanted, &tree->search, &tree->file);
}

static void what_was_asked_is_not_asked_again(void **state)
{
    struct tree *tree = *state;
    struct trail_debuginfod *servers = start((uint64_t)600 * 1000000000u);
    answer_path[0] = 0;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(find(servers, tree), TRAIL_NOT_FOUND);
        assert_int_equal(tree->search.fetch, TRAIL_FETCH_NONE);
    }
    assert_int_equal(atomic_load(&fetches), 1);
    tree->id[0] ^= 1;
    assert_int_equal(find(servers, tree), TRAIL_NOT_FOUND);
    assert_int_equal(atomic_load(&fetches), 2);
    trail_debuginfod_destroy(servers);
}

static void a_slow_server_is_waited_for_once_and_serves_later(void **state)
{
    struct tree *tree = *state;
    struct trail_debuginfod *servers = start(1);
    snprintf(answer_path, sizeof(answer_path), "%s",
             tree_put(tree, TREE_LINKED_BY, "x"));
    atomic_store(&held, true);
    assert_int_equal(find(servers, tree), TRAIL_NOT_FOUND);
    assert_int_equal(tree->search.fetch, TRAIL_FETCH_FAILED);
    assert_contains(tree->search.fetched, "no answer within");
    trail_debuginfod_destroy(servers);

    servers = start((uint64_t)600 * 1000000000u);
    tree->search.until_ns = 1; /* the lookup has no time */
    const struct trail_wanted wanted = { .role = TRAIL_ROLE_DEBUG, .id = tree->key };
    assert_int_equal(trail_debuginfod_find(servers, &wanted, &tree->search,
                                           &tree->file),
                     TRAIL_NOT_FOUND);
    uint8_t first = tree->id[0];
    for (uint8_t i = 1; i < 6; i++) {
        tree->id[0] = (uint8_t)(first ^ i);
        assert_int_equal(find(servers, tree), TRAIL_NOT_FOUND);
        assert_int_equal(waits, 0);
    }
    tree->id[0] = first;
    atomic_store(&held, false);
    while (trail_debuginfod_arrived(servers) < 6) {
    }
    assert_ok(find(servers, tree));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_DEBUGINFOD);
    assert_int_equal(atomic_load(&fetches), 6);
    trail_debuginfod_destroy(servers);
}

static void modules_without_an_id_are_no_question(void **state)
{
    struct tree *tree = *state;
    struct trail_debuginfod *servers = start(1);
    struct trail_wanted wanted = { .role = TRAIL_ROLE_DEBUG };
    assert_int_equal(trail_debuginfod_find(servers, &wanted, &tree->search,
                                           &tree->file),
                     TRAIL_NOT_FOUND);
    wanted.id = tree->key;
    wanted.id_kind = TRAIL_ID_TEXT_HASH;
    assert_int_equal(trail_debuginfod_find(servers, &wanted, &tree->search,
                                           &tree->file),
                     TRAIL_NOT_FOUND);
    assert_int_equal(atomic_load(&fetches), 0);
    trail_debuginfod_destroy(servers);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(what_was_asked_is_not_asked_again, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_slow_server_is_waited_for_once_and_serves_later,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(modules_without_an_id_are_no_question, tree_make,
                                    tree_remove),
};
TRAIL_TEST_MAIN(tests)
