/* map.c -- an origin map says what the symbolizer said that it was made by. */
#include "fake.h"
#include "test.h"

#define TEXT 8192

static struct fake fake_of(uint64_t seed)
{
    return (struct fake){ .seed = seed,
                          .starts = { 0x401040, 0x401040 + FAKE_HALF + 900 } };
}

static struct origin_map open_map(const uint8_t *bytes, size_t size)
{
    struct origin_map map;
    struct trail_error err = { "" };
    assert_ok_err(origin_map_open(bytes, size, &map, &err), err);
    assert_ok_err(origin_map_verify(&map, &err), err);
    return map;
}

/* ---- chains -------------------------------------------------------------- */

struct batch {
    const struct origin_map *map;
    const struct told *told;
};

static void assert_told(void *arg, size_t at, const struct origin_frame *frames,
                        uint32_t count)
{
    const struct batch *batch = arg;
    char text[TEXT];
    fake_chain_text(batch->map, frames, count, text, sizeof(text));
    assert_string_equal(text, batch->told->chains[at] ? batch->told->chains[at] : "");
}

/* Every byte of the text, one by one and in a batch. */
static void assert_chains(struct fake *fake, unsigned threads)
{
    static uint64_t addresses[2 * FAKE_HALF];
    size_t size = 0;
    uint8_t *bytes = fake_map(fake, threads, &size);
    struct origin_map map = open_map(bytes, size);
    struct told *told = fake_tell(fake);
    struct batch batch = { &map, told };
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    for (uint32_t at = 0; at < 2 * FAKE_HALF; at++) {
        addresses[at] = fake_address(fake, at);
        assert_told(&batch, at, frames, origin_map_lookup(&map, addresses[at], frames));
    }
    origin_map_lookup_many(&map, addresses, 2 * FAKE_HALF, assert_told, &batch);
    assert_int_equal(origin_map_lookup(&map, fake->starts[0] - 2000, frames), 0);
    assert_int_equal(
        origin_map_lookup(&map, fake->starts[1] + FAKE_HALF + 2000, frames), 0);
    told_free(told);
    free(bytes);
}

static void every_byte_is_answered_as_the_lowest_part_has_it(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct fake fake = fake_of(seed);
        assert_chains(&fake, 1 + (unsigned)seed % 3);
    }
}

static void text_that_spans_more_than_four_gib_is_answered(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(5);
    size_t size = 0;
    fake.starts[1] = 0xffffff8000001040;
    assert_chains(&fake, 2);
    uint8_t *bytes = fake_map(&fake, 1, &size);
    assert_true(size < 1 << 20); /* the gap takes nothing */
    free(bytes);
}

struct walk {
    const struct origin_map *map;
    const struct told *told;
    uint32_t next; /* byte of the text */
};

static bool assert_range(void *arg, uint64_t start, uint64_t end,
                         const struct origin_frame *frames, uint32_t count)
{
    struct walk *walk = arg;
    char text[TEXT];
    fake_chain_text(walk->map, frames, count, text, sizeof(text));
    while (fake_address(walk->told->fake, walk->next) != start)
        assert_null(walk->told->chains[walk->next++]);
    for (uint64_t at = start; at < end; at++)
        assert_string_equal(text, walk->told->chains[walk->next++]);
    return true;
}

static void a_walk_tells_of_every_byte_once(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(3);
    size_t size = 0;
    uint8_t *bytes = fake_map(&fake, 2, &size);
    struct origin_map map = open_map(bytes, size);
    struct told *told = fake_tell(&fake);
    struct walk walk = { &map, told, 0 };
    origin_map_each_range(&map, assert_range, &walk);
    while (walk.next < 2 * FAKE_HALF)
        assert_null(told->chains[walk.next++]);
    told_free(told);
    free(bytes);
}

/* ---- symbols ------------------------------------------------------------- */

