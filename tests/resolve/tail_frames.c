/* tail_frames.c -- stacks from which functions are missing that ended in a tail call:
 * when they are put back, when there is a mark, and when nothing is said. */
#include <stdlib.h>

#include "core/report/report.h"
#include "fake.h"

/* HandleRequest calls Validate, which ends in a call of ComputeHash. */
static const struct fake_row rows[] = {
    { 0x200, "ComputeHash", "t.c", 4, 0 },
    { 0x203, "ComputeHash", "t.c", 5, 0 },
    { 0x208, "ComputeHash", "t.c", 6, 0 },
    { 0x300, "Validate", "t.c", 8, 0 },
    { 0x308, "Validate", "t.c", 9, 0 },
    { 0x407, "HandleRequest", "t.c", 12, 0 },
    { 0x507, "main", "t.c", 20, 0 },
    { 0x600, "Other", "t.c", 30, 0 },
    { 0x608, "Other", "t.c", 31, 0 },
    { 0x700, "sig", "t.c", 40, 0 },
    { 0x710, "nearest", NULL, 0, TRAIL_FOUND_FROM_SYMTAB | TRAIL_FOUND_UNSIZED },
    { 0x717, "table", NULL, 0, TRAIL_FOUND_FROM_SYMTAB },
    { 0 }
};
#define CALL_OF_VALIDATE                                                               \
    {                                                                                  \
        0x408, 0x408, 0x300, NULL, 0                                                   \
    }
#define TAIL_OF_VALIDATE                                                               \
    {                                                                                  \
        0x300, 0x309, 0x200, NULL, 1                                                   \
    }
#define CALL_OF_REQUEST                                                                \
    {                                                                                  \
        0x508, 0x508, 0x400, NULL, 0                                                   \
    }
static const struct fake_call calls[] = {
    CALL_OF_VALIDATE, TAIL_OF_VALIDATE, CALL_OF_REQUEST, { 0 }
};
static const char pcs[] = "\"0x1203\",\"0x1408\",\"0x1508\"";

static const char put_back[] = "  0: ComputeHash at t.c:5\n"
                               "     Validate at t.c:9 (tail call, reconstructed)\n"
                               "  1: HandleRequest at t.c:12\n"
                               "  2: main at t.c:20\n";
static const char marked[] = "  0: ComputeHash at t.c:5\n"
                             "     \xe2\x80\xa6 (tail calls that left no frame)\n"
                             "  1: HandleRequest at t.c:12\n"
                             "  2: main at t.c:20\n";
static const char untouched[] = "  0: ComputeHash at t.c:5\n"
                                "  1: HandleRequest at t.c:12\n"
                                "  2: main at t.c:20\n";

struct stack {
    const char *pcs, *kinds, *trust;
    bool shorten;        /* leave out what a short print does */
    const char *own;     /* JSON of the thread's own code; NULL: none */
    const char *module;  /* file of the first; NULL: this program, of which no code lies
                           where the calls do */
    unsigned more_times; /* that it is resolved, to the same */
};

/* The trace as text, all its frames; modules have bias 0x1000, 0x8000. */
static const char *shown(struct fake *fake, const struct stack *stack)
{
    static char shown[4096];
    char text[2048];
    struct trail_error err = { "" };
    const struct trail_policy policy = { NULL, NULL };
    struct trail_link link =
        fake->plugin.symbolizer
            ? (struct trail_link){ .plugin = &fake->plugin, .state = fake }
            : fake_link(fake, "fake");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    snprintf(text, sizeof(text),
             "{\"backtrail\":1,\"epoch\":1,\"threads\":[{\"tid\":1,\"pcs\":[%s],"
             "\"kinds\":\"%s\",\"trust\":\"%s\",\"own\":[%s],\"end\":\"base\"}],"
             "\"modules\":["
             "{\"path\":\"%s\",\"format\":\"elf\",\"bias\":\"0x1000\","
             "\"ranges\":[[\"0x1000\",\"0x500000\"]]},"
             "{\"path\":\"/proc/self/./exe\",\"format\":\"elf\",\"bias\":\"0x800000\","
             "\"ranges\":[[\"0x800000\",\"0x900000\"]]}]}",
             stack->pcs, stack->kinds ? stack->kinds : "ir",
             stack->trust ? stack->trust : "xc", stack->own ? stack->own : "",
             stack->module ? stack->module : "/proc/self/exe");
    assert_ok_err(trail_trace_read(text, strlen(text), &trace, &err), err);
    for (unsigned time = 0; time <= stack->more_times; time++) {
        assert_ok_err(trail_resolve_trace(resolver, trace, &policy, 0, &resolved, &err),
                      err);
        char *frames =
            trail_frames_text(&resolved->threads[0], stack->shorten ? 0 : TRAIL_FULL);
        if (time)
            assert_string_equal(frames, shown);
        snprintf(shown, sizeof(shown), "%s", frames);
        free(frames);
        trail_resolved_destroy(resolved);
    }
    trail_trace_destroy(trace);
    trail_resolver_destroy(resolver);
    return shown;
}

