/* show.c -- stacks made from a drawing. */
#include "show.h"

#include <ctype.h>

/* Names that live as long as the program. */
static const char *name_of(char letter)
{
    static char names[128][2];
    char *name = names[(unsigned char)letter & 127];
    name[0] = letter;
    return name;
}

void show_stack(struct made *made, const char *letters)
{
    uint32_t index = (uint32_t)made->thread.frame_count;
    for (; *letters; letters++, index++) {
        char letter = *letters;
        bool own = isupper((unsigned char)letter);
        struct trail_frame *frame =
            made_add(made, index, 0x1000u + (unsigned char)letter,
                     letter == '?' ? "" : name_of(letter));
        frame->kind = TRAIL_PC_RETURN;
        frame->in_app = own;
        if (!own)
            frame->module = isdigit((unsigned char)letter) ? "/lib/libc.so.6"
                                                           : "/usr/lib/libfoo.so";
    }
}

void assert_shown(const struct made *made, const struct trail_text_style *style,
                  const char *want)
{
    static const char title[] = "backtrace:\n";
    char *text = NULL;
    size_t size = 0;
    assert_ok(trail_report_text(&made->resolved, style, &text, &size, NULL));
    assert_int_equal(strlen(text), size);
    const char *shown = strstr(text, title);
    assert_non_null(shown);
    assert_string_equal(shown + strlen(title), want);
    free(text);
}
