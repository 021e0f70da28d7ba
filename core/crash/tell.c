/* tell.c -- a crash in a line on standard error. */
#include "core/crash/tell.h"

#include "core/crash/message.h"
#include "core/crash/reason.h"
#include "core/crash/state.h"
#include "core/trace/line_write.h"

#define STDERR  2
#define TELL_MS 200 /* for whoever reads it */

/* One line: what comes from the program may hold others. */
static void put_plain(struct trail_lines *lines, struct trail_text text)
{
    for (size_t i = 0; i < text.size; i++) {
        char c = text.data[i];
        if ((unsigned char)c < 0x20 || c == 0x7f)
            c = '?';
        trail_lines_text(lines, (struct trail_text){ &c, 1 });
    }
}

static void put_reason(struct trail_lines *lines, const struct trail_crash_state *crash)
{
    const struct trail_os_fatal *fatal = &crash->fatal;
    const struct trail_signal_facts facts = trail_reason_facts(crash);
    const char *access = trail_signal_access_name(facts.access);
    const char *meaning = trail_signal_meaning(&facts);

    trail_lines_string(lines, trail_signal_name(fatal->number));
    if (trail_signal_has_address(fatal->number, fatal->code)) {
        trail_lines_string(lines, ", ");
        trail_lines_string(lines, access ? access : "");
        trail_lines_string(lines, access ? " of " : "at ");
        trail_lines_hex(lines, fatal->address);
    }
    if (meaning) {
        trail_lines_string(lines, " (");
        trail_lines_string(lines, meaning);
        trail_lines_string(lines, ")");
    }
    if (fatal->sender) {
        trail_lines_string(lines, ", sent by process ");
        trail_lines_decimal(lines, (uint64_t)fatal->sender);
    }
}

static void put_file(struct trail_lines *lines, const struct trail_crash_state *crash)
{
    const struct trail_inbox *inbox = &crash->inbox;
    const bool is_there = crash->file.size && !crash->file_error;
    if (crash->flags & TRAIL_CRASH_NO_FILE)
        return;
    trail_lines_string(lines, is_there           ? "; trace: "
                              : crash->file.size ? "; trace, cut: "
                                                 : "; no trace: ");
    put_plain(lines, trail_text_of(inbox->path[0] ? inbox->path : "no inbox"));
    if (crash->file.size) {
        trail_lines_string(lines, "/");
        trail_lines_string(lines, crash->file.name);
    }
    if (crash->file_error) {
        trail_lines_string(lines, ": ");
        trail_lines_string(lines, trail_os_error_text(crash->file_error));
    }
}

static void put_line(struct trail_lines *lines, const struct trail_crash_state *crash)
{
    char message[TRAIL_CRASH_MESSAGE_SIZE];
    const size_t size =
        trail_crash_message(trail_signal_name(crash->fatal.number), message);
    const char *name = strrchr(crash->process.exe, '/');

    trail_lines_string(lines, "backtrail: ");
    put_plain(lines, trail_text_of(name ? name + 1 : crash->process.exe));
    trail_lines_string(lines, "[");
    trail_lines_decimal(lines, (uint64_t)crash->process.pid);
    trail_lines_string(lines, "] crashed: ");
    put_reason(lines, crash);
    if (size) {
        trail_lines_string(lines, ": ");
        put_plain(lines, (struct trail_text){ message, size });
    }
    put_file(lines, crash);
    trail_lines_end(lines);
}

void trail_crash_tell(void)
{
    const struct trail_crash_state *crash = &trail_crash;
    static char text[8192];
    struct trail_lines lines = { .fd = STDERR, .text = text, .room = sizeof(text) };
    const bool is_lost = !(crash->flags & TRAIL_CRASH_NO_FILE) &&
                         (!crash->file.size || crash->file_error);

    if (!trail_os_takes(STDERR, TELL_MS))
        return;
    if (!(crash->flags & TRAIL_CRASH_QUIET) || is_lost)
        put_line(&lines, crash);
    trail_lines_flush(&lines);
    if (crash->flags & TRAIL_CRASH_PRINT_RAW)
        trail_print_raw(STDERR, &crash->backtrace);
    if (crash->flags & TRAIL_CRASH_PRINT_MARKUP || is_lost)
        trail_print_markup(STDERR, &crash->backtrace);
}
