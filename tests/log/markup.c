/* Markup is resolved wherever it stands; what is none stays. */
#include "log/log_test.h"

#define CONTEXT                                                                        \
    "{{{module:0:app:elf:ab12}}}\n{{{mmap:0x55d0c1a00000:0x5000:load:0:rx:0x0}}}\n"

/* What the context comes out as. */
#define TOLD                                                                           \
    "[[[ELF module #0x0 \"app\"; BuildID=ab12 "                                        \
    "[0x55d0c1a00000-0x55d0c1a04fff](rx)]]]\n"

static void assert_with_context(const struct log_row *rows, size_t count)
{
    char in[1024], out[1024];
    for (size_t i = 0; i < count; i++) {
        const char *expected = rows[i].out ? rows[i].out : rows[i].in;
        snprintf(in, sizeof(in), "%s%s", CONTEXT, rows[i].in);
        snprintf(out, sizeof(out), "%s%s", TOLD, expected);
        assert_comes_out(MARKUP_ONLY, "", in, out);
        assert_comes_out(NO_OPTIONS, "", in, out);
    }
}

static void elements_are_resolved_wherever_they_stand(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "{{{bt:0:0x55d0c1a01110:pc}}}\n",
          "    #0    0x000055d0c1a01110 main /src/a.c:17:5 (app+0x1110)\n" },
        { "  {{{bt:12:0x55D0C1A01111:ra}}} tail\r\n",
          "     #12    0x000055d0c1a01110 main /src/a.c:17:5 (app+0x1110) tail\r\n" },
        { "{{{bt:1:0x55d0c1a01111}}}\n",
          "    #1    0x000055d0c1a01110 main /src/a.c:17:5 (app+0x1110)\n" },
        { "{{{bt:3:0x55d0c1a01001:pc}}}\r\n",
          "    #3.1  0x000055d0c1a01001 leaf /src/leaf.h:2:5 (app+0x1001)\r\n"
          "    #3    0x000055d0c1a01001 outer /src/a.c:2:5 (app+0x1001)\r\n" },
        { "{{{bt:3:0x55d0c1a01211}}}\n",
          "    #3    0x000055d0c1a01210 bare (app+0x1210)\n" },
        { "{{{bt:3:0x55d0c1a04000}}}\n",
          "    #3    0x000055d0c1a03fff (app+0x3fff)\n" },
        { "at {{{pc:0x55d0c1a01110}}}, {{{pc:0x55d0c1a01111:ra}}}.",
          "at main[/src/a.c:17], main[/src/a.c:17]." },
        { "{{{pc:0x55d0c1a01210:pc}}}\n", "bare\n" },
        { "{{{symbol:_ZN3geo6originE}}} {{{symbol:main}}} {{{symbol:}}}\n",
          "geo::origin main \n" },
        { "{{{data:0x55d0c1a02004}}}\n", "geo::origin\n" },
        { "{{{{pc:0x55d0c1a01110}}}}\n", "{main[/src/a.c:17]}\n" },
        { "{{{bt {{{pc:0x55d0c1a01110}}}\n", "{{{bt main[/src/a.c:17]\n" },
    };
    assert_with_context(ROWS(rows));
}

static void what_cannot_be_resolved_stands_in_brackets(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "{{{bt:3:0x1234:pc}}}\n", "[[[bt:3:0x1234:pc]]]\n" },
        { "{{{pc:0x55d0c1a05000}}}\n", "[[[pc:0x55d0c1a05000]]]\n" },
        { "{{{bt:1:0}}}\n", "[[[bt:1:0]]]\n" },
        { "{{{pc:0x55d0c1a04000}}}\n", "[[[pc:0x55d0c1a04000]]]\n" },
        { "{{{data:0x55d0c1a04000}}}\n", "[[[data:0x55d0c1a04000]]]\n" },
    };
    assert_with_context(ROWS(rows));
}

static void what_is_no_element_stays(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "{{{foo}}} {{{foo:bar}}} {{{Pc:0x55d0c1a01110}}} {{{}}} {{{:}}}\n", NULL },
        { "{{{bt:1}}} {{{bt:x:0x1}}} {{{bt:1:zz}}} {{{bt:1:0x12:zz}}}\n", NULL },
        { "{{{pc:55d0c1a01110}}} {{{pc:0x}}} {{{pc:}}} {{{pc}}} {{{data}}}\n", NULL },
        { "{{{pc:0x11111111111111111}}} {{{bt:99999999999999999999:0x1}}}\n", NULL },
        { "{{{pc:0x55d0c1a01110:ra:1:2:3:4:5:6:7:8}}}\n", NULL },
        { "{{{module:1:x:macho:ab}}}\n", NULL },
        { "{{{module:1:x:elf}}}\n", NULL },
        { "{{{module:1:x:elf:abc}}}\n", NULL },
        { "{{{module:08:x:elf:ab}}}\n", NULL },
        { "{{{mmap:0x1000:0x1000:load:7:rx:0x0}}}\n", NULL }, /* no such module */
        { "{{{mmap:0x1000:0x1000:load:0:xr:0x0}}}\n", NULL },
        { "{{{mmap:0x1000:0x1000:load:0::0x0}}}\n", NULL },
        { "{{{mmap:0x1000:0x1000:anon:0:rx:0x0}}}\n", NULL },
        { "{{{pc:0x55d0c1a01110}}", NULL },
        { "{{{pc:0x55d0c1a01110\n}}}\n", NULL },
        { "{{pc:0x55d0c1a01110}}\n", NULL },
        { "\033[31m{{{nothing}}}\033[0m\n", NULL },
    };
    assert_with_context(ROWS(rows));
}

