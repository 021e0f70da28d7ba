/* chain.c -- several symbolizers asked about one module: their order, the better one,
 * and what is kept open. */
#include "fake.h"

#define PROGRAM "/proc/self/exe"

/* One lookup, with its answers kept until asked() is done with. */
struct asked {
    struct trail_arena arena;
    struct trail_answer answers[8];
    struct trail_gap gap;
};

static void ask(struct asked *asked, struct trail_resolver *resolver, const char *path,
                const uint64_t *addresses, size_t count, unsigned flags)
{
    struct trail_target target = fake_target(path);
    *asked = (struct asked){ .gap = { .reason = NULL } };
    assert_ok(trail_resolver_lookup(resolver, &target, addresses, count, flags,
                                    &asked->arena, asked->answers, &asked->gap));
}

static const struct fake_row lines_a[] = { { 0x10, "a10", "a.c", 1, 0 }, { 0 } };
static const struct fake_row lines_b[] = { { 0x10, "b10", "b.c", 2, 0 },
                                           { 0x20, "b20", "b.c", 3, 0 },
                                           { 0 } };
static const uint64_t both[] = { 0x10, 0x20 };

static void the_first_that_knows_answers_and_others_get_what_is_left(void **state)
{
    (void)state;
    struct asked asked;
    struct fake a = { .rows = lines_a }, b = { .rows = lines_b };
    struct trail_link links[] = { fake_link(&a, "a"), fake_link(&b, "b") };
    struct trail_resolver *resolver = fake_resolver(links, 2, 4);

    ask(&asked, resolver, PROGRAM, both, 2, 0);
    assert_string_equal(asked.answers[0].plugin->name, "a");
    assert_string_equal(asked.answers[0].frames[0].function, "a10");
    assert_string_equal(asked.answers[1].plugin->name, "b");
    assert_int_equal(a.asked_count, 2);
    assert_int_equal(b.asked_count, 1); /* 0x10 was done with */
    assert_int_equal(b.asked[0], 0x20);
    assert_null(asked.gap.reason);
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static void the_order_of_the_config_alone_ranks(void **state)
{
    (void)state;
    struct asked asked;
    struct fake a = { .rows = lines_a }, b = { .rows = lines_b };
    struct trail_link links[] = { fake_link(&b, "b"), fake_link(&a, "a") };
    struct trail_resolver *resolver = fake_resolver(links, 2, 4);

    ask(&asked, resolver, PROGRAM, both, 2, 0);
    assert_string_equal(asked.answers[0].frames[0].function, "b10");
    assert_int_equal(a.opens, 0); /* nothing was left to ask */
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static void not_mine_and_other_formats_fall_through(void **state)
{
    (void)state;
    struct asked asked;
    struct fake not_mine = { .rows = lines_a,
                             .open_status = TRAIL_NOT_FOUND,
                             .open_text = "not mine" };
    struct fake elf = { .rows = lines_a, .format = TRAIL_FORMAT_ELF };
    struct fake b = { .rows = lines_b };
    struct trail_link links[] = { fake_link(&not_mine, "not-mine"),
                                  fake_link(&elf, "elf"), fake_link(&b, "b") };
    struct trail_resolver *resolver = fake_resolver(links, 3, 4);
    struct trail_target target = fake_target(PROGRAM);

    target.module.format = TRAIL_FORMAT_PE;
    asked = (struct asked){ .gap = { .reason = NULL } };
    assert_ok(trail_resolver_lookup(resolver, &target, both, 2, 0, &asked.arena,
                                    asked.answers, &asked.gap));
    assert_int_equal(not_mine.opens, 1);
    assert_int_equal(elf.opens, 0);
    assert_string_equal(asked.answers[0].plugin->name, "b");
    assert_null(asked.gap.reason);
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static void a_symbol_table_answer_is_asked_further_and_the_better_wins(void **state)
{
    (void)state;
    struct asked asked;
    const struct fake_row symbols[] = {
        { 0x10, "s10", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
        { 0x20, "s20", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
        { 0x30, "s30", NULL, 0, TRAIL_FOUND_FROM_SYMTAB | TRAIL_FOUND_UNSIZED },
        { 0 }
    };
    const struct fake_row others[] = {
        { 0x10, "o10", "o.c", 5, 0 },
        { 0x20, "o20", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
        { 0x30, "o30", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
        { 0 }
    };
    const uint64_t three[] = { 0x10, 0x20, 0x30 };
    struct fake a = { .rows = symbols }, b = { .rows = others };
    struct trail_link links[] = { fake_link(&a, "a"), fake_link(&b, "b") };
    struct trail_resolver *resolver = fake_resolver(links, 2, 4);

    ask(&asked, resolver, PROGRAM, three, 3, 0);
    assert_string_equal(asked.answers[0].frames[0].function, "o10"); /* has a line */
    assert_string_equal(asked.answers[1].frames[0].function, "s20"); /* a tie: first */
    assert_string_equal(asked.answers[2].frames[0].function, "o30"); /* has a size */
    assert_int_equal(asked.answers[0].rank, 3);
    assert_int_equal(asked.answers[1].rank, 2);
    assert_string_equal(asked.gap.reason, "no_line_info");
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static void a_chain_is_answered_whole_by_one(void **state)
{
    (void)state;
    struct asked asked;
    const struct fake_row chain[] = { { 0x10, "in", "a.c", 1, TRAIL_FOUND_INLINED },
                                      { 0x10, "mid", "a.c", 2, TRAIL_FOUND_INLINED },
                                      { 0x10, "out", "a.c", 3, 0 },
                                      { 0 } };
    const struct fake_row weak[] = { { 0x10, "w1", NULL, 0,
                                       TRAIL_FOUND_FROM_SYMTAB | TRAIL_FOUND_INLINED },
                                     { 0x10, "w2", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
                                     { 0 } };
    static const char *const want[] = { "in", "mid", "out" };
    struct fake a = { .rows = weak }, b = { .rows = chain };
    struct trail_link links[] = { fake_link(&a, "a"), fake_link(&b, "b") };
    struct trail_resolver *resolver = fake_resolver(links, 2, 4);

    ask(&asked, resolver, PROGRAM, both, 1, 0);
    assert_int_equal(asked.answers[0].frame_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(asked.answers[0].frames[i].function, want[i]);
        assert_int_equal(asked.answers[0].frames[i].line, i + 1);
    }
    assert_string_equal(asked.answers[0].plugin->name, "b");
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static void an_index_that_was_not_asked_about_is_rejected(void **state)
{
    (void)state;
    struct asked asked;
    struct fake a = { .rows = lines_a, .index_offset = 2 }, b = { .rows = lines_b };
    struct trail_link links[] = { fake_link(&a, "a"), fake_link(&b, "b") };
    struct trail_resolver *resolver = fake_resolver(links, 2, 4);

    ask(&asked, resolver, PROGRAM, both, 2, 0);
    assert_string_equal(asked.answers[0].frames[0].function, "b10");
    assert_string_equal(asked.answers[1].frames[0].function, "b20");
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);

    resolver = fake_resolver(links, 1, 4);
    ask(&asked, resolver, PROGRAM, both, 2, 0);
    assert_int_equal(asked.answers[0].frame_count, 0);
    assert_string_equal(asked.gap.reason, "unreadable");
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

/* ---- what is kept open -------------------------------------------------- */

static void a_second_question_opens_nothing(void **state)
{
    (void)state;
    struct asked asked;
    struct fake a = { .rows = lines_a };
    struct trail_link link = fake_link(&a, "a");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);

    for (unsigned i = 0; i < 3; i++) {
        ask(&asked, resolver, PROGRAM, both, 1, 0);
        assert_string_equal(asked.answers[0].frames[0].function, "a10");
        trail_arena_deinit(&asked.arena);
    }
    assert_int_equal(a.opens, 1);
    assert_int_equal(a.closes, 0);
    assert_int_equal(trail_resolver_open_count(resolver), 1);
    trail_resolver_destroy(resolver);
    assert_int_equal(a.closes, 1);
}

static void without_the_cache_each_question_opens_and_nothing_is_kept(void **state)
{
    (void)state;
    struct asked asked;
    struct fake a = { .rows = lines_a };
    struct trail_link link = fake_link(&a, "a");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);

    for (unsigned i = 1; i <= 3; i++) {
        ask(&asked, resolver, PROGRAM, both, 1, TRAIL_LOOKUP_NO_CACHE);
        trail_arena_deinit(&asked.arena);
        assert_int_equal(a.opens, i);
        assert_int_equal(a.closes, i);
        assert_int_equal(trail_resolver_open_count(resolver), 0);
    }
    trail_resolver_destroy(resolver);
    assert_int_equal(a.closes, 3);
}

static void the_module_used_longest_ago_is_closed_at_the_limit(void **state)
{
    (void)state;
    static const char *const paths[] = { "/proc/self/exe", "/proc/self/../self/exe",
                                         "/proc/self/./exe" };
    static const struct {
        size_t path;
        unsigned opens;
    } steps[] = {
        { 0, 1 }, { 1, 2 }, { 0, 2 }, { 2, 3 }, { 0, 3 }, { 1, 4 }, { 0, 4 }
    };
    struct asked asked;
    struct fake a = { .rows = lines_a };
    struct trail_link link = fake_link(&a, "a");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 2);

    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        ask(&asked, resolver, paths[steps[i].path], both, 1, 0);
        trail_arena_deinit(&asked.arena);
        assert_int_equal(a.opens, steps[i].opens);
        assert_true(trail_resolver_open_count(resolver) <= 2);
    }
    trail_resolver_destroy(resolver);
    assert_int_equal(a.closes, a.opens);
}

/* ---- gaps --------------------------------------------------------------- */

static void each_kind_of_gap_has_its_reason_and_a_remedy(void **state)
{
    (void)state;
    const struct fake_row symbols[] = { { 0x10, "s", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
                                        { 0 } };
    const struct {
        struct fake fake;
        size_t links;
        const char *path, *reason, *detail;
    } rows[] = {
        { { 0 }, 0, PROGRAM, "no_symbolizer", "" },
        { { 0 }, 1, "/nonexistent/x", "not_found", "/nonexistent/x" },
        { { 0 }, 1, "", "not_found", "" },
        { { .open_status = TRAIL_BAD_INPUT, .open_text = "torn" },
          1,
          PROGRAM,
          "unreadable",
          "torn" },
        { { .rows = lines_b + 1 }, 1, PROGRAM, "no_symbol", "" },
        { { .rows = symbols }, 1, PROGRAM, "no_line_info", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct fake fake = rows[i].fake;
        struct trail_link link = fake_link(&fake, "a");
        struct trail_resolver *resolver = fake_resolver(&link, rows[i].links, 4);
        struct asked asked;
        ask(&asked, resolver, rows[i].path, both, 1, 0);
        assert_non_null(asked.gap.reason);
        assert_string_equal(asked.gap.reason, rows[i].reason);
        assert_contains(asked.gap.detail, rows[i].detail);
        assert_true(strlen(asked.gap.remedy) > 10);
        trail_arena_deinit(&asked.arena);
        trail_resolver_destroy(resolver);
    }
}

static void names_are_demangled_unless_they_are_wanted_as_they_are(void **state)
{
    (void)state;
    const struct fake_row mangled[] = { { 0x10, "_ZN6Orders5totalEi", "o.cc", 1, 0 },
                                        { 0x20, "plain", "o.cc", 1, 0 },
                                        { 0 } };
    struct asked asked;
    struct fake a = { .rows = mangled };
    struct trail_link link = fake_link(&a, "a");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);

    ask(&asked, resolver, PROGRAM, both, 2, 0);
    assert_string_equal(asked.answers[0].frames[0].function, "Orders::total(int)");
    assert_string_equal(asked.answers[0].frames[0].linkage, "_ZN6Orders5totalEi");
    assert_string_equal(asked.answers[1].frames[0].linkage, "");
    trail_arena_deinit(&asked.arena);
    ask(&asked, resolver, PROGRAM, both, 2, TRAIL_LOOKUP_MANGLED);
    assert_string_equal(asked.answers[0].frames[0].function, "_ZN6Orders5totalEi");
    trail_arena_deinit(&asked.arena);
    trail_resolver_destroy(resolver);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_first_that_knows_answers_and_others_get_what_is_left),
    cmocka_unit_test(the_order_of_the_config_alone_ranks),
    cmocka_unit_test(not_mine_and_other_formats_fall_through),
    cmocka_unit_test(a_symbol_table_answer_is_asked_further_and_the_better_wins),
    cmocka_unit_test(a_chain_is_answered_whole_by_one),
    cmocka_unit_test(an_index_that_was_not_asked_about_is_rejected),
    cmocka_unit_test(a_second_question_opens_nothing),
    cmocka_unit_test(without_the_cache_each_question_opens_and_nothing_is_kept),
    cmocka_unit_test(the_module_used_longest_ago_is_closed_at_the_limit),
    cmocka_unit_test(each_kind_of_gap_has_its_reason_and_a_remedy),
    cmocka_unit_test(names_are_demangled_unless_they_are_wanted_as_they_are),
};
TRAIL_TEST_MAIN(tests)
