/* markup_write.c -- a stack as symbolizer markup. */
#include "core/trace/markup_write.h"

#include <errno.h>

#include "core/trace/json_write.h"

/* The format wants an even number of digits in an address. */
static void put_address(struct trail_lines *lines, uint64_t value)
{
    char digits[24];
    size_t count = trail_digits(value, 16, digits);
    trail_lines_string(lines, count % 2 ? "0x0" : "0x");
    trail_lines_text(lines, (struct trail_text){ digits, count });
}

/* What a field cannot hold: its ends, and what is no printable character. An opening
 * brace could, but some readers look for the last three before an end. */
static bool is_refused(const uint8_t *at, size_t size)
{
    return at[0] < 0x20 || at[0] == 0x7f || strchr(":{}", at[0]) ||
           (size == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

/* A name is for people: the module is known by its id. So what cannot stand in it
 * becomes a question mark. */
static void put_name(struct trail_lines *lines, const char *name)
{
    struct trail_text text = trail_text_of(name);
    for (size_t i = 0; i < text.size;) {
        const uint8_t *at = (const uint8_t *)text.data + i;
        size_t size = trail_utf8_size(at, text.size - i);
        if (size == 0 || is_refused(at, size))
            trail_lines_string(lines, "?");
        else
            trail_lines_text(lines, (struct trail_text){ text.data + i, size });
        i += size ? size : 1;
    }
}

static void put_range(struct trail_lines *lines, unsigned number,
                      const struct trail_mapped *image,
                      const struct trail_os_segment *range)
{
    trail_lines_string(lines, "{{{mmap:");
    put_address(lines, range->start);
    trail_lines_string(lines, ":");
    trail_lines_hex(lines, range->end - range->start);
    trail_lines_string(lines, ":load:");
    trail_lines_decimal(lines, number);
    trail_lines_string(lines, ":");
    trail_lines_string(lines, range->readable ? "r" : "");
    trail_lines_string(lines, range->writable ? "w" : "");
    trail_lines_string(lines, range->executable ? "x" : "");
    trail_lines_string(lines, ":");
    put_address(lines, range->start - image->bias);
    trail_lines_string(lines, "}}}");
    trail_lines_end(lines);
}

static bool is_wanted(const struct trail_os_segment *range,
                      const struct trail_backtrace *backtrace)
{
    if (range->end <= range->start)
        return false;
    if (range->executable)
        return true;
    for (uint32_t i = 0; i < backtrace->count; i++)
        if (backtrace->addresses[i] >= range->start &&
            backtrace->addresses[i] < range->end)
            return range->readable || range->writable;
    return false;
}

void trail_markup_module(struct trail_lines *lines, unsigned number,
                         const struct trail_mapped *image,
                         const struct trail_backtrace *backtrace)
{
    trail_lines_string(lines, "{{{module:");
    trail_lines_decimal(lines, number);
    trail_lines_string(lines, ":");
    put_name(lines, image->path);
    trail_lines_string(lines, ":elf:");
    trail_lines_bytes(lines, image->id, image->id_size);
    trail_lines_string(lines, "}}}");
    trail_lines_end(lines);
    for (uint8_t i = 0; i < image->range_count; i++)
        if (is_wanted(&image->ranges[i], backtrace))
            put_range(lines, number, image, &image->ranges[i]);
}

/* A kind that was never set is a return address, as in a raw trace. */
static const char *role(uint8_t kind)
{
    bool follows_call = kind == 0 || kind == TRAIL_PC_RETURN;
    return follows_call ? ":ra}}}" : ":pc}}}";
}

void trail_markup_frames(struct trail_lines *lines,
                         const struct trail_backtrace *backtrace, uint32_t first)
{
    for (uint32_t i = first; i < backtrace->count; i++) {
        trail_lines_string(lines, "{{{bt:");
        trail_lines_decimal(lines, i - first);
        trail_lines_string(lines, ":");
        put_address(lines, backtrace->addresses[i]);
        trail_lines_string(lines, role(backtrace->kinds[i]));
        trail_lines_end(lines);
    }
    if (backtrace->flags & TRAIL_INFO_TRUNCATED)
        trail_lines_truncated(lines);
}

/* The first frame that is not of the capture itself; 0 if all are. */
static uint32_t first_foreign(const struct trail_backtrace *backtrace)
{
    uint64_t start, end;
    trail_os_own_code(&start, &end);
    for (uint32_t i = 0; i < backtrace->count; i++)
        if (backtrace->addresses[i] < start || backtrace->addresses[i] >= end)
            return i;
    return 0;
}

struct context {
    struct trail_lines *lines;
    const struct trail_backtrace *backtrace;
    unsigned count;
};

static void on_image(void *arg, const struct trail_mapped *image)
{
    struct context *context = arg;
    trail_markup_module(context->lines, context->count++, image, context->backtrace);
}

void trail_markup_write(struct trail_lines *lines,
                        const struct trail_backtrace *backtrace, unsigned flags,
                        const char *title)
{
    uint32_t first = flags & TRAIL_FULL ? 0 : first_foreign(backtrace);
    struct context context = { .lines = lines, .backtrace = backtrace };

    trail_lines_string(lines, "{{{reset}}}");
    trail_lines_end(lines);
    trail_module_map_present(backtrace, first, on_image, &context);
    if (title) {
        trail_lines_string(lines, title);
        trail_lines_end(lines);
    }
    trail_markup_frames(lines, backtrace, first);
}

void trail_print_markup(int fd, const struct trail_backtrace *backtrace)
{
    char text[2048]; /* little, for the stacks of signal handlers */
    struct trail_lines lines = { .fd = fd, .text = text, .room = sizeof(text) };
    int kept = errno; /* of whatever the signal interrupted */
    trail_markup_write(&lines, backtrace, 0, NULL);
    trail_lines_flush(&lines);
    errno = kept;
}

void trail_markup_print(const struct trail_backtrace *backtrace, unsigned flags)
{
    char text[8192]; /* as a rule enough for one write */
    struct trail_lines lines = { .fd = 2, .text = text, .room = sizeof(text) };
    trail_markup_write(&lines, backtrace, flags, "backtrace:");
    trail_lines_flush(&lines);
}
