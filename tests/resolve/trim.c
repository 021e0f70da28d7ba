/* trim.c -- which frames are hidden, by which rule, and which are the program's own. */
#include "core/resolve/trim.h"

#include "core/resolve/in_app.h"
#include "test.h"

#define MOST 16

/* Frames of one thread, innermost first: "name", "name@module"; "^name" is in the
 * range of the capture's own code. What trimming made of them is compared. */
static void assert_trimmed(const char *const *names, const char *const *rules)
{
    struct trail_resolved_frame frames[MOST];
    char texts[MOST][128];
    struct trail_range own = { 0x1000, 0x2000 };
    struct trail_thread thread = { .own = &own, .own_count = 1 };
    struct trail_resolved_thread resolved = { .thread = &thread, .frames = frames };

    for (size_t i = 0; names[i]; i++) {
        bool is_own = names[i][0] == '^';
        assert_true(i < MOST);
        snprintf(texts[i], sizeof(texts[i]), "%s", names[i] + is_own);
        char *module = strchr(texts[i], '@');
        frames[i] = (struct trail_resolved_frame){ .image = 0 };
        trail_frame_init(&frames[i].frame, is_own ? 0x1800 : 0x400000 + i);
        frames[i].frame.function = texts[i];
        frames[i].frame.module = module ? module + 1 : "/srv/app";
        if (module)
            *module = 0;
        resolved.frame_count++;
    }
    trail_trim(&resolved);
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(frames[i].frame.hidden, rules[i]) != 0)
            print_error("%s: hidden by '%s'\n", names[i], frames[i].frame.hidden);
        assert_string_equal(frames[i].frame.hidden, rules[i]);
    }
}

#define LIST(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void capture_and_what_called_main_are_hidden(void **state)
{
    (void)state;
    assert_trimmed(LIST("^walk", "^trail_capture", "work", "main",
                        "__libc_start_call_main", "__libc_start_main_impl", "_start"),
                   LIST("capture", "capture", "", "", "below-main", "below-main",
                        "below-main"));
    /* Without names, as of a stripped C library. */
    assert_trimmed(LIST("work", "main", "@/lib/libc.so.6", "_start"),
                   LIST("", "", "below-main", "below-main"));
}

static void own_code_is_hidden_only_at_the_top(void **state)
{
    (void)state;
    assert_trimmed(LIST("^trail_report", "callback", "^trail_flush", "main"),
                   LIST("capture", "", "", ""));
}

static void a_thread_ends_at_its_entry(void **state)
{
    (void)state;
    assert_trimmed(LIST("work", "entry", "start_thread", "clone3"),
                   LIST("", "", "below-main", "below-main"));
    assert_trimmed(LIST("work", "entry", "@/lib/x86_64-linux-gnu/libc.so.6",
                        "__clone3"),
                   LIST("", "", "below-main", "below-main"));
}

static void a_function_called_like_the_bottom_is_kept_above_it(void **state)
{
    (void)state;
    assert_trimmed(LIST("clone", "work", "start_thread"), LIST("", "", "below-main"));
}

static void a_failed_assertion_shows_the_function_that_asserted(void **state)
{
    (void)state;
    assert_trimmed(LIST("^on_signal", "__pthread_kill_implementation", "raise", "abort",
                        "__assert_fail_base", "__assert_fail", "check_order", "main",
                        "__libc_start_call_main"),
                   LIST("capture", "panic", "panic", "panic", "panic", "panic", "", "",
                        "below-main"));
    /* Unnamed code between two of them is the runtime's. */
    assert_trimmed(LIST("raise", "@/lib/libc.so.6", "abort", "check_order", "main"),
                   LIST("panic", "panic", "panic", "", ""));
}

static void a_range_error_shows_the_function_that_indexed(void **state)
{
    (void)state;
    assert_trimmed(
        LIST("raise", "abort", "__gnu_cxx::__verbose_terminate_handler()",
             "__cxxabiv1::__terminate(void (*)())", "std::terminate()", "__cxa_throw",
             "std::__throw_out_of_range_fmt(char const*, ...)",
             "std::vector<int>::_M_range_check(unsigned long) const",
             "std::vector<int>::at(unsigned long)", "total(std::vector<int>&)", "main"),
        LIST("panic", "panic", "panic", "panic", "panic", "panic", "panic", "operator",
             "operator", "", ""));
}

static void a_rust_panic_shows_the_function_that_indexed(void **state)
{
    (void)state;
    assert_trimmed(
        LIST("rust_begin_unwind", "core::panicking::panic_fmt",
             "core::panicking::panic_bounds_check",
             "<usize as core::slice::index::SliceIndex<[T]>>::index",
             "core::slice::index::<impl core::ops::index::Index<I> for [T]>::index",
             "demo::pick", "demo::main", "core::ops::function::FnOnce::call_once",
             "std::sys_common::backtrace::__rust_begin_short_backtrace",
             "std::rt::lang_start::{{closure}}", "std::rt::lang_start_internal", "main",
             "__libc_start_call_main"),
        LIST("panic", "panic", "panic", "operator", "operator", "", "", "",
             "below-main", "below-main", "below-main", "below-main", "below-main"));
}

