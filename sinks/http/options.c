/* options.c -- see options.h. */
#define _POSIX_C_SOURCE 200809L

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "options.h"
#include "target.h"

#define SECRET_SIZE_MIN  6 /* shorter ones would blot out half of every message */
#define TIMEOUT_LIMIT_NS 3600000000000u
#define RECORD_LIMIT     ((uint64_t)8 << 20)

const struct trail_option_spec http_option_table[HTTP_OPTION_COUNT] = {
    { .type = TRAIL_OPTION_URL,
      .flags = TRAIL_OPTION_REQUIRED,
      .key = "url",
      .help = "where to POST; https:// or http://, used as it stands" },
    { .type = TRAIL_OPTION_TEXT,
      .key = "format",
      .default_value = "backtrail",
      .words = "backtrail|json|otlp|sentry",
      .help = "backtrail, or json: our records, one a line; otlp: OTLP/HTTP logs as "
              "JSON; sentry: an envelope a record" },
    { .type = TRAIL_OPTION_TEXT,
      .key = "threads",
      .default_value = "all",
      .words = "all|in_app|crashed",
      .help =
          "which threads of a record: all, those with code of the program's own, or "
          "the crashed one" },
    { .type = TRAIL_OPTION_SIZE,
      .key = "record_limit",
      .default_value = "8MiB",
      .least = "1KiB",
      .most = "64MiB",
      .help = "longest record sent; one that is longer goes with fewer threads" },
    { .type = TRAIL_OPTION_MAP,
      .key = "answers",
      .help = "what a status means instead of what it would: ok, retry, hold, split, "
              "reject" },
    { .type = TRAIL_OPTION_MAP,
      .flags = TRAIL_OPTION_SECRET,
      .key = "headers",
      .help = "added to each request, such as Authorization" },
    { .type = TRAIL_OPTION_TEXT,
      .key = "compression",
      .default_value = "gzip",
      .words = "gzip|zstd|none",
      .help = "of bodies of 1 KiB and more" },
    { .type = TRAIL_OPTION_BOOL,
      .key = "gzip",
      .default_value = "true",
      .help = "false: as compression none" },
    { .type = TRAIL_OPTION_DURATION,
      .key = "timeout",
      .default_value = "10s",
      .least = "1ms",
      .most = "1h",
      .help = "longest time for one request, answer included" },
    { .type = TRAIL_OPTION_DURATION,
      .key = "connect_timeout",
      .default_value = "3s",
      .least = "1ms",
      .most = "1h",
      .help = "longest time for name lookup, connection and TLS" },
    { .type = TRAIL_OPTION_PATH,
      .key = "ca_file",
      .help = "certificates (PEM) to trust instead of the system's" },
    { .type = TRAIL_OPTION_PATH,
      .key = "client_cert",
      .help = "certificate (PEM) to show to the server" },
    { .type = TRAIL_OPTION_PATH,
      .key = "client_key",
      .help = "its key (PEM, without passphrase)" },
    { .type = TRAIL_OPTION_TEXT,
      .flags = TRAIL_OPTION_SECRET,
      .key = "proxy",
      .help = "URL of a proxy; the environment's proxy variables are not read" },
};

/* ---- headers ------------------------------------------------------------ */

static const char *const own_headers[] = {
    "Content-Type",      "Content-Encoding", "Content-Length", "Expect",
    "Transfer-Encoding", "Idempotency-Key",  "User-Agent",     "Connection",
};

static bool is_header_name(const char *name)
{
    if (!*name)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("!#$%&'*+-.^_`|~", *name))
            return false;
    return true;
}

/* A line break in a value would be a header of somebody else's choosing. */
static bool is_header_value(struct trail_text value)
{
    for (size_t i = 0; i < value.size; i++) {
        unsigned char byte = (unsigned char)value.data[i];
        if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
            return false;
    }
    return true;
}

static enum trail_status check_header(const struct trail_option *header,
                                      struct trail_error *err)
{
    if (!is_header_name(header->name))
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "headers: \"%.60s\" is no name for a header", header->name);
    for (size_t i = 0; i < sizeof(own_headers) / sizeof(own_headers[0]); i++)
        if (strcasecmp(header->name, own_headers[i]) == 0)
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "headers.%s: is set by the sink itself; remove it",
                              header->name);
    if (!is_header_value(header->text))
        return trail_fail(
            err, TRAIL_BAD_INPUT,
            "headers.%.60s: the value has a line break or another control "
            "character in it",
            header->name);
    return TRAIL_OK;
}

static enum trail_status add_header(struct http_options *options,
                                    const struct trail_option *header,
                                    struct trail_error *err)
{
    enum trail_status status = check_header(header, err);
    if (status)
        return status;

