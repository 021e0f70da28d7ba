/* redact.c -- the rules of a redaction, and text for people. */
#include "core/report/redact.h"

#include <ctype.h>
#include <stdlib.h>

#include "core/os/os.h"
#include "core/report/redact_value.h"
#include "core/resolve/in_app.h"

#define PATTERN_LIMIT 64

struct rewriting {
    char *from, *to; /* both in one piece of memory */
    size_t from_size;
};

struct trail_redact {
    char **names; /* lower case; NULL-terminated */
    struct trail_os_pattern **patterns;
    size_t pattern_count;
    struct rewriting *paths;
    size_t path_count;
    bool keeps_arguments, keeps_environment;
};

static const char *const usual_names[] = {
    "*password*",    "*passwd*",     "*passphrase*",  "*secret*",        "*token*",
    "*api_key*",     "*apikey*",     "*api-key*",     "*credential*",    "*cookie*",
    "*private_key*", "*session_id*", "authorization", "*.authorization", NULL
};

/* ---- making ------------------------------------------------------------- */

static size_t list_size(const char *const *list)
{
    size_t count = 0;
    while (list && list[count])
        count++;
    return count;
}

static void lower(char *text)
{
    for (; *text; text++)
        *text = (char)tolower((unsigned char)*text);
}

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

static enum trail_status no_memory(struct trail_error *err)
{
    return trail_fail(err, TRAIL_NO_MEMORY, "redact: out of memory");
}

static enum trail_status set_names(struct trail_redact *redact,
                                   const char *const *names, struct trail_error *err)
{
    size_t usual = list_size(usual_names), count = list_size(names);
    redact->names = calloc(usual + count + 1, sizeof(*redact->names));
    if (!redact->names)
        return no_memory(err);
    for (size_t i = 0; i < usual + count; i++) {
        redact->names[i] = copy_text(i < usual ? usual_names[i] : names[i - usual]);
        if (!redact->names[i])
            return no_memory(err);
        lower(redact->names[i]);
    }
    return TRAIL_OK;
}

static enum trail_status set_patterns(struct trail_redact *redact,
                                      const char *const *patterns,
                                      struct trail_error *err)
{
    size_t count = list_size(patterns);
    struct trail_error why = { "" };
    enum trail_status status = TRAIL_OK;
    if (count > PATTERN_LIMIT)
        return trail_fail(err, TRAIL_BAD_INPUT, "patterns: there are more than %d",
                          PATTERN_LIMIT);
    redact->patterns = calloc(count + 1, sizeof(struct trail_os_pattern *));
    if (!redact->patterns)
        return no_memory(err);
    for (size_t i = 0; i < count && !status; i++) {
        status = trail_os_pattern_create(patterns[i], &redact->patterns[i], &why);
        redact->pattern_count += !status;
    }
    return status ? trail_fail(err, status, "patterns: %.200s", why.text) : TRAIL_OK;
}

static enum trail_status set_paths(struct trail_redact *redact,
                                   const char *const *paths, struct trail_error *err)
{
    size_t count = list_size(paths);
    redact->paths = calloc(count + 1, sizeof(*redact->paths));
    if (!redact->paths)
        return no_memory(err);
    for (size_t i = 0; i < count; i++) {
        struct rewriting *path = &redact->paths[i];
        const char *equals = strchr(paths[i], '=');
        if (!equals || equals == paths[i])
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "paths: %.100s: write FROM=TO, such as /mnt/ann=~",
                              paths[i]);
        path->from = copy_text(paths[i]);
        if (!path->from)
            return no_memory(err);
        redact->path_count++;
        path->from_size = (size_t)(equals - paths[i]);
        path->from[path->from_size] = 0;
        path->to = path->from + path->from_size + 1;
    }
    return TRAIL_OK;
}

static enum trail_status set_keep(struct trail_redact *redact, const char *const *keep,
                                  struct trail_error *err)
{
    for (; keep && *keep; keep++)
        if (strcmp(*keep, "arguments") == 0)
            redact->keeps_arguments = true;
        else if (strcmp(*keep, "environment") == 0)
            redact->keeps_environment = true;
        else
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "keep: %.100s: is neither arguments nor environment",
                              *keep);
    return TRAIL_OK;
}

enum trail_status trail_redact_create(const struct trail_redact_rules *rules,
                                      struct trail_redact **redact_ret,
                                      struct trail_error *err)
{
    struct trail_redact *redact = calloc(1, sizeof(*redact));
    if (!redact)
        return no_memory(err);
    enum trail_status status =
        set_names(redact, (const char *const *)rules->names, err);
    if (!status)
        status = set_patterns(redact, (const char *const *)rules->patterns, err);
    if (!status)
        status = set_paths(redact, (const char *const *)rules->paths, err);
    if (!status)
        status = set_keep(redact, (const char *const *)rules->keep, err);
    if (status) {
        trail_redact_destroy(redact);
        return status;
    }
    *redact_ret = redact;
    return TRAIL_OK;
}

void trail_redact_destroy(struct trail_redact *redact)
{
    if (!redact)
        return;
    for (char **name = redact->names; name && *name; name++)
        free(*name);
    for (size_t i = 0; i < redact->pattern_count; i++)
        trail_os_pattern_destroy(redact->patterns[i]);
    for (size_t i = 0; i < redact->path_count; i++)
        free(redact->paths[i].from);
    free(redact->names);
    free(redact->patterns);
    free(redact->paths);
    free(redact);
}

/* ---- names -------------------------------------------------------------- */

