/* stream.c -- JSON that goes into a file of the inbox as it is made. */
#include "core/crash/stream.h"

#include "core/crash/state.h"

#define ROOM  ((size_t)128 << 10) /* the largest element by far has room */
#define FLUSH ((size_t)32 << 10)

static char text[ROOM]; /* takes up memory once it is used */
static struct trail_json json;
static struct trail_json whole; /* as it was after the last whole element */
static bool in_array;
static uint64_t written;

struct trail_json *trail_stream_json(void)
{
    return &json;
}

void trail_stream_begin(void)
{
    trail_json_init(&json, text, ROOM);
    whole = json;
    in_array = false;
    written = 0;
}

uint64_t trail_stream_size(void)
{
    return written + whole.size;
}

void trail_stream_rewind(void)
{
    json = whole;
}

void trail_stream_array(const char *key)
{
    trail_stream_rewind();
    if (in_array)
        trail_json_close(&json, ']');
    in_array = key != NULL;
    if (key)
        trail_json_open(&json, key, '[');
    trail_stream_whole();
}

void trail_stream_whole(void)
{
    if (!trail_json_fits(&json)) { /* an element that is larger than all room */
        trail_stream_rewind();
        return;
    }
    whole = json;
    if (whole.size >= FLUSH)
        trail_stream_flush();
}

void trail_stream_flush(void)
{
    struct trail_crash_state *crash = &trail_crash;
    const size_t size = whole.size;
    trail_stream_rewind();
    whole.size = json.size = 0; /* first: a crash in here must not write it twice */
    written += size;
    if (crash->file.fd < 0 || crash->file_error || !size)
        return;
    crash->file_error = trail_inbox_write(&crash->inbox, &crash->file, text, size);
}
