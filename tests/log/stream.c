/* A log comes out as it went in, whatever it holds, and however it comes. */
#include "log/log_test.h"

static const char mixed[] =
    "plain\r\n\n\xff\xfe\x80 bytes\n"
    "{{{module:0:app:elf:ab}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0x1000}}}\n"
    "{{{bt:0:0x1001:pc}}} x\r\n./a.out(+0x1111)[0x55d0c1a01111]\n"
    "  #0 0x401001  (/srv/fixed+0x401001)\r\n0x {{{ -xp \nlast 0x12";

static struct fake_log *fed(const char *bytes, size_t size, size_t chunk)
{
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    assert_non_null(log);
    fake_log_feed(log, bytes, size, chunk);
    fake_log_end(log);
    return log;
}

static void the_output_is_the_same_wherever_reads_are_cut(void **unused)
{
    (void)unused;
    struct fake_log *whole = fed(mixed, sizeof(mixed) - 1, 0);
    assert_contains(whole->out, "leaf at /src/leaf.h:2:5 (inlined)\r\n");
    for (size_t chunk = 1; chunk < sizeof(mixed); chunk++) {
        struct fake_log *log = fed(mixed, sizeof(mixed) - 1, chunk);
        assert_string_equal(log->out, whole->out);
        fake_log_destroy(log);
    }
    fake_log_destroy(whole);
}

static void bytes_of_every_kind_stay(void **unused)
{
    (void)unused;
    char bytes[4096];
    uint32_t state = 1;
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            state = state * 1103515245u + 12345u;
            /* Mostly what the search is for, and zero bytes. */
            bytes[i] = round % 2 ? (char)(state >> 16)
                                 : "0x{}-p \n\r:+([])\0#"[(state >> 16) % 18];
        }
        struct fake_log *log = fed(bytes, sizeof(bytes), (size_t)round * 13);
        assert_int_equal(log->out_size, sizeof(bytes));
        assert_memory_equal(log->out, bytes, sizeof(bytes));
        fake_log_destroy(log);
    }
}

/* A line of `size` bytes, with a stack line's text at its end. */
static char *long_line(size_t size)
{
    static const char text[] = " ./a.out(+0x1111)[0x55d0c1a01111]";
    char *line = malloc(size + 2);
    assert_non_null(line);
    memset(line, '.', size);
    memcpy(line + size - (sizeof(text) - 1), text, sizeof(text) - 1);
    memcpy(line + size, "\n", 2);
    return line;
}

static void a_line_over_the_limit_passes_unresolved_however_it_comes(void **unused)
{
    (void)unused;
    static const size_t sizes[] = { LOG_LINE_LIMIT, LOG_LINE_LIMIT + 1,
                                    LOG_LINE_LIMIT + 2, LOG_BLOCK_SIZE,
                                    3 * LOG_BLOCK_SIZE };
    static const size_t chunks[] = { 0, 1000, 4096, LOG_LINE_LIMIT - 1,
                                     LOG_LINE_LIMIT };
    for (size_t i = 0; i < 5; i++) {
        char *line = long_line(sizes[i]);
        for (size_t j = 0; j < 5; j++) {
            struct fake_log *log = fed(line, sizes[i] + 1, chunks[j]);
            bool resolved = strstr(log->out, "main at /src/a.c") != NULL;
            assert_int_equal(resolved, sizes[i] <= LOG_LINE_LIMIT);
            if (!resolved)
                assert_string_equal(log->out, line);
            fake_log_destroy(log);
        }
        free(line);
    }
}

static void a_line_of_the_limit_may_end_with_two_bytes(void **unused)
{
    (void)unused;
    char *line = long_line(LOG_LINE_LIMIT + 1);
    memmove(line, line + 1, LOG_LINE_LIMIT);
    line[LOG_LINE_LIMIT] = '\r';
    struct fake_log *log = fed(line, LOG_LINE_LIMIT + 2, LOG_LINE_LIMIT + 1);
    assert_contains(log->out, "main at /src/a.c:17:5 [./a.out(+0x1111)]");
    fake_log_destroy(log);
    free(line);
}

