/* units.c -- units made by hand: owners of addresses, damage, names. */
#include "dwarf/made.h"
#include "dwarf/told.h"

/* ---- asking ------------------------------------------------------------ */

struct asked {
    struct dwarf *dwarf;
    char text[1024]; /* names of the frames of the last chain, innermost first */
    uint32_t count;  /* its frames */
    uint32_t chains;
};

static enum trail_status keep_names(void *arg, size_t index,
                                    const struct dwarf_chain *chain)
{
    struct asked *asked = arg;
    (void)index;
    asked->text[0] = '\0';
    asked->count = chain->count;
    asked->chains++;
    for (uint32_t i = 0; i < chain->count; i++) {
        struct dwarf_function function = { .name = NULL };
        size_t used = strlen(asked->text);
        dwarf_function_of(asked->dwarf, chain->frames[i].function, &function);
        if (used + 64 < sizeof(asked->text))
            snprintf(asked->text + used, sizeof(asked->text) - used, "%s%s",
                     i ? " " : "", function.name ? function.name : "?");
    }
    return TRAIL_OK;
}

static enum trail_status ask(struct dwarf *dwarf, const struct trail_call *call,
                             const uint64_t *addresses, size_t count,
                             struct asked *asked)
{
    *asked = (struct asked){ .dwarf = dwarf };
    return dwarf_resolve(dwarf, call, addresses, count, keep_names, asked);
}

/* What one address has, four times over: alone, in a batch, and warm. */
static void assert_name(struct made *made, uint64_t address, const char *name)
{
    struct asked asked;
    struct dwarf *dwarf = made_open(made);
    for (int i = 0; i < 6; i++) {
        assert_ok(ask(dwarf, NULL, &address, 1, &asked));
        assert_string_equal(asked.text, name);
    }
    const uint64_t many[] = { address, address, address, address, address, address };
    assert_ok(ask(made_open(made), NULL, many, 6, &asked));
    assert_int_equal(asked.chains, name[0] ? 6 : 0);
    assert_string_equal(asked.text, name);
}

/* ---- owners ------------------------------------------------------------ */

static void a_unit_that_does_not_say_where_its_code_lies_is_found_by_its_functions(
    void **unused)
{
    (void)unused;
    struct made made = { 0 };
    made_begin(&made, 0x1000, 0x10);
    made_leaf(&made, "one", 0x1000, 0x10);
    made_end(&made);
    made_begin(&made, 0, 0);
    made_leaf(&made, "silent", 0x2000, 0x10);
    made_end(&made);
    assert_name(&made, 0x200f, "silent");
    assert_name(&made, 0x1008, "one");
    assert_name(&made, 0x2010, "");
    made_hint(&made, 0, 0x1000, 0x10);
    assert_name(&made, 0x200f, "silent");
    made_close(&made);
}

static void a_hint_that_names_the_wrong_unit_is_corrected(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    made_begin(&made, 0x1000, 0x10);
    made_leaf(&made, "one", 0x1000, 0x10);
    made_end(&made);
    size_t second = made.size;
    made_begin(&made, 0x2000, 0x10);
    made_leaf(&made, "two", 0x2000, 0x10);
    made_end(&made);
    made_hint(&made, 0, 0x1000, 0x10);
    made_hint(&made, 0, 0x2000, 0x10);
    made_hint(&made, second, 0x3000, 0x10);
    assert_name(&made, 0x1000, "one");
    assert_name(&made, 0x2004, "two");
    assert_name(&made, 0x3000, "");
    made_close(&made);
}

static void of_two_units_that_claim_an_address_the_first_has_it(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    for (int i = 0; i < 2; i++) {
        made_begin(&made, 0x1000, 0x10);
        made_leaf(&made, i ? "dropped" : "kept", 0x1000, 0x10);
        made_end(&made);
    }
    assert_name(&made, 0x1008, "kept");
    made_close(&made);
}

/* ---- damage ------------------------------------------------------------ */

static void damage_in_one_unit_leaves_the_answers_of_the_others(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    made_begin(&made, 0x1000, 0x20);
    made_leaf(&made, "before", 0x1000, 0x10);
    made_number(&made, MADE_BROKEN, 1);
    made_leaf(&made, "behind", 0x1010, 0x10);
    made_end(&made);
    made_begin(&made, 0x2000, 0x10);
    made_leaf(&made, "other", 0x2000, 0x10);
    made_end(&made);
    assert_name(&made, 0x1000, "before");
    assert_name(&made, 0x1010, "");
    assert_name(&made, 0x2000, "other");
    made_close(&made);
}

