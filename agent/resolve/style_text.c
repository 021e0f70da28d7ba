/* style_text.c -- answers as text for people: our own style, and Tracy's numbering. */
#include "agent/resolve/style.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/report/report.h"
#include "core/trace/module_map.h"

static void print_frame(const struct trail_frame *frame, uint32_t number, bool tracy,
                        bool group)
{
    size_t size = trail_frame_format(frame, NULL, 0);
    char *line = malloc(size + 1);
    if (!line)
        return;
    trail_frame_format(frame, line, size + 1);
    if (!tracy)
        printf("%3" PRIu32 ": %s\n", number, line);
    else if (group)
        printf("0. %s [inline %" PRIu32 "]\n", line, number);
    else
        printf("0. %s\n", line);
    free(line);
}

/* What nobody can name still says where it lies, and in which build. */
static void print_floor(const struct style_output *output, uint64_t address)
{
    char hex[2 * 64 + 1];
    trail_hex(output->module->id, hex, sizeof(hex));
    printf("  0: %s+0x%" PRIx64 "%s%s%s\n", output->options->file, address,
           hex[0] ? " [" : "", hex, hex[0] ? "]" : "");
}

static void answer(struct style_output *output, uint64_t asked,
                   const struct trail_answer *known)
{
    bool tracy = output->options->style == TRAIL_STYLE_TRACY;
    struct trail_frame frame;
    printf("0x%" PRIx64 ":\n", asked);
    trail_frame_init(&frame, asked);
    for (uint32_t i = 0; i < known->frame_count; i++) {
        const struct trail_named *named = &known->frames[i];
        frame.function = named->function;
        frame.file = named->file;
        frame.line = named->line;
        frame.column = named->column;
        frame.inlined = !tracy && i + 1 < known->frame_count;
        print_frame(&frame, i, tracy, known->frame_count > 1);
    }
    if (known->frame_count == 0)
        print_floor(output, asked);
}

const struct style style_text = { .answer = answer };
