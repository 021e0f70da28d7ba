/* target.c -- see target.h. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>
#include <strings.h>

#include "target.h"

#define HEADER_SIZE 512

char *http_url_shown(const char *url)
{
    const CURLUPart hidden[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_OPTIONS,
                                 CURLUPART_QUERY, CURLUPART_FRAGMENT };
    char *text = NULL;
    char *copy = NULL;
    CURLU *parts = curl_url();

    if (!parts || curl_url_set(parts, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME))
        goto out;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        curl_url_set(parts, hidden[i], NULL, 0);
    if (curl_url_get(parts, CURLUPART_URL, &text, 0) == CURLUE_OK)
        copy = strdup(text);
out:
    curl_free(text);
    curl_url_cleanup(parts);
    return copy;
}

/* ---- a DSN -------------------------------------------------------------- */

static bool ends_with(const char *text, const char *end)
{
    size_t size = strlen(text), end_size = strlen(end);

    return size >= end_size && strcmp(text + size - end_size, end) == 0;
}

/* "/mount/17" -> "/mount/api/17/envelope/". False without memory or a project. */
static bool set_envelope_path(CURLU *parts, const char *path)
{
    const char *project = strrchr(path, '/');
    size_t size = strlen(path) + sizeof("/api//envelope/");
    char *full = project && project[1] ? malloc(size) : NULL;

    if (!full)
        return false;
    snprintf(full, size, "%.*s/api/%s/envelope/", (int)(project - path), path,
             project + 1);
    bool set = !curl_url_set(parts, CURLUPART_PATH, full, 0);
    free(full);
    return set;
}

static bool add_key_header(struct http_options *options, const char *key)
{
    char line[HEADER_SIZE];
    int size = snprintf(line, sizeof(line),
                        "X-Sentry-Auth: Sentry sentry_version=7, sentry_key=%s, "
                        "sentry_client=backtrail/" HTTP_RELEASE,
                        key);
    if (size < 0 || (size_t)size >= sizeof(line))
        return false;
    for (const char *at = line; *at; at++)
        if (*at < ' ' || *at > '~')
            return false;
    struct curl_slist *grown = curl_slist_append(options->headers, line);
    if (grown)
        options->headers = grown;
    return grown != NULL;
}

static bool replace_url(struct http_options *options, CURLU *parts)
{
    char *text = NULL;
    char *copy = NULL;

    curl_url_set(parts, CURLUPART_USER, NULL, 0);
    curl_url_set(parts, CURLUPART_PASSWORD, NULL, 0);
    if (curl_url_get(parts, CURLUPART_URL, &text, 0) == CURLUE_OK)
        copy = strdup(text);
    curl_free(text);
    if (copy) {
        free(options->url);
        options->url = copy;
    }
    return copy != NULL;
}

/* A URL without a user, or of an endpoint, is no DSN, and is left alone. */
static enum trail_status read_dsn(struct http_options *options, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    char *key = NULL, *path = NULL;
    CURLU *parts = curl_url();

    if (!parts || curl_url_set(parts, CURLUPART_URL, options->url, 0) ||
        curl_url_get(parts, CURLUPART_USER, &key, CURLU_URLDECODE) ||
        curl_url_get(parts, CURLUPART_PATH, &path, 0) ||
        ends_with(path, "/envelope/") || ends_with(path, "/envelope"))
        goto out;
    if (!set_envelope_path(parts, path) || !add_key_header(options, key) ||
        !replace_url(options, parts))
        status = trail_fail(err, TRAIL_BAD_INPUT,
                            "url: is no DSN, https://KEY@HOST/PROJECT");
out:
    curl_free(key);
    curl_free(path);
    curl_url_cleanup(parts);
    return status;
}

enum trail_status http_target_set(struct http_options *options, struct trail_error *err)
{
    const char *url = options->url;
    enum trail_status status = TRAIL_OK;

    if (!url)
        return trail_fail(err, TRAIL_BAD_INPUT, "url: names no server");
    if (strncasecmp(url, "https://", 8) && strncasecmp(url, "http://", 7))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "url: must start with https:// or http://");
    if (options->format == HTTP_FORMAT_SENTRY)
        status = read_dsn(options, err);
    if (status)
        return status;
    options->shown_url = http_url_shown(options->url);
    if (!options->shown_url)
        return trail_fail(err, TRAIL_BAD_INPUT, "url: is not a valid URL");
    return TRAIL_OK;
}
