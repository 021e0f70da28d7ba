/* parts.c -- parts of the agent that need no agent: lines, times, tokens, bodies. */
#define _POSIX_C_SOURCE 200809L

#include "test.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/daemon/http_body.h"
#include "agent/daemon/http_rate.h"
#include "agent/daemon/http_tokens.h"
#include "agent/daemon/lines_cut.h"
#include "agent/daemon/stamp_text.h"

/* ---- lines -------------------------------------------------------------- */

static void lines_are_cut_at_newlines_and_blank_ones_left_out(void **unused)
{
    (void)unused;
    static const char text[] = "one\n\n  two \r\n\t\nthree";
    struct intake_item items[8];
    size_t rest = 0;
    assert_int_equal(lines_cut(text, sizeof(text) - 1, 7, items, 8, &rest), 3);
    assert_int_equal(rest, sizeof(text) - 1);
    assert_memory_equal(items[0].text, "one", 3);
    assert_int_equal(items[1].size, 3);
    assert_memory_equal(items[1].text, "two", 3);
    assert_int_equal(items[2].size, 5);
    assert_int_equal(items[2].uid, 7);
}

static void cutting_goes_on_where_it_had_to_end(void **unused)
{
    (void)unused;
    static const char text[] = "a\nb\nc\nd\ne\n";
    char seen[8] = "";
    size_t at = 0, rest = 0, count = 0;
    while (at < sizeof(text) - 1) {
        struct intake_item items[2];
        size_t got = lines_cut(text + at, sizeof(text) - 1 - at, 0, items, 2, &rest);
        for (size_t i = 0; i < got; i++)
            seen[count++] = items[i].text[0];
        assert_true(rest > 0);
        at += rest;
    }
    assert_string_equal(seen, "abcde");
}

static void no_lines_are_in_nothing(void **unused)
{
    (void)unused;
    struct intake_item items[2];
    size_t rest = 9;
    assert_int_equal(lines_cut("", 0, 0, items, 2, &rest), 0);
    assert_int_equal(rest, 0);
    assert_int_equal(lines_cut("\n \n", 3, 0, items, 2, &rest), 0);
    assert_int_equal(rest, 3);
}

/* ---- times -------------------------------------------------------------- */

static void a_time_is_written_and_read_in_utc(void **unused)
{
    (void)unused;
    uint64_t time_ns = 0;
    assert_string_equal(stamp_text(1700000000123456789u).text,
                        "2023-11-14T22:13:20.123Z");
    assert_string_equal(stamp_text(0).text, "-");
    assert_true(stamp_text_read("2023-11-14T22:13:20", &time_ns));
    assert_true(time_ns == 1700000000000000000u);
    assert_true(stamp_text_read("2023-11-14", &time_ns));
    assert_true(time_ns == 1699920000000000000u);
    assert_true(stamp_text_read("10m", &time_ns));
    assert_false(stamp_text_read("yesterday", &time_ns));
    assert_false(stamp_text_read("", &time_ns));
    assert_false(stamp_text_read("2023-11-14x", &time_ns));
}

/* ---- tokens ------------------------------------------------------------- */

static enum trail_status read_tokens(const char *text, mode_t mode,
                                     struct http_tokens **tokens,
                                     struct trail_error *err)
{
    char path[] = "/tmp/backtrail-tokens-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(fchmod(fd, mode), 0);
    enum trail_status status = http_tokens_read(path, tokens, err);
    close(fd);
    unlink(path);
    return status;
}

static void only_a_whole_token_lets_in(void **unused)
{
    (void)unused;
    struct http_tokens *tokens = NULL;
    struct trail_error err = { "" };
    assert_int_equal(read_tokens("# two\nabcdefghijklmnop\r\n\n0123456789abcdef", 0600,
                                 &tokens, &err),
                     TRAIL_OK);
    assert_true(http_tokens_let_in(tokens, "Bearer abcdefghijklmnop"));
    assert_true(http_tokens_let_in(tokens, "bearer 0123456789abcdef"));
    assert_false(http_tokens_let_in(tokens, "Bearer abcdefghijklmno"));
    assert_false(http_tokens_let_in(tokens, "Bearer abcdefghijklmnopq"));
    assert_false(http_tokens_let_in(tokens, "Bearer # two"));
    assert_false(http_tokens_let_in(tokens, "Bearer "));
    assert_false(http_tokens_let_in(tokens, "abcdefghijklmnop"));
    assert_false(http_tokens_let_in(tokens, "Basic abcdefghijklmnop"));
    assert_false(http_tokens_let_in(tokens, NULL));
    http_tokens_destroy(tokens);
}

