/* panic.c -- the words of a Rust panic, which go nowhere but to standard error.
 *
 * Rust writes them in one piece or, where they are long, in many: "\nthread 'NAME'
 * (TID) panicked at FILE:LINE:COLUMN:\nTEXT\n", and then a note or a backtrace.
 * Older ones begin without the newline, and have no number. */
#include "preload/panic.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "core/crash/message.h"
#include "core/os/os.h"

/* One at a time: Rust has a lock around it, too. */
static _Atomic int64_t owner; /* thread; 0: nobody's */
static char text[TRAIL_CRASH_MESSAGE_SIZE + 1];
static _Atomic uint32_t used;

static bool begins(const char *bytes, size_t size, const char *with)
{
    size_t length = strlen(with);
    return size >= length && memcmp(bytes, with, length) == 0;
}

static void add(const char *bytes, size_t size)
{
    uint32_t at = atomic_load(&used);
    size_t room = sizeof(text) - 1 - at;
    if (size > room)
        size = room;
    memcpy(text + at, bytes, size);
    text[at + size] = 0;
    atomic_store(&used, at + (uint32_t)size);
    if (strstr(text, "' panicked at ") || strstr(text, ") panicked at "))
        trail_crash_message_panic(text);
}

void trail_panic_look(const char *bytes, size_t size)
{
    int64_t tid = trail_os_tid();
    size_t newline = begins(bytes, size, "\n") ? 1 : 0;
    if (begins(bytes + newline, size - newline, "thread '")) {
        atomic_store(&owner, tid);
        atomic_store(&used, 0);
        add(bytes + newline, size - newline);
    } else if (atomic_load(&owner) == tid) {
        if (begins(bytes, size, "note: run with `RUST_") ||
            begins(bytes, size, "stack backtrace:"))
            atomic_store(&owner, 0);
        else
            add(bytes, size);
    }
}
