/* mistakes.c -- keeps the first mistake and tells each. */
#include "config/mistakes.h"

enum trail_status trail_config_note(struct trail_config_mistakes *mistakes,
                                    enum trail_status status,
                                    const struct trail_error *why)
{
    if (!status)
        return status;
    if (mistakes->count == 0) {
        mistakes->status = status;
        mistakes->first = *why;
    }
    if (mistakes->count < UINT32_MAX)
        mistakes->count++;
    if (mistakes->told && mistakes->count <= TRAIL_CONFIG_MISTAKE_LIMIT)
        mistakes->told(mistakes->arg, why->text);
    if (mistakes->told && mistakes->count == TRAIL_CONFIG_MISTAKE_LIMIT + 1)
        mistakes->told(mistakes->arg, "more mistakes; mend these first");
    return status;
}

bool trail_config_mistakes_full(const struct trail_config_mistakes *mistakes)
{
    return mistakes->count > TRAIL_CONFIG_MISTAKE_LIMIT;
}