    size_t size = strlen(header->name) + header->text.size + 3;
    char *text = malloc(size);
    if (text && header->text.size)
        snprintf(text, size, "%s: %.*s", header->name, (int)header->text.size,
                 header->text.data);
    else if (text) /* libcurl's way to write a header without a value */
        snprintf(text, size, "%s;", header->name);
    struct curl_slist *grown = text ? curl_slist_append(options->headers, text) : NULL;
    free(text);
    if (!grown)
        return trail_fail(err, TRAIL_NO_MEMORY, "headers: no memory");
    options->headers = grown;
    return TRAIL_OK;
}

static enum trail_status read_headers(const struct trail_options *given,
                                      struct http_options *options,
                                      struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;

    for (uint32_t i = 0; i < given->count && !status; i++) {
        const struct trail_option *option = trail_options_at(given, i);
        if (strcmp(option->key, "headers") == 0)
            status = add_header(options, option, err);
    }
    return status;
}

/* ---- secrets ------------------------------------------------------------ */

static char *secret_add(char *to, const char *from, size_t size)
{
    if (size < SECRET_SIZE_MIN)
        return to;
    memcpy(to, from, size);
    to[size] = '\0';
    return to + size + 1;
}

/* User and password of a URL. */
static char *secrets_of_url(char *to, const char *url)
{
    const char *user = strstr(url, "://");

    if (!user)
        return to;
    user += 3;
    const char *end = user + strcspn(user, "@/?#");
    if (*end != '@')
        return to;
    const char *colon = memchr(user, ':', (size_t)(end - user));
    const char *user_end = colon ? colon : end;
    to = secret_add(to, user, (size_t)(user_end - user));
    return colon ? secret_add(to, colon + 1, (size_t)(end - colon - 1)) : to;
}

/* The whole value, and what follows a scheme such as "Bearer". */
static char *secrets_fill(const struct trail_options *given, char *to)
{
    for (uint32_t i = 0; i < given->count; i++) {
        const struct trail_option *option = trail_options_at(given, i);
        if (strcmp(option->key, "url") == 0 || strcmp(option->key, "proxy") == 0)
            to = secrets_of_url(to, option->text.size ? option->text.data : "");
        if (strcmp(option->key, "headers") != 0)
            continue;
        to = secret_add(to, option->text.data, option->text.size);
        const char *space = option->text.size ? strrchr(option->text.data, ' ') : NULL;
        if (space)
            to = secret_add(to, space + 1, strlen(space + 1));
    }
    return to;
}

static enum trail_status read_secrets(const struct trail_options *given,
                                      struct http_options *options,
                                      struct trail_error *err)
{
    size_t size = 1;

    for (uint32_t i = 0; i < given->count; i++)
        size += 2 * (trail_options_at(given, i)->text.size + 1);
    options->secrets = calloc(1, size);
    if (!options->secrets)
        return trail_fail(err, TRAIL_NO_MEMORY, "headers: no memory");
    *secrets_fill(given, options->secrets) = '\0';
    return TRAIL_OK;
}

/* ---- the rest ----------------------------------------------------------- */

static enum trail_status copy_text(const struct trail_options *given, const char *key,
                                   char **text_ret, struct trail_error *err)
{
    const struct trail_option *option = trail_options_find(given, key);

    if (!option || option->text.size == 0)
        return TRAIL_OK;
    *text_ret = strndup(option->text.data, option->text.size);
    if (!*text_ret)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: no memory", key);
    return TRAIL_OK;
}

static enum trail_status copy_path(const struct trail_options *given, const char *key,
                                   char **path_ret, struct trail_error *err)
{
    enum trail_status status = copy_text(given, key, path_ret, err);

    if (!status && *path_ret && access(*path_ret, R_OK))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: %s: %s", key, *path_ret,
                          strerror(errno));
    return status;
}

static enum trail_status read_time(const struct trail_options *given, const char *key,
                                   uint64_t otherwise_ns, uint64_t *time_ret,
                                   struct trail_error *err)
{
    const struct trail_option *option = trail_options_find(given, key);
    uint64_t time_ns = option ? option->number : otherwise_ns;

    /* libcurl counts milliseconds and takes 0 for "for ever". */
    if (time_ns < 1000000 || time_ns > TIMEOUT_LIMIT_NS)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: must be between 1ms and 1h", key);
    *time_ret = time_ns;
    return TRAIL_OK;
}

/* Which of `words` the option has, from 0; 0 as well if it is not given. */
static enum trail_status read_word(const struct trail_options *given, const char *key,
                                   const char *const *words, unsigned *index_ret,
                                   struct trail_error *err)
{
    const struct trail_option *option = trail_options_find(given, key);

    *index_ret = 0;
    if (!option || option->text.size == 0)
        return TRAIL_OK;
    for (unsigned i = 0; words[i]; i++) {
        *index_ret = i;
        if (strcmp(words[i], option->text.data) == 0)
            return TRAIL_OK;
    }
    return trail_fail(err, TRAIL_BAD_INPUT, "%s: \"%.40s\" is none of its words", key,
                      option->text.data);
}

