/* stamp_text.c -- points in time as people write and read them. */
#define _DEFAULT_SOURCE
#define _XOPEN_SOURCE 700

#include "agent/daemon/stamp_text.h"

#include <stdio.h>
#include <time.h>

#include "config/units.h"
#include "core/os/os.h"

#define SECOND_NS ((uint64_t)1000000000u)

struct stamp_text stamp_text(uint64_t time_ns)
{
    struct stamp_text stamp = { "-" };
    char seconds[24];
    struct tm parts;
    time_t time = (time_t)(time_ns / SECOND_NS);
    if (!time_ns || !gmtime_r(&time, &parts) ||
        !strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts))
        return stamp;
    snprintf(stamp.text, sizeof(stamp.text), "%s.%03uZ", seconds,
             (unsigned)(time_ns % SECOND_NS / 1000000u));
    return stamp;
}

bool stamp_text_read(const char *text, uint64_t *time_ns_ret)
{
    static const char *const forms[] = { "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S",
                                         "%Y-%m-%d %H:%M:%S", "%Y-%m-%d" };
    uint64_t ago, now = trail_os_time_ns();
    if (trail_parse_duration(text, &ago) == TRAIL_OK) {
        *time_ns_ret = ago < now ? now - ago : 0;
        return true;
    }
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm parts = { .tm_isdst = 0 };
        const char *end = strptime(text, forms[i], &parts);
        time_t time = end && !*end ? timegm(&parts) : -1;
        if (time < 0)
            continue;
        *time_ns_ret = (uint64_t)time * SECOND_NS;
        return true;
    }
    return false;
}
