/* elf_symbols.c -- which symbol an address belongs to, however it is looked for. */
#include "elf_files.h"
#include "plugins/elf/naming.h"
#include "plugins/elf/symbol_names.h"

static const char *const fixtures[] = {
    "x64-labels",         "x64-symtab-only",       "x64-cpp-gcc",
    "x64-icf-gold",       "x64-icf-lld",           "x64-asm-nodebug",
    "x64-minidebug.so",   "x64-gcc-hotcold",       "x64-sigframe",
    "plt/x64-ibt.so",     "plt/x64-lazy.so",       "plt/i386-lazy.so",
    "plt/aarch64-bti.so", "x64-nosections-gnu.so", "arm-gcc-dw5-O2",
    "powerpc-gcc-dw5-O2", "s390x-gcc-dw5-O2",      "x64-rust-v0",
    "x64-stripped",       "x64-fortran.so",        "aarch64-clang19-dw5-O2"
};

static bool is_same(const struct symbol *a, const struct symbol *b)
{
    return a->start == b->start && a->size == b->size && a->name.size == b->name.size &&
           memcmp(a->name.data, b->name.data, a->name.size) == 0 &&
           a->aka.size == b->aka.size &&
           (!a->aka.size || memcmp(a->aka.data, b->aka.data, a->aka.size) == 0) &&
           a->is_folded == b->is_folded && a->is_first_aka == b->is_first_aka &&
           a->number == b->number && a->table == b->table;
}

/* The answers of two handles at each address of code are the same. */
static void compare_all(struct symbols *a, struct symbols *b)
{
    for (size_t i = 0; i < a->code->spans.count; i++) {
        const struct span *span = &a->code->spans.at[i];
        for (uint64_t at = span->start; at < span->end; at++) {
            struct symbol of_a, of_b;
            bool found = symbols_find(a, at, &of_a);
            assert_int_equal(found, symbols_find(b, at, &of_b));
            if (found && !is_same(&of_a, &of_b))
                fail_msg("0x%llx differs", (unsigned long long)at);
        }
    }
}

static void a_walk_and_the_index_give_the_same_symbol(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct elf_files *walked = elf_files_open(fixtures[i]);
        struct elf_files *indexed = elf_files_open(fixtures[i]);
        symbols_expect(&indexed->symbols, 1000);
        assert_true(indexed->symbols.is_indexed);
        compare_all(&walked->symbols, &indexed->symbols);
        assert_false(walked->symbols.is_indexed);
        elf_files_close(walked);
        elf_files_close(indexed);
    }
}

struct ranges {
    struct elf_files *opened;
    uint64_t end; /* of the last range */
    size_t count;
    bool is_bad;
};

static enum trail_status check_range(void *arg, uint64_t start, uint64_t end,
                                     const struct symbol *symbol)
{
    struct ranges *ranges = arg;
    struct symbol found;
    ranges->is_bad = ranges->is_bad || start < ranges->end || end <= start;
    for (uint64_t at = ranges->end; at < start; at++)
        ranges->is_bad =
            ranges->is_bad || symbols_find(&ranges->opened->symbols, at, &found);
    for (uint64_t at = start; at < end; at++)
        ranges->is_bad = ranges->is_bad ||
                         !symbols_find(&ranges->opened->symbols, at, &found) ||
                         !is_same(&found, symbol);
    ranges->end = end;
    ranges->count++;
    return TRAIL_OK;
}

static void the_ranges_of_symbols_say_what_a_lookup_says(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof(fixtures) / sizeof(fixtures[0]); i++) {
        struct elf_files *listed = elf_files_open(fixtures[i]);
        struct ranges ranges = { .opened = elf_files_open(fixtures[i]) };
        const struct spans *code = &listed->code.spans;
        ranges.end = code->at[0].start;
        assert_ok(symbols_each(&listed->symbols, check_range, &ranges));
        uint64_t last = code->at[code->count - 1].end;
        struct symbol symbol;
        for (uint64_t at = ranges.end; at < last; at++)
            assert_false(symbols_find(&ranges.opened->symbols, at, &symbol));
        if (ranges.is_bad)
            fail_msg("%s differs", fixtures[i]);
        assert_int_equal(ranges.count == 0, strcmp(fixtures[i], "x64-stripped") == 0);
        elf_files_close(ranges.opened);
        elf_files_close(listed);
    }
}

static bool has_line(struct trail_text lines, const char *line)
{
    size_t size = strlen(line);
    for (size_t at = 0; at < lines.size;) {
        const char *end = memchr(lines.data + at, '\n', lines.size - at);
        size_t length = end ? (size_t)(end - lines.data) - at : lines.size - at;
        if (length == size && memcmp(lines.data + at, line, size) == 0)
            return true;
        at += length + 1;
    }
    return false;
}

