/* Several entries of a stack on one line, and stacks inside of strings. */
#include "log/log_test.h"

static void every_entry_of_a_line_is_resolved(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "a.out(+0x1111)[0x55d0c1a01111] <- a.out(+0x9111)[0x55d0c1a09111] <- "
          "a.out(main+0x2)[0x55d0c1a01102] end\n",
          "main at /src/a.c:17:5 [a.out(+0x1111)][0x55d0c1a01111] <- "
          "a.out(+0x9111)[0x55d0c1a09111] <- "
          "main at /src/a.c:2:5 [a.out(main+0x2)][0x55d0c1a01102] end\n" },
        { "#0 0x55d0c1a01110 in f (/srv/app+0x1110) #1 0x55d0c1a01001 in g "
          "(/srv/app+0x1001)\r\n",
          "#0 0x55d0c1a01110 in main at /src/a.c:17:5 [/srv/app+0x1110] #1 "
          "0x55d0c1a01001 in leaf at /src/leaf.h:2:5 (inlined by) outer at "
          "/src/a.c:2:5 [/srv/app+0x1001]\r\n" },
        { "x main+0x11/0x100 y nothing+0x1/0x2 z main+0x12/0x100\n",
          "x main at /src/a.c:17:5 [main+0x11/0x100] y nothing+0x1/0x2 z "
          "main at /src/a.c:18:5 [main+0x12/0x100]\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void the_address_behind_an_entry_is_none_of_its_own(void **unused)
{
    (void)unused;
    static const char mapped[] =
        "55d0c1a00000-55d0c1a05000 r-xp 00000000 08:01 7 /srv/app\n";
    assert_comes_out(NO_OPTIONS, mapped, "./a.out(+0x1111)[0x55d0c1a01111]\n",
                     "main at /src/a.c:17:5 [./a.out(+0x1111)][0x55d0c1a01111]\n");
}

static void a_stack_in_a_string_is_resolved_line_by_line(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "{\"log\":\"#0 0x55d0c1a01001  (/srv/app+0x1001)\\n\",\"n\":\"e\"}\n",
          "{\"log\":\"#0 0x55d0c1a01001  leaf at /src/leaf.h:2:5 (inlined)\\n"
          "#0 0x55d0c1a01001  outer at /src/a.c:2:5 [/srv/app+0x1001]\\n\","
          "\"n\":\"e\"}\n" },
        { "{ \"m\": \"died\\n #1 0x55d0c1a01110 in f (/srv/app+0x1110)\\r\\n"
          " #2 0x55d0c1a01120 in f (/srv/app+0x1120)\", \"x\": 1 }\n",
          "{ \"m\": \"died\\n #1 0x55d0c1a01110 in main at /src/a.c:17:5 "
          "[/srv/app+0x1110]\\r\\n #2 0x55d0c1a01120 in main at /src/a.c:33:5 "
          "[/srv/app+0x1120]\", \"x\": 1 }\n" },
        { "msg=\"\\n./a.out(+0x1002)[0x55d0c1a01002]\"\n",
          "msg=\"\\nleaf at /src/leaf.h:2:5 (inlined)\\nouter at /src/a.c:2:5 "
          "[./a.out(+0x1002)][0x55d0c1a01002]\"\n" },
        { "{\"s\":\"./a.out(+0x1002)[0x55d0c1a01002]\"}",
          "{\"s\":\"leaf at /src/leaf.h:2:5 (inlined)\\nouter at /src/a.c:2:5 "
          "[./a.out(+0x1002)][0x55d0c1a01002]\"}" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void a_string_in_a_string_has_its_own_line_feeds(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "{\"log\":\"{\\\"m\\\":\\\"x\\\\n#0 0x1001 (/srv/app+0x1001)\\\"}\\n\"}\n",
          "{\"log\":\"{\\\"m\\\":\\\"x\\\\n#0 0x1001 leaf at /src/leaf.h:2:5 "
          "(inlined)\\\\n#0 0x1001 outer at /src/a.c:2:5 [/srv/app+0x1001]"
          "\\\"}\\n\"}\n" },
        { "{\"log\":\"in \\\"x\\\" #0 0x1001 (/srv/app+0x1001)\\n\"}\n",
          "{\"log\":\"in \\\"x\\\" #0 0x1001 leaf at /src/leaf.h:2:5 (inlined)\\n"
          " #0 0x1001 outer at /src/a.c:2:5 [/srv/app+0x1001]\\n\"}\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void what_is_written_into_a_string_is_escaped(void **unused)
{
    (void)unused;
    assert_comes_out(NO_OPTIONS, "", "{\"s\":\"./a.out(+0x1300)[0x55d0c1a01310]\"}\n",
                     NULL);
    assert_comes_out(NO_OPTIONS, "", "./a.out(+0x1310)[0x55d0c1a01310]\n",
                     "operator\"\"_x at /src/a\\b.c:16:5 "
                     "[./a.out(+0x1310)][0x55d0c1a01310]\n");
    assert_comes_out(NO_OPTIONS, "", "{\"s\":\"./a.out(+0x1310)[0x55d0c1a01310]\"}\n",
                     "{\"s\":\"operator\\\"\\\"_x at /src/a\\\\b.c:16:5 "
                     "[./a.out(+0x1310)][0x55d0c1a01310]\"}\n");
    assert_comes_out(
        NO_OPTIONS, "", "{\"s\":\"x\\\\n./a.out(+0x1310)[0x55d0c1a01310]\"}\n",
        "{\"s\":\"x\\\\noperator\\\\\\\"\\\\\\\"_x at /src/a\\\\\\\\b.c:16:5 "
        "[./a.out(+0x1310)][0x55d0c1a01310]\"}\n");
}

static void a_path_with_blanks_is_taken_where_there_is_such_a_file(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "x /opt/my dir/app(+0x1111)[0x55d0c1a01111]\n",
          "x main at /src/a.c:17:5 [/opt/my dir/app(+0x1111)][0x55d0c1a01111]\n" },
        { "x /missing/my dir/app(+0x1111)[0x55d0c1a01111]\n",
          "x /missing/my main at /src/a.c:17:5 "
          "[dir/app(+0x1111)][0x55d0c1a01111]\n" },
        { "see /etc/x: ./a.out(+0x1111)[0x55d0c1a01111]\n",
          "see /etc/x: main at /src/a.c:17:5 [./a.out(+0x1111)][0x55d0c1a01111]\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void a_module_that_was_deleted_is_taken_and_told(void **unused)
{
    (void)unused;
    static const char in[] = "/srv/app (deleted)(+0x1111)[0x55d0c1a01111]\n"
                             "    #3 0x1110 in x (/srv/app (deleted)+0x1110)\n"
                             "#1  0x000055d0c1a01111 main (app (deleted) + 0x1111)\n";
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    fake_log_feed(log, in, sizeof(in) - 1, 0);
    fake_log_end(log);
    assert_string_equal(
        log->out,
        "main at /src/a.c:17:5 [/srv/app (deleted)(+0x1111)][0x55d0c1a01111]\n"
        "    #3 0x1110 in main at /src/a.c:17:5 [/srv/app (deleted)+0x1110]\n"
        "#1  0x000055d0c1a01111 main at /src/a.c:17:5 [app (deleted) + 0x1111]\n");
    assert_contains(log->notes, "/srv/app: was deleted while it ran");
    assert_contains(log->notes, "\napp: was deleted while it ran");
    fake_log_destroy(log);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_entry_of_a_line_is_resolved),
    cmocka_unit_test(the_address_behind_an_entry_is_none_of_its_own),
    cmocka_unit_test(a_stack_in_a_string_is_resolved_line_by_line),
    cmocka_unit_test(a_string_in_a_string_has_its_own_line_feeds),
    cmocka_unit_test(what_is_written_into_a_string_is_escaped),
    cmocka_unit_test(a_path_with_blanks_is_taken_where_there_is_such_a_file),
    cmocka_unit_test(a_module_that_was_deleted_is_taken_and_told),
};
TRAIL_TEST_MAIN(tests)
