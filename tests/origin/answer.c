/* answer.c -- the answers of a map, in the words of a symbolizer. */
#include "fake.h"
#include "test.h"

#include "core/os/os.h"
#include "core/resolve/linkage.h"
#include "core/resolve/origin_answer.h"

#define NONE trail_text_of("")

/* One module that has a bit of everything:
 *
 *   0x1000 outer, with linkage name and symbol; at 0x1010 inner is inlined, twice deep
 *   0x1100 plain, a C function; its symbol is plain.part.0, and has another name
 *   0x1180 what of it is seldom run
 *   0x1200 only a line; the symbol names it
 *   0x1300 only a symbol, local to a file
 *   0x1400 only a symbol without size
 *   0x1500 a function without a line table
 *   0x1600 a function; a symbol without size is near
 */
static enum trail_status enumerate(void *image, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err)
{
    void *arg = out->arg;
    (void)image, (void)call, (void)parts, (void)err;
    if (part)
        return TRAIL_OK;
    assert_ok(out->file(arg, 1, trail_text_of("a.cc"), trail_text_of("/src")));
    assert_ok(out->file(arg, 2, trail_text_of("local.s"), NONE));
    assert_ok(out->function(arg, 1, trail_text_of("ns::outer"),
                            trail_text_of("_ZN2ns5outerEv"), 0x1000, 0x80));
    assert_ok(out->function(arg, 2, trail_text_of("inner"), NONE, 0, 0));
    assert_ok(out->function(arg, 3, trail_text_of("plain"), NONE, 0x1100, 0x40));
    assert_ok(out->function(arg, 4, trail_text_of("bare"), NONE, 0x1500, 0x10));
    assert_ok(out->function(arg, 5, trail_text_of("last"), NONE, 0x1600, 0x10));
    assert_ok(out->function(arg, 6, trail_text_of("in it"), NONE, 0, 0));
    assert_ok(out->function(arg, 7, NONE, NONE, 0, 0));
    assert_ok(out->scope(arg, 1, 0, 1, 0, 0, 0));
    assert_ok(out->scope(arg, 2, 1, 2, 1, 11, 5));
    assert_ok(out->scope(arg, 3, 2, 2, 1, 22, 6));
    assert_ok(out->scope(arg, 4, 0, 3, 0, 0, 0));
    assert_ok(out->scope(arg, 5, 0, 4, 0, 0, 0));
    assert_ok(out->scope(arg, 6, 0, 5, 0, 0, 0));
    assert_ok(out->scope(arg, 7, 4, 6, 1, 41, 0));
    assert_ok(out->scope(arg, 8, 0, 7, 0, 0, 0));
    assert_ok(out->range(arg, 0x1000, 0x1010, 1, 1, 10, 1));
    assert_ok(out->range(arg, 0x1010, 0x1020, 3, 1, 33, 2));
    assert_ok(out->range(arg, 0x1100, 0x1140, 4, 1, 40, 0));
    assert_ok(out->range(arg, 0x1180, 0x1190, 7, 1, 45, 0));
    assert_ok(out->range(arg, 0x1200, 0x1210, 0, 1, 50, 3));
    assert_ok(out->range(arg, 0x1210, 0x1220, 8, 1, 51, 3));
    assert_ok(out->range(arg, 0x1300, 0x1310, 0, 2, 0, 0));
    assert_ok(out->range(arg, 0x1500, 0x1510, 5, 0, 0, 0));
    assert_ok(out->range(arg, 0x1600, 0x1610, 6, 1, 60, 0));
    assert_ok(out->symbol(arg, 0x1000, 0x1090, trail_text_of("_ZN2ns5outerEv"),
                          trail_text_of("alias\nother"), TRAIL_FOUND_FOLDED));
    assert_ok(out->symbol(arg, 0x1100, 0x1140, trail_text_of("plain.part.0"),
                          trail_text_of("older"), TRAIL_FOUND_AKA_FIRST));
    assert_ok(
        out->symbol(arg, 0x1180, 0x1190, trail_text_of("plain.part.0.cold"), NONE, 0));
    assert_ok(out->symbol(arg, 0x1200, 0x1220, trail_text_of("start"),
                          trail_text_of("first"), TRAIL_FOUND_AKA_FIRST));
    assert_ok(out->symbol(arg, 0x1300, 0x1310, trail_text_of("helper"), NONE, 0));
    assert_ok(out->symbol(arg, 0x1400, 0x1480, trail_text_of("label"), NONE,
                          TRAIL_FOUND_UNSIZED));
    assert_ok(out->symbol(arg, 0x1580, 0x1680, trail_text_of("near"), NONE,
                          TRAIL_FOUND_UNSIZED));
    assert_ok(out->call(arg, 0x1015, 0x1100, trail_text_of("plain"), 0));
    assert_ok(out->call(arg, 0x1018, 0, trail_text_of("far"), 1));
    assert_ok(out->call(arg, 0x1188, 0, trail_text_of("sad"), 1));
    return out->call(arg, 0x1120, 0, NONE, 1);
}

