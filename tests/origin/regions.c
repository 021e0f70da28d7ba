/* regions.c -- what was added to regions is what a lookup finds, byte by byte. */
#include "test.h"

#include "origin/regions.h"

#define SCOPES    400u
#define TEXT_SIZE 4000u /* not a whole number of regions */

struct span {
    uint64_t location;
    uint32_t scope;
};

/* A module as it should be answered: one span a byte. */
struct model {
    struct origin_scope scopes[SCOPES + 1];
    struct span bytes[TEXT_SIZE];
    uint64_t seed;
};

static uint32_t draw(struct model *model, uint32_t below)
{
    model->seed = model->seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(model->seed >> 33) % below;
}

static void describe(void *arg, uint32_t number, struct origin_scope *scope_ret)
{
    const struct origin_scope *scopes = arg;
    *scope_ret = scopes[number];
}

static uint64_t any_location(struct model *model, struct origin_layout layout)
{
    unsigned bits = 8u * layout.location_size - layout.line_bits - layout.column_bits;
    return origin_location(draw(model, 1u << (bits > 20 ? 20 : bits)),
                           draw(model, 1u << layout.line_bits),
                           draw(model, 1u << layout.column_bits));
}

/* Functions, and calls that are inlined a few deep. */
static void model_init(struct model *model, uint64_t seed, struct origin_layout layout)
{
    memset(model, 0, sizeof(*model));
    model->seed = seed;
    for (uint32_t i = 1; i <= SCOPES; i++) {
        struct origin_scope *scope = &model->scopes[i];
        scope->function = 1 + draw(model, 255);
        scope->parent = draw(model, 4) ? draw(model, i) : 0;
        scope->call = scope->parent ? any_location(model, layout) : 0;
    }
}

static struct origin_regions_writer *writer_new(struct model *model,
                                                struct origin_layout layout)
{
    struct origin_regions_options options = { .layout = layout,
                                              .text_size = TEXT_SIZE,
                                              .scope = describe,
                                              .arg = model->scopes };
    struct origin_regions_writer *writer = NULL;
    assert_ok(origin_regions_create(&options, &writer));
    return writer;
}

static void add(struct origin_regions_writer *writer, struct model *model,
                uint32_t from, uint32_t to, struct span span)
{
    assert_ok(origin_regions_add(writer, from, to, span.scope, span.location));
    if (span.scope || span.location)
        for (uint32_t i = from; i < to; i++)
            model->bytes[i] = span;
}

/* Ranges of all lengths, with gaps, from `from` on. */
static void add_run(struct origin_regions_writer *writer, struct model *model,
                    struct origin_layout layout, uint32_t from, uint32_t to)
{
    while (from < to) {
        uint32_t size = 1 + draw(model, draw(model, 8) ? 20 : 900);
        uint32_t end = from + size < to ? from + size : to;
        struct span span = { any_location(model, layout), draw(model, SCOPES + 1) };
        if (draw(model, 6))
            add(writer, model, from, end, span);
        from = end;
    }
}

static uint32_t expected_chain(const struct model *model, uint32_t at,
                               struct origin_frame *frames)
{
    uint64_t location = model->bytes[at].location;
    uint32_t scope = model->bytes[at].scope, count = 0;
    do {
        const struct origin_scope *of = &model->scopes[scope];
        if (!scope && !location)
            return 0;
        frames[count++] =
            (struct origin_frame){ of->function, (uint32_t)(location >> 44),
                                   (uint32_t)(location >> 16 & 0xfffffff),
                                   (uint32_t)(location & 0xffff) };
        location = of->call;
        scope = of->parent;
    } while (scope);
    return count;
}

static void assert_chain(const struct model *model, size_t at,
                         const struct origin_frame *frames, uint32_t count)
{
    struct origin_frame expected[SCOPES];
    assert_int_equal(count, expected_chain(model, (uint32_t)at, expected));
    if (count)
        assert_memory_equal(frames, expected, count * sizeof(*frames));
}

static void assert_chain_of_batch(void *arg, size_t index,
                                  const struct origin_frame *frames, uint32_t count)
{
    assert_chain(arg, index, frames, count);
}

/* Every byte, one by one and in one batch, and behind the end. */
static void assert_answers(const struct origin_regions_writer *writer,
                           struct model *model)
{
    struct origin_regions regions = origin_regions_view(writer);
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    uint64_t offsets[TEXT_SIZE];

    for (uint32_t at = 0; at < TEXT_SIZE; at++) {
        offsets[at] = at;
        assert_chain(model, at, frames, origin_regions_lookup(&regions, at, frames));
    }
    origin_regions_lookup_many(&regions, offsets, TEXT_SIZE, assert_chain_of_batch,
                               model);
    assert_int_equal(origin_regions_lookup(&regions, TEXT_SIZE + 256, frames), 0);
    assert_int_equal(origin_regions_lookup(&regions, UINT64_MAX, frames), 0);
}

