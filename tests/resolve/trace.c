/* trace.c -- whole traces resolved: which address is asked about, what frames come of
 * it, and what is said of those that nobody can name. */
#include "core/resolve/resolved.h"
#include "fake.h"

/* A trace of one thread in two modules of bias 0x1000 and 0x8000, whose file is this
 * program; `pcs` and `kinds` are JSON. */
struct resolved_trace {
    struct trail_resolver *resolver;
    struct trail_trace *trace;
    struct trail_resolved *resolved;
};

static struct resolved_trace resolve(struct fake *fake, const char *pcs,
                                     const char *kinds)
{
    char text[2048];
    struct resolved_trace ret = { NULL, NULL, NULL };
    struct trail_error err = { "" };
    const struct trail_policy policy = { NULL, NULL };
    struct trail_link link = fake_link(fake, "fake");
    snprintf(text, sizeof(text),
             "{\"backtrail\":1,\"epoch\":5,\"threads\":[{\"tid\":1,\"pcs\":[%s],"
             "\"kinds\":\"%s\",\"end\":\"base\"}],\"modules\":["
             "{\"path\":\"/proc/self/exe\",\"format\":\"elf\",\"bias\":\"0x1000\","
             "\"ranges\":[[\"0x1000\",\"0x2000\"]],\"epochs\":[1,null]},"
             "{\"path\":\"/proc/self/./exe\",\"format\":\"elf\",\"bias\":\"0x8000\","
             "\"ranges\":[[\"0x8000\",\"0x9000\"]],\"epochs\":[1,null]},"
             "{\"path\":\"/gone.so\",\"format\":\"elf\",\"bias\":\"0xa000\","
             "\"ranges\":[[\"0xa000\",\"0xb000\"]],\"epochs\":[1,4]}]}",
             pcs, kinds);
    assert_ok_err(trail_trace_read(text, strlen(text), &ret.trace, &err), err);
    ret.resolver = fake_resolver(&link, 1, 4);
    assert_ok_err(trail_resolve_trace(ret.resolver, ret.trace, &policy, 0,
                                      &ret.resolved, &err),
                  err);
    assert_int_equal(ret.resolved->thread_count, 1);
    return ret;
}

static void release(struct resolved_trace *trace)
{
    trail_resolved_destroy(trace->resolved);
    trail_trace_destroy(trace->trace);
    trail_resolver_destroy(trace->resolver);
}

static const struct trail_frame *frame_at(const struct resolved_trace *trace,
                                          size_t index)
{
    assert_true(index < trace->resolved->threads[0].frame_count);
    return &trace->resolved->threads[0].frames[index].frame;
}

static void a_return_address_is_looked_up_one_lower_and_kept_as_it_is(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x10f, "call", "a.c", 7, 0 },
                                            { 0x100, "here", "a.c", 1, 0 },
                                            { 0x300, "sig", "a.c", 3, 0 },
                                            { 0x400, "async", "a.c", 4, 0 },
                                            { 0 } };
    struct fake fake = { .rows = rows };
    struct resolved_trace trace =
        resolve(&fake, "\"0x1100\",\"0x1110\",\"0x1300\",\"0x1400\"", "irtc");
    static const uint64_t asked[] = { 0x100, 0x10f, 0x300, 0x400 };
    static const uint64_t addresses[] = { 0x1100, 0x1110, 0x1300, 0x1400 };
    static const char *const names[] = { "here", "call", "sig", "async" };

    assert_int_equal(fake.asked_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct trail_frame *frame = frame_at(&trace, i);
        assert_true(fake.asked[i] == asked[i]);
        assert_true(frame->address == addresses[i]);
        assert_true(frame->offset == addresses[i] - 0x1000);
        assert_string_equal(frame->function, names[i]);
    }
    release(&trace);
}

static void a_call_that_ends_its_module_belongs_to_it(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0xfff, "last", "a.c", 1, 0 }, { 0 } };
    struct fake fake = { .rows = rows };
    struct resolved_trace trace = resolve(&fake, "\"0x2000\",\"0x2000\"", "ir");

    /* Execution cannot be there, but a noreturn call can return there. */
    assert_string_equal(frame_at(&trace, 0)->module, "");
    assert_string_equal(frame_at(&trace, 1)->function, "last");
    assert_true(frame_at(&trace, 1)->address == 0x2000);
    release(&trace);
}

static void inlined_calls_share_the_address_of_the_real_frame(void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        { 0x100, "in", "a.h", 3, TRAIL_FOUND_INLINED },
        { 0x100, "mid", "a.h", 9, TRAIL_FOUND_INLINED },
        { 0x100, "out", "a.c", 20, 0 },
        { 0x1ff, "main", "a.c", 40, 0 },
        { 0 }
    };
    static const struct {
        const char *function;
        uint32_t line, index, inline_index;
        bool inlined;
    } want[] = { { "in", 3, 0, 0, true },
                 { "mid", 9, 0, 1, true },
                 { "out", 20, 0, 2, false },
                 { "main", 40, 1, 0, false } };
    struct fake fake = { .rows = rows };
    struct resolved_trace trace = resolve(&fake, "\"0x1100\",\"0x1200\"", "ir");

    assert_int_equal(trace.resolved->threads[0].frame_count, 4);
    for (size_t i = 0; i < 4; i++) {
        const struct trail_frame *frame = frame_at(&trace, i);
        assert_string_equal(frame->function, want[i].function);
        assert_int_equal(frame->line, want[i].line);
        assert_int_equal(frame->inlined, want[i].inlined);
        assert_int_equal(frame->index, want[i].index);
        assert_int_equal(frame->inline_index, want[i].inline_index);
        assert_true(frame->address == (i < 3 ? 0x1100u : 0x1200u));
    }
    release(&trace);
}

