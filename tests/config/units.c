/* units.c -- sizes, durations and counts: what is read, and what is refused. */
#include "tests/test.h"
#include "config/units.h"

struct row {
    const char *text;
    enum trail_status status;
    uint64_t number;
};

typedef enum trail_status parse_fn(const char *text, uint64_t *number_ret);

static void check(const struct row *rows, size_t count, parse_fn *parse)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t number = 77; /* stays if nothing is read */
        enum trail_status status = parse(rows[i].text, &number);
        uint64_t wanted = rows[i].status ? 77 : rows[i].number;
        if (status != rows[i].status || number != wanted)
            fail_msg("\"%s\": status %d, number %llu", rows[i].text, (int)status,
                     (unsigned long long)number);
    }
}

static void sizes_are_bytes_or_a_number_with_a_binary_unit(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "0", TRAIL_OK, 0 },
        { "4096", TRAIL_OK, 4096 },
        { "4096B", TRAIL_OK, 4096 },
        { "64KiB", TRAIL_OK, 65536 },
        { "16MiB", TRAIL_OK, 16777216 },
        { "1GiB", TRAIL_OK, 1073741824 },
        { "007KiB", TRAIL_OK, 7168 },
        { "18446744073709551615", TRAIL_OK, UINT64_MAX },
        { "17179869183GiB", TRAIL_OK, UINT64_C(17179869183) << 30 },
    };
    check(rows, sizeof(rows) / sizeof(*rows), trail_parse_size);
}

static void what_is_not_a_size_is_refused(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "", TRAIL_BAD_INPUT, 0 },       { "KiB", TRAIL_BAD_INPUT, 0 },
        { "16MB", TRAIL_BAD_INPUT, 0 },   { "16M", TRAIL_BAD_INPUT, 0 },
        { "16mib", TRAIL_BAD_INPUT, 0 },  { "16 MiB", TRAIL_BAD_INPUT, 0 },
        { " 16", TRAIL_BAD_INPUT, 0 },    { "-1", TRAIL_BAD_INPUT, 0 },
        { "+1", TRAIL_BAD_INPUT, 0 },     { "1.5GiB", TRAIL_BAD_INPUT, 0 },
        { "0x10", TRAIL_BAD_INPUT, 0 },   { "1e3", TRAIL_BAD_INPUT, 0 },
        { "16MiBx", TRAIL_BAD_INPUT, 0 }, { "5s", TRAIL_BAD_INPUT, 0 },
    };
    check(rows, sizeof(rows) / sizeof(*rows), trail_parse_size);
}

static void a_size_over_64_bits_is_told_apart_from_no_size(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "18446744073709551616", TRAIL_UNSUPPORTED, 0 },
        { "17179869184GiB", TRAIL_UNSUPPORTED, 0 },
        { "18014398509481984KiB", TRAIL_UNSUPPORTED, 0 },
        { "99999999999999999999999999999999999999MiB", TRAIL_UNSUPPORTED, 0 },
        { "99999999999999999999999999999999999999MB", TRAIL_BAD_INPUT, 0 },
    };
    check(rows, sizeof(rows) / sizeof(*rows), trail_parse_size);
}

static void durations_are_nanoseconds_and_need_a_unit(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "10ns", TRAIL_OK, 10 },
        { "500us", TRAIL_OK, 500000 },
        { "200ms", TRAIL_OK, 200000000 },
        { "5s", TRAIL_OK, UINT64_C(5000000000) },
        { "2m", TRAIL_OK, UINT64_C(120000000000) },
        { "1h", TRAIL_OK, UINT64_C(3600000000000) },
        { "0s", TRAIL_OK, 0 },
        { "5124095h", TRAIL_OK, UINT64_C(18446742000000000000) },
        { "5124096h", TRAIL_UNSUPPORTED, 0 },
        { "18446744073709551616ns", TRAIL_UNSUPPORTED, 0 },
        { "5", TRAIL_BAD_INPUT, 0 },
        { "s", TRAIL_BAD_INPUT, 0 },
        { "5 s", TRAIL_BAD_INPUT, 0 },
        { "5sec", TRAIL_BAD_INPUT, 0 },
        { "1h30m", TRAIL_BAD_INPUT, 0 },
        { "-5s", TRAIL_BAD_INPUT, 0 },
        { "", TRAIL_BAD_INPUT, 0 },
    };
    check(rows, sizeof(rows) / sizeof(*rows), trail_parse_duration);
}

static void counts_are_digits_alone(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "0", TRAIL_OK, 0 },
        { "18446744073709551615", TRAIL_OK, UINT64_MAX },
        { "18446744073709551616", TRAIL_UNSUPPORTED, 0 },
        { "1.0", TRAIL_BAD_INPUT, 0 },
        { "1KiB", TRAIL_BAD_INPUT, 0 },
        { "-1", TRAIL_BAD_INPUT, 0 },
    };
    check(rows, sizeof(rows) / sizeof(*rows), trail_parse_count);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(sizes_are_bytes_or_a_number_with_a_binary_unit),
    cmocka_unit_test(what_is_not_a_size_is_refused),
    cmocka_unit_test(a_size_over_64_bits_is_told_apart_from_no_size),
    cmocka_unit_test(durations_are_nanoseconds_and_need_a_unit),
    cmocka_unit_test(counts_are_digits_alone),
};
TRAIL_TEST_MAIN(tests)