/* Of those that hold the address the one that starts last; of those the shortest. */
static const struct told_symbol *symbol_of(const struct told *told, uint64_t address)
{
    const struct told_symbol *best = NULL;
    for (uint32_t i = 0; i < told->symbol_count; i++) {
        const struct told_symbol *symbol = &told->symbols[i];
        if (address < symbol->start || address >= symbol->end)
            continue;
        if (!best || symbol->start > best->start ||
            (symbol->start == best->start && symbol->end <= best->end))
            best = symbol;
    }
    return best;
}

static void assert_text(struct trail_text text, const char *expected)
{
    assert_int_equal(text.size, strlen(expected));
    if (text.size)
        assert_memory_equal(text.data, expected, text.size);
}

static void a_symbol_answers_where_none_starts_later(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct fake fake = fake_of(seed);
        size_t size = 0;
        uint8_t *bytes = fake_map(&fake, 1, &size);
        struct origin_map map = open_map(bytes, size);
        struct told *told = fake_tell(&fake);
        for (uint32_t at = 0; at < 2 * FAKE_HALF; at++) {
            uint64_t address = fake_address(&fake, at);
            const struct told_symbol *expected = symbol_of(told, address);
            struct origin_symbol symbol;
            assert_int_equal(origin_map_symbol_at(&map, address, &symbol),
                             expected != NULL);
            if (!expected)
                continue;
            bool is_unsized = expected->flags & TRAIL_FOUND_UNSIZED;
            assert_text(symbol.name, expected->name);
            assert_text(symbol.aka, expected->aka);
            assert_int_equal(symbol.flags, expected->flags);
            assert_true(symbol.start == expected->start);
            assert_true(symbol.size ==
                        (is_unsized ? 0 : expected->end - expected->start));
        }
        told_free(told);
        free(bytes);
    }
}

/* ---- calls --------------------------------------------------------------- */

struct heard {
    const struct told *told;
    uint32_t count;
    uint64_t last;
    bool only_tails;
};

static bool is_told(const struct told *told, const struct origin_call *call)
{
    for (uint32_t i = 0; i < told->call_count; i++) {
        const struct told_call *expected = &told->calls[i];
        if (expected->return_address == call->return_address &&
            expected->target == call->target && expected->is_tail == call->is_tail &&
            strlen(expected->linkage) == call->linkage.size &&
            (!call->linkage.size ||
             memcmp(expected->linkage, call->linkage.data, call->linkage.size) == 0))
            return true;
    }
    return false;
}

static bool hear(void *arg, const struct origin_call *call)
{
    struct heard *heard = arg;
    assert_true(is_told(heard->told, call));
    assert_true(!heard->only_tails || call->is_tail);
    heard->count++;
    return true;
}

static bool is_in_text(const struct origin_map *map, uint64_t address)
{
    return origin_map_offset(map, address) != UINT64_MAX;
}

static void calls_are_found_by_where_they_return(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(2);
    size_t size = 0;
    uint8_t *bytes = fake_map(&fake, 2, &size);
    struct origin_map map = open_map(bytes, size);
    struct told *told = fake_tell(&fake);
    struct heard all = { .told = told };
    origin_map_each_call(&map, 0, UINT64_MAX, hear, &all);
    assert_true(all.count > 1000);
    for (uint32_t i = 0; i < told->call_count; i++) {
        struct heard heard = { .told = told };
        uint64_t address = told->calls[i].return_address;
        origin_map_each_call(&map, address, address + 1, hear, &heard);
        assert_int_equal(heard.count > 0, is_in_text(&map, address - 1));
    }
    told_free(told);
    free(bytes);
}

static void tail_calls_are_found_by_their_function(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(4);
    size_t size = 0;
    uint32_t found = 0;
    uint8_t *bytes = fake_map(&fake, 1, &size);
    struct origin_map map = open_map(bytes, size);
    struct told *told = fake_tell(&fake);
    for (uint32_t i = 1; i <= origin_map_function_count(&map); i++) {
        struct origin_function function;
        struct heard heard = { .told = told, .only_tails = true };
        uint32_t own = 0;
        assert_true(origin_map_function(&map, i, &function));
        if (!function.size || origin_map_function_at(&map, function.start) != i)
            continue;
        for (uint32_t k = 0; k < told->call_count; k++) {
            uint64_t last = told->calls[k].return_address - 1;
            own += told->calls[k].is_tail && last >= function.start &&
                   last - function.start < function.size && is_in_text(&map, last);
        }
        origin_map_each_tail_call(&map, function.start, hear, &heard);
        assert_true(heard.count >= (own > 0)); /* and those in other parts of it */
        found += heard.count;
    }
    assert_true(found > 100);
    told_free(told);
    free(bytes);
}

