/* say.c -- the agent's own log. */
#include "agent/daemon/say.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/report/text_buffer.h"

#define LIMIT_COUNT 10
#define LIMIT_NS    ((uint64_t)60 * 1000000000u)

/* systemd says by JOURNAL_STREAM that its journal reads standard error. */
static void write_line(enum say_level level, const char *text)
{
    struct trail_text_buffer line = { .text = NULL };
    size_t size = 0;
    if (trail_os_environment("JOURNAL_STREAM"))
        trail_text_buffer_format(&line, "<%d>", (int)level);
    trail_text_buffer_format(&line, "backtrail: ");
    trail_text_buffer_add_clean(&line, text);
    trail_text_buffer_add(&line, "\n", 1);
    char *whole = trail_text_buffer_take(&line, &size);
    if (whole)
        trail_os_write(2, whole, size);
    free(whole);
}

void say(enum say_level level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    write_line(level, text);
}

void say_limited(struct say_limit *limit, const char *format, ...)
{
    char text[1024];
    uint64_t now = trail_os_mono_ns();
    if (now - limit->since_ns >= LIMIT_NS) {
        if (limit->count > LIMIT_COUNT)
            say(SAY_WARNING, "%" PRIu64 " more lines of this kind were left out",
                limit->count - LIMIT_COUNT);
        *limit = (struct say_limit){ .since_ns = now };
    }
    if (limit->count++ >= LIMIT_COUNT)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    write_line(SAY_WARNING, text);
}
