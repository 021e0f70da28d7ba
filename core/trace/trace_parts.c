/* trace_parts.c -- the members of a raw trace that every writer of one has. */
#include "core/trace/trace_parts.h"

#include "core/trace/trace_write.h"

const char *trail_end_name(uint32_t end)
{
    static const char *const names[] = { "base",     "full",        "no_cfi",
                                         "bad_fp",   "unmapped",    "loop",
                                         "deadline", "unsupported", "error" };
    return end < sizeof(names) / sizeof(names[0]) ? names[end] : "error";
}

void trail_trace_put_app(struct trail_json *json, const char *name, const char *version)
{
    if (!name || !name[0])
        return;
    trail_json_open(json, "app", '{');
    trail_json_string(json, "name", name);
    if (version && version[0])
        trail_json_string(json, "version", version);
    trail_json_close(json, '}');
}

void trail_trace_put_writer(struct trail_json *json)
{
    trail_json_open(json, "writer", '{');
    trail_json_string(json, "name", "libbacktrail-capture");
    trail_json_string(json, "version", TRAIL_VERSION);
    trail_json_close(json, '}');
}

void trail_trace_put_process(struct trail_json *json,
                             const struct trail_os_process *process)
{
    trail_json_open(json, "process", '{');
    trail_json_number(json, "pid", process->pid);
    trail_json_number(json, "ns_pid", process->ns_pid);
    if (process->start[0])
        trail_json_string(json, "start", process->start);
    trail_json_number(json, "uid", process->uid);
    trail_json_string(json, "os", process->os);
    trail_json_string(json, "arch", process->arch);
    trail_json_number(json, "bits", process->bits);
    trail_json_string(json, "endian", process->little_endian ? "little" : "big");
    if (process->host[0])
        trail_json_string(json, "host", process->host);
    trail_json_string(json, "exe", process->exe);
    trail_json_close(json, '}');
}

static void write_cursor(struct trail_json *json,
                         const struct trail_backtrace *backtrace)
{
    trail_json_open(json, "next", '{');
    trail_json_address(json, "frame", backtrace->next_frame_addr);
    trail_json_address(json, "pc", backtrace->cursor.opaque[0]);
    trail_json_address(json, "sp", backtrace->cursor.opaque[1]);
    trail_json_hex(json, "cursor", (const uint8_t *)backtrace->cursor.opaque,
                   sizeof(backtrace->cursor.opaque));
    trail_json_close(json, '}');
}

/* A column of letters; where one was never set it is `plain`. */
static void write_letters(struct trail_json *json, const char *key,
                          const uint8_t *letters, uint32_t count, char plain)
{
    char text[TRAIL_MAX_FRAMES];
    for (uint32_t i = 0; i < count && i < sizeof(text); i++)
        text[i] = letters[i] ? (char)letters[i] : plain;
    trail_json_text(json, key, (struct trail_text){ text, count });
}

void trail_trace_put_stack(struct trail_json *json,
                           const struct trail_backtrace *backtrace)
{
    uint64_t own_start, own_end;

    trail_json_number(json, "epoch", (int64_t)backtrace->epoch);
    trail_json_open(json, "pcs", '[');
    for (uint32_t i = 0; i < backtrace->count; i++)
        trail_json_address(json, NULL, backtrace->addresses[i]);
    trail_json_close(json, ']');
    write_letters(json, "kinds", backtrace->kinds, backtrace->count, 'r');
    write_letters(json, "trust", backtrace->trust, backtrace->count, 'c');
    trail_json_string(json, "end", trail_end_name(backtrace->end));
    if (backtrace->error)
        trail_json_number(json, "error", backtrace->error);
    if (backtrace->end == TRAIL_END_FULL)
        write_cursor(json, backtrace);
    /* Frames of the capture itself: a resolver hides them by range, never by count. */
    trail_os_own_code(&own_start, &own_end);
    trail_json_open(json, "own", '[');
    trail_json_open(json, NULL, '[');
    trail_json_address(json, NULL, own_start);
    trail_json_address(json, NULL, own_end);
    trail_json_close(json, ']');
    trail_json_close(json, ']');
}

static void write_text_hash(struct trail_json *json, const struct trail_mapped *image)
{
    char text[sizeof(TRAIL_TEXT_HASH_NAME) + 2 * TRAIL_TEXT_HASH_SIZE + 1] =
        TRAIL_TEXT_HASH_NAME ":";
    size_t size = strlen(text);
    for (size_t i = 0; i < TRAIL_TEXT_HASH_SIZE; i++) {
        text[size++] = "0123456789abcdef"[image->text_hash[i] >> 4];
        text[size++] = "0123456789abcdef"[image->text_hash[i] & 15];
    }
    text[size] = 0;
    trail_json_string(json, "text_hash", text);
}

void trail_trace_put_module(struct trail_json *json, const struct trail_mapped *image)
{
    trail_json_open(json, NULL, '{');
    trail_json_string(json, "path", image->path);
    trail_json_string(json, "format", "elf");
    if (image->vdso)
        trail_json_bool(json, "vdso", true);
    if (image->main_program)
        trail_json_bool(json, "main", true);
    trail_json_hex(json, "id", image->id, image->id_size);
    trail_json_string(json, "id_kind", image->id_size ? "build-id" : "none");
    if (image->has_text_hash)
        write_text_hash(json, image);
    trail_json_address(json, "bias", image->bias);
    trail_json_open(json, "ranges", '[');
    for (uint8_t i = 0; i < image->range_count; i++) {
        const struct trail_os_segment *range = &image->ranges[i];
        char access[4] = { range->readable ? 'r' : '-', range->writable ? 'w' : '-',
                           range->executable ? 'x' : '-', 0 };
        trail_json_open(json, NULL, '[');
        trail_json_address(json, NULL, range->start);
        trail_json_address(json, NULL, range->end);
        trail_json_string(json, NULL, access);
        trail_json_close(json, ']');
    }
    trail_json_close(json, ']');
    trail_json_open(json, "epochs", '[');
    trail_json_number(json, NULL, (int64_t)image->first);
    if (image->last)
        trail_json_number(json, NULL, (int64_t)image->last);
    else
        trail_json_null(json, NULL);
    trail_json_close(json, ']');
    trail_json_close(json, '}');
}
