/* table.c -- the table of modules: what a reader on another machine needs, and that a
 * module which comes to the place of another is never taken for it.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>

#include "core/capture/pack_modules.h"
#include "made.h"
#include "test.h"

/* All that the table has, in pieces of `piece` bytes. */
static struct trail_pack_table *table_moved(size_t piece)
{
    struct trail_pack_table *table = trail_pack_table_create();
    uint8_t bytes[4096];
    struct trail_error err = { "" };
    uint32_t first = 0, next = 0;
    size_t used;
    assert_non_null(table);
    while ((used = trail_pack_table_write(bytes, piece, first, &next)) > 0) {
        assert_true(used <= piece);
        assert_true(next > first);
        assert_ok_err(trail_pack_table_read(table, bytes, used, &err), err);
        first = next;
    }
    return table;
}

static void unpacked_with(const struct made *made, const struct trail_pack_table *table,
                          uint32_t *modules_ret)
{
    uint8_t bytes[8 * MADE_MOST];
    uint64_t back[MADE_MOST];
    struct trail_info info;
    struct trail_error err = { "" };
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = MADE_MOST,
                                       .addresses = back,
                                       .modules = modules_ret };
    size_t size = made_pack(made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &info);
    assert_ok_err(trail_unpack(bytes, size, table, NULL, &unpacked, &err), err);
    assert_int_equal(unpacked.count, made->count);
    for (unsigned i = 0; i < made->count; i++)
        assert_int_equal(back[i], made->addresses[i]);
}

static void a_reader_elsewhere_needs_the_table_and_nothing_else(void **state)
{
    (void)state;
    uint32_t modules[MADE_MOST];
    uint64_t seed = 1;
    struct made made;
    made_stack(&made, 100, &seed);
    unpacked_with(&made, NULL, modules);
    struct trail_pack_table *table = table_moved(4096);
    unpacked_with(&made, table, modules);
    for (unsigned i = 0; i < made.count; i++) {
        struct trail_pack_module module = { .size = sizeof(module) };
        if (modules[i] == UINT32_MAX)
            continue;
        assert_true(trail_pack_table_at(table, modules[i], &module));
        assert_in_range(made.addresses[i], module.start, module.end);
        assert_int_equal(module.number, modules[i]);
    }
    trail_pack_table_destroy(table);
}

static void a_module_is_told_with_its_id_and_its_place_in_the_file(void **state)
{
    (void)state;
    uint32_t number;
    struct made made = { .addresses = { (uintptr_t)made_stack },
                         .kinds = { TRAIL_PC_CURRENT },
                         .count = 1 };
    struct trail_pack_module module = { .size = sizeof(module) };
    Dl_info found;
    assert_int_not_equal(dladdr((void *)(uintptr_t)made_stack, &found), 0);

    unpacked_with(&made, NULL, &number);
    struct trail_pack_table *table = table_moved(4096);
    assert_true(trail_pack_table_at(table, number, &module));
    assert_int_equal(module.bias, (uintptr_t)found.dli_fbase);
    assert_true(module.id_size >= 8);
    assert_contains(module.path, "test_pack_table");
    assert_false(trail_pack_table_at(table, 511, &module));
    trail_pack_table_destroy(table);
}

static void a_table_comes_over_in_pieces_of_any_size(void **state)
{
    (void)state;
    uint32_t modules[MADE_MOST];
    uint64_t seed = 2;
    struct made made;
    made_stack(&made, 100, &seed);
    unpacked_with(&made, NULL, modules);
    for (size_t piece = 260; piece < 4096; piece += 7) {
        struct trail_pack_table *table = table_moved(piece);
        unpacked_with(&made, table, modules);
        trail_pack_table_destroy(table);
    }
}

