/* names.c -- names demangled, and names that trimming knows. */
#include "core/resolve/arena.h"
#include "core/resolve/demangle.h"
#include "core/resolve/in_app.h"
#include "core/resolve/trim.h"
#include "test.h"

static void names_are_written_as_their_language_does(void **state)
{
    (void)state;
    static const struct {
        const char *mangled, *plain;
    } rows[] = {
        { "_Z3addii", "add(int, int)" },
        { "_ZNK6Orders5totalERKNS_4ItemE", "Orders::total(Orders::Item const&) const" },
        { "_ZN12_GLOBAL__N_14failEv", "(anonymous namespace)::fail()" },
        { "_ZNSt6vectorIiSaIiEE2atEm",
          "std::vector<int, std::allocator<int> >::at(unsigned long)" },
        { "_ZN4demo5shape4area17h0123456789abcdefE", "demo::shape::area" },
        { "_ZN41_$LT$demo..Cat$u20$as$u20$demo..Speak$GT$5speak17h0123456789abcdefE",
          "<demo::Cat as demo::Speak>::speak" },
        { "_RNvCs4fqI2P2rA04_4demo4main", "demo::main" },
        { "_RINvNtC3std3mem8align_ofdE", "std::mem::align_of::<f64>" },
        { "_D4dmod5addUpFAiZi", "dmod.addUp(int[])" },
        { "_D4dmod6Animal5speakMFiZi", "dmod.Animal.speak(int)" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *plain = trail_demangle(rows[i].mangled);
        if (!plain)
            print_error("%s\n", rows[i].mangled);
        assert_non_null(plain);
        assert_string_equal(plain, rows[i].plain);
        free(plain);
    }
}

static void names_that_are_not_mangled_are_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "main",
        "_",
        "__libc_start_main",
        "_Z",
        "_ZN",
        "_R",
        "_D",
        "_start",
        "_Dmain_not",
        "_Zplain thing",
        "Z3addii",
        "_ZN3fooE\xff",
        "_RNvC",
        "_D4dmod",
        "std::vector<int>",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        assert_null(trail_demangle(names[i]));
}

static void a_name_that_is_too_long_is_left_alone(void **state)
{
    (void)state;
    static char name[20u << 10];
    for (size_t length = 16u << 10; length <= (16u << 10) + 1; length++) {
        char digits[16];
        snprintf(digits, sizeof(digits), "_D%zu", length - 8);
        memset(name, 'x', length);
        memcpy(name, digits, strlen(digits));
        name[length - 1] = 'i';
        name[length] = 0;
        char *plain = trail_demangle(name);
        assert_int_equal(plain != NULL, length == 16u << 10);
        free(plain);
    }
}

/* ---- names that stand for gigabytes ------------------------------------- */

#define NAME_ROOM 4096

static void add(char *name, const char *part)
{
    size_t size = strlen(name);
    snprintf(name + size, NAME_ROOM - size, "%s", part);
}

static void add_number(char *text, size_t value, const char *digits, size_t base)
{
    char reversed[16];
    size_t count = 0, end = strlen(text);
    do {
        reversed[count++] = digits[value % base];
        value /= base;
    } while (value);
    while (count)
        text[end++] = reversed[--count];
    text[end] = 0;
}

