/* mask.c -- what must not be seen of a config: better too much than too little.
 */
#define _POSIX_C_SOURCE 200809L

#include "agent/config/config.h"

#include <stdlib.h>

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t same = 0;
        while (word[same] && lower(text[same]) == word[same])
            same++;
        if (!word[same])
            return true;
    }
    return false;
}

bool config_is_secret_name(const char *name)
{
    static const char *const words[] = { "auth",    "cookie",     "token",
                                         "secret",  "passw",      "passph",
                                         "key",     "credential", "signature",
                                         "session", "private",    NULL };
    for (const char *const *word = words; *word; word++)
        if (contains(name, *word))
            return true;
    return false;
}

bool config_is_secret_text(const char *written)
{
    return strstr(written, "${env:") || strstr(written, "${file:");
}

char *config_mask_url(const char *text)
{
    const char *scheme = strstr(text, "://");
    size_t room = strlen(text) + 16, used = 0;
    char *masked = malloc(room);
    if (!masked)
        return NULL;
    if (!scheme) {
        memcpy(masked, text, strlen(text) + 1);
        return masked;
    }
    const char *host = scheme + 3, *end = host + strcspn(host, "/?#"), *at = end;
    while (at > host && *at != '@')
        at--;
    used = (size_t)(host - text);
    memcpy(masked, text, used);
    if (*at == '@') {
        used += (size_t)snprintf(masked + used, room - used, "***");
        host = at;
    }
    size_t shown = strcspn(host, "?#");
    snprintf(masked + used, room - used, "%.*s%s", (int)shown, host,
             host[shown] ? "?***" : "");
    return masked;
}
