/* format.c -- one frame as text. */
#include "backtrail/backtrail.h"

#include <inttypes.h>

void trail_frame_init(struct trail_frame *frame, uint64_t address)
{
    *frame = (struct trail_frame){
        .address = address,
        .function = "",
        .file = "",
        .linkage = "",
        .directory = "",
        .module = "",
        .module_id = "",
        .symbol = "",
        .aka = "",
        .plugin = "",
        .route = "",
        .hidden = "",
        .gap = "",
    };
}

/* Text that is built up like snprintf does: cut to fit, its whole length counted. */
struct line {
    char *text;
    size_t size, room;
};

static void line_add(struct line *line, const char *part)
{
    size_t size = strlen(part);
    for (size_t i = 0; i < size; i++)
        if (line->size + i + 1 < line->room)
            line->text[line->size + i] = part[i];
    line->size += size;
}

size_t trail_frame_format(const struct trail_frame *frame, char *text_ret, size_t size)
{
    struct line line = { .text = text_ret, .room = size };
    char number[32];

    if (frame->function[0]) {
        line_add(&line, frame->function);
    } else {
        snprintf(number, sizeof(number), "0x%" PRIx64, frame->address);
        line_add(&line, number);
    }
    if (frame->file[0]) {
        line_add(&line, " at ");
        line_add(&line, frame->file);
    }
    if (frame->file[0] && frame->line) {
        snprintf(number, sizeof(number), ":%" PRIu32, frame->line);
        line_add(&line, number);
        if (frame->column) {
            snprintf(number, sizeof(number), ":%" PRIu32, frame->column);
            line_add(&line, number);
        }
    }
    if (frame->inlined)
        line_add(&line, " (inlined)");
    if (size)
        text_ret[line.size < size ? line.size : size - 1] = 0;
    return line.size;
}
