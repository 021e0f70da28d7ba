/* fuzz_redact.c -- any bytes as a line to be redacted: what comes out of JSON is JSON,
 * without the attribute that is masked, and is left alone the next time. */
#define _POSIX_C_SOURCE 200809L

#include <stdlib.h>

#include <jansson.h>

#include "core/report/redact.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_attributes(const json_t *json)
{
    const char *token = json_string_value(
        json_object_get(json_object_get(json, "attributes"), "token"));
    if (token && strcmp(token, TRAIL_REDACTED) != 0)
        abort();
}

/* What a strict reader takes must be redacted, and stay readable. */
static void check(const struct trail_redact *redact, const char *text, size_t size,
                  int depth)
{
    struct trail_error err = { "" };
    char *out = NULL;
    size_t out_size = 0;
    json_t *was = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    enum trail_status status =
        trail_redact_json(redact, text, size, &out, &out_size, &err);
    if (status && (!err.text[0] || strchr(err.text, '\n') || out))
        abort();
    if (status && json_is_object(was) && !strstr(err.text, "nested"))
        abort();
    json_t *is = out ? json_loadb(out, out_size, JSON_REJECT_DUPLICATES, NULL) : NULL;
    if (was && out && !is)
        abort();
    if (was && !status)
        check_attributes(out ? is : was);
    if (was && out && depth == 0)
        check(redact, out, out_size, 1);
    else if (was && out)
        abort(); /* changed once more */
    json_decref(was);
    json_decref(is);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char *const patterns[] = { "secret[0-9]*", "[a-z]+@[a-z]+", NULL };
    static char *const paths[] = { "/mnt/ann=~", NULL };
    const struct trail_redact_rules rules = { .patterns = patterns, .paths = paths };
    struct trail_redact *redact = NULL;

    if (trail_redact_create(&rules, &redact, NULL))
        return 0;
    check(redact, (const char *)data, size, 0);
    trail_redact_destroy(redact);
    return 0;
}