static const char base62[] =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
static const char base36[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* p<int, int>, then each argument twice the one before. */
static void hostile_cpp(char *name, size_t depth)
{
    name[0] = 0;
    add(name, "_Z1f1pIiiE");
    for (size_t i = 0; i < depth; i++) {
        add(name, "S_I");
        for (unsigned k = 0; k < 2; k++) {
            add(name, "S");
            add_number(name, i, base36, 36);
            add(name, "_");
        }
        add(name, "E");
    }
}

static void hostile_rust(char *name, size_t depth)
{
    size_t before = strlen("INvC1a1f");
    name[0] = 0;
    add(name, "_RINvC1a1fTccE");
    for (size_t i = 0; i < depth; i++) {
        size_t here = strlen(name) - 2;
        add(name, "T");
        for (unsigned k = 0; k < 2; k++) {
            add(name, "B");
            add_number(name, before - 1, base62, 62);
            add(name, "_");
        }
        add(name, "E");
        before = here;
    }
    add(name, "E");
}

static void add_d_reference(char *name, size_t target)
{
    size_t distance = strlen(name) - target, end;
    add(name, "Q");
    if (distance >= 26)
        add_number(name, distance / 26, "ABCDEFGHIJKLMNOPQRSTUVWXYZ", 26);
    end = strlen(name);
    name[end] = (char)('a' + distance % 26);
    name[end + 1] = 0;
}

static void hostile_d(char *name, size_t depth)
{
    size_t before = strlen("_D1a1fF");
    name[0] = 0;
    add(name, "_D1a1fFHii");
    for (size_t i = 0; i < depth; i++) {
        size_t here = strlen(name);
        add(name, "H");
        add_d_reference(name, before);
        add_d_reference(name, before);
        before = here;
    }
    add(name, "Zv");
}

static void a_hostile_name_costs_no_more_than_its_limit(void **state)
{
    (void)state;
    static void (*const make[])(char *, size_t) = { hostile_cpp, hostile_rust,
                                                    hostile_d };
    for (size_t i = 0; i < sizeof(make) / sizeof(make[0]); i++) {
        char name[NAME_ROOM];
        make[i](name, 3); /* well-formed: so is the deep one */
        char *plain = trail_demangle(name);
        assert_non_null(plain);
        free(plain);
        make[i](name, 60); /* 2^60 times as long: would not end */
        assert_null(trail_demangle(name));
    }
}

/* ---- trimming ----------------------------------------------------------- */

static void panic_code_is_known_by_name(void **state)
{
    (void)state;
    static const char *const names[] = {
        "abort",
        "raise",
        "__pthread_kill_implementation",
        "__assert_fail",
        "__assert_fail_base",
        "__cxa_throw",
        "_Unwind_RaiseException",
        "std::__throw_out_of_range_fmt(char const*, ...)",
        "std::terminate()",
        "__stack_chk_fail",
        "core::panicking::panic_fmt",
        "core::panicking::panic_bounds_check",
        "std::panicking::begin_panic_handler",
        "rust_begin_unwind",
        "rust_panic",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_non_null(trail_trim_top_rule(names[i], false));
        assert_string_equal(trail_trim_top_rule(names[i], false), "panic");
    }
}

static void operators_are_trimmed_only_below_a_panic(void **state)
{
    (void)state;
    static const char *const names[] = {
        "std::vector<int, std::allocator<int> >::at(unsigned long)",
        "std::vector<int, std::allocator<int> >::_M_range_check(unsigned long) const",
        "std::vector<int, std::allocator<int> >::operator[](unsigned long)",
        "std::optional<int>::value() &",
        "<usize as core::slice::index::SliceIndex<[T]>>::index",
        "core::slice::index::<impl core::ops::index::Index<I> for [T]>::index",
        "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
        "core::option::Option<T>::unwrap",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_null(trail_trim_top_rule(names[i], false));
        assert_non_null(trail_trim_top_rule(names[i], true));
        assert_string_equal(trail_trim_top_rule(names[i], true), "operator");
    }
}

static void the_programs_own_names_are_never_trimmed(void **state)
{
    (void)state;
    static const char *const names[] = {
        "main",         "abort_order(int)", "Orders::at(int)",         "my::index(int)",
        "raise_salary", "orders::unwrap",   "Orders::operator[](int)", "",
        "killer",       "demo::core_index", "std_vector_at",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_null(trail_trim_top_rule(names[i], false));
        assert_null(trail_trim_top_rule(names[i], true));
    }
}

/* ---- small tools -------------------------------------------------------- */

static void globs_match_whole_texts(void **state)
{
    (void)state;
    static const struct {
        const char *glob, *text;
        bool matches;
    } rows[] = {
        { "", "", true },
        { "", "a", false },
        { "*", "", true },
        { "*", "/a/b", true },
        { "a", "a", true },
        { "a", "ab", false },
        { "?", "a", true },
        { "?", "", false },
        { "*.so", "/l/x.so", true },
        { "*.so", "x.so.1", false },
        { "*.so*", "x.so.1", true },
        { "/opt/*/lib?.so", "/opt/a/b/libc.so", true },
        { "*aab", "aaaaab", true },
        { "a*b*c", "axxbyyc", true },
        { "a*b*c", "axxcyyb", false },
        { "**", "x", true },
        { "[a]", "a", false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(trail_glob(rows[i].glob, rows[i].text), rows[i].matches);
}

static void a_hostile_glob_takes_no_time(void **state)
{
    (void)state;
    static char text[4096];
    memset(text, 'a', sizeof(text) - 1);
    assert_false(trail_glob("*a*a*a*a*a*a*a*a*a*a*a*a*b", text));
}

static void an_arena_gives_zeroed_aligned_memory_of_any_size(void **state)
{
    (void)state;
    struct trail_arena arena = { 0 };
    static const size_t sizes[] = { 0, 1, 15, 16, 17, 4096, 16384, 16385, 100000 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint8_t *bytes = trail_arena_take(&arena, sizes[i]);
        assert_non_null(bytes);
        assert_int_equal((uintptr_t)bytes % _Alignof(max_align_t), 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_int_equal(bytes[k], 0);
        memset(bytes, 0xff, sizes[i]);
    }
    assert_string_equal(trail_arena_text(&arena, (struct trail_text){ "abc", 2 }),
                        "ab");
    assert_string_equal(trail_arena_text(&arena, (struct trail_text){ NULL, 0 }), "");
    assert_false(arena.failed);
    assert_null(trail_arena_take(&arena, SIZE_MAX));
    assert_true(arena.failed); /* and stays so */
    assert_non_null(trail_arena_take(&arena, 1));
    assert_true(arena.failed);
    trail_arena_deinit(&arena);
    assert_false(arena.failed);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_are_written_as_their_language_does),
    cmocka_unit_test(names_that_are_not_mangled_are_left_alone),
    cmocka_unit_test(a_name_that_is_too_long_is_left_alone),
    cmocka_unit_test(a_hostile_name_costs_no_more_than_its_limit),
    cmocka_unit_test(panic_code_is_known_by_name),
    cmocka_unit_test(operators_are_trimmed_only_below_a_panic),
    cmocka_unit_test(the_programs_own_names_are_never_trimmed),
    cmocka_unit_test(globs_match_whole_texts),
    cmocka_unit_test(a_hostile_glob_takes_no_time),
    cmocka_unit_test(an_arena_gives_zeroed_aligned_memory_of_any_size),
};
TRAIL_TEST_MAIN(tests)
