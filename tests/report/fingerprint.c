/* fingerprint.c -- which reports are the same, and which are not. */
#include "made.h"

struct prints {
    char exact[17], group[17];
};

/* The fingerprints of the example, changed before by `change`. */
static struct prints prints_of(uint64_t bias, void (*change)(struct made *made))
{
    struct prints prints;
    struct made made;
    made_init(&made, "", bias);
    made_example(&made);
    if (change)
        change(&made);
    trail_fingerprints(&made.resolved, prints.exact, prints.group);
    made_deinit(&made);
    return prints;
}

static void a_fingerprint_does_not_depend_on_where_modules_are_mapped(void **state)
{
    (void)state;
    struct prints here = prints_of(0x55d0c1a00000, NULL);
    struct prints there = prints_of(0x7f1200000000, NULL);
    assert_string_equal(here.exact, there.exact);
    assert_string_equal(here.group, there.group);
    assert_int_equal(strlen(here.exact), 16);
    assert_int_equal(strspn(here.exact, "0123456789abcdef"), 16);
    assert_string_not_equal(here.exact, here.group);
}

/* As after a rebuild with a line more above: all but the names is another. */
static void shift(struct made *made)
{
    for (size_t i = 0; i < made->thread.frame_count; i++) {
        made->frames[i].frame.offset += 16;
        made->frames[i].frame.line += 1;
        made->frames[i].frame.module_id = "cc33";
    }
}

static void change_arguments(struct made *made)
{
    shift(made);
    made->frames[3].frame.function = "ItemsLoop(int, char const*)";
}

static void move_module(struct made *made)
{
    for (size_t i = 0; i < 5; i++)
        made->frames[i].frame.module = "/opt/new/orders";
}

static void the_group_survives_a_rebuild(void **state)
{
    (void)state;
    struct prints before = prints_of(0x1000, NULL);
    struct prints shifted = prints_of(0x1000, shift);
    struct prints changed = prints_of(0x1000, change_arguments);
    struct prints moved = prints_of(0x1000, move_module);
    assert_string_equal(shifted.group, before.group);
    assert_string_not_equal(shifted.exact, before.exact);
    assert_string_equal(changed.group, before.group);
    assert_string_equal(moved.group, before.group);
    assert_string_equal(moved.exact, before.exact);
}

static void another_function(struct made *made)
{
    made->frames[3].frame.function = "OtherLoop";
}

static void another_offset(struct made *made)
{
    made->frames[4].frame.offset++;
}

static void another_build(struct made *made)
{
    made->frames[4].frame.module_id = "dd44";
}

static void another_hidden_frame(struct made *made)
{
    made->frames[5].frame.offset++;
}

static void another_library_function(struct made *made)
{
    made_add(made, 4, 0x500, "qsort")->in_app = false;
}

static void what_differs_has_another_fingerprint(void **state)
{
    (void)state;
    static const struct {
        void (*change)(struct made *made);
        bool exact, group; /* the same as before */
    } rows[] = {
        { another_function, true, false },
        { another_offset, false, true },
        { another_build, false, true },
        { another_hidden_frame, false, true },
        { another_library_function, false, true },
    };
    struct prints before = prints_of(0x1000, NULL);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct prints after = prints_of(0x1000, rows[i].change);
        assert_int_equal(strcmp(after.exact, before.exact) == 0, rows[i].exact);
        assert_int_equal(strcmp(after.group, before.group) == 0, rows[i].group);
    }
}

static void a_report_without_threads_has_fingerprints_as_well(void **state)
{
    (void)state;
    const struct trail_resolved empty = { .thread_count = 0 };
    char exact[17], group[17];
    trail_fingerprints(&empty, exact, group);
    assert_int_equal(strlen(exact), 16);
    assert_null(trail_report_subject(&empty));
}

static void names_lose_their_decoration(void **state)
{
    (void)state;
    static const struct {
        const char *function, *name;
    } rows[] = {
        { "main", "main" },
        { "", "" },
        { "Orders::total(int)", "Orders::total" },
        { "Orders::total(std::pair<int, int (*)(char)>) const", "Orders::total" },
        { "f() [clone .cold]", "f" },
        { "f(int) [clone .constprop.0]", "f" },
        { "f.cold", "f" },
        { "f.constprop.0.isra.1", "f" },
        { "Fn::operator()(int)", "Fn::operator()" },
        { "Fn::operator()() const", "Fn::operator()" },
        { "demo::main", "demo::main" },
        { "<demo::Cat as demo::Speak>::speak", "<demo::Cat as demo::Speak>::speak" },
        { "(anonymous namespace)::fail()", "(anonymous namespace)::fail" },
        { "(anonymous namespace)::fail", "(anonymous namespace)::fail" },
        { "Orders::for(int)", "Orders::for" },
        { "Orders::clear(int)", "Orders::clear" },
        { ".hidden", ".hidden" },
        { "app.orders.total()", "app.orders.total" }, /* D */
        { "main.handleRequest", "main.handleRequest" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[128];
        size_t size = trail_name_undecorated(rows[i].function, name, sizeof(name));
        if (strcmp(name, rows[i].name) != 0)
            print_error("%s\n", rows[i].function);
        assert_string_equal(name, rows[i].name);
        assert_int_equal(size, strlen(rows[i].name));
        memset(name, 0x55, sizeof(name));
        trail_name_undecorated(rows[i].function, name, 3); /* cut, terminated */
        assert_true(strlen(name) <= 2);
        assert_int_equal(name[3], 0x55);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_fingerprint_does_not_depend_on_where_modules_are_mapped),
    cmocka_unit_test(the_group_survives_a_rebuild),
    cmocka_unit_test(what_differs_has_another_fingerprint),
    cmocka_unit_test(a_report_without_threads_has_fingerprints_as_well),
    cmocka_unit_test(names_lose_their_decoration),
};
TRAIL_TEST_MAIN(tests)