static const char *shown_with(const struct fake_call *known)
{
    struct fake fake = { .rows = rows, .calls = known };
    return shown(&fake, &(struct stack){ .pcs = pcs });
}

static void a_function_that_was_tail_called_away_is_put_back(void **state)
{
    (void)state;
    assert_string_equal(shown_with(calls), put_back);
}

static void all_functions_of_a_chain_are_put_back_in_order(void **state)
{
    (void)state;
    static const struct fake_call chain[] = { CALL_OF_VALIDATE,
                                              { 0x300, 0x309, 0x600, NULL, 1 },
                                              { 0x600, 0x609, 0x200, NULL, 1 },
                                              { 0 } };
    assert_string_equal(shown_with(chain),
                        "  0: ComputeHash at t.c:5\n"
                        "     Other at t.c:31 (tail call, reconstructed)\n"
                        "     Validate at t.c:9 (tail call, reconstructed)\n"
                        "  1: HandleRequest at t.c:12\n"
                        "  2: main at t.c:20\n");
}

static void what_is_not_certain_is_only_marked(void **state)
{
    (void)state;
    static const struct fake_call two_ways[] = { CALL_OF_VALIDATE,
                                                 TAIL_OF_VALIDATE,
                                                 { 0x300, 0x305, 0x600, NULL, 1 },
                                                 { 0x600, 0x609, 0x200, NULL, 1 },
                                                 { 0 } };
    static const struct fake_call no_way[] = { CALL_OF_VALIDATE, { 0 } };
    static const struct fake_call open[] = {
        CALL_OF_VALIDATE, TAIL_OF_VALIDATE, { 0x300, 0x305, 0, NULL, 1 }, { 0 }
    };
    static const struct fake_call nameless[] = { CALL_OF_VALIDATE,
                                                 { 0x300, 0x309, 0x900, NULL, 1 },
                                                 { 0x900, 0x909, 0x200, NULL, 1 },
                                                 { 0 } };
    /* Another function of the name of what runs. */
    static const struct fake_call namesake[] = { CALL_OF_VALIDATE,
                                                 TAIL_OF_VALIDATE,
                                                 { 0x300, 0x305, 0x800, "ComputeHash",
                                                   1 },
                                                 { 0 } };
    assert_string_equal(shown_with(namesake), marked);
    assert_string_equal(shown_with(two_ways), marked);
    assert_string_equal(shown_with(no_way), marked);
    assert_string_equal(shown_with(open), marked);
    assert_string_equal(shown_with(nameless), marked);
}

static void a_line_of_several_tail_calls_is_not_told(void **state)
{
    (void)state;
    static const struct fake_call twice[] = {
        CALL_OF_VALIDATE, TAIL_OF_VALIDATE, { 0x300, 0x30f, 0x200, NULL, 1 }, { 0 }
    };
    assert_non_null(
        strstr(shown_with(twice), "     Validate at t.c (tail call, reconstructed)\n"));
}

static void a_frame_that_was_called_directly_has_no_gap(void **state)
{
    (void)state;
    static const struct fake_call direct[] = { { 0x408, 0x408, 0x200, NULL, 0 },
                                               { 0 } };
    static const struct fake_call by_name[] = { { 0x408, 0x408, 0, "ComputeHash", 0 },
                                                { 0 } };
    /* Two calls of which one is that: it may have been either. */
    static const struct fake_call either[] = {
        CALL_OF_VALIDATE, TAIL_OF_VALIDATE, { 0x408, 0x408, 0x200, NULL, 0 }, { 0 }
    };
    assert_string_equal(shown_with(direct), untouched);
    assert_string_equal(shown_with(by_name), untouched);
    assert_string_equal(shown_with(either), untouched);
}