static void an_address_that_nobody_knows_keeps_its_module_and_offset(void **state)
{
    (void)state;
    struct fake fake = { .rows = NULL };
    struct resolved_trace trace = resolve(&fake, "\"0x8123\"", "i");
    const struct trail_frame *frame = frame_at(&trace, 0);

    assert_string_equal(frame->function, "");
    assert_string_equal(frame->module, "/proc/self/./exe");
    assert_true(frame->offset == 0x123);
    assert_string_equal(frame->gap, "no_symbol");
    assert_string_equal(frame->plugin, "");
    assert_string_equal(frame->file, "");
    assert_int_equal(frame->line, 0);
    release(&trace);
}

static void a_gap_of_a_module_is_told_once(void **state)
{
    (void)state;
    static const struct fake_row rows[] = {
        { 0x10f, "f", NULL, 0, TRAIL_FOUND_FROM_SYMTAB }, { 0 }
    };
    struct fake fake = { .rows = rows };
    struct resolved_trace trace =
        resolve(&fake,
                "\"0x1100\",\"0x8100\",\"0x1110\",\"0x8200\",\"0x1110\",\"0x5000\"",
                "i");
    const struct trail_resolved *resolved = trace.resolved;

    assert_int_equal(resolved->gap_count, 4);
    for (size_t i = 0; i < resolved->gap_count; i++)
        for (size_t j = 0; j < i; j++)
            assert_false(resolved->gaps[i].image == resolved->gaps[j].image &&
                         strcmp(resolved->gaps[i].gap.reason,
                                resolved->gaps[j].gap.reason) == 0);
    assert_string_equal(frame_at(&trace, 2)->gap, "no_line_info"); /* it has a name */
    assert_int_equal(resolved->answer_count, 1);                   /* for two frames */
    assert_int_equal(resolved->threads[0].frames[2].answer, 0);
    assert_int_equal(resolved->threads[0].frames[4].answer, 0);
    assert_int_equal(resolved->threads[0].frames[1].gap,
                     resolved->threads[0].frames[3].gap);
    assert_string_equal(frame_at(&trace, 5)->gap, "no_module");
    assert_int_equal(fake.opens, 2);
    release(&trace);
}

static void an_unloaded_module_is_named_and_not_asked(void **state)
{
    (void)state;
    static const struct fake_row rows[] = { { 0x100, "lie", "a.c", 1, 0 }, { 0 } };
    struct fake fake = { .rows = rows };
    struct resolved_trace trace = resolve(&fake, "\"0xa100\"", "i");

    assert_int_equal(fake.asked_count, 0);
    assert_string_equal(frame_at(&trace, 0)->function, "");
    assert_string_equal(frame_at(&trace, 0)->gap, "unloaded");
    assert_int_equal(trace.resolved->gaps[0].image, 2);
    release(&trace);
}

static void a_platform_that_walks_no_stack_gives_none_and_says_so(void **state)
{
    (void)state;
    static const char text[] =
        "{\"backtrail\":1,\"threads\":[{\"pcs\":[],\"end\":\"unsupported\"}]}";
    const struct trail_policy policy = { NULL, NULL };
    struct trail_trace *trace = NULL;
    struct trail_resolved *resolved = NULL;
    struct trail_resolver *resolver = fake_resolver(NULL, 0, 4);

    assert_ok(trail_trace_read(text, strlen(text), &trace, NULL));
    assert_ok(trail_resolve_trace(resolver, trace, &policy, 0, &resolved, NULL));
    assert_int_equal(resolved->threads[0].frame_count, 0);
    assert_int_equal(resolved->gap_count, 1);
    assert_contains(resolved->gaps[0].gap.detail, "cannot walk its stack");
    trail_resolved_destroy(resolved);
    trail_trace_destroy(trace);
    trail_resolver_destroy(resolver);
}

static void a_fresh_frame_knows_its_address_and_nothing_else(void **state)
{
    (void)state;
    struct trail_frame frame;
    memset(&frame, 0xaa, sizeof(frame));
    trail_frame_init(&frame, 0x1234);
    const char *const texts[] = { frame.function,  frame.file,   frame.linkage,
                                  frame.directory, frame.module, frame.module_id,
                                  frame.symbol,    frame.aka,    frame.plugin,
                                  frame.route,     frame.hidden, frame.gap };

    assert_true(frame.address == 0x1234);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        assert_string_equal(texts[i], "");
    assert_int_equal(frame.line, 0);
    assert_int_equal(frame.column, 0);
    assert_false(frame.inlined || frame.in_app);
    assert_true(frame.offset == 0 && frame.symbol_start == 0);
    trail_frame_init(&frame, 0);
    assert_true(frame.address == 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_return_address_is_looked_up_one_lower_and_kept_as_it_is),
    cmocka_unit_test(a_call_that_ends_its_module_belongs_to_it),
    cmocka_unit_test(inlined_calls_share_the_address_of_the_real_frame),
    cmocka_unit_test(an_address_that_nobody_knows_keeps_its_module_and_offset),
    cmocka_unit_test(a_gap_of_a_module_is_told_once),
    cmocka_unit_test(an_unloaded_module_is_named_and_not_asked),
    cmocka_unit_test(a_platform_that_walks_no_stack_gives_none_and_says_so),
    cmocka_unit_test(a_fresh_frame_knows_its_address_and_nothing_else),
};
TRAIL_TEST_MAIN(tests)