/* More ranges than a sound unit has: 3000 functions that share a list of 3000. */
static void a_unit_with_too_many_ranges_is_given_up_and_the_others_are_not(
    void **unused)
{
    (void)unused;
    enum { MANY = 3000 };
    struct made made = { 0 }, list = { 0 };
    struct asked asked;
    struct told told;
    for (unsigned i = 0; i < MANY; i++)
        made_place(&list, 0x1000 + i, 0x1001 + i);
    made_place(&list, 0, 0);
    made.ranges = list.info;
    made.ranges_size = list.size;
    made_begin(&made, 0x1000, 0x1000);
    for (unsigned i = 0; i < MANY; i++) {
        made_named(&made, MADE_MANY, "many");
        made_number(&made, 0, 4);
    }
    made_end(&made);
    made_begin(&made, 0x3000, 0x10);
    made_leaf(&made, "other", 0x3000, 0x10);
    made_end(&made);
    const uint64_t addresses[] = { 0x1000, 0x1001, 0x1002, 0x1003, 0x3000 };
    struct dwarf *dwarf = made_open(&made);
    for (int i = 0; i < 3; i++) {
        assert_ok(ask(dwarf, NULL, addresses, 5, &asked));
        assert_int_equal(asked.chains, 1);
        assert_string_equal(asked.text, "other");
    }
    told_init(&told);
    struct trail_map_out out = told_out(&told);
    assert_ok(dwarf_enumerate(dwarf, NULL, 0, 1, &out));
    assert_int_equal(told.range_count, 1);
    assert_int_equal(told.ranges[0].start, 0x3000);
    told_deinit(&told);
    made_close(&made);
    free(list.info);
}

/* A DIE that refers to a list of ranges again and again costs what the list does. */
static void too_much_work_is_told_and_what_was_found_is_kept(void **unused)
{
    (void)unused;
    enum { LIST = 200000, MANY = 2000 };
    struct made made = { 0 }, list = { 0 };
    struct asked asked;
    for (unsigned i = 0; i < LIST; i++) /* dead ones, so that none is kept */
        made_place(&list, 1, 2);
    made.ranges = list.info;
    made.ranges_size = list.size;
    made_begin(&made, 0x1000, 0x10);
    made_leaf(&made, "found", 0x1000, 0x10);
    made_end(&made);
    made_begin(&made, 0x2000, 0x10);
    for (unsigned i = 0; i < MANY; i++) {
        made_named(&made, MADE_MANY, "many");
        made_number(&made, 0, 4);
    }
    made_end(&made);
    const uint64_t addresses[] = { 0x1000, 0x2000 };
    assert_int_equal(ask(made_open(&made), NULL, addresses, 2, &asked),
                     TRAIL_BAD_INPUT);
    assert_string_equal(asked.text, "found");
    made_close(&made);
    free(list.info);
}

static int stop_when(void *host)
{
    int *left = host;
    return (*left)-- <= 0;
}

static void a_host_that_says_stop_is_heard_and_may_ask_again(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    struct asked asked;
    int left = 0;
    const struct trail_call call = {
        .size = sizeof(call), .threads = 1, .host = &left, .stop = stop_when
    };
    made_begin(&made, 0x1000, 0x1000);
    uint32_t origin = made_named(&made, MADE_ABSTRACT, "named");
    for (int i = 0; i < 300000; i++) /* more than is read between two questions */
        made_named(&made, MADE_ABSTRACT, "filler of the unit");
    made_of(&made, MADE_INSTANCE, origin, 0x1000, 0x10);
    made_end(&made);
    const uint64_t address = 0x1000;
    struct dwarf *dwarf = made_open(&made);
    assert_int_equal(ask(dwarf, &call, &address, 1, &asked), TRAIL_CANCELLED);
    assert_int_equal(asked.chains, 0);
    assert_ok(ask(dwarf, NULL, &address, 1, &asked));
    assert_string_equal(asked.text, "named");
    made_close(&made);
}

/* ---- names ------------------------------------------------------------- */

