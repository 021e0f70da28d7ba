/* suggest.h -- what a key that is not known may have been meant to be. */
#ifndef TRAIL_CONFIG_SUGGEST_H
#define TRAIL_CONFIG_SUGGEST_H

#include "backtrail/base.h"

struct trail_suggestion {
    char text[160];
};

/* `did you mean "channels"?` if one of the NULL-terminated `known` is near, else
 * `known here: a, b, c`. */
struct trail_suggestion trail_suggest(const char *key, const char *const *known);
/* The one of them that is near, or NULL. */
const char *trail_suggest_nearest(const char *key, const char *const *known);

#endif