static void a_table_that_lacks_a_module_is_told(void **state)
{
    (void)state;
    struct trail_pack_table *table = trail_pack_table_create();
    const uintptr_t address = (uintptr_t)made_stack + 1;
    uint8_t bytes[16];
    struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
    struct trail_error err = { "" };
    size_t size =
        trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &address, 1, NULL);
    assert_int_equal(trail_unpack(bytes, size, table, NULL, &unpacked, &err),
                     TRAIL_NOT_FOUND);
    assert_contains(err.text, "trail_pack_table_write");
    trail_pack_table_destroy(table);
}

static void broken_tables_are_refused_and_keep_what_came_before(void **state)
{
    (void)state;
    uint8_t bytes[4096], other[4096];
    uint32_t next, modules[1];
    struct trail_error err = { "" };
    struct made made = { .addresses = { (uintptr_t)made_stack }, .count = 1 };
    unpacked_with(&made, NULL, modules);
    size_t size = trail_pack_table_write(bytes, sizeof(bytes), 0, &next);
    assert_true(size > 20);
    for (size_t cut = 2; cut < size; cut++) {
        struct trail_pack_table *table = trail_pack_table_create();
        trail_pack_table_read(table, bytes, cut, &err);
        assert_ok(trail_pack_table_read(table, bytes, size, &err));
        trail_pack_table_destroy(table);
    }
    struct trail_pack_table *table = trail_pack_table_create();
    assert_ok(trail_pack_table_read(table, bytes, size, &err));
    memcpy(other, bytes, size);
    other[2] ^= 1; /* the same number elsewhere: of another process */
    assert_int_equal(trail_pack_table_read(table, other, size, &err), TRAIL_REFUSED);
    other[0] = TRAIL_PACK_VERSION + 1;
    assert_int_equal(trail_pack_table_read(table, other, size, &err),
                     TRAIL_UNSUPPORTED);
    assert_contains(err.text, "version 2");
    trail_pack_table_destroy(table);
}

/* ---- modules that come and go -------------------------------------------- */

/* The id of the module that a function of `path` was packed in, and its number. */
static struct trail_pack_module packed_module(const char *path, uint8_t bytes[16],
                                              size_t *size_ret)
{
    struct trail_pack_module module = { .size = sizeof(module) };
    uint32_t number;
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = 1,
                                       .modules = &number };
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    const uintptr_t address = (uintptr_t)dlsym(library, "module_number") + 1;
    *size_ret = trail_pack(bytes, 16, TRAIL_PACK_DELTA, NULL, &address, 1, NULL);
    assert_int_equal(dlclose(library), 0);

    assert_ok(trail_unpack(bytes, *size_ret, NULL, NULL, &unpacked, NULL));
    assert_true(trail_pack_table_at(NULL, number, &module));
    return module;
}

static void a_module_in_the_place_of_another_is_not_taken_for_it(void **state)
{
    (void)state;
    uint8_t one_bytes[16], two_bytes[16], again_bytes[16];
    size_t one_size, two_size, again_size;
    struct trail_pack_module one = packed_module(MODULE_1, one_bytes, &one_size);
    struct trail_pack_module two = packed_module(MODULE_2, two_bytes, &two_size);
    struct trail_pack_module again = packed_module(MODULE_1, again_bytes, &again_size);

    assert_contains(one.path, "pack_module_1");
    assert_contains(two.path, "pack_module_2");
    assert_memory_not_equal(one.id, two.id, one.id_size);
    assert_int_not_equal(one.number, two.number);
    assert_memory_equal(one.id, again.id, one.id_size);
    /* What was packed while it was there is still it. */
    struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
    uint32_t number;
    unpacked.capacity = 1;
    unpacked.modules = &number;
    assert_ok(trail_unpack(one_bytes, one_size, NULL, NULL, &unpacked, NULL));
    assert_int_equal(number, one.number);
}