static void folded_functions_list_their_other_names(void **unused)
{
    (void)unused;
    static const struct {
        const char *fixture;
        uint64_t address;
        const char *names[3];
    } rows[] = {
        { "x64-icf-lld", 0x2011c0, { "twin_a", "twin_b" } },
        { "x64-icf-gold", 0x400144, { "twin_a", "twin_b", "twin_c" } },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct elf_files *opened = elf_files_open(rows[i].fixture);
        struct symbol symbol;
        char name[64];
        assert_true(symbols_find(&opened->symbols, rows[i].address, &symbol));
        assert_true(symbol.is_folded);
        snprintf(name, sizeof(name), "%.*s", (int)symbol.name.size, symbol.name.data);
        for (size_t k = 0; k < 3 && rows[i].names[k]; k++)
            assert_true(strcmp(rows[i].names[k], name) == 0 ||
                        has_line(symbol.aka, rows[i].names[k]));
        elf_files_close(opened);
    }
}

static void constructors_that_share_code_are_not_folded(void **unused)
{
    (void)unused;
    struct elf_files *opened = elf_files_open("x64-cpp-gcc-O0");
    size_t shared = 0;
    const struct spans *code = &opened->code.spans;
    symbols_expect(&opened->symbols, SIZE_MAX);
    for (size_t i = 0; i < code->count; i++)
        for (uint64_t at = code->at[i].start; at < code->at[i].end; at++) {
            struct symbol symbol;
            if (!symbols_find(&opened->symbols, at, &symbol) || !symbol.aka.size)
                continue;
            assert_false(symbol.is_folded);
            shared++;
        }
    assert_true(shared > 0);
    elf_files_close(opened);
}

static void a_name_gives_an_address_only_if_one_function_has_it(void **unused)
{
    (void)unused;
    struct elf_files *opened = elf_files_open("x64-symtab-only");
    struct symbol_names names = { .symbols = &opened->symbols };
    struct symbol symbol;
    uint64_t address = 0;
    assert_true(symbol_names_find(&names, trail_text_of("entry"), &address));
    assert_true(symbols_find(&opened->symbols, address, &symbol));
    assert_int_equal(symbol.start, address);
    assert_memory_equal(symbol.name.data, "entry", 5);
    /* Two files have one each. */
    assert_false(symbol_names_find(&names, trail_text_of("static_helper"), &address));
    assert_false(symbol_names_find(&names, trail_text_of("entr"), &address));
    assert_false(symbol_names_find(&names, trail_text_of(""), &address));
    symbol_names_deinit(&names);
    elf_files_close(opened);
}

/* The symbol, the function of the source, and what the symbol adds to it. */
static void a_symbol_tells_the_linkage_name_that_the_source_leaves_out(void **unused)
{
    (void)unused;
    static const char *const rows[][3] = {
        { "_ZL3addi", "add", "_ZL3addi" },
        { "_ZL3addi.cold", "add", "_ZL3addi" },
        { "_RNvC3lib3add", "add", "_RNvC3lib3add" },
        { "add", "add", "" },
        { "add.5", "add", "add.5" },
        { "add.5.cold", "add", "add.5" },
        { "inner.0", "outer::inner", "inner.0" },
        { "add.part.0", "add", "" },
        { "add.", "add", "" },
        { "addition", "add", "" },
        { "other.5", "add", "" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct trail_text linkage =
            naming_linkage(trail_text_of(rows[i][0]), trail_text_of(rows[i][1]));
        assert_true(naming_is_same(linkage, trail_text_of(rows[i][2])));
    }
}

static void a_label_without_size_names_no_function_that_begins_elsewhere(void **unused)
{
    (void)unused;
    struct elf_files *opened = elf_files_open("x64-labels");
    struct symbol symbol;
    const uint64_t label = 0x401018; /* `behind` */
    assert_true(symbols_find(&opened->symbols, label + 5, &symbol));
    for (uint64_t start = label; start <= label + 4; start += 4) {
        struct trail_found found = { .size = sizeof(found),
                                     .function = trail_text_of("f"),
                                     .function_start = start,
                                     .function_size = 4 };
        naming_add_symbol(&opened->symbols, &found, label + 5, &symbol);
        assert_int_equal(found.symbol.size != 0, start == label);
        assert_true(naming_is_same(found.function, trail_text_of("f")));
    }
    elf_files_close(opened);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_walk_and_the_index_give_the_same_symbol),
    cmocka_unit_test(the_ranges_of_symbols_say_what_a_lookup_says),
    cmocka_unit_test(folded_functions_list_their_other_names),
    cmocka_unit_test(constructors_that_share_code_are_not_folded),
    cmocka_unit_test(a_name_gives_an_address_only_if_one_function_has_it),
    cmocka_unit_test(a_label_without_size_names_no_function_that_begins_elsewhere),
    cmocka_unit_test(a_symbol_tells_the_linkage_name_that_the_source_leaves_out),
};
TRAIL_TEST_MAIN(tests)