static void nothing_is_said_of_a_call_of_which_nothing_is_known(void **state)
{
    (void)state;
    static const struct fake_call unknown[] = { { 0x408, 0x408, 0, NULL, 0 }, { 0 } };
    static const struct fake_call elsewhere[] = { { 0x408, 0x408, 0, "far_away", 0 },
                                                  { 0 } };
    static const struct fake_call unnamed[] = { { 0x408, 0x408, 0x900, NULL, 0 },
                                                { 0 } };
    static const struct fake_call tail[] = { { 0x408, 0x408, 0x300, NULL, 1 },
                                             { 0x300, 0x309, 0x200, NULL, 1 },
                                             { 0 } };
    assert_string_equal(shown_with(unknown), untouched);
    assert_string_equal(shown_with(elsewhere), untouched);
    assert_string_equal(shown_with(unnamed), untouched);
    assert_string_equal(shown_with(tail), untouched);
    assert_string_equal(shown_with(NULL), untouched);
}

static void a_symbolizer_that_knows_no_calls_is_not_asked(void **state)
{
    (void)state;
    struct fake fake = { .rows = rows, .calls = calls };
    fake_link(&fake, "fake");
    struct trail_symbolizer without = *fake.plugin.symbolizer;
    without.calls = NULL;
    fake.plugin.symbolizer = &without;
    assert_string_equal(shown(&fake, &(struct stack){ .pcs = pcs }), untouched);
    assert_int_equal(fake.calls_asked, 0);
}

/* Other names of what runs, by any of which it may have been called. */
static void aliases_and_parts_of_a_function_are_that_function(void **state)
{
    (void)state;
    static const struct {
        struct fake_names names;
        const char *called;
    } same[] = {
        { { "ComputeHash", "_Z4hashi", NULL, NULL }, "_Z4hashi" },
        { { "ComputeHash", "_Z4hashi.constprop.0", NULL, NULL }, "_Z4hashi" },
        { { "ComputeHash", NULL, "hash.cold", NULL }, "hash" },
        { { "ComputeHash", NULL, "hash@plt", NULL }, "hash" },
        { { "ComputeHash", NULL, NULL, "twin\nhash" }, "hash" },
        { { "ComputeHash", NULL, NULL, NULL }, "ComputeHash.isra.0" },
        { { "ComputeHash", NULL, "hash@@V2", NULL }, "hash" },
    };
    for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
        const struct fake_names names[] = { same[i].names, { 0 } };
        const struct fake_call known[] = { { 0x408, 0x408, 0x300, same[i].called, 0 },
                                           TAIL_OF_VALIDATE,
                                           { 0 } };
        struct fake fake = { .rows = rows, .calls = known, .names = names };
        assert_null(strstr(shown(&fake, &(struct stack){ .pcs = pcs }), "tail call"));
    }
}

static void a_cold_part_is_reached_by_calls_of_its_function(void **state)
{
    (void)state;
    /* What runs is found in a part that starts elsewhere than its function. */
    static const struct fake_row cold[] = { { 0x203, "hash", "t.c", 5, 0 },
                                            { 0x300, "Validate", "t.c", 8, 0 },
                                            { 0x308, "Validate", "t.c", 9, 0 },
                                            { 0x407, "HandleRequest", "t.c", 12, 0 },
                                            { 0 } };
    const struct fake_call known[] = { CALL_OF_VALIDATE,
                                       { 0x300, 0x309, 0x800, "hash", 1 },
                                       { 0 } };
    const struct fake_names part[] = { { "hash", NULL, "hash.cold", NULL }, { 0 } };
    const struct stack stack = { .pcs = "\"0x1203\",\"0x1408\"" };
    struct fake fake = { .rows = cold, .calls = known, .names = part };
    assert_non_null(strstr(shown(&fake, &stack), "Validate at t.c:9 (tail call"));
    /* Otherwise it is another function of that name. */
    struct fake other = { .rows = cold, .calls = known };
    assert_non_null(strstr(shown(&other, &stack), "(tail calls that left no frame)"));
}

static void only_a_call_before_a_return_address_tells(void **state)
{
    (void)state;
    struct fake fake = { .rows = rows, .calls = calls };
    static const struct stack stacks[] = {
        { .pcs = pcs, .kinds = "itr" }, /* a signal struck */
        { .pcs = pcs, .kinds = "ttr" }, /* what is inside is the kernel's return code */
        { .pcs = pcs, .kinds = "iii" }, /* interrupted */
        { .pcs = pcs, .kinds = "icr" }, /* nobody called */
        { .pcs = pcs, .trust = "xf" },  /* a frame may be left out by frame pointers */
        { .pcs = pcs, .trust = "xs" },  /* or be none, found by scanning */
    };
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++) {
        const char *text = shown(&fake, &stacks[i]);
        assert_null(strstr(text, "tail call"));
    }
    /* One that is known by the symbol before it alone is not known. */
    assert_null(strstr(shown(&fake, &(struct stack){ .pcs = "\"0x1710\",\"0x1408\"" }),
                       "tail call"));
    /* Nor does a symbol table tell of calls. */
    fake.calls_asked = 0;
    shown(&fake, &(struct stack){ .pcs = "\"0x1203\",\"0x1718\"" });
    assert_int_equal(fake.calls_asked, 0);
}