static void every_byte_is_answered_as_it_was_added(void **unused)
{
    (void)unused;
    static const struct origin_layout layouts[] = {
        { 8, 4, 28, 16 },
        { 5, 3, 16, 9 },
        { 1, 1, 4, 2 },
        { 4, 2, 20, 0 },
    };
    static struct model model;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct origin_layout layout = layouts[seed % 4];
        model_init(&model, seed, layout);
        struct origin_regions_writer *writer = writer_new(&model, layout);
        add_run(writer, &model, layout, 0, TEXT_SIZE);
        assert_ok(origin_regions_flush(writer));
        assert_answers(writer, &model);
        origin_regions_destroy(writer);
    }
}

static void runs_that_share_regions_are_merged(void **unused)
{
    (void)unused;
    static struct model model;
    for (uint64_t seed = 0; seed < 100; seed++) {
        model_init(&model, seed, ORIGIN_LAYOUT_WIDE);
        struct origin_regions_writer *writer = writer_new(&model, ORIGIN_LAYOUT_WIDE);
        for (int run = 0; run < 12; run++) {
            uint32_t from = draw(&model, TEXT_SIZE - 700);
            add_run(writer, &model, ORIGIN_LAYOUT_WIDE, from,
                    from + 1 + draw(&model, 700));
            assert_ok(origin_regions_flush(writer));
            assert_answers(writer, &model);
        }
        origin_regions_destroy(writer);
    }
}

/* 300 scopes, each in the one before. */
static void model_nest(struct model *model)
{
    memset(model, 0, sizeof(*model));
    for (uint32_t i = 1; i <= 300; i++)
        model->scopes[i] = (struct origin_scope){ origin_location(1, i, 0), i, i - 1 };
    model->scopes[1].call = 0;
}

static void a_chain_that_is_too_long_keeps_both_ends(void **unused)
{
    (void)unused;
    static struct model model;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    model_nest(&model);
    struct origin_regions_writer *writer = writer_new(&model, ORIGIN_LAYOUT_WIDE);
    /* The second chain could go on in the first, and would be too long by it. */
    assert_ok(origin_regions_add(writer, 0, 1, 250, origin_location(1, 1, 1)));
    assert_ok(origin_regions_add(writer, 1, 2, 300, origin_location(1, 2, 1)));
    assert_ok(origin_regions_flush(writer));

    struct origin_regions regions = origin_regions_view(writer);
    assert_int_equal(origin_regions_lookup(&regions, 0, frames), 250);
    assert_int_equal(frames[249].function, 1);
    assert_int_equal(origin_regions_lookup(&regions, 1, frames), ORIGIN_CHAIN_MAX);
    assert_int_equal(frames[0].function, 300);
    assert_int_equal(frames[254].function, 46);
    assert_int_equal(frames[255].function, 1);
    assert_int_equal(frames[255].line, 46); /* where 46 was called */
    origin_regions_destroy(writer);
}

static struct origin_scope deep_scope(uint32_t number)
{
    uint32_t depth = number % 256;
    struct origin_scope scope = { origin_location(1, number, 0), number, number - 1 };
    if (depth == 0)
        scope.call = scope.parent = 0;
    return scope;
}

static void describe_deep(void *unused, uint32_t number, struct origin_scope *scope_ret)
{
    (void)unused;
    *scope_ret = deep_scope(number);
}

/* 256 chains of 256 frames, none shared, are 900 KB: far more than a region may have.
 * */
static void a_region_that_is_too_full_cuts_its_last_chains(void **unused)
{
    (void)unused;
    struct origin_regions_options options = { .layout = ORIGIN_LAYOUT_WIDE,
                                              .text_size = 512,
                                              .scope = describe_deep };
    struct origin_regions_writer *writer = NULL;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    uint32_t cut = 0;

    assert_ok(origin_regions_create(&options, &writer));
    for (uint32_t at = 0; at < 256; at++)
        assert_ok(origin_regions_add(writer, at, at + 1, (at + 1) * 256 + 255,
                                     origin_location(2, 7, 0)));
    assert_ok(origin_regions_flush(writer));
    struct origin_regions regions = origin_regions_view(writer);
    for (uint32_t at = 0; at < 256; at++) {
        uint32_t count = origin_regions_lookup(&regions, at, frames);
        cut += count < 256;
        if (at < 16)
            assert_int_equal(count, 256);
        if (count == 1 && !frames[0].function) { /* no room for any frame */
            assert_int_equal(frames[0].line, 7);
            continue;
        }
        assert_int_equal(frames[count - 1].function, (at + 1) * 256);
        if (count <
            256) /* the location is where the first that is missing was called */
            assert_int_equal(frames[0].line, frames[0].function + 1);
    }
    assert_in_range(cut, 200, 240);
    origin_regions_destroy(writer);
}

