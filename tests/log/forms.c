/* Every form of a stack line is resolved in place; what only looks like one stays. */
#include "log/log_test.h"

static void lines_of_glibc_are_resolved_at_the_call(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "./a.out(+0x1111)[0x55d0c1a01111]\n",
          "main at /src/a.c:17:5 [./a.out(+0x1111)][0x55d0c1a01111]\n" },
        { "./a.out(+0x1111) [0x55d0c1a01111]\n",
          "main at /src/a.c:17:5 [./a.out(+0x1111)] [0x55d0c1a01111]\n" },
        { "./a.out(main+0x1b)[0x55d0c1a0111b]\n",
          "main at /src/a.c:27:5 [./a.out(main+0x1b)][0x55d0c1a0111b]\n" },
        { "12:00 app[7]: /lib/libx.so.6(+0x1002)[0x7f0000001002] tail\n",
          "12:00 app[7]: leaf at /src/leaf.h:2:5 (inlined)\n"
          "12:00 app[7]: outer at /src/a.c:2:5 [/lib/libx.so.6(+0x1002)]"
          "[0x7f0000001002] tail\n" },
        { "./fixed() [0x401111]\n", "main at /src/a.c:17:5 [./fixed()] [0x401111]\n" },
        { "./fixed[0x401111]\n", "main at /src/a.c:17:5 [./fixed][0x401111]\n" },
        { "./a.out(+0x1210)[0x55d0c1a01210]\n",
          "bare [./a.out(+0x1210)][0x55d0c1a01210]\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void what_only_looks_like_glibc_stays(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "table[0x10] = call(+0x12)\n", NULL },
        { "f(a+b)[0x12]\n", NULL },
        { "(+0x1111)[0x55d0c1a01111]\n", NULL },
        { "./a.out(+0x1111)[0x55d0c1a01111\n", NULL },
        { "./a.out(+0x1111g)[0x55d0c1a01111]\n", NULL },
        { "./a.out(+0x)[0x55d0c1a01111]\n", NULL },
        { "./a.out(+0x11111111111111111)[0x55d0c1a01111]\n", NULL },
        { "./a.out(other+0x1b)[0x55d0c1a0111b]\n", NULL },
        { "./a.out() [0x1111]\n", NULL },
        { "./fixed() [0x901111]\n", NULL },
        { "[0x55d0c1a01111]\n", NULL },
        { "./missing(+0x1111)[0x55d0c1a01111]\n", NULL },
        { "./a.out(+0x9111)[0x55d0c1a09111]\n", NULL },
        { "fixed[0x401111]\n", NULL }, /* no path: an array */
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void lines_of_sanitizers_are_resolved_as_they_are_given(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "    #0 0x55d0c1a01110  (/srv/app+0x1110)\n",
          "    #0 0x55d0c1a01110  main at /src/a.c:17:5 [/srv/app+0x1110]\n" },
        { "    #3 0x55d0c1a01110 in x<y>(int) (/srv/app+0x1110) (BuildId: a2f2)\r\n",
          "    #3 0x55d0c1a01110 in main at /src/a.c:17:5 [/srv/app+0x1110] "
          "(BuildId: a2f2)\r\n" },
        { "    #1 <null> <null> (app+0x1110)\n",
          "    #1 main at /src/a.c:17:5 [app+0x1110]\n" },
        { "    #1 main <null> (app+0x1110) (BuildId: a2f2)\n",
          "    #1 main at /src/a.c:17:5 [app+0x1110] (BuildId: a2f2)\n" },
        { "    #2 0x55d0c1a01001  (/srv/my (old) dir/app+0x1001)\r\n",
          "    #2 0x55d0c1a01001  leaf at /src/leaf.h:2:5 (inlined)\r\n"
          "    #2 0x55d0c1a01001  outer at /src/a.c:2:5 "
          "[/srv/my (old) dir/app+0x1001]\r\n" },
        { "read (/etc/x) from (app+0x1110)\n",
          "read (/etc/x) from main at /src/a.c:17:5 [app+0x1110]\n" },
        { "see (/x (app+0x1110)\n", "see (/x main at /src/a.c:17:5 [app+0x1110]\n" },
        { "SUMMARY: AddressSanitizer: heap-buffer-overflow (/srv/app+0x1001) \n",
          "SUMMARY: AddressSanitizer: heap-buffer-overflow leaf at /src/leaf.h:2:5 "
          "[/srv/app+0x1001] \n" },
        { "    #0 0x55d0c1a01210 in bare (/srv/app+0x1210)\n", NULL },
        { "    #0 0x401110  (/srv/fixed+0x401110)",
          "    #0 0x401110  main at /src/a.c:17:5 [/srv/fixed+0x401110]" },
        /* LLVM's own crash report: return addresses. */
        { " #4 0x000055d0c1a01111 (/srv/app+0x1111)\n",
          " #4 0x000055d0c1a01111 main at /src/a.c:17:5 [/srv/app+0x1111]\n" },
        { " #5 0x000055d0c1a01111 run(int) (/srv/app+0x1111)\n",
          " #5 0x000055d0c1a01111 main at /src/a.c:17:5 [/srv/app+0x1111]\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void what_a_sanitizer_resolved_already_stays(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "    #3 0x55d0c1a01110 in main /src/b.c:5:3\n", NULL },
        { "    #3 0x55d0c1a01110 in main /src/b.c:5 (/srv/app+0x1110)\n", NULL },
        { "    #0 main /src/r.c:3:55 (app+0x1110) (BuildId: a2f2)\n", NULL },
        { "    #0 f (x) (app+0x1110)\n", NULL },
        { "sum (a+0x12) and (b +0x1110)\n", NULL },
        { "(a+0x1110\n", NULL },
        { "a (+0x1110)\n", NULL },
        { "addr=0x55d0c1a01110 flags=0x3\n", NULL },
        { "    #0 0x55d0c1a01110  (/srv/missing+0x1110)\n", NULL },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void lines_of_the_kernel_are_resolved(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "[   12.34]  main+0x11/0x100\n",
          "[   12.34]  main at /src/a.c:17:5 [main+0x11/0x100]\n" },
        { "[   12.34]  ? main+0x11/0x100 [mymod]\n",
          "[   12.34]  ? main at /src/a.c:17:5 [main+0x11/0x100] [mymod]\n" },
        { "RIP: 0010:main+0x11/0x100\n",
          "RIP: 0010:main at /src/a.c:18:5 [main+0x11/0x100]\n" },
        { "pc : main+0x11/0x100 [mymod 5f3e]\n",
          "pc : main at /src/a.c:18:5 [main+0x11/0x100] [mymod 5f3e]\n" },
        { "lr : main+0x11/0x100\n", "lr : main at /src/a.c:17:5 [main+0x11/0x100]\n" },
        { " main+0x0/0x100\n", " main at /src/a.c:1:5 [main+0x0/0x100]\n" },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void what_only_looks_like_the_kernel_stays(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { " main+0x11/0x200\n", NULL }, /* another size: another build */
        { " main+0x91/0x80\n", NULL },  /* outside of it */
        { " other+0x11/0x100\n", NULL }, { " 0xffff+0x11/0x100\n", NULL },
        { " main+0x11/0x100z\n", NULL }, { " main+0x11 /0x100\n", NULL },
        { " +0x11/0x100\n", NULL },      { " main+0x11/0x100 [missing]\n", NULL },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void lines_of_systemd_coredump_are_resolved(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "    #0  0x00007f4ad2f01110 n/a (libfoo.so + 0x1110)\n",
          "    #0  0x00007f4ad2f01110 main at /src/a.c:17:5 [libfoo.so + 0x1110]\n" },
        { "    #1  0x000055d0c1a01111 main (app + 0x1111)\n",
          "    #1  0x000055d0c1a01111 main at /src/a.c:17:5 [app + 0x1111]\n" },
        { "    #1  0x0000000000401111 main (fixed + 0x1111)\n",
          "    #1  0x0000000000401111 main at /src/a.c:17:5 [fixed + 0x1111]\n" },
        { "    #1  0x000055d0c1a01111 n/a (n/a + 0x1111)\n", NULL },
        { "    #1  0x000055d0c1a01111 main app + 0x1111)\n", NULL },
        { "    #1  main (app + 0x1111)\n", NULL },
        { "    #1  0x000055d0c1a01111 main (missing + 0x1111)\n", NULL },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static void lines_of_valgrind_are_resolved_where_it_puts_programs(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "==7==    at 0x109110: ??? (in /srv/app)\n",
          "==7==    at 0x109110: main at /src/a.c:17:5 [??? (in /srv/app)]\n" },
        { "12:00 ==7==    by 0x109001: outer (in /srv/my app)\r\n",
          "12:00 ==7==    by 0x109001: leaf at /src/leaf.h:2:5 (inlined)\r\n"
          "12:00 ==7==    by 0x109001: outer at /src/a.c:2:5 "
          "[outer (in /srv/my app)]\r\n" },
        { "==7==    by 0x401110: ??? (in /srv/fixed)\n",
          "==7==    by 0x401110: main at /src/a.c:17:5 [??? (in /srv/fixed)]\n" },
        { "==7==    by 0x109110: ??? (in /srv/libx.so)\n", NULL },
        { "==7==    by 0x209110: ??? (in /srv/app)\n", NULL }, /* behind its end */
        { "==7==    by 0x107fff: ??? (in /srv/app)\n", NULL },
        { "==7==    by 0x109110: main (a.c:5)\n", NULL },
        { "==7==    by 0x109110: ???\n", NULL },
        { "==7==    by 0x109110: ??? (in )\n", NULL },
        { "==x==    by 0x109110: ??? (in /srv/app)\n", NULL },
        { "==7==    of 0x109110: ??? (in /srv/app)\n", NULL },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
}

static const char mapped[] =
    "55d0c1a00000-55d0c1a05000 r-xp 00000000 08:01 7 /srv/app\n";

static void run_time_addresses_are_resolved_where_a_map_is_known(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "#0  0x000055d0c1a01110 in ?? ()\n",
          "#0  0x000055d0c1a01110 in main at /src/a.c:17:5 [?? ()]\n" },
        { "#1  0x000055d0c1a01111 in main (argc=1) from /srv/app\n",
          "#1  0x000055d0c1a01111 in main at /src/a.c:17:5 [main (argc=1) from "
          "/srv/app]\n" },
        { "[0x55d0c1a01111]\n", "main at /src/a.c:17:5 [0x55d0c1a01111]\n" },
        { "   5:     0x55d0c1a01111 - <unknown>\n",
          "   5:     0x55d0c1a01111 - main at /src/a.c:17:5 [<unknown>]\n" },
        { "#0  0x000055d0c1a01110 in main () at a.c:5\n", NULL },
        { "#0  0x000055d0c1b01110 in ?? ()\n", NULL }, /* behind the mapping */
        { "#0  0x000055d0c19fffff in ?? ()\n", NULL }, /* before it */
        { "got [0x55d0c1a01111] back\n", NULL },
        { "   x:     0x55d0c1a01111 - <unknown>\n", NULL },
        { "   5:     0x55d0c1a01111 - <unknown> or so\n", NULL },
    };
    assert_rows(NO_OPTIONS, mapped, ROWS(rows));
    assert_comes_out(NO_OPTIONS, "", rows[0].in, NULL);
}