static void a_file_of_tokens_that_is_no_good_is_refused(void **unused)
{
    (void)unused;
    struct http_tokens *tokens = NULL;
    struct trail_error err = { "" };
    assert_int_equal(read_tokens("short\n", 0600, &tokens, &err), TRAIL_BAD_INPUT);
    assert_non_null(strstr(err.text, ":1: a token has 16 to 255 characters"));
    assert_null(strstr(err.text, "short"));
    assert_int_equal(read_tokens("# none\n", 0600, &tokens, &err), TRAIL_BAD_INPUT);
    assert_int_equal(read_tokens("abcdefghijklmnop\n", 0644, &tokens, &err),
                     TRAIL_REFUSED);
    assert_int_equal(http_tokens_read("/nonexistent/tokens", &tokens, &err),
                     TRAIL_NOT_FOUND);
    assert_null(tokens);
}

/* ---- bodies ------------------------------------------------------------- */

static size_t pack(const char *text, size_t size, unsigned char *packed, size_t room)
{
    z_stream stream = { .next_in = (unsigned char *)(uintptr_t)text };
    stream.avail_in = (unsigned)size;
    stream.next_out = packed;
    stream.avail_out = (unsigned)room;
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    size_t used = stream.total_out;
    deflateEnd(&stream);
    return used;
}

static void a_packed_body_is_unpacked_however_it_is_parted(void **unused)
{
    (void)unused;
    static const char text[] = "a line\nand one more line, and one more line\n";
    unsigned char packed[256];
    size_t size = pack(text, sizeof(text) - 1, packed, sizeof(packed));
    for (size_t part = 1; part <= size; part++) {
        struct http_body *body = NULL;
        const char *bytes = NULL;
        size_t got = 0;
        assert_int_equal(http_body_create(true, 1000, NULL, &body, NULL), TRAIL_OK);
        for (size_t at = 0; at < size; at += part)
            assert_int_equal(http_body_add(body, (const char *)packed + at,
                                           size - at < part ? size - at : part, NULL),
                             TRAIL_OK);
        assert_int_equal(http_body_end(body, &bytes, &got, NULL), TRAIL_OK);
        assert_int_equal(got, sizeof(text) - 1);
        assert_memory_equal(bytes, text, got);
        http_body_destroy(body);
    }
}

static void a_packed_body_that_is_cut_off_is_no_body(void **unused)
{
    (void)unused;
    static const char text[] = "a line\nand one more line, and one more line\n";
    unsigned char packed[256];
    size_t size = pack(text, sizeof(text) - 1, packed, sizeof(packed));
    for (size_t cut = 0; cut < size; cut++) {
        struct http_body *body = NULL;
        const char *bytes = NULL;
        size_t got = 0;
        assert_int_equal(http_body_create(true, 1000, NULL, &body, NULL), TRAIL_OK);
        http_body_add(body, (const char *)packed, cut, NULL);
        assert_int_equal(http_body_end(body, &bytes, &got, NULL), TRAIL_BAD_INPUT);
        http_body_destroy(body);
    }
}

static void a_body_is_no_larger_than_it_may_be_unpacked(void **unused)
{
    (void)unused;
    static char zeros[100000];
    unsigned char packed[1000];
    struct trail_error err = { "" };
    struct http_body *body = NULL;
    size_t size = pack(zeros, sizeof(zeros), packed, sizeof(packed));
    assert_int_equal(http_body_create(true, 50000, NULL, &body, NULL), TRAIL_OK);
    assert_int_equal(http_body_add(body, (const char *)packed, size, &err),
                     TRAIL_REFUSED);
    assert_non_null(strstr(err.text, "larger than 50000 bytes"));
    assert_int_equal(http_body_add(body, "", 0, &err), TRAIL_REFUSED);
    http_body_destroy(body);
}

/* ---- rates -------------------------------------------------------------- */

static void a_client_has_its_own_share_of_requests(void **unused)
{
    (void)unused;
    struct http *http = calloc(1, sizeof(*http));
    assert_non_null(http);
    http->rate = 3;
    uint64_t one = http_rate_who("one", 3), other = http_rate_who("other", 5);
    unsigned taken = 0;
    for (unsigned i = 0; i < 1000; i++)
        taken += http_rate_take(http, one);
    assert_true(taken >= 3 && taken < 1000);
    assert_true(http_rate_take(http, other));
    http->rate = 0;
    assert_true(http_rate_take(http, one));
    free(http);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_are_cut_at_newlines_and_blank_ones_left_out),
    cmocka_unit_test(cutting_goes_on_where_it_had_to_end),
    cmocka_unit_test(no_lines_are_in_nothing),
    cmocka_unit_test(a_time_is_written_and_read_in_utc),
    cmocka_unit_test(only_a_whole_token_lets_in),
    cmocka_unit_test(a_file_of_tokens_that_is_no_good_is_refused),
    cmocka_unit_test(a_packed_body_is_unpacked_however_it_is_parted),
    cmocka_unit_test(a_packed_body_that_is_cut_off_is_no_body),
    cmocka_unit_test(a_body_is_no_larger_than_it_may_be_unpacked),
    cmocka_unit_test(a_client_has_its_own_share_of_requests),
};
TRAIL_TEST_MAIN(tests)