bool trail_redact_names(const struct trail_redact *redact, const char *name)
{
    char *lowered = copy_text(name);
    bool masked = !lowered; /* nobody knows: then rather too much */
    if (lowered)
        lower(lowered);
    for (char **glob = redact->names; *glob && !masked; glob++)
        masked = trail_glob(*glob, lowered);
    free(lowered);
    return masked;
}

bool trail_redact_reads(const struct trail_redact *redact)
{
    return redact->pattern_count || redact->path_count;
}

bool trail_redact_takes_out(const struct trail_redact *redact, const char *name)
{
    static const char *const arguments[] = { "arguments", "args",         "argv",
                                             "cmdline",   "command_line", NULL };
    static const char *const environment[] = { "environment", "environ", "env", NULL };
    for (const char *const *at = arguments; *at; at++)
        if (strcmp(*at, name) == 0)
            return !redact->keeps_arguments;
    for (const char *const *at = environment; *at; at++)
        if (strcmp(*at, name) == 0)
            return !redact->keeps_environment;
    return false;
}

/* ---- values ------------------------------------------------------------- */

static bool is_path_byte(char byte)
{
    return isalnum((unsigned char)byte) || (byte && strchr("_-./~", byte)) ||
           (unsigned char)byte >= 0x80;
}

/* The rule for the path that begins at `at`; NULL: none does. */
static const struct rewriting *rewriting_at(const struct trail_redact *redact,
                                            const char *text, size_t at)
{
    if (at > 0 && is_path_byte(text[at - 1]))
        return NULL;
    for (size_t i = 0; i < redact->path_count; i++) {
        const struct rewriting *path = &redact->paths[i];
        if (strncmp(text + at, path->from, path->from_size) != 0)
            continue;
        char next = text[at + path->from_size];
        if (path->from[path->from_size - 1] == '/' || next == '/' ||
            !is_path_byte(next))
            return path;
    }
    return NULL;
}

static bool rewrite_paths(const struct trail_redact *redact, const char *text,
                          size_t size, struct trail_text_buffer *out)
{
    size_t done = 0;
    for (size_t at = 0; at < size;) {
        const struct rewriting *path =
            redact->path_count ? rewriting_at(redact, text, at) : NULL;
        if (!path) {
            at = redact->path_count ? at + 1 : size;
            continue;
        }
        trail_text_buffer_add(out, text + done, at - done);
        trail_text_buffer_add(out, path->to, strlen(path->to));
        done = at = at + path->from_size;
    }
    trail_text_buffer_add(out, text + done, size - done);
    return done > 0;
}

/* The next match of each pattern, as long as it lies ahead. */
struct hit {
    size_t start, end;
    bool none;
};

/* Without memory to search, all that is left is a match. */
static void search(const struct trail_os_pattern *pattern, const char *text, size_t at,
                   size_t size, struct hit *hit)
{
    size_t start = 0, end = size - at;
    enum trail_status status =
        trail_os_pattern_find(pattern, text + at, at > 0, &start, &end);
    *hit = (struct hit){ .start = at + start,
                         .end = at + end,
                         .none = status == TRAIL_NOT_FOUND || start == end };
}

/* Where any pattern matches first, the longest there; NULL: nowhere. */
static const struct hit *match_from(const struct trail_redact *redact, const char *text,
                                    size_t at, size_t size, struct hit *hits)
{
    const struct hit *best = NULL;
    for (size_t i = 0; i < redact->pattern_count; i++) {
        struct hit *hit = &hits[i];
        if (!hit->none && (at == 0 || hit->start < at))
            search(redact->patterns[i], text, at, size, hit);
        if (!hit->none && (!best || hit->start < best->start ||
                           (hit->start == best->start && hit->end > best->end)))
            best = hit;
    }
    return best;
}

/* After so many matches all the rest is masked: each search takes as long as what is
 * left. */
#define MATCH_LIMIT 256

bool trail_redact_value(const struct trail_redact *redact, const char *text,
                        size_t size, struct trail_text_buffer *out)
{
    struct trail_text_buffer masked = { 0 };
    struct hit hits[PATTERN_LIMIT] = { { 0 } };
    size_t done = 0;
    for (unsigned count = 0; done < size; count++) {
        const struct hit *hit = match_from(redact, text, done, size, hits);
        if (!hit)
            break;
        trail_text_buffer_add(&masked, text + done, hit->start - done);
        trail_text_buffer_add(&masked, TRAIL_REDACTED, strlen(TRAIL_REDACTED));
        done = count < MATCH_LIMIT ? hit->end : size;
    }
    if (!done)
        return rewrite_paths(redact, text, size, out);
    trail_text_buffer_add(&masked, text + done, size - done);
    if (masked.failed)
        out->failed = true;
    else
        rewrite_paths(redact, masked.text, masked.size, out);
    free(masked.text);
    return true;
}

enum trail_status trail_redact_text(const struct trail_redact *redact, const char *text,
                                    size_t size, char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct trail_text_buffer out = { 0 };
    char *copy = malloc(size + 1);
    if (!copy)
        return no_memory(err);
    memcpy(copy, text, size);
    copy[size] = 0;
    for (size_t i = 0; i < size; i++)
        if (!copy[i])
            copy[i] = '?'; /* patterns end at a zero byte; no text for people has one */
    bool changed = trail_redact_value(redact, copy, size, &out);
    free(copy);
    *text_ret = NULL;
    *size_ret = 0;
    if (!changed && !out.failed) {
        free(out.text);
        return TRAIL_OK;
    }
    *text_ret = trail_text_buffer_take(&out, size_ret);
    return *text_ret ? TRAIL_OK : no_memory(err);
}
