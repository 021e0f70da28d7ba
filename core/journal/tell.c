/* tell.c -- what the record has to say: to people, and to sinks about what was lost. */
#include "core/journal/record.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/trace/json_write.h"

const char *const journal_total_names[JOURNAL_TOTALS] = {
    [JOURNAL_APPENDED] = "appended",
    [JOURNAL_REPEATS] = "repeats",
    [JOURNAL_COUNTED] = "counted",
    [JOURNAL_DROPPED_BYTES] = "dropped bytes",
    [JOURNAL_DROPPED_COUNT] = "dropped count",
    [JOURNAL_DROPPED_AGE] = "dropped age",
    [JOURNAL_DROPPED_FULL] = "dropped full",
    [JOURNAL_DROPPED_HAND] = "dropped hand",
    [JOURNAL_EXPIRED] = "expired",
    [JOURNAL_DAMAGED] = "damaged",
    [JOURNAL_DAMAGED_FILES] = "damaged files",
};

void journal_say(struct trail_journal *journal, const char *format, ...)
{
    char line[1024];
    va_list args;
    if (!journal->told)
        return;
    va_start(args, format);
    vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    journal->told(journal->told_arg, line);
}

void journal_new_id(char id_ret[33])
{
    uint8_t bytes[16];
    trail_os_random(bytes, sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(id_ret + 2 * i, 3, "%02x", bytes[i]);
}

/* What it tells is in the place of a fingerprint too, so that it can be told again
 * without its text being read. */
void journal_loss_read(const struct journal_entry *entry, uint64_t *count_ret,
                       uint64_t *bytes_ret)
{
    char *end;
    *count_ret = strtoull(entry->fingerprint, &end, 10);
    *bytes_ret = strtoull(end, NULL, 10);
}

bool journal_tell_loss(struct trail_journal *journal, struct journal_change *change,
                       const struct journal_loss *loss)
{
    char text[1024], numbers[48];
    snprintf(numbers, sizeof(numbers), "%" PRIu64 " %" PRIu64, loss->count,
             loss->bytes);
    struct trail_journal_entry entry = { .class_ = change->row->class_,
                                         .kind = TRAIL_JOURNAL_DROPPED,
                                         .fingerprint = numbers,
                                         .time_ns = change->now_ns,
                                         .channel = "dropped",
                                         .app = "",
                                         .sink = loss->sink };
    journal_new_id(entry.id);
    struct trail_json json;
    trail_json_init(&json, text, sizeof(text));
    trail_json_open(&json, NULL, '{');
    trail_json_number(&json, "backtrail", 1);
    trail_json_string(&json, "kind", "dropped");
    trail_json_string(&json, "id", entry.id);
    trail_json_decimal(&json, "time_ns", entry.time_ns);
    trail_json_string(&json, "channel", "dropped");
    trail_json_string(&json, "reason", loss->reason);
    trail_json_string(&json, "class",
                      loss->class_ == TRAIL_CLASS_CRASH ? "crash" : "event");
    if (loss->sink)
        trail_json_string(&json, "sink", loss->sink);
    trail_json_number(&json, "count", (int64_t)loss->count);
    trail_json_number(&json, "bytes", (int64_t)loss->bytes);
    trail_json_decimal(&json, "first_ns", loss->first_ns);
    trail_json_decimal(&json, "last_ns", loss->last_ns);
    trail_json_close(&json, '}');
    entry.text = (struct trail_text){ text, json.size };
    return trail_json_fits(&json) && journal_change_add(journal, change, &entry);
}
