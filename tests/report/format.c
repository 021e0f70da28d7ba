/* format.c -- the public frame: its first members, and its text. */
#include "backtrail/backtrail.h"
#include "test.h"

/* Programs are compiled against these offsets. */
_Static_assert(offsetof(struct trail_frame, address) == 0, "address is first");
_Static_assert(offsetof(struct trail_frame, function) == 8, "then function");
_Static_assert(offsetof(struct trail_frame, file) == 8 + sizeof(char *), "then file");
_Static_assert(offsetof(struct trail_frame, line) == 8 + 2 * sizeof(char *),
               "then line");
_Static_assert(offsetof(struct trail_frame, column) == 12 + 2 * sizeof(char *),
               "then column");
_Static_assert(offsetof(struct trail_frame, inlined) == 16 + 2 * sizeof(char *),
               "then inlined");
_Static_assert(sizeof(((struct trail_frame *)0)->line) == 4, "lines have 32 bits");

static void the_six_members_that_programs_need_come_first(void **state)
{
    (void)state;
    struct {
        uint64_t address;
        const char *function, *file;
        uint32_t line, column;
        bool inlined;
    } six = { 0x10, "f", "a.c", 4, 5, true };
    struct trail_frame frame;

    trail_frame_init(&frame, 0);
    memcpy(&frame, &six, offsetof(struct trail_frame, inlined) + sizeof(bool));
    char text[64];
    trail_frame_format(&frame, text, sizeof(text));
    assert_string_equal(text, "f at a.c:4:5 (inlined)");
}

/* Bit by bit: is the function known, the file, the line, the column; is it inlined. */
static void parts_that_are_unknown_are_left_out(void **state)
{
    (void)state;
    static const char *const wheres[8] = {
        "", " at a.c", "", " at a.c:4", /* no column */
        "", " at a.c", "", " at a.c:4:5",
    };
    for (unsigned known = 0; known < 32; known++) {
        struct trail_frame frame;
        char text[64], want[64];
        trail_frame_init(&frame, 0x55d0c1a011c9);
        if (known & 1)
            frame.function = "f(int)";
        if (known & 2)
            frame.file = "a.c";
        frame.line = known & 4 ? 4 : 0;
        frame.column = known & 8 ? 5 : 0;
        frame.inlined = known & 16;
        unsigned where =
            (known & 2 ? 1u : 0u) | (known & 4 ? 2u : 0u) | (known & 8 ? 4u : 0u);
        snprintf(want, sizeof(want), "%s%s%s", known & 1 ? "f(int)" : "0x55d0c1a011c9",
                 wheres[where], known & 16 ? " (inlined)" : "");
        assert_int_equal(trail_frame_format(&frame, text, sizeof(text)), strlen(want));
        assert_string_equal(text, want);
    }
}

static void a_buffer_of_any_size_gets_what_fits(void **state)
{
    (void)state;
    static const char whole[] = "main at src/main.c:4294967295:21 (inlined)";
    struct trail_frame frame;
    trail_frame_init(&frame, 1);
    frame.function = "main";
    frame.file = "src/main.c";
    frame.line = UINT32_MAX;
    frame.column = 21;
    frame.inlined = true;

    assert_int_equal(trail_frame_format(&frame, NULL, 0), strlen(whole));
    for (size_t size = 1; size <= sizeof(whole) + 2; size++) {
        char *text = malloc(size + 1);
        assert_non_null(text);
        memset(text, 0x55, size + 1);
        assert_int_equal(trail_frame_format(&frame, text, size), strlen(whole));
        size_t kept = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
        assert_int_equal(strlen(text), kept);
        assert_memory_equal(text, whole, kept);
        assert_int_equal(text[size], 0x55);
        free(text);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_six_members_that_programs_need_come_first),
    cmocka_unit_test(parts_that_are_unknown_are_left_out),
    cmocka_unit_test(a_buffer_of_any_size_gets_what_fits),
};
TRAIL_TEST_MAIN(tests)
