/* progress.c -- how far a long job has come. */
#include "agent/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/terminal.h"
#include "core/os/os.h"

#define FIRST_NS      2000000000u /* nothing is shown before */
#define AGAIN_NS      200000000u
#define CHECK_SIZE    4096
#define LINE_SIZE     256
#define SECOND_NS     1000000000u
#define LEFT_LIMIT_NS 86400000000000u /* a guess of more than a day is none */

/* The program has one standard error, and does one job at a time. */
static struct {
    bool active;
    const char *what;
    uint64_t total_size, done_size;
    size_t unchecked_size; /* added since the clock was asked */
    uint64_t begun_ns, due_ns;
    size_t shown; /* columns on the screen now */
} job;

static void add_amounts(char *text, size_t size, uint64_t done_size,
                        uint64_t total_size)
{
    double mebibyte = 1024 * 1024;
    if (!total_size || done_size > total_size)
        snprintf(text, size, "%.1f MiB", (double)done_size / mebibyte);
    else
        snprintf(text, size, "%.1f of %.1f MiB (%.0f %%)", (double)done_size / mebibyte,
                 (double)total_size / mebibyte,
                 100 * (double)done_size / (double)total_size);
}

static void add_left(char *text, size_t size, uint64_t done_size, uint64_t total_size,
                     uint64_t elapsed_ns)
{
    text[0] = 0;
    if (!done_size || total_size < done_size)
        return;
    double left_ns =
        (double)elapsed_ns * (double)(total_size - done_size) / (double)done_size;
    if (left_ns > (double)LEFT_LIMIT_NS)
        return;
    uint64_t seconds = (uint64_t)(left_ns / SECOND_NS);
    snprintf(text, size, ", %" PRIu64 ":%02u left", seconds / 60,
             (unsigned)(seconds % 60));
}

void progress_line(char *text_ret, size_t size, const char *what, uint64_t done_size,
                   uint64_t total_size, uint64_t elapsed_ns)
{
    char amounts[80], left[40];
    double seconds = (double)(elapsed_ns ? elapsed_ns : 1) / SECOND_NS;
    add_amounts(amounts, sizeof(amounts), done_size, total_size);
    add_left(left, sizeof(left), done_size, total_size, elapsed_ns);
    snprintf(text_ret, size, "%s: %s, %.1f MiB/s%s", what, amounts,
             (double)done_size / (1024 * 1024) / seconds, left);
    for (char *at = text_ret; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?'; /* a file may be called anything */
}

/* Blanks instead of an escape sequence: they clear a line on every terminal. */
static void draw(const char *text)
{
    size_t size = strlen(text);
    int blanks = job.shown > size ? (int)(job.shown - size) : 0;
    fprintf(stderr, "\r%s%*s\r%s", text, blanks, "", text);
    fflush(stderr);
    job.shown = size;
}

void progress_begin(uint64_t total_size, const char *what)
{
    job.active = trail_os_is_terminal(2) && !trail_os_is_terminal(1);
    if (!job.active)
        return;
    job.what = what;
    job.total_size = total_size;
    job.done_size = job.unchecked_size = job.shown = 0;
    job.begun_ns = trail_os_mono_ns();
    job.due_ns = job.begun_ns + FIRST_NS;
}

void progress_add(size_t size)
{
    if (!job.active)
        return;
    job.done_size += size;
    job.unchecked_size += size;
    if (job.unchecked_size < CHECK_SIZE)
        return;
    job.unchecked_size = 0;
    uint64_t now_ns = trail_os_mono_ns();
    if (now_ns < job.due_ns)
        return;
    job.due_ns = now_ns + AGAIN_NS;
    char text[LINE_SIZE];
    unsigned width = terminal_width(2);
    size_t room = width && width < sizeof(text) ? width : sizeof(text);
    progress_line(text, room, job.what, job.done_size, job.total_size,
                  now_ns - job.begun_ns);
    draw(text);
}

void progress_hide(void)
{
    if (job.shown)
        draw("");
}

void progress_end(void)
{
    progress_hide();
    job.active = false;
}