static void an_address_that_cannot_be_the_offset_is_refused(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "./a.out(+0x1111)[0x55d0c1a01112]\n", NULL },
        { "./a.out(main+0x1b)[0x55d0c1a0111c]\n", NULL },
        { "    #0 0x55d0c1a01111  (/srv/app+0x1110)\n", NULL },
        { "    #0 0x402110  (/srv/fixed+0x401110)\n", NULL },
        { "    #0  0x00007f4ad2f01111 n/a (libfoo.so + 0x1110)\n", NULL },
    };
    assert_rows(NO_OPTIONS, "", ROWS(rows));
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    for (int i = 0; i < 3; i++)
        fake_log_feed(log, rows[0].in, strlen(rows[0].in), 0);
    fake_log_end(log);
    assert_string_equal(log->notes,
                        "./a.out: 0x55d0c1a01112 cannot be its 0x1111: it is of "
                        "another build; give that one's with --symbols DIR\n");
    fake_log_destroy(log);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_of_glibc_are_resolved_at_the_call),
    cmocka_unit_test(what_only_looks_like_glibc_stays),
    cmocka_unit_test(lines_of_sanitizers_are_resolved_as_they_are_given),
    cmocka_unit_test(what_a_sanitizer_resolved_already_stays),
    cmocka_unit_test(lines_of_the_kernel_are_resolved),
    cmocka_unit_test(what_only_looks_like_the_kernel_stays),
    cmocka_unit_test(lines_of_systemd_coredump_are_resolved),
    cmocka_unit_test(lines_of_valgrind_are_resolved_where_it_puts_programs),
    cmocka_unit_test(run_time_addresses_are_resolved_where_a_map_is_known),
    cmocka_unit_test(an_address_that_cannot_be_the_offset_is_refused),
};
TRAIL_TEST_MAIN(tests)