/* Frames at equal addresses of different modules are no shared frames. */
static void a_stream_shares_no_frame_of_a_module_that_was_replaced(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    static const char *const paths[] = { MODULE_1, MODULE_2 };
    for (unsigned round = 0; round < 8; round++) {
        struct trail_pack_module module = { .size = sizeof(module) };
        uint32_t numbers[2];
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = 2,
                                           .modules = numbers };
        uint8_t bytes[64];
        void *library = dlopen(paths[round % 2], RTLD_NOW);
        assert_non_null(library);
        uintptr_t function = (uintptr_t)dlsym(library, "module_number");
        const uintptr_t addresses[2] = { function + 1, function + 2 };
        size_t size = trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer,
                                 addresses, 2, NULL);
        assert_ok(trail_unpack(bytes, size, NULL, &reader, &unpacked, NULL));
        for (unsigned i = 0; i < 2; i++) {
            assert_true(trail_pack_table_at(NULL, numbers[i], &module));
            assert_contains(module.path, round % 2 ? "module_2" : "module_1");
        }
        assert_int_equal(dlclose(library), 0);
    }
}

/* A module that lies further from the others than a difference can say. */
static void code_that_is_far_from_all_other_is_told_by_its_address(void **state)
{
    (void)state;
    struct trail_pack_stream writer = { { 0 } }, reader = { { 0 } };
    struct made made = { .count = 6 };
    made.addresses[0] = (uintptr_t)made_stack;
    struct trail_info info;
    uint8_t bytes[256];
    made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &info);
    atomic_fetch_add(&trail_pack_own_table.claimed, UINT64_C(1) << 46); /* 1 GiB */
    void *library = dlopen(MODULE_3, RTLD_NOW);
    assert_non_null(library);
    for (unsigned i = 0; i < made.count; i++) {
        made.addresses[i] = i % 3 ? (uintptr_t)dlsym(library, "module_number") + i
                                  : (uintptr_t)made_stack + i;
        made.kinds[i] = i ? TRAIL_PC_RETURN : TRAIL_PC_CURRENT;
    }
    for (unsigned round = 0; round < 4; round++) {
        made.addresses[0] += round;
        made.addresses[5] -= round % 2;
        size_t size =
            made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, &info);
        made_comes_back(&made, made.count, bytes, size, &reader);
    }
    assert_int_equal(dlclose(library), 0);
}

/* ---- threads ------------------------------------------------------------- */

static _Atomic unsigned started;

static void *pack_all_along(void *arg)
{
    uint64_t seed = (uintptr_t)arg;
    uintptr_t wrong = 0;
    atomic_fetch_add(&started, 1);
    while (atomic_load(&started) < 4)
        ;
    for (unsigned round = 0; round < 500; round++) {
        uint8_t bytes[1024];
        uintptr_t addresses[30];
        uint64_t back[30];
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = 30,
                                           .addresses = back };
        for (unsigned i = 0; i < 30; i++)
            addresses[i] = (i % 2 ? (uintptr_t)made_stack : (uintptr_t)qsort) +
                           (uintptr_t)(made_number(&seed) & 0xff);
        size_t size = trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL,
                                 addresses, 30, NULL);
        wrong += trail_unpack(bytes, size, NULL, NULL, &unpacked, NULL) != TRAIL_OK ||
                 unpacked.count != 30;
        for (unsigned i = 0; i < 30; i++)
            wrong += back[i] != addresses[i];
    }
    return (void *)wrong;
}

static void threads_fill_one_table_at_once(void **state)
{
    (void)state;
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, pack_all_along, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_fill_one_table_at_once),
    cmocka_unit_test(a_reader_elsewhere_needs_the_table_and_nothing_else),
    cmocka_unit_test(a_module_is_told_with_its_id_and_its_place_in_the_file),
    cmocka_unit_test(a_table_comes_over_in_pieces_of_any_size),
    cmocka_unit_test(a_table_that_lacks_a_module_is_told),
    cmocka_unit_test(broken_tables_are_refused_and_keep_what_came_before),
    cmocka_unit_test(a_module_in_the_place_of_another_is_not_taken_for_it),
    cmocka_unit_test(a_stream_shares_no_frame_of_a_module_that_was_replaced),
    cmocka_unit_test(code_that_is_far_from_all_other_is_told_by_its_address),
};
TRAIL_TEST_MAIN(tests)
