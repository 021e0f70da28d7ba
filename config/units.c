/* units.c -- sizes and durations as people write them. */
#include "config/units.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit no_units[] = {
    { "", 1 },
    { NULL, 0 },
};

static const struct unit size_units[] = {
    { "", 1 },
    { "B", 1 },
    { "KiB", UINT64_C(1) << 10 },
    { "MiB", UINT64_C(1) << 20 },
    { "GiB", UINT64_C(1) << 30 },
    { NULL, 0 },
};

static const struct unit duration_units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "ms", 1000000 },
    { "s", UINT64_C(1000000000) },
    { "m", UINT64_C(60) * 1000000000 },
    { "h", UINT64_C(3600) * 1000000000 },
    { NULL, 0 },
};

static enum trail_status parse(const char *text, const struct unit *units,
                               uint64_t *number_ret)
{
    uint64_t number = 0;
    int too_big = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (number > (UINT64_MAX - digit) / 10)
            too_big = 1;
        else
            number = number * 10 + digit;
    }
    if (at == text)
        return TRAIL_BAD_INPUT;
    while (units->name && strcmp(units->name, at) != 0)
        units++;
    if (!units->name)
        return TRAIL_BAD_INPUT;
    if (too_big || number > UINT64_MAX / units->factor)
        return TRAIL_UNSUPPORTED;
    *number_ret = number * units->factor;
    return TRAIL_OK;
}

enum trail_status trail_parse_size(const char *text, uint64_t *size_ret)
{
    return parse(text, size_units, size_ret);
}

enum trail_status trail_parse_duration(const char *text, uint64_t *duration_ns_ret)
{
    return parse(text, duration_units, duration_ns_ret);
}

enum trail_status trail_parse_count(const char *text, uint64_t *count_ret)
{
    return parse(text, no_units, count_ret);
}
