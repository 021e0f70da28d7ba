/* suggest.c -- what a key that is not known may have been meant to be. */
#include "config/suggest.h"

/* Longer keys are compared with nothing: nobody mistypes one of ours that far. */
#define KEY_LIMIT 40

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* How many letters have to be added, dropped, replaced or swapped with the next one to
 * turn `a` into `b`; both at most KEY_LIMIT long. Case does not count. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][KEY_LIMIT + 1];
    size_t *before = rows[0], *last = rows[1], *row = rows[2];
    size_t a_size = strlen(a), b_size = strlen(b);

    for (size_t j = 0; j <= b_size; j++)
        last[j] = j;
    for (size_t i = 1; i <= a_size; i++) {
        row[0] = i;
        for (size_t j = 1; j <= b_size; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            row[j] = smaller(last[j - 1] + (x != y), smaller(last[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                row[j] = smaller(row[j], before[j - 2] + 1);
        }
        size_t *spare = before;
        before = last;
        last = row;
        row = spare;
    }
    return last[b_size];
}

const char *trail_suggest_nearest(const char *key, const char *const *known)
{
    const char *best = NULL;
    size_t size = strlen(key), best_distance = (size > 5 ? size / 3 : 1) + 1;

    for (; size <= KEY_LIMIT && *known; known++) {
        if (strlen(*known) > KEY_LIMIT)
            continue;
        size_t apart = distance(key, *known);
        if (apart < best_distance) {
            best = *known;
            best_distance = apart;
        }
    }
    return best;
}

struct trail_suggestion trail_suggest(const char *key, const char *const *known)
{
    struct trail_suggestion ret = { "" };
    const char *near = trail_suggest_nearest(key, known);
    size_t used = 0;

    if (near) {
        snprintf(ret.text, sizeof(ret.text), "did you mean \"%s\"?", near);
        return ret;
    }
    if (!*known) {
        snprintf(ret.text, sizeof(ret.text), "none is known here");
        return ret;
    }
    for (const char *const *at = known; *at; at++) {
        size_t left = sizeof(ret.text) - used;
        const char *before = at == known ? "known here: " : ", ";
        /* Leave room for the dots of a list that does not fit. */
        if (strlen(before) + strlen(*at) + 6 > left) {
            snprintf(ret.text + used, left, ", ...");
            break;
        }
        used += (size_t)snprintf(ret.text + used, left, "%s%s", before, *at);
    }
    return ret;
}