static void origins_that_lead_in_a_circle_end(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    made_begin(&made, 0x1000, 0x20);
    uint32_t first = (uint32_t)(made.size - made.unit);
    made_number(&made, MADE_LINK, 1);
    made_number(&made, first + 5, 4);
    made_number(&made, MADE_LINK, 1);
    made_number(&made, first, 4);
    made_of(&made, MADE_INSTANCE, first, 0x1000, 0x10);
    made_leaf(&made, "sound", 0x1010, 0x10);
    made_end(&made);
    assert_name(&made, 0x1010, "sound");
    assert_name(&made, 0x1000, "?"); /* code of a function without a name */
    made_close(&made);
}

static void a_name_has_the_scopes_that_it_was_declared_in(void **unused)
{
    (void)unused;
    struct made made = { 0 };
    made_begin(&made, 0x1000, 0x100);
    made_leaf(&made, "plain", 0x1000, 0x10);
    made_named(&made, MADE_NAMESPACE, "ns");
    made_named(&made, MADE_CLASS, "type");
    uint32_t method = made_named(&made, MADE_ABSTRACT, "method");
    made_up(&made);
    made_number(&made, MADE_UNNAMED, 1);
    made_leaf(&made, "hidden", 0x1010, 0x10);
    made_up(&made);
    made_up(&made);
    made_of(&made, MADE_INSTANCE, method, 0x1020, 0x10);
    made_function(&made, "outer", 0x1030, 0x10);
    made_named(&made, MADE_CLASS, "local");
    made_leaf(&made, "call", 0x1040, 0x10);
    made_up(&made);
    made_up(&made);
    made_end(&made);
    assert_name(&made, 0x1000, "plain");
    assert_name(&made, 0x1010, "ns::(anonymous namespace)::hidden");
    assert_name(&made, 0x1020, "ns::type::method");
    assert_name(&made, 0x1030, "outer");
    assert_name(&made, 0x1040, "outer::local::call");
    made_close(&made);
}

static void of_a_chain_that_is_too_long_the_outermost_frame_stays(void **unused)
{
    (void)unused;
    enum { DEPTH = 400 };
    struct made made = { 0 };
    struct asked asked;
    made_begin(&made, 0x1000, 0x100);
    uint32_t origin = made_named(&made, MADE_ABSTRACT, "i");
    made_function(&made, "outer", 0x1000, 0x100);
    for (int i = 0; i < DEPTH; i++)
        made_of(&made, MADE_INLINED, origin, 0x1000, 0x100);
    for (int i = 0; i < DEPTH + 1; i++)
        made_up(&made);
    made_end(&made);
    const uint64_t address = 0x1000;
    struct dwarf *dwarf = made_open(&made);
    for (int i = 0; i < 5; i++) {
        struct origin_frame frames[ORIGIN_CHAIN_MAX];
        struct dwarf_function function = { .name = NULL };
        assert_ok(ask(dwarf, NULL, &address, 1, &asked));
        assert_int_equal(asked.count, ORIGIN_CHAIN_MAX);
        assert_int_equal(dwarf_lookup(dwarf, address, frames), ORIGIN_CHAIN_MAX);
        assert_true(
            dwarf_function_of(dwarf, frames[ORIGIN_CHAIN_MAX - 1].function, &function));
        assert_string_equal(function.name, "outer");
    }
    made_close(&made);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(
        a_unit_that_does_not_say_where_its_code_lies_is_found_by_its_functions),
    cmocka_unit_test(a_hint_that_names_the_wrong_unit_is_corrected),
    cmocka_unit_test(of_two_units_that_claim_an_address_the_first_has_it),
    cmocka_unit_test(damage_in_one_unit_leaves_the_answers_of_the_others),
    cmocka_unit_test(a_unit_with_too_many_ranges_is_given_up_and_the_others_are_not),
    cmocka_unit_test(too_much_work_is_told_and_what_was_found_is_kept),
    cmocka_unit_test(a_host_that_says_stop_is_heard_and_may_ask_again),
    cmocka_unit_test(origins_that_lead_in_a_circle_end),
    cmocka_unit_test(a_name_has_the_scopes_that_it_was_declared_in),
    cmocka_unit_test(of_a_chain_that_is_too_long_the_outermost_frame_stays),
};
TRAIL_TEST_MAIN(tests)