static enum trail_status read_words(const struct trail_options *given,
                                    struct http_options *options,
                                    struct trail_error *err)
{
    static const char *const formats[] = { "backtrail", "otlp", "sentry", "json",
                                           NULL };
    static const char *const threads[] = { "all", "in_app", "crashed", NULL };
    static const char *const compressions[] = { "gzip", "zstd", "none", NULL };
    const struct trail_option *gzip = trail_options_find(given, "gzip");
    unsigned format = 0, kept = 0, compression = 0;

    enum trail_status status = read_word(given, "format", formats, &format, err);
    if (!status)
        status = read_word(given, "threads", threads, &kept, err);
    if (!status)
        status = read_word(given, "compression", compressions, &compression, err);
    options->format = (enum http_format)(format == 3 ? 0 : format);
    options->threads = (enum http_threads)kept;
    options->compression = (enum http_compression)compression;
    if (gzip && !gzip->number && options->compression == HTTP_COMPRESSION_GZIP)
        options->compression = HTTP_COMPRESSION_NONE;
    return status;
}

static enum trail_status read_limit(const struct trail_options *given,
                                    struct http_options *options,
                                    struct trail_error *err)
{
    const struct trail_option *limit = trail_options_find(given, "record_limit");

    options->record_limit = (size_t)(limit ? limit->number : RECORD_LIMIT);
    if (options->record_limit < 1024)
        return trail_fail(err, TRAIL_BAD_INPUT, "record_limit: must be at least 1KiB");
    return TRAIL_OK;
}

/* One member of "answers": "500": "reject". */
static enum trail_status read_answer(const struct trail_option *given,
                                     struct http_options *options,
                                     struct trail_error *err)
{
    static const char *const words[] = { "ok", "retry", "hold", "split", "reject" };
    const char *word = given->text.size ? given->text.data : "";
    char *end = NULL;
    long status = strtol(given->name, &end, 10);

    if (*end || status < 200 || status > 599)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "answers: \"%.40s\" is no status; 200 to 599 are",
                          given->name);
    if (options->answer_count == HTTP_ANSWER_COUNT)
        return trail_fail(err, TRAIL_BAD_INPUT, "answers: there are more than %d",
                          HTTP_ANSWER_COUNT);
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], word) == 0) {
            options->answers[options->answer_count].status = status;
            options->answers[options->answer_count++].meaning = (enum http_meaning)i;
            return TRAIL_OK;
        }
    return trail_fail(err, TRAIL_BAD_INPUT,
                      "answers.%ld: \"%.40s\" is not ok, retry, hold, split or reject",
                      status, word);
}

static enum trail_status read_answers(const struct trail_options *given,
                                      struct http_options *options,
                                      struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;

    for (uint32_t i = 0; i < given->count && !status; i++)
        if (strcmp(trail_options_at(given, i)->key, "answers") == 0)
            status = read_answer(trail_options_at(given, i), options, err);
    return status;
}

static enum trail_status read_all(const struct trail_options *given,
                                  struct http_options *options, struct trail_error *err)
{
    enum trail_status status = copy_text(given, "url", &options->url, err);

    if (!status)
        status = read_words(given, options, err);
    if (!status)
        status = read_limit(given, options, err);
    if (!status)
        status = read_answers(given, options, err);
    if (!status)
        status = read_headers(given, options, err);
    if (!status)
        status = read_secrets(given, options, err);
    if (!status)
        status = http_target_set(options, err);
    if (!status)
        status = read_time(given, "timeout", 10000000000u, &options->timeout_ns, err);
    if (!status)
        status = read_time(given, "connect_timeout", 3000000000u,
                           &options->connect_timeout_ns, err);
    if (!status)
        status = copy_path(given, "ca_file", &options->ca_file, err);
    if (!status)
        status = copy_path(given, "client_cert", &options->client_cert, err);
    if (!status)
        status = copy_path(given, "client_key", &options->client_key, err);
    if (!status)
        status = copy_text(given, "proxy", &options->proxy, err);
    if (!status && options->client_key && !options->client_cert)
        status =
            trail_fail(err, TRAIL_BAD_INPUT, "client_key: needs client_cert beside it");
    return status;
}

enum trail_status http_options_init(const struct trail_options *given,
                                    struct http_options *options_ret,
                                    struct trail_error *err)
{
    struct http_options options = { 0 };

    enum trail_status status = read_all(given, &options, err);
    if (status)
        http_options_deinit(&options);
    *options_ret = options;
    return status;
}

void http_options_deinit(struct http_options *options)
{
    curl_slist_free_all(options->headers);
    free(options->secrets);
    free(options->proxy);
    free(options->client_key);
    free(options->client_cert);
    free(options->ca_file);
    free(options->shown_url);
    free(options->url);
    *options = (struct http_options){ 0 };
}