static void a_module_and_its_ranges_are_told_on_one_line(void **unused)
{
    (void)unused;
    assert_comes_out(MARKUP_ONLY, "",
                     "{{{module:0x1f:a b:elf:AB12}}}\n"
                     "{{{mmap:0x3000:0x1000:load:31:RwX:0x0}}}\n"
                     " {{{mmap:0x1000:4096:load:037:r:0x0}}} \n"
                     "{{{module:2:c:elf:cd}}}\r\n"
                     "{{{mmap:0x8000:0x1000:load:31:x:0x0}}}\n",
                     "[[[ELF module #0x1f \"a b\"; BuildID=ab12 "
                     "[0x1000-0x1fff](r),[0x3000-0x3fff](rwx)]]]\n"
                     "[[[ELF module #0x2 \"c\"; BuildID=cd]]]\r\n"
                     "[[[ELF module #0x1f \"a b\"; adds [0x8000-0x8fff](x)]]]\n");
}

static void a_module_without_an_id_is_taken_by_its_path_and_that_is_told(void **unused)
{
    (void)unused;
    static const char in[] = "{{{module:0:/srv/app:elf:}}}\n"
                             "{{{mmap:0x10000:0x5000:load:0:rx:0x0}}}\n"
                             "{{{pc:0x11110}}} {{{reset}}}\n"
                             "{{{module:4:/srv/app:elf:}}}\n"
                             "{{{module:5:/srv/missing:elf:}}}\n";
    struct fake_log *log = fake_log_create(MARKUP_ONLY);
    fake_log_feed(log, in, sizeof(in) - 1, 0);
    fake_log_end(log);
    assert_string_equal(
        log->out, "[[[ELF module #0x0 \"/srv/app\"; no BuildID, unverified "
                  "[0x10000-0x14fff](rx)]]]\n"
                  "main[/src/a.c:17] [[[reset]]]\n"
                  "[[[ELF module #0x4 \"/srv/app\"; no BuildID, unverified]]]\n"
                  "[[[ELF module #0x5 \"/srv/missing\"; no BuildID, unverified]]]\n");
    assert_string_equal(log->notes,
                        "/srv/app: has no build-id in this log: the file of "
                        "that name is taken, which may be of another "
                        "build; link with -Wl,--build-id\n");
    fake_log_destroy(log);
}

static void text_around_context_is_kept(void **unused)
{
    (void)unused;
    assert_comes_out(MARKUP_ONLY, "",
                     "I: {{{module:0:app:elf:ab}}}\n"
                     "I: {{{mmap:0x1000:0x1000:load:0:rx:0x1000}}} done\n"
                     "{{{reset}}}{{{module:0:app:elf:ab}}} and\n"
                     "I: {{{reset}}} {{{pc:0x1110}}}\n",
                     "I: [[[ELF module #0x0 \"app\"; BuildID=ab]]]\n"
                     "I: [[[ELF module #0x0 \"app\"; adds [0x1000-0x1fff](rx)]]] done\n"
                     "[[[reset]]]\n"
                     "[[[ELF module #0x0 \"app\"; BuildID=ab]]] and\n"
                     "I: [[[reset]]] [[[pc:0x1110]]]\n");
}

static void a_reset_forgets_what_was_mapped(void **unused)
{
    (void)unused;
    assert_comes_out(MARKUP_ONLY, "",
                     "{{{reset}}}\n" CONTEXT "{{{reset}}}\n{{{bt:0:0x55d0c1a01110}}}\n"
                     "{{{reset}}}\n",
                     TOLD "[[[reset]]]\n[[[bt:0:0x55d0c1a01110]]]\n");
}

static void context_told_again_is_left_out_and_newer_context_counts(void **unused)
{
    (void)unused;
    assert_comes_out(MARKUP_ONLY, "",
                     CONTEXT "one\n" CONTEXT "two\n"
                             "{{{module:0:fixed:elf:cd}}}\n"
                             "{{{mmap:0x55d0c1a00000:0x5000:load:0:rx:0x400000}}}\n"
                             "{{{pc:0x55d0c1a01110}}} {{{bt:0:0x55d0c1a04110:pc}}}\n",
                     TOLD "one\ntwo\n"
                          "[[[ELF module #0x0 \"fixed\"; BuildID=cd "
                          "[0x55d0c1a00000-0x55d0c1a04fff](rx)]]]\n"
                          "main[/src/a.c:17]     #0    0x000055d0c1a04110 "
                          "(fixed+0x404110)\n");
}

static void markup_alone_leaves_other_stack_lines(void **unused)
{
    (void)unused;
    static const struct log_row rows[] = {
        { "./a.out(+0x1111)[0x55d0c1a01111]\n", NULL },
        { "{{{ ./a.out(+0x1111)[0x55d0c1a01111]\n", NULL },
        { "55d0c1a00000-55d0c1a05000 r-xp 00000000 08:01 7 /srv/app\n", NULL },
    };
    assert_rows(MARKUP_ONLY, "", ROWS(rows));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(elements_are_resolved_wherever_they_stand),
    cmocka_unit_test(what_cannot_be_resolved_stands_in_brackets),
    cmocka_unit_test(what_is_no_element_stays),
    cmocka_unit_test(a_module_and_its_ranges_are_told_on_one_line),
    cmocka_unit_test(a_module_without_an_id_is_taken_by_its_path_and_that_is_told),
    cmocka_unit_test(text_around_context_is_kept),
    cmocka_unit_test(a_reset_forgets_what_was_mapped),
    cmocka_unit_test(context_told_again_is_left_out_and_newer_context_counts),
    cmocka_unit_test(markup_alone_leaves_other_stack_lines),
};
TRAIL_TEST_MAIN(tests)
