/* landing.c -- return addresses that no call is before: what returns to one lands
 * there, and was not called from there. In files of real code. */
#include "core/resolve/resolved.h"
#include "fake.h"

#define ELF TEST_SOURCE_DIR "/tests/fixtures/elf/"

struct stack {
    const char *file, *pcs, *kinds;
};

/* Each frame as a letter: "l" landed in, "-" not. */
static const char *landings(struct fake *fake, const struct stack *stack)
{
    static char marks[16];
    char text[2048];
    struct trail_error err = { "" };
    const struct trail_policy policy = { NULL, NULL };
    struct trail_link link = fake_link(fake, "fake");
    struct trail_resolver *resolver = fake_resolver(&link, 1, 4);
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    size_t count = 0;
    snprintf(text, sizeof(text),
             "{\"backtrail\":1,\"threads\":[{\"tid\":1,\"pcs\":[%s],\"kinds\":\"%s\","
             "\"end\":\"base\"}],\"modules\":[{\"path\":\"%s\",\"format\":\"elf\","
             "\"bias\":\"0x0\",\"ranges\":[[\"0x1000\",\"0x2000000\"]]}]}",
             stack->pcs, stack->kinds, stack->file);
    assert_ok_err(trail_trace_read(text, strlen(text), &trace, &err), err);
    fake->asked_count = 0;
    assert_ok_err(trail_resolve_trace(resolver, trace, &policy, 0, &resolved, &err),
                  err);
    for (size_t i = 0; i < resolved->threads[0].frame_count; i++) {
        const struct trail_frame *frame = &resolved->threads[0].frames[i].frame;
        marks[count++] = frame->landing ? 'l' : '-';
    }
    marks[count] = 0;
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    trail_resolver_destroy(resolver);
    return marks;
}

static void a_return_address_behind_no_call_is_landed_in(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x401042, "main", "m.c", 1, 0 },
                                            { 0x401100, "util_twice", "u.c", 7, 0 },
                                            { 0x4010ff, "padding", "u.c", 6, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    static const struct stack stack = { ELF "x64-gcc-dw5-O2",
                                        "\"0x401043\",\"0x401100\",\"0x401043\"",
                                        "rrr" };
    assert_string_equal(landings(&fake, &stack), "-l-");
    /* That is the place which is named, not the code before it. */
    assert_int_equal(fake.asked_count, 4);
    assert_true(fake.asked[3] == 0x401100);
}

static void on_aarch64_too(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x4001d3, "static_helper", "a.c", 1, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    static const struct stack stack = { ELF "aarch64-gcc-dw5-O2",
                                        "\"0x4001d4\",\"0x4001d8\",\"0x400218\"",
                                        "rrr" };
    assert_string_equal(landings(&fake, &stack), "-l-");
}

static void only_what_was_returned_to_is_landed_in(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x401100, "util_twice", "u.c", 7, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    static const struct stack stack = { ELF "x64-gcc-dw5-O2",
                                        "\"0x401100\",\"0x401100\",\"0x401100\"",
                                        "itc" };
    assert_string_equal(landings(&fake, &stack), "---");
}

static void without_code_nothing_is_said(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x100100f, "f", "u.c", 7, 0 },
                                            { 0x400fff, "g", "u.c", 7, 0 },
                                            { 0x3fff, "h", "u.c", 7, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    /* An architecture whose calls are not known here, the start of the code, data, and
     * a debug file, which has none. */
    static const struct stack stacks[] = {
        { ELF "debuglink/.debug/x64-debuglink.debug", "\"0x4000\"", "r" },
        { ELF "s390x-gcc-dw5-O2", "\"0x1001010\"", "r" },
        { ELF "x64-gcc-dw5-O2", "\"0x401000\"", "r" },
        { ELF "x64-gcc-dw5-O2", "\"0x4000\"", "r" },
    };
    for (size_t i = 0; i < sizeof(stacks) / sizeof(stacks[0]); i++)
        assert_string_equal(landings(&fake, &stacks[i]), "-");
}

static void every_inlined_call_of_the_place_is_marked(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x401100, "in", "u.h", 7,
                                              TRAIL_FOUND_INLINED },
                                            { 0x401100, "util_twice", "u.c", 9, 0 },
                                            { 0x4010ff, "padding", "u.c", 6, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    static const struct stack stack = { ELF "x64-gcc-dw5-O2", "\"0x401100\"", "r" };
    assert_string_equal(landings(&fake, &stack), "ll");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_return_address_behind_no_call_is_landed_in),
    cmocka_unit_test(on_aarch64_too),
    cmocka_unit_test(only_what_was_returned_to_is_landed_in),
    cmocka_unit_test(without_code_nothing_is_said),
    cmocka_unit_test(every_inlined_call_of_the_place_is_marked),
};
TRAIL_TEST_MAIN(tests)