static void without_a_panic_operators_are_shown(void **state)
{
    (void)state;
    assert_trimmed(LIST("std::vector<int>::at(unsigned long)", "work", "main"),
                   LIST("", "", ""));
    assert_trimmed(LIST("work", "abort", "main"), LIST("", "", ""));
}

/* ---- the program's own code --------------------------------------------- */

struct in_app_row {
    const char *path, *file, *hidden;
    bool main_program, vdso, in_app;
};

static void assert_in_app(const struct trail_policy *policy, const char *exe,
                          const struct in_app_row *rows, size_t count)
{
    struct trail_trace trace = { .exe = exe };
    for (size_t i = 0; i < count; i++) {
        struct trail_image image = { .path = rows[i].path,
                                     .main_program = rows[i].main_program,
                                     .vdso = rows[i].vdso };
        struct trail_frame frame;
        trail_frame_init(&frame, 1);
        frame.file = rows[i].file;
        frame.hidden = rows[i].hidden;
        if (trail_in_app(policy, &trace, &image, &frame) != rows[i].in_app)
            print_error("%s %s\n", rows[i].path, rows[i].file);
        assert_int_equal(trail_in_app(policy, &trace, &image, &frame), rows[i].in_app);
    }
}
#define ROWS(rows) (rows), sizeof(rows) / sizeof((rows)[0])

static void by_default_the_program_and_what_lies_below_it_are_its_own(void **state)
{
    (void)state;
    const struct trail_policy policy = { NULL, NULL };
    static const struct in_app_row rows[] = {
        { "/srv/app/orders", "src/a.c", "", false, false, true },
        { "/elsewhere", "src/a.c", "", true, false, true },
        { "/srv/app/lib/libx.so", "x.c", "", false, false, true },
        { "/srv/application/libx.so", "x.c", "", false, false, false },
        { "/lib/x86_64-linux-gnu/libc.so.6", "", "", false, false, false },
        { "[vdso]", "", "", false, true, false },
        { "/srv/app/orders", "src/a.c", "capture", true, false, false },
        { "/srv/app/orders", "src/a.c", "panic", true, false, true },
        { "/srv/app/orders", "/usr/include/c++/12/bits/stl_vector.h", "", true, false,
          false },
        { "/srv/app/orders", "/rustc/abc/library/core/src/slice.rs", "", true, false,
          false },
        { "/srv/app/orders", "library/core/src/slice.rs", "", true, false, false },
    };
    struct trail_trace trace = { .exe = "/srv/app/orders" };
    struct trail_frame frame;
    assert_in_app(&policy, "/srv/app/orders", ROWS(rows));
    trail_frame_init(&frame, 1);
    assert_false(trail_in_app(&policy, &trace, NULL, &frame));
}

static void beside_a_program_of_the_system_lies_everybodys_code(void **state)
{
    (void)state;
    const struct trail_policy policy = { NULL, NULL };
    static const struct in_app_row rows[] = {
        { "/usr/bin/orders", "a.c", "", false, false, true },
        { "/usr/bin/other.so", "a.c", "", false, false, false },
    };
    static const struct in_app_row at_root[] = {
        { "/orders", "a.c", "", false, false, true },
        { "/lib/libc.so.6", "", "", false, false, false },
    };
    assert_in_app(&policy, "/usr/bin/orders", ROWS(rows));
    assert_in_app(&policy, "/orders", ROWS(at_root));
    assert_in_app(&policy, "", at_root + 1, 1);
}

static void globs_include_and_exclude_modules(void **state)
{
    (void)state;
    static char include_1[] = "*/libshared*.so*", include_2[] = "/opt/*",
                exclude_1[] = "*/libvendor.so";
    char *const include[] = { include_1, include_2, NULL };
    char *const exclude[] = { exclude_1, NULL };
    const struct trail_policy policy = { .in_app_include = include,
                                         .in_app_exclude = exclude };
    static const struct in_app_row rows[] = {
        { "/usr/lib/libshared-2.so.1", "s.c", "", false, false, true },
        { "/opt/x/y.so", "y.c", "", false, false, true },
        { "/opt/x/libvendor.so", "v.c", "", false, false, false },
        { "/srv/app/libvendor.so", "v.c", "", false, false, false },
        { "/opt/x/y.so", "/usr/include/string.h", "", false, false, false },
        { "/srv/app/own.so", "o.c", "", false, false, true },
    };
    assert_in_app(&policy, "/srv/app/orders", ROWS(rows));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(capture_and_what_called_main_are_hidden),
    cmocka_unit_test(own_code_is_hidden_only_at_the_top),
    cmocka_unit_test(a_thread_ends_at_its_entry),
    cmocka_unit_test(a_function_called_like_the_bottom_is_kept_above_it),
    cmocka_unit_test(a_failed_assertion_shows_the_function_that_asserted),
    cmocka_unit_test(a_range_error_shows_the_function_that_indexed),
    cmocka_unit_test(a_rust_panic_shows_the_function_that_indexed),
    cmocka_unit_test(without_a_panic_operators_are_shown),
    cmocka_unit_test(by_default_the_program_and_what_lies_below_it_are_its_own),
    cmocka_unit_test(beside_a_program_of_the_system_lies_everybodys_code),
    cmocka_unit_test(globs_include_and_exclude_modules),
};
TRAIL_TEST_MAIN(tests)
