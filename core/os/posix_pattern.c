/* posix_pattern.c -- regular expressions on POSIX systems. */
#define _POSIX_C_SOURCE 200809L

#include "core/os/os.h"

#include <regex.h>
#include <stdlib.h>

struct trail_os_pattern {
    regex_t regex;
};

static bool refers_back(const char *text)
{
    for (; *text; text++) {
        if (*text != '\\')
            continue;
        if (text[1] >= '1' && text[1] <= '9')
            return true;
        text += text[1] != 0;
    }
    return false;
}

enum trail_status trail_os_pattern_create(const char *text,
                                          struct trail_os_pattern **pattern_ret,
                                          struct trail_error *err)
{
    if (refers_back(text))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "%.100s: a pattern cannot refer back to a match", text);
    struct trail_os_pattern *pattern = calloc(1, sizeof(*pattern));
    if (!pattern)
        return trail_fail(err, TRAIL_NO_MEMORY, "pattern: out of memory");
    int code = regcomp(&pattern->regex, text, REG_EXTENDED);
    if (code) {
        char words[100];
        regerror(code, &pattern->regex, words, sizeof(words));
        free(pattern);
        return trail_fail(err, code == REG_ESPACE ? TRAIL_NO_MEMORY : TRAIL_BAD_INPUT,
                          "%.100s: no pattern: %s", text, words);
    }
    *pattern_ret = pattern;
    return TRAIL_OK;
}

void trail_os_pattern_destroy(struct trail_os_pattern *pattern)
{
    if (!pattern)
        return;
    regfree(&pattern->regex);
    free(pattern);
}

enum trail_status trail_os_pattern_find(const struct trail_os_pattern *pattern,
                                        const char *text, bool inside,
                                        size_t *start_ret, size_t *end_ret)
{
    regmatch_t match;
    int code = regexec(&pattern->regex, text, 1, &match, inside ? REG_NOTBOL : 0);
    if (code)
        return code == REG_NOMATCH ? TRAIL_NOT_FOUND : TRAIL_NO_MEMORY;
    *start_ret = (size_t)match.rm_so;
    *end_ret = (size_t)match.rm_eo;
    return TRAIL_OK;
}