/* ---- the header, and names ----------------------------------------------- */

static void the_header_says_whose_answers_these_are(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    size_t size = 0;
    uint8_t *bytes = fake_map(&fake, 1, &size);
    struct origin_map map = open_map(bytes, size);
    assert_string_equal(map.info.plugin, "fake");
    assert_string_equal(map.info.release, "1.2.3");
    assert_int_equal(map.info.shape, 0xabcdef);
    assert_int_equal(map.info.format, TRAIL_FORMAT_ELF);
    assert_int_equal(map.info.arch, TRAIL_ARCH_X86_64);
    assert_int_equal(map.info.id_kind, TRAIL_ID_BUILD_ID);
    assert_int_equal(map.info.id_size, 20);
    assert_int_equal(map.info.id[2], 3);
    assert_int_equal(map.info.route, TRAIL_ROUTE_EMBEDDED);
    assert_int_equal(map.info.source_size, 77);
    assert_int_equal(map.info.source_modified_ns, 99);
    assert_text(map.info.source, "/lib/a.so");
    assert_int_equal(map.info.has, ORIGIN_HAS_LINES | ORIGIN_HAS_INLINES |
                                       ORIGIN_HAS_CALLS | ORIGIN_HAS_SYMBOLS |
                                       ORIGIN_HAS_FUNCTIONS);
    free(bytes);
}

static void functions_that_have_a_start_come_first_in_order(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(6);
    size_t size = 0;
    uint64_t last = 0;
    bool is_placed = true;
    uint8_t *bytes = fake_map(&fake, 1, &size);
    struct origin_map map = open_map(bytes, size);
    for (uint32_t i = 1; i <= origin_map_function_count(&map); i++) {
        struct origin_function function;
        assert_true(origin_map_function(&map, i, &function));
        assert_true(is_placed || !function.size);
        is_placed = function.size != 0;
        assert_true(!is_placed || function.start >= last);
        last = function.start;
        if (is_placed)
            assert_in_range(origin_map_function_at(&map, function.start), 1, i);
    }
    assert_int_equal(origin_map_function_at(&map, 5), 0);
    assert_int_equal(origin_map_function_at(&map, 0), 0);
    free(bytes);
}

static void a_module_may_have_nothing_but_symbols(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(7);
    size_t size = 0;
    struct origin_symbol symbol;
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    fake.has_only_symbols = true;
    uint8_t *bytes = fake_map(&fake, 1, &size);
    struct origin_map map = open_map(bytes, size);
    struct told *told = fake_tell(&fake);
    assert_int_equal(map.info.has, ORIGIN_HAS_SYMBOLS);
    assert_true(origin_map_symbol_at(&map, told->symbols[0].start, &symbol));
    assert_int_equal(origin_map_lookup(&map, told->symbols[0].start, frames), 0);
    told_free(told);
    free(bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_byte_is_answered_as_the_lowest_part_has_it),
    cmocka_unit_test(text_that_spans_more_than_four_gib_is_answered),
    cmocka_unit_test(a_walk_tells_of_every_byte_once),
    cmocka_unit_test(a_symbol_answers_where_none_starts_later),
    cmocka_unit_test(calls_are_found_by_where_they_return),
    cmocka_unit_test(tail_calls_are_found_by_their_function),
    cmocka_unit_test(the_header_says_whose_answers_these_are),
    cmocka_unit_test(functions_that_have_a_start_come_first_in_order),
    cmocka_unit_test(a_module_may_have_nothing_but_symbols),
};

TRAIL_TEST_MAIN(tests)
