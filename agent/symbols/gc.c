/* gc.c -- `symbols gc`: a store of bounded size, what was not used for longest gone. */
#include <inttypes.h>
#include <stdlib.h>

#include "agent/symbols/entries.h"
#include "agent/symbols/interrupt.h"
#include "agent/symbols/symbols.h"
#include "config/units.h"

/* What went, or would have gone. */
struct removed {
    uint64_t size;
    size_t count;
};

static int by_use(const void *a, const void *b)
{
    const struct stored *left = a, *right = b;
    if (left->used_ns != right->used_ns)
        return left->used_ns < right->used_ns ? -1 : 1;
    return strcmp(left->entry.path, right->entry.path);
}

static uint64_t total_size(const struct entries *entries)
{
    uint64_t size = 0;
    for (size_t i = 0; i < entries->count; i++)
        size += entries->at[i].entry.size;
    return size;
}

static int remove_one(const struct stored *stored, bool dry_run,
                      struct removed *removed)
{
    const struct trail_store_entry *entry = &stored->entry;
    struct trail_error err = { "" };
    char size[SYMBOLS_SIZE_TEXT], age[ENTRIES_AGE_TEXT];
    enum trail_status status = dry_run ? TRAIL_OK : trail_store_remove(entry, &err);
    if (status && status != TRAIL_NOT_FOUND)
        return failure("%s", err.text);
    removed->size += entry->size;
    removed->count++;
    symbols_size_print(entry->size, size);
    entries_age_print(stored->used_ns, age);
    printf("%s  %s%s  %s, not used for %s\n", dry_run ? "would remove" : "removed",
           entry->id, trail_store_ending(entry->kind), size, age);
    return EXIT_DONE;
}

static int shrink(const struct entries *entries, uint64_t limit, bool dry_run)
{
    struct removed removed = { .count = 0 };
    uint64_t size = total_size(entries);
    int exit_code = EXIT_DONE;
    char kept[SYMBOLS_SIZE_TEXT];
    for (size_t i = 0; i < entries->count && size - removed.size > limit; i++)
        if (!interrupt_came() && remove_one(&entries->at[i], dry_run, &removed))
            exit_code = EXIT_FAILED;
    symbols_size_print(size - removed.size, kept);
    printf("%zu of %zu files %s, %s\n", entries->count - removed.count, entries->count,
           dry_run ? "would stay" : "stay", kept);
    return exit_code;
}

int symbols_gc(struct symbols_session *session, char **arguments, int count)
{
    const struct symbols_options *options = session->options;
    struct entries entries;
    struct trail_error err = { "" };
    uint64_t limit;
    (void)arguments, (void)count;
    if (!options->max_size)
        return usage_error("symbols", "gc wants --max-size SIZE");
    if (trail_parse_size(options->max_size, &limit))
        return usage_error("symbols", "'%s' is no size; write 500MiB or 2GiB",
                           options->max_size);
    if (entries_list(session->store, &entries, &err))
        return failure("%s", err.text);
    if (entries.count)
        qsort(entries.at, entries.count, sizeof(*entries.at), by_use);
    int exit_code = shrink(&entries, limit, options->dry_run);
    entries_deinit(&entries);
    return exit_code;
}