static void long_ranges_share_one_region(void **unused)
{
    (void)unused;
    static struct model model;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    struct origin_regions_writer *writer = NULL;
    model_init(&model, 1, ORIGIN_LAYOUT_WIDE);
    struct origin_regions_options options = { .layout = ORIGIN_LAYOUT_WIDE,
                                              .text_size = 1ull << 30,
                                              .scope = describe,
                                              .arg = model.scopes };
    assert_ok(origin_regions_create(&options, &writer));
    assert_ok(origin_regions_add(writer, 100, (1u << 30) - 100, 9, 1 << 16));
    assert_ok(origin_regions_flush(writer));
    struct origin_regions regions = origin_regions_view(writer);
    assert_true(regions.end < 10000);
    assert_int_equal(origin_regions_lookup(&regions, 99, frames), 0);
    for (uint64_t at = 100; at < (1u << 30) - 100; at += 99991) {
        assert_true(origin_regions_lookup(&regions, at, frames) > 0);
        assert_int_equal(frames[0].function, model.scopes[9].function);
    }
    assert_int_equal(origin_regions_lookup(&regions, (1u << 30) - 100, frames), 0);
    origin_regions_destroy(writer);
}

static void ranges_out_of_order_are_refused(void **unused)
{
    (void)unused;
    static struct model model;
    static const uint64_t wrong[][2] = {
        { 9, 12 }, { 20, 20 }, { 20, 19 }, { 0, TEXT_SIZE + 1 }
    };
    model_init(&model, 1, ORIGIN_LAYOUT_WIDE);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct origin_regions_writer *writer = writer_new(&model, ORIGIN_LAYOUT_WIDE);
        assert_ok(origin_regions_add(writer, 5, 10, 1, 1));
        assert_int_equal(origin_regions_add(writer, wrong[i][0], wrong[i][1], 1, 1),
                         TRAIL_BAD_INPUT);
        assert_int_equal(origin_regions_flush(writer), TRAIL_BAD_INPUT);
        origin_regions_destroy(writer);
    }
}

static void a_limit_is_an_error_and_not_a_crash(void **unused)
{
    (void)unused;
    static struct model model;
    model_init(&model, 1, ORIGIN_LAYOUT_WIDE);
    struct origin_regions_options options = { .layout = ORIGIN_LAYOUT_WIDE,
                                              .text_size = TEXT_SIZE,
                                              .limit_size = 2000,
                                              .scope = describe,
                                              .arg = model.scopes };
    struct origin_regions_writer *writer = NULL;
    enum trail_status status = TRAIL_OK;
    assert_ok(origin_regions_create(&options, &writer));
    for (uint32_t at = 0; at < TEXT_SIZE && !status; at++)
        status = origin_regions_add(writer, at, at + 1, 1 + at % SCOPES, at + 1);
    assert_int_equal(status, TRAIL_NO_MEMORY);
    origin_regions_destroy(writer);

    options.layout.location_size = 9;
    assert_int_equal(origin_regions_create(&options, &writer), TRAIL_BAD_INPUT);
    options.layout = ORIGIN_LAYOUT_WIDE;
    options.text_size = UINT64_MAX;
    assert_int_equal(origin_regions_create(&options, &writer), TRAIL_NO_MEMORY);
}

/* Damage changes answers; that nothing outside is read is for the sanitizers to see. */
static void damaged_regions_are_read_without_leaving_them(void **unused)
{
    (void)unused;
    static struct model model;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    model_init(&model, 3, ORIGIN_LAYOUT_WIDE);
    struct origin_regions_writer *writer = writer_new(&model, ORIGIN_LAYOUT_WIDE);
    add_run(writer, &model, ORIGIN_LAYOUT_WIDE, 0, TEXT_SIZE);
    assert_ok(origin_regions_flush(writer));
    struct origin_regions regions = origin_regions_view(writer);
    size_t index_size = (size_t)regions.count * ORIGIN_INDEX_SIZE;
    size_t size = (size_t)regions.end + ORIGIN_SLACK;
    uint8_t *index = malloc(index_size), *bytes = calloc(1, size);
    assert_true(index && bytes);
    for (uint32_t round = 0; round < 2000; round++) {
        memcpy(index, regions.index, index_size);
        memcpy(bytes, regions.bytes, (size_t)regions.end);
        for (uint32_t i = 0; i < 1 + round % 64; i++) {
            index[draw(&model, (uint32_t)index_size)] ^= (uint8_t)draw(&model, 256);
            bytes[draw(&model, (uint32_t)size)] = (uint8_t)draw(&model, 256);
        }
        struct origin_regions damaged = regions;
        damaged.index = index;
        damaged.bytes = bytes;
        for (uint32_t at = 0; at < TEXT_SIZE; at += 1 + draw(&model, 60))
            assert_in_range(origin_regions_lookup(&damaged, at, frames), 0, 256);
    }
    free(index);
    free(bytes);
    origin_regions_destroy(writer);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_byte_is_answered_as_it_was_added),
    cmocka_unit_test(runs_that_share_regions_are_merged),
    cmocka_unit_test(a_chain_that_is_too_long_keeps_both_ends),
    cmocka_unit_test(a_region_that_is_too_full_cuts_its_last_chains),
    cmocka_unit_test(long_ranges_share_one_region),
    cmocka_unit_test(ranges_out_of_order_are_refused),
    cmocka_unit_test(a_limit_is_an_error_and_not_a_crash),
    cmocka_unit_test(damaged_regions_are_read_without_leaving_them),
};

TRAIL_TEST_MAIN(tests)