static void the_line_after_a_long_one_is_resolved(void **unused)
{
    (void)unused;
    static const char next[] = "./a.out(+0x1111)[0x55d0c1a01111]\n";
    char *line = long_line(LOG_LINE_LIMIT * 2);
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    fake_log_feed(log, line, strlen(line), 5000);
    fake_log_feed(log, next, strlen(next), 7);
    fake_log_end(log);
    assert_string_equal(log->out + strlen(line),
                        "main at /src/a.c:17:5 [./a.out(+0x1111)][0x55d0c1a01111]\n");
    fake_log_destroy(log);
    free(line);
}

static void a_begun_line_is_written_when_nothing_comes(void **unused)
{
    (void)unused;
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    fake_log_feed(log, "one\npass", 8, 0);
    assert_string_equal(log->out, "one\n");
    log_block_idle(&log->block);
    assert_string_equal(log->out, "one\npass");
    log_block_idle(&log->block);
    fake_log_feed(log, " ./a.out(+0x1111)[0x55d0c1a01111]", 33, 0);
    assert_string_equal(log->out, "one\npass ./a.out(+0x1111)[0x55d0c1a01111]");
    fake_log_feed(log, "\n./a.out(+0x1111)[0x55d0c1a01111]\n", 34, 0);
    assert_contains(log->out, "01111]\nmain at /src/a.c:17:5 [./a.out(+0x1111)]");
    fake_log_destroy(log);
}

static void what_is_asked_again_is_not_looked_up_again(void **unused)
{
    (void)unused;
    static const char line[] = "./a.out(+0x1111)[0x55d0c1a01111]\n";
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    for (int i = 0; i < 1000; i++)
        fake_log_feed(log, line, sizeof(line) - 1, 0);
    assert_int_equal(log->lookup_count, 1);
    fake_log_destroy(log);
}

static void answers_are_kept_within_bounds(void **unused)
{
    (void)unused;
    char line[128];
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    for (unsigned i = 0; i < 200000; i++) {
        int size = snprintf(line, sizeof(line), "  (/srv/app+0x%x)\n", i);
        fake_log_feed(log, line, (size_t)size, 0);
    }
    assert_int_equal(log->lookup_count, 200000);
    assert_true(log->filter.answers.bytes <= LOG_ANSWER_SLOTS * 512);
    log_answers_clear(&log->filter.answers);
    assert_int_equal(log->filter.answers.bytes, 0);
    fake_log_destroy(log);
}

static void untouched_lines_are_lent_in_one_piece(void **unused)
{
    (void)unused;
    static char text[LOG_BLOCK_SIZE];
    memset(text, 'a', sizeof(text));
    for (size_t i = 99; i < sizeof(text); i += 100)
        text[i] = '\n';
    text[sizeof(text) - 1] = '\n';
    memcpy(text + 500, "addr=0x12", 9); /* looked at, and left */
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    memcpy(log_block_room(&log->block), text, sizeof(text));
    log_filter_lines(&log->filter,
                     (struct trail_text){ log->block.bytes, sizeof(text) });
    assert_int_equal(log->filter.out.count, 1);
    assert_int_equal(log->filter.out.used, 0);
    assert_ptr_equal(log->filter.out.spans[0].data, log->block.bytes);
    log_out_flush(&log->filter.out);
    fake_log_destroy(log);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_output_is_the_same_wherever_reads_are_cut),
    cmocka_unit_test(bytes_of_every_kind_stay),
    cmocka_unit_test(a_line_over_the_limit_passes_unresolved_however_it_comes),
    cmocka_unit_test(a_line_of_the_limit_may_end_with_two_bytes),
    cmocka_unit_test(the_line_after_a_long_one_is_resolved),
    cmocka_unit_test(a_begun_line_is_written_when_nothing_comes),
    cmocka_unit_test(what_is_asked_again_is_not_looked_up_again),
    cmocka_unit_test(answers_are_kept_within_bounds),
    cmocka_unit_test(untouched_lines_are_lent_in_one_piece),
};
TRAIL_TEST_MAIN(tests)
