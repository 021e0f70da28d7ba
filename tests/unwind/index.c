/* index.c -- finding the entry that covers an address: sorted indexes and none. */
#include "test.h"
#include "tests/unwind/section.h"

#define ENTRIES       100u
#define INDEX_ADDRESS 0x300000u

/* Function n is [start_of(n), + 8), its CFA rsp + 16 + n. */
struct many {
    struct bytes frames, index;
    size_t fde_at[ENTRIES];
};

static uint64_t start_of(size_t function)
{
    return CODE_START + function * 16;
}

static void make_frames(struct many *many)
{
    struct bytes *frames = &many->frames;
    frames->size = 0;
    bytes_number(frames, 13, 4);
    bytes_number(frames, 0, 4);
    bytes_add(frames, "\x01\x00\x01\x78\x10\x90\x01\x00\x00", 9);
    for (size_t i = 0; i < ENTRIES; i++) {
        many->fde_at[i] = frames->size;
        bytes_number(frames, 23, 4);
        bytes_number(frames, frames->size, 4);
        bytes_number(frames, start_of(i), 8);
        bytes_number(frames, 8, 8);
        bytes_add(frames, "\x0c\x07", 2);
        bytes_number(frames, 16 + i, 1);
    }
}

static void add_encoded(struct bytes *index, uint8_t encoding, uint64_t address)
{
    static const uint8_t widths[16] = {
        [0] = 8, [2] = 2, [3] = 4, [4] = 8, [0x0a] = 2, [0x0b] = 4, [0x0c] = 8
    };
    if ((encoding & 0x70) == 0x10)
        address -= INDEX_ADDRESS + index->size;
    else if ((encoding & 0x70) == 0x30)
        address -= INDEX_ADDRESS;
    bytes_number(index, address, widths[encoding & 0x0f]);
}

static struct trail_cfi_table make(struct many *many, uint8_t encoding)
{
    static struct bytes unused;
    struct trail_cfi_table table =
        section_make(&(struct section_form){ .version = 1 }, "", 0, &unused);
    struct bytes *index = &many->index;
    make_frames(many);
    index->size = 0;
    bytes_add(index, "\x01\x1b\x03", 3);
    bytes_number(index, encoding, 1);
    add_encoded(index, 0x1b, SECTION_ADDRESS);
    bytes_number(index, ENTRIES, 4);
    for (size_t i = 0; i < ENTRIES; i++) {
        add_encoded(index, encoding, start_of(i));
        add_encoded(index, encoding, SECTION_ADDRESS + many->fde_at[i]);
    }
    table.cfi.bytes = many->frames.at;
    table.cfi.size = many->frames.size;
    table.index = index->at;
    table.index_size = index->size;
    table.index_address = INDEX_ADDRESS;
    return table;
}

/* Function n by each of its bytes, and nothing in the gaps. */
static void check_function(const struct trail_cfi_table *table, size_t function)
{
    struct trail_cfi_row row;
    for (uint64_t offset = 0; offset < 16; offset++) {
        bool found = trail_cfi_find(table, start_of(function) + offset, &row);
        assert_int_equal(found, offset < 8);
        if (found) {
            assert_int_equal(row.cfa_value, 16 + function);
            assert_int_equal(row.start, start_of(function));
        }
    }
}

static void check_all(const struct trail_cfi_table *table)
{
    struct trail_cfi_row row;
    for (size_t i = 0; i < ENTRIES; i++)
        check_function(table, i);
    assert_false(trail_cfi_find(table, start_of(0) - 1, &row));
    assert_false(trail_cfi_find(table, start_of(ENTRIES), &row));
    assert_false(trail_cfi_find(table, 0, &row));
    assert_false(trail_cfi_find(table, UINT64_MAX, &row));
}

static void every_encoding_of_an_index_is_searched(void **state)
{
    (void)state;
    static const uint8_t encodings[] = { 0x3b, 0x3c, 0x33, 0x34, 0x03, 0x04,
                                         0x0b, 0x00, 0x1b, 0x1c, 0x30 };
    for (size_t i = 0; i < sizeof(encodings); i++) {
        static struct many many;
        struct trail_cfi_table table = make(&many, encodings[i]);
        check_all(&table);
    }
}

/* Where the index says what no search can use, entries are read one by one. */
static void without_a_usable_index_all_entries_are_read(void **state)
{
    (void)state;
    static struct many many;
    struct trail_cfi_table table = make(&many, 0x3b);
    many.index.at[0] = 2; /* a version that nobody knows */
    check_all(&table);
    make(&many, 0x3b);
    many.index.at[3] = 0xff; /* no table */
    check_all(&table);
    make(&many, 0x3b);
    many.index.at[3] = 0x31; /* ULEB: not of one width */
    check_all(&table);
    table.index = NULL;
    check_all(&table);
}

/* An index of a segment that also holds other things than .eh_frame. */
static void an_index_says_where_the_entries_begin(void **state)
{
    (void)state;
    static struct many many;
    static struct bytes segment;
    struct trail_cfi_table table = make(&many, 0xff);
    segment.size = 0;
    bytes_add(&segment, "\x05\x00\x00\x00junkjunkjunk", 16);
    bytes_add(&segment, many.frames.at, many.frames.size);
    bytes_number(&segment, 0, 4); /* its terminator */
    bytes_add(&segment, "junk", 4);
    table.cfi.bytes = segment.at;
    table.cfi.size = segment.size;
    table.cfi.address = SECTION_ADDRESS - 16;
    check_all(&table);
}

static void a_cut_index_has_the_functions_that_are_left(void **state)
{
    (void)state;
    static struct many many;
    struct trail_cfi_table table = make(&many, 0x3b);
    struct trail_cfi_row row;
    table.index_size = 12 + 8 * 50 + 3;
    for (size_t i = 0; i < 50; i++)
        check_function(&table, i);
    assert_false(trail_cfi_find(&table, start_of(50), &row));
    /* A header that is cut itself is none. */
    for (table.index_size = 0; table.index_size < 12; table.index_size++)
        check_function(&table, 99);
}

static void a_wrong_index_finds_nothing_or_what_is_right(void **state)
{
    (void)state;
    static struct many many;
    struct trail_cfi_table table = make(&many, 0x3b);
    for (size_t place = 0; place < 60; place++)
        for (unsigned bit = 0; bit < 8; bit++) {
            many.index.at[place] ^= (uint8_t)(1u << bit);
            for (size_t i = 0; i < ENTRIES; i += 7) {
                struct trail_cfi_row row;
                if (trail_cfi_find(&table, start_of(i), &row))
                    assert_int_equal(row.cfa_value, 16 + i);
            }
            many.index.at[place] ^= (uint8_t)(1u << bit);
        }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_encoding_of_an_index_is_searched),
    cmocka_unit_test(without_a_usable_index_all_entries_are_read),
    cmocka_unit_test(an_index_says_where_the_entries_begin),
    cmocka_unit_test(a_cut_index_has_the_functions_that_are_left),
    cmocka_unit_test(a_wrong_index_finds_nothing_or_what_is_right),
};

TRAIL_TEST_MAIN(tests)
