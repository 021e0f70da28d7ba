/* rules.c -- the tables of rules: what is kept, and for how long. */
#define _GNU_SOURCE

#include "core/capture/rules.h"

#include <dlfcn.h>

#include "backtrail/backtrail.h"

#include "test.h"

static uint64_t worked_out(void)
{
    return atomic_load(&trail_rules.worked_out);
}

static _Atomic uint64_t *table_now(void)
{
    return trail_rules_now((uintptr_t)__builtin_frame_address(0));
}

/* A return address into this program. */
__attribute__((noinline)) static uintptr_t some_key(void)
{
    return (uintptr_t)__builtin_return_address(0);
}

static void a_rule_is_worked_out_once(void **state)
{
    (void)state;
    uintptr_t key = some_key();
    uint64_t rule = trail_rules_get(table_now(), key, true), before = worked_out();
    assert_true(trail_rule_kind(rule) == TRAIL_RULE_SP ||
                trail_rule_kind(rule) == TRAIL_RULE_FP);
    if (!trail_os_loader.known)
        skip();
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(trail_rules_get(table_now(), key, true), rule);
    assert_int_equal(worked_out(), before);
}

static void the_rule_of_a_guess_is_not_kept(void **state)
{
    (void)state;
    uintptr_t key = some_key();
    uint64_t before = worked_out();
    trail_rules_get(table_now(), key, false);
    trail_rules_get(table_now(), key, false);
    assert_int_equal(worked_out(), before + 2);
}

static void code_without_rules_is_looked_for_each_time(void **state)
{
    (void)state;
    static char data[64];
    uint64_t before = worked_out();
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(trail_rule_kind(
                             trail_rules_get(table_now(), (uintptr_t)data, true)),
                         TRAIL_RULE_NO_CFI);
    assert_int_equal(worked_out(), before + 3);
}

static void a_key_that_no_code_has_gets_no_rule(void **state)
{
    (void)state;
    const uintptr_t keys[] = {
        0, 1, 8, 0x100, TRAIL_PC_LIMIT, TRAIL_PC_LIMIT + 64, UINTPTR_MAX
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
        enum trail_rule_kind kind =
            trail_rule_kind(trail_rules_get(table_now(), keys[i], true));
        assert_true(kind == TRAIL_RULE_NO_CFI || kind == TRAIL_RULE_NONE);
    }
}

/* Two return addresses of one slot: its neighbour takes the one that was there. */
static void a_slot_has_a_neighbour(void **state)
{
    (void)state;
    uintptr_t key = some_key(), slot = key << TRAIL_KEY_SHIFT & 0x1fff8;
    _Atomic uint64_t *at = &table_now()[slot / 8], *beside = &table_now()[slot / 8 ^ 1];
    uint64_t other = trail_rule_make(TRAIL_RULE_SP, 24, 0, false) |
                     trail_rule_tag(key ^ (uintptr_t)1 << 20);
    if (!trail_os_loader.known)
        skip();
    atomic_store(at, other);
    atomic_store(beside, 0);
    uint64_t rule = trail_rules_get(table_now(), key, true), before = worked_out();
    assert_int_equal(atomic_load(at), rule);
    assert_int_equal(atomic_load(beside), other);
    assert_int_equal(trail_rules_get(table_now(), key ^ (uintptr_t)1 << 20, true),
                     other);
    assert_int_equal(worked_out(), before);
    trail_rules_empty(trail_os_loader_generation()); /* it was a lie */
}

static void loading_and_unloading_empty_the_tables(void **state)
{
    (void)state;
    static const char name[] = "libBrokenLocale.so.1";
    uintptr_t key = some_key();
    if (!trail_os_loader.known)
        skip();
    trail_rules_get(table_now(), key, true);
    uint64_t before = worked_out(), generation = trail_os_loader_generation();

    void *library = dlopen(name, RTLD_NOW);
    assert_non_null(library);
    assert_int_not_equal(trail_os_loader_generation(), generation);
    trail_rules_get(table_now(), key, true);
    assert_int_equal(worked_out(), before + 1);

    assert_int_equal(dlclose(library), 0);
    assert_int_not_equal(trail_os_loader_generation(), generation);
    trail_rules_get(table_now(), key, true);
    assert_int_equal(worked_out(), before + 2);
    trail_rules_get(table_now(), key, true);
    assert_int_equal(worked_out(), before + 2);
}

/* Addresses whose pages collide in the first-level cache, as rules.h has it. */
static unsigned way_hash(uintptr_t address)
{
    static const unsigned bits[8][2] = {
        { 12, 27 }, { 13, 26 }, { 14, 25 }, { 15, 20 },
        { 16, 21 }, { 17, 22 }, { 18, 23 }, { 19, 24 }
    };
    unsigned hash = 0;
    for (unsigned i = 0; i < 8; i++)
        hash |= (unsigned)((address >> bits[i][0] ^ address >> bits[i][1]) & 1) << i;
    return hash;
}

static void no_stack_collides_with_its_table(void **state)
{
    (void)state;
    for (uintptr_t sp = (uintptr_t)((uint64_t)1 << 33);
         sp < ((uintptr_t)((uint64_t)1 << 33)) + (16u << 20); sp += 4096) {
        uintptr_t table = (uintptr_t)trail_rules_now(sp);
        for (uintptr_t at = 0; at < TRAIL_RULES_SIZE; at += 4096)
            assert_int_not_equal(way_hash(table + at), way_hash(sp));
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_rule_is_worked_out_once),
    cmocka_unit_test(the_rule_of_a_guess_is_not_kept),
    cmocka_unit_test(code_without_rules_is_looked_for_each_time),
    cmocka_unit_test(a_key_that_no_code_has_gets_no_rule),
    cmocka_unit_test(a_slot_has_a_neighbour),
    cmocka_unit_test(loading_and_unloading_empty_the_tables),
    cmocka_unit_test(no_stack_collides_with_its_table),
};
int main(int argc, char **argv)
{
    trail_warm_up();
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