static void what_was_told_of_calls_is_not_asked_again(void **state)
{
    (void)state;
    struct fake fake = { .rows = rows, .calls = calls };
    assert_string_equal(shown(&fake, &(struct stack){ .pcs = pcs }), put_back);
    size_t once = fake.calls_asked;
    assert_true(once > 1);
    fake.calls_asked = 0;
    shown(&fake, &(struct stack){ .pcs = pcs, .more_times = 2 });
    assert_int_equal(fake.calls_asked, once);
}

static void each_round_of_a_recursion_has_its_own(void **state)
{
    (void)state;
    static const struct fake_call round[] = {
        CALL_OF_VALIDATE, TAIL_OF_VALIDATE, { 0x300, 0x305, 0x400, NULL, 1 }, { 0 }
    };
    struct fake fake = { .rows = rows, .calls = round };
    const char *text =
        shown(&fake,
              &(struct stack){ .pcs = "\"0x1203\",\"0x1408\",\"0x1209\",\"0x1408\"" });
    assert_string_equal(text, "  0: ComputeHash at t.c:5\n"
                              "     Validate at t.c:9 (tail call, reconstructed)\n"
                              "  1: HandleRequest at t.c:12\n"
                              "  2: ComputeHash at t.c:6\n"
                              "     Validate at t.c:9 (tail call, reconstructed)\n"
                              "  3: HandleRequest at t.c:12\n");
}

/* Inlined calls are no frames of their own: the function that holds them was called. */
static void what_runs_is_the_function_around_inlined_calls(void **state)
{
    (void)state;
    static const struct fake_row inlined[] = {
        { 0x203, "rotate", "t.h", 2, TRAIL_FOUND_INLINED },
        { 0x203, "ComputeHash", "t.c", 5, 0 },
        { 0x200, "ComputeHash", "t.c", 4, 0 },
        { 0x300, "Validate", "t.c", 8, 0 },
        { 0x308, "check", "t.h", 3, TRAIL_FOUND_INLINED },
        { 0x308, "Validate", "t.c", 9, 0 },
        { 0x407, "loop", "t.h", 7, TRAIL_FOUND_INLINED },
        { 0x407, "HandleRequest", "t.c", 12, 0 },
        { 0 }
    };
    struct fake fake = { .rows = inlined, .calls = calls };
    assert_string_equal(shown(&fake, &(struct stack){ .pcs = "\"0x1203\",\"0x1408\"" }),
                        "  0: rotate at t.h:2 (inlined)\n"
                        "  1: ComputeHash at t.c:5\n"
                        "     Validate at t.c:9 (tail call, reconstructed)\n"
                        "  2: loop at t.h:7 (inlined)\n"
                        "  3: HandleRequest at t.c:12\n");
}

static void what_was_put_back_is_hidden_as_the_frames_around_it_are(void **state)
{
    (void)state;
    struct fake fake = { .rows = rows, .calls = calls };
    /* ComputeHash is the capture's own code: so is Validate, or not. */
    assert_string_equal(shown(&fake,
                              &(struct stack){ .pcs = pcs,
                                               .shorten = true,
                                               .own = "[\"0x1200\",\"0x1400\"]" }),
                        "  0: HandleRequest at t.c:12\n"
                        "  1: main at t.c:20\n");
    assert_string_equal(shown(&fake,
                              &(struct stack){ .pcs = pcs,
                                               .shorten = true,
                                               .own = "[\"0x1200\",\"0x1300\"]" }),
                        "     Validate at t.c:9 (tail call, reconstructed)\n"
                        "  0: HandleRequest at t.c:12\n"
                        "  1: main at t.c:20\n");
    /* Below main nothing is the program's. */
    static const struct fake_row below[] = { { 0x203, "main", "t.c", 5, 0 },
                                             { 0x300, "Validate", "t.c", 8, 0 },
                                             { 0x308, "Validate", "t.c", 9, 0 },
                                             { 0x407, "_start", "s.c", 12, 0 },
                                             { 0 } };
    struct fake started = { .rows = below, .calls = calls };
    assert_string_equal(shown(&started, &(struct stack){ .pcs = "\"0x1203\",\"0x1408\"",
                                                         .shorten = true }),
                        "  0: main at t.c:5\n");
    static const struct fake_row deeper[] = {
        { 0x600, "main", "t.c", 5, 0 },
        { 0x203, "__libc_start_call_main", "s.c", 3, 0 },
        { 0x300, "Validate", "t.c", 8, 0 },
        { 0x308, "Validate", "t.c", 9, 0 },
        { 0x407, "_start", "s.c", 12, 0 },
        { 0 }
    };
    struct fake outside = { .rows = deeper, .calls = calls };
    const struct stack stack = { .pcs = "\"0x1600\",\"0x1204\",\"0x1408\"",
                                 .shorten = true };
    assert_string_equal(shown(&outside, &stack), "  0: main at t.c:5\n");
}

