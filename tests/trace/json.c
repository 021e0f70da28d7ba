/* json.c -- JSON written into buffers of fixed size. */
#include "core/trace/json_write.h"
#include "test.h"

/* Everything the writer can write, in one object. */
static void write_all(struct trail_json *json)
{
    static const uint8_t bytes[] = { 0x00, 0x7f, 0xff };
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "text", "a\"b\\c\n");
    trail_json_text(json, "bad", (struct trail_text){ "x\xffy", 3 });
    trail_json_number(json, "least", INT64_MIN);
    trail_json_number(json, "most", INT64_MAX);
    trail_json_bool(json, "yes", true);
    trail_json_open(json, "list", '[');
    trail_json_address(json, NULL, UINT64_MAX);
    trail_json_decimal(json, NULL, UINT64_MAX);
    trail_json_null(json, NULL);
    trail_json_close(json, ']');
    trail_json_open(json, "none", '[');
    trail_json_close(json, ']');
    trail_json_hex(json, "hex", bytes, sizeof(bytes));
    trail_json_bool(json, "no", false);
    trail_json_close(json, '}');
}

static const char all[] = "{\"text\":\"a\\\"b\\\\c\\u000a\","
                          "\"bad\":\"x\xef\xbf\xbdy\",\"bad_hex\":\"78ff79\","
                          "\"least\":-9223372036854775808,"
                          "\"most\":9223372036854775807,\"yes\":true,"
                          "\"list\":[\"0xffffffffffffffff\","
                          "\"18446744073709551615\",null],"
                          "\"none\":[],\"hex\":\"007fff\",\"no\":false}";

static void every_kind_of_value_is_written_as_json_has_it(void **state)
{
    (void)state;
    char text[512] = "";
    struct trail_json json;

    trail_json_init(&json, text, sizeof(text));
    write_all(&json);
    assert_true(trail_json_fits(&json));
    assert_int_equal(json.size, strlen(all));
    assert_string_equal(text, all);
}

static void what_does_not_fit_is_counted_and_never_written(void **state)
{
    (void)state;
    for (size_t room = 0; room <= strlen(all) + 1; room++) {
        char *text = malloc(room + 1); /* the sanitizer guards its end */
        struct trail_json json;
        assert_non_null(text);
        memset(text, 0x55, room + 1);
        trail_json_init(&json, text, room);
        write_all(&json);
        assert_int_equal(json.size, strlen(all));
        assert_int_equal(trail_json_fits(&json), room >= strlen(all));
        assert_int_equal(text[room], 0x55);
        if (trail_json_fits(&json))
            assert_memory_equal(text, all, strlen(all));
        free(text);
    }
}

/* One string as it comes out, without its key. */
static const char *written(struct trail_text given)
{
    static char text[256];
    struct trail_json json;
    memset(text, 0, sizeof(text));
    trail_json_init(&json, text, sizeof(text) - 1);
    trail_json_text(&json, NULL, given);
    return text;
}

static void control_characters_are_escaped_and_others_kept(void **state)
{
    (void)state;
    for (unsigned c = 0; c < 0x80; c++) {
        char one = (char)c, want[16];
        if (c < 0x20)
            snprintf(want, sizeof(want), "\"\\u%04x\"", c);
        else if (c == '"' || c == '\\')
            snprintf(want, sizeof(want), "\"\\%c\"", (int)c);
        else
            snprintf(want, sizeof(want), "\"%c\"", (int)c);
        assert_string_equal(written((struct trail_text){ &one, 1 }), want);
    }
}

static void bytes_that_are_not_utf8_are_replaced_one_by_one(void **state)
{
    (void)state;
#define LOST "\xef\xbf\xbd"
    static const struct {
        const char *given, *want;
    } rows[] = {
        { "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
          "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80" },
        { "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" },  /* the last code point */
        { "\xf4\x90\x80\x80", LOST LOST LOST LOST }, /* beyond it */
        { "\xc0\xaf", LOST LOST },                   /* overlong */
        { "\xe0\x80\xaf", LOST LOST LOST },          /* overlong */
        { "\xed\xa0\x80", LOST LOST LOST },          /* a surrogate */
        { "\x80z", LOST "z" },                       /* not a first byte */
        { "\xe2\x82", LOST LOST },                   /* cut off */
        { "\xe2\x82z", LOST LOST "z" },              /* broken off */
        { "\xff\xfe", LOST LOST },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char want[64];
        snprintf(want, sizeof(want), "\"%s\"", rows[i].want);
        assert_string_equal(written(trail_text_of(rows[i].given)), want);
    }
}

static void keys_are_escaped_as_well(void **state)
{
    (void)state;
    char text[128] = "";
    struct trail_json json;

    trail_json_init(&json, text, sizeof(text));
    trail_json_number(&json, "a\"\x01\xff", 1);
    trail_json_text(&json, "k\"", (struct trail_text){ "\xff", 1 });
    assert_string_equal(text, "\"a\\\"\\u0001" LOST "\":1,\"k\\\"\":\"" LOST
                              "\",\"k\\\"_hex\":\"ff\"");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_kind_of_value_is_written_as_json_has_it),
    cmocka_unit_test(what_does_not_fit_is_counted_and_never_written),
    cmocka_unit_test(control_characters_are_escaped_and_others_kept),
    cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_one_by_one),
    cmocka_unit_test(keys_are_escaped_as_well),
};
TRAIL_TEST_MAIN(tests)