/* All answers as lines of text. */
struct print {
    char text[4096];
    size_t size;
};

static enum trail_status print_found(void *arg, const struct trail_found *found)
{
    struct print *print = arg;
    print->size +=
        (size_t)snprintf(print->text + print->size, sizeof(print->text) - print->size,
                         "%u %x %.*s|%.*s %llx+%llx %.*s|%.*s:%u:%u %.*s|%.*s\n",
                         found->index, found->flags, (int)found->function.size,
                         found->function.data, (int)found->linkage.size,
                         found->linkage.data, (unsigned long long)found->function_start,
                         (unsigned long long)found->function_size,
                         (int)found->directory.size, found->directory.data,
                         (int)found->file.size, found->file.data, found->line,
                         found->column, (int)found->symbol.size, found->symbol.data,
                         (int)found->aka.size, found->aka.data);
    return TRAIL_OK;
}

/* A map of that module, open. */
struct opened {
    struct fake_place place;
    struct trail_os_file file;
    struct origin_map map;
};

static void open_map(struct opened *opened)
{
    struct trail_symbolizer symbolizer = { .abi = TRAIL_SYMBOLIZER_ABI,
                                           .size = sizeof(symbolizer),
                                           .enumerate = enumerate };
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct fake fake = { 0 };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    struct trail_error err = { "" };
    job.symbolizer = &symbolizer;
    fake_place_make(&opened->place);
    assert_ok_err(trail_origin_build(&job, opened->place.path, &err), err);
    assert_ok_err(trail_os_file_map(opened->place.path, 1 << 20, &opened->file, &err),
                  err);
    assert_ok_err(origin_map_open(opened->file.bytes, opened->file.size, &opened->map,
                                  &err),
                  err);
}

static void close_map(struct opened *opened)
{
    trail_os_file_close(&opened->file);
    fake_place_remove(&opened->place);
}

static void assert_answer(uint64_t address, const char *expected)
{
    struct opened opened;
    struct print print = { "", 0 };
    open_map(&opened);
    assert_ok(trail_origin_answer(&opened.map, &address, 1, print_found, &print));
    assert_string_equal(print.text, expected);
    close_map(&opened);
}

static void the_outermost_frame_gets_the_symbol_and_its_extent(void **unused)
{
    (void)unused;
    assert_answer(0x1008, "0 8 _ZN2ns5outerEv| 1000+90 /src|a.cc:10:1 "
                          "_ZN2ns5outerEv|alias\nother\n");
    assert_answer(0x1013, "0 1 inner| 0+0 /src|a.cc:33:2 |\n"
                          "0 1 inner| 0+0 /src|a.cc:22:6 |\n"
                          "0 8 _ZN2ns5outerEv| 1000+90 /src|a.cc:11:5 "
                          "_ZN2ns5outerEv|alias\nother\n");
}

static void a_function_keeps_its_name_beside_that_of_its_symbol(void **unused)
{
    (void)unused;
    assert_answer(0x1101, "0 0 plain| 1100+40 /src|a.cc:40:0 plain.part.0|older\n");
}

static void where_there_is_only_a_line_the_symbol_names_it(void **unused)
{
    (void)unused;
    assert_answer(0x1201, "0 80 start| 1200+20 /src|a.cc:50:3 start|first\n");
}

static void a_function_without_a_name_is_known_by_its_symbol_alone(void **unused)
{
    (void)unused;
    assert_answer(0x1211, "0 82 start| 1200+20 /src|a.cc:51:3 start|first\n");
}

static void where_there_is_only_a_symbol_that_is_said(void **unused)
{
    (void)unused;
    assert_answer(0x1050, "0 a _ZN2ns5outerEv| 1000+90 |:0:0 "
                          "_ZN2ns5outerEv|alias\nother\n");
    assert_answer(0x1301, "0 2 helper| 1300+10 |local.s:0:0 helper|\n");
    assert_answer(0x1410, "0 22 label| 1400+0 |:0:0 label|\n");
}

