/* breadcrumbs.c -- the last things that happened: a ring that nobody waits for. */
#include "backtrail/crash.h"
#include "core/crash/known_table.h"
#include "core/os/os.h"

#define LENGTH TRAIL_KNOWN_BREADCRUMBS

/* The key of a breadcrumb is when it was, its order which it is. */
static struct trail_known_record records[LENGTH + 32];
static struct trail_known_pool pool = { .records = records, .count = LENGTH + 32 };
static _Atomic uint32_t ring[LENGTH];
static _Atomic uint32_t next;

void trail_breadcrumb(const char *text)
{
    if (!text)
        return;
    uint64_t time_ns = trail_os_time_ns();
    uint32_t number = atomic_fetch_add(&next, 1);
    size_t size = trail_known_clip(text, strlen(text), TRAIL_KNOWN_BREADCRUMB_SIZE);
    trail_known_show(&pool, &ring[number % LENGTH], number,
                     (struct trail_text){ (const char *)&time_ns, sizeof(time_ns) },
                     (struct trail_text){ text, size });
}

void trail_known_breadcrumbs(void (*each)(void *arg, uint64_t time_ns,
                                          struct trail_text text),
                             void *arg)
{
    struct trail_known_copy copy;
    uint32_t end = atomic_load(&next);
    for (uint32_t number = end - LENGTH; number != end; number++) {
        uint64_t time_ns;
        if (!trail_known_get(&pool, &ring[number % LENGTH], &copy) ||
            copy.order != number)
            continue; /* there never was one, or it is not done */
        memcpy(&time_ns, copy.key, sizeof(time_ns));
        each(arg, time_ns, (struct trail_text){ copy.value, copy.value_size });
    }
}
