/* Source around a frame, or the reason why there is none. */
#define _POSIX_C_SOURCE 200809L

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "show.h"

/* A directory with a file a.c, and one frame of the program in it. */
struct place {
    struct made made;
    char directory[64], path[96], module[96];
    struct trail_frame *frame;
    struct trail_text_style style;
};

static void write_file(const char *path, const char *bytes, size_t size)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Two files of one age, unless a test says otherwise. */
static void set_age(const char *path, time_t seconds)
{
    const struct timespec times[2] = { { .tv_sec = seconds }, { .tv_sec = seconds } };
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void place_init(struct place *place, const char *source)
{
    *place = (struct place){ .style = { .source = true, .source_lines = 1 } };
    made_init(&place->made, "", 0);
    snprintf(place->directory, sizeof(place->directory), "/tmp/trail-source.XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->path, sizeof(place->path), "%s/a.c", place->directory);
    snprintf(place->module, sizeof(place->module), "%s/orders", place->directory);
    write_file(place->path, source, strlen(source));
    write_file(place->module, "", 0);
    set_age(place->path, 1000);
    set_age(place->module, 1000);
    place->frame = made_add(&place->made, 0, 0x10, "f");
    place->frame->module = place->module;
    place->frame->file = "a.c";
    place->frame->directory = place->directory;
    place->frame->line = 3;
}

static void place_deinit(struct place *place)
{
    made_deinit(&place->made);
    unlink(place->path);
    unlink(place->module);
    assert_int_equal(rmdir(place->directory), 0);
}

/* What follows the frame's own line; '@' in `want` stands for the directory. */
static void assert_below(struct place *place, const char *want)
{
    char whole[1024];
    const char *at = place->directory;
    size_t size =
        (size_t)snprintf(whole, sizeof(whole), "  0: f%s%s",
                         place->frame->file[0] ? " at " : "", place->frame->file);
    if (place->frame->file[0] && place->frame->line)
        size += (size_t)snprintf(whole + size, sizeof(whole) - size, ":%u",
                                 place->frame->line);
    if (place->frame->file[0] && place->frame->line && place->frame->column)
        size += (size_t)snprintf(whole + size, sizeof(whole) - size, ":%u",
                                 place->frame->column);
    whole[size++] = '\n';
    for (; *want; want++)
        size += (size_t)snprintf(whole + size, sizeof(whole) - size, "%.*s",
                                 *want == '@' ? (int)strlen(at) : 1,
                                 *want == '@' ? at : want);
    assert_shown(&place->made, &place->style, whole);
}

static void the_line_is_marked_among_those_around_it(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "int a;\nint b;\nreturn f(a);\n}\nint c;\n");
    place.frame->column = 8;
    assert_below(&place, "       2 | int b;\n"
                         "     > 3 | return f(a);\n"
                         "         |        ^\n"
                         "       4 | }\n");
    place.style.source_lines = 0;
    place.frame->column = 0;
    assert_below(&place, "     > 3 | return f(a);\n");
    place_deinit(&place);
}

static void a_file_ends_where_it_ends(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "a\nb\nc");
    place.style.source_lines = 9;
    assert_below(&place, "       1 | a\n       2 | b\n     > 3 | c\n");
    place.frame->line = 1;
    assert_below(&place, "     > 1 | a\n       2 | b\n       3 | c\n");
    place_deinit(&place);
}

static void numbers_are_as_wide_as_the_last(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "\n\n\n\n\n\n\n\n\n ten\n");
    place.frame->line = 9;
    place.frame->column = 2;
    assert_below(&place, "        8 |\n     >  9 |\n       10 |  ten\n");
    place_deinit(&place);
}

static void tabs_are_expanded_and_the_caret_follows(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "\n\nab\tg(\tä, x)\r\n");
    place.style.source_lines = 0;
    place.frame->column = 11; /* x: bytes, as DWARF counts */
    assert_below(&place, "     > 3 | ab      g(      ä, x)\n"
                         "         |                    ^\n");
    place_deinit(&place);
}

static void what_a_file_holds_cannot_command_a_terminal(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "\n\n\x1b[2J\xff\xc2\x9bm x\n");
    place.style.source_lines = 0;
    assert_below(&place, "     > 3 | \\x1b[2J\\xff\\xc2\\x9bm x\n");
    place_deinit(&place);
}