static const char fixture[] = TEST_SOURCE_DIR "/tests/fixtures/elf/x64-gcc-dw5-O2";

/* Names that only the symbol table places: util_twice is one function, static_helper
 * are two. Addresses are those of real calls. */
static void a_function_known_by_name_is_found_in_the_symbol_table(void **state)
{
    (void)state;
    static const struct fake_row named[] = { { 0x4010e4, "util_mix", "u.c", 3, 0 },
                                             { 0x401100, "util_twice", "u.c", 7, 0 },
                                             { 0x40111f, "util_twice", "u.c", 8, 0 },
                                             { 0x4010b4, "main", "m.c", 9, 0 },
                                             { 0x401000, "static_helper", "m.c", 2, 0 },
                                             { 0 } };
    const struct stack stack = { .pcs = "\"0x4020e4\",\"0x4020b5\"",
                                 .module = fixture };
    const struct fake_call one[] = { { 0x4010b5, 0x4010b5, 0, "util_twice", 0 },
                                     { 0x401100, 0x401120, 0, "util_mix", 1 },
                                     { 0 } };
    const struct fake_call two[] = { { 0x4010b5, 0x4010b5, 0, "static_helper", 0 },
                                     { 0 } };
    struct fake fake = { .rows = named, .calls = one };
    assert_string_equal(shown(&fake, &stack),
                        "  0: util_mix at u.c:3\n"
                        "     util_twice at u.c:8 (tail call, reconstructed)\n"
                        "  1: main at m.c:9\n");
    struct fake several = { .rows = named, .calls = two };
    assert_null(strstr(shown(&several, &stack), "tail call"));
}

static void a_call_into_another_module_is_looked_for_there(void **state)
{
    (void)state;
    /* The caller lies in this program, and what runs in the file with symbols. */
    static const struct fake_row named[] = { { 0x4010e4, "util_mix", "u.c", 3, 0 },
                                             { 0x401100, "util_twice", "u.c", 7, 0 },
                                             { 0x507, "main", "m.c", 9, 0 },
                                             { 0 } };
    const struct stack stack = { .pcs = "\"0x4020e4\",\"0x800508\"",
                                 .module = fixture };
    const struct fake_call known[] = { { 0x508, 0x508, 0, "util_twice", 0 }, { 0 } };
    const struct fake_call imported[] = { { 0x508, 0x508, 0, "util_mix", 0 }, { 0 } };
    struct fake fake = { .rows = named, .calls = known };
    assert_string_equal(shown(&fake, &stack),
                        "  0: util_mix at u.c:3\n"
                        "     \xe2\x80\xa6 (tail calls that left no frame)\n"
                        "  1: main at m.c:9\n");
    struct fake direct = { .rows = named, .calls = imported };
    assert_null(strstr(shown(&direct, &stack), "tail call"));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_function_that_was_tail_called_away_is_put_back),
    cmocka_unit_test(all_functions_of_a_chain_are_put_back_in_order),
    cmocka_unit_test(what_is_not_certain_is_only_marked),
    cmocka_unit_test(a_line_of_several_tail_calls_is_not_told),
    cmocka_unit_test(a_frame_that_was_called_directly_has_no_gap),
    cmocka_unit_test(nothing_is_said_of_a_call_of_which_nothing_is_known),
    cmocka_unit_test(a_symbolizer_that_knows_no_calls_is_not_asked),
    cmocka_unit_test(aliases_and_parts_of_a_function_are_that_function),
    cmocka_unit_test(a_cold_part_is_reached_by_calls_of_its_function),
    cmocka_unit_test(only_a_call_before_a_return_address_tells),
    cmocka_unit_test(what_was_told_of_calls_is_not_asked_again),
    cmocka_unit_test(each_round_of_a_recursion_has_its_own),
    cmocka_unit_test(what_runs_is_the_function_around_inlined_calls),
    cmocka_unit_test(what_was_put_back_is_hidden_as_the_frames_around_it_are),
    cmocka_unit_test(a_function_known_by_name_is_found_in_the_symbol_table),
    cmocka_unit_test(a_call_into_another_module_is_looked_for_there),
};
TRAIL_TEST_MAIN(tests)