static void a_symbol_without_size_is_not_put_over_a_function(void **unused)
{
    (void)unused;
    assert_answer(0x1601, "0 0 last| 1600+10 /src|a.cc:60:0 |\n");
}

static void a_function_without_lines_is_named(void **unused)
{
    (void)unused;
    assert_answer(0x1501, "0 0 bare| 1500+10 |:0:0 |\n");
}

static void an_address_of_which_nothing_is_known_is_not_answered(void **unused)
{
    (void)unused;
    assert_answer(0x1700, "");
    assert_answer(0, "");
    assert_answer(UINT64_MAX, "");
}

static enum trail_status refuse(void *arg, const struct trail_found *found)
{
    (void)found;
    ++*(int *)arg;
    return TRAIL_RETRY;
}

static void an_emit_that_fails_ends_it(void **unused)
{
    (void)unused;
    static const uint64_t addresses[] = { 0x1013, 0x1008 };
    struct opened opened;
    int calls = 0;
    open_map(&opened);
    assert_int_equal(trail_origin_answer(&opened.map, addresses, 2, refuse, &calls),
                     TRAIL_RETRY);
    assert_int_equal(calls, 1);
    close_map(&opened);
}

static enum trail_status print_call(void *arg, uint64_t return_address, uint64_t target,
                                    struct trail_text linkage, int tail)
{
    struct print *print = arg;
    print->size +=
        (size_t)snprintf(print->text + print->size, sizeof(print->text) - print->size,
                         "%llx %llx %.*s%s\n", (unsigned long long)return_address,
                         (unsigned long long)target, (int)linkage.size, linkage.data,
                         tail ? " tail" : "");
    return TRAIL_OK;
}

static void calls_are_told_by_return_address_and_by_function(void **unused)
{
    (void)unused;
    static const uint64_t addresses[] = {
        0x1015, 0x1018, 0x1000, 0x1100, 0x1101, 0x1180
    };
    struct opened opened;
    struct print print = { "", 0 };
    struct trail_map_out out = { .size = sizeof(out),
                                 .arg = &print,
                                 .call = print_call };
    open_map(&opened);
    assert_ok(trail_origin_calls(&opened.map, addresses, 6, &out));
    assert_string_equal(print.text, "1015 1100 plain\n" /* the call */
                                    "1018 0 far tail\n" /* of the function at 0x1000 */
                                    "1120 0  tail\n"
                                    "1188 0 sad tail\n"); /* far from it */
    close_map(&opened);
}

/* A name with its scopes, as the DWARF reader puts it together. */
static void the_scopes_of_a_name_are_told_from_it(void **unused)
{
    static const struct {
        const char *name;
        size_t size;
    } rows[] = {
        { "f", 0 },
        { "ns::f", 4 },
        { "a::b::f<c::d>", 6 },
        { "f<c::d>", 0 },
        { "geo::(anonymous namespace)::Hidden::Hidden", 36 },
        { "ns::operator()", 4 },
        { "operator<< <a::b>", 0 },
        { "ns::operator std::string", 4 },
        { "main()::{lambda(a::b)#1}::operator()", 26 },
        { "", 0 },
    };
    (void)unused;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        assert_int_equal(trail_scope_size(trail_text_of(rows[i].name)), rows[i].size);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_scopes_of_a_name_are_told_from_it),
    cmocka_unit_test(the_outermost_frame_gets_the_symbol_and_its_extent),
    cmocka_unit_test(a_function_keeps_its_name_beside_that_of_its_symbol),
    cmocka_unit_test(where_there_is_only_a_line_the_symbol_names_it),
    cmocka_unit_test(a_function_without_a_name_is_known_by_its_symbol_alone),
    cmocka_unit_test(where_there_is_only_a_symbol_that_is_said),
    cmocka_unit_test(a_symbol_without_size_is_not_put_over_a_function),
    cmocka_unit_test(a_function_without_lines_is_named),
    cmocka_unit_test(an_address_of_which_nothing_is_known_is_not_answered),
    cmocka_unit_test(an_emit_that_fails_ends_it),
    cmocka_unit_test(calls_are_told_by_return_address_and_by_function),
};

TRAIL_TEST_MAIN(tests)