static void long_lines_are_cut_to_the_width(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "\n\n0123456789012345678901234567890123456789\n");
    place.style = (struct trail_text_style){ .source = true, .width = 40 };
    place.frame->column = 39;
    assert_below(&place, "     > 3 | 0123456789012345678901234567…\n");
    place.frame->column = 3;
    assert_below(&place, "     > 3 | 0123456789012345678901234567…\n"
                         "         |   ^\n");
    place_deinit(&place);
}

static void a_root_maps_where_source_is_looked_for(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "1\n2\n3\n");
    place.style.source_lines = 0;
    const struct trail_source_root roots[] = {
        { trail_text_of("/build/ord"), trail_text_of("/nonexistent") },
        { trail_text_of("/build/orders"), trail_text_of(place.directory) },
    };
    place.style.roots = roots;
    place.style.root_count = 2;
    place.frame->directory = "/build/orders";
    assert_below(&place, "     > 3 | 3\n");
    place.frame->file = "/build/orders/a.c";
    place.frame->directory = "/elsewhere";
    assert_below(&place, "     > 3 | 3\n");
    place.frame->file = "/build/ord/a.c";
    assert_below(
        &place,
        "     source not available: /nonexistent/a.c: No such file or directory\n");
    place_deinit(&place);
}

static void a_file_that_cannot_be_shown_is_told_with_the_reason(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "1\n2\n");
    assert_below(&place, "     source not available: @/a.c: has 2 lines, not 3\n");
    write_file(place.path, "1\n2\0\n3\n", 7);
    set_age(place.path, 1000);
    assert_below(&place, "     source not available: @/a.c: is a binary file\n");
    place.frame->file = "b.c";
    assert_below(&place,
                 "     source not available: @/b.c: No such file or directory\n");
    place.frame->file = ".";
    assert_below(&place, "     source not available: @/.: is a directory\n");
    place.frame->file = "/dev/zero";
    assert_below(&place,
                 "     source not available: /dev/zero: is not a regular file\n");
    place.frame->file = "a.c";
    place.frame->line = 0;
    assert_below(&place, "     source not available: @/orders: no line information for "
                         "this code\n");
    place_deinit(&place);
}

static void a_pipe_is_not_waited_for(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "");
    unlink(place.path);
    assert_int_equal(mkfifo(place.path, 0600), 0);
    assert_below(&place, "     source not available: @/a.c: is not a regular file\n");
    place_deinit(&place);
}

static void a_file_that_is_too_large_is_not_read(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "1\n2\n3\n");
    assert_int_equal(truncate(place.path, (16 << 20) + 1), 0);
    assert_below(&place, "     source not available: @/a.c: larger than 16 MiB\n");
    place_deinit(&place);
}

static void source_that_is_newer_than_its_module_is_warned_of(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "1\n2\n3\n");
    place.style.source_lines = 0;
    set_age(place.path, 1001);
    assert_below(&place, "     @/a.c is newer than @/orders: its lines may differ\n"
                         "     > 3 | 3\n");
    place_deinit(&place);
}

static void a_note_comes_once_and_library_frames_have_none(void **state)
{
    (void)state;
    struct place place;
    place_init(&place, "1\n2\n3\n");
    place.style.source_lines = 0;
    place.frame->file = "b.c";
    *made_add(&place.made, 1, 0x20, "f") = *place.frame;
    made_add(&place.made, 2, 0x30, "lib")->in_app = false;
    assert_below(&place, "     source not available: @/b.c: No such file or directory\n"
                         "  1: f at b.c:3\n"
                         "  2: lib\n");
    place_deinit(&place);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_line_is_marked_among_those_around_it),
    cmocka_unit_test(a_file_ends_where_it_ends),
    cmocka_unit_test(numbers_are_as_wide_as_the_last),
    cmocka_unit_test(tabs_are_expanded_and_the_caret_follows),
    cmocka_unit_test(what_a_file_holds_cannot_command_a_terminal),
    cmocka_unit_test(long_lines_are_cut_to_the_width),
    cmocka_unit_test(a_root_maps_where_source_is_looked_for),
    cmocka_unit_test(a_file_that_cannot_be_shown_is_told_with_the_reason),
    cmocka_unit_test(a_pipe_is_not_waited_for),
    cmocka_unit_test(a_file_that_is_too_large_is_not_read),
    cmocka_unit_test(source_that_is_newer_than_its_module_is_warned_of),
    cmocka_unit_test(a_note_comes_once_and_library_frames_have_none),
};
TRAIL_TEST_MAIN(tests)
