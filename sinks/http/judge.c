/* judge.c -- see judge.h. */
#include <stdlib.h>

#include "judge.h"
#include "target.h"

#define QUOTE_SIZE 96 /* bytes of the server's own words in an error */

/* Answers that a person can do something about, and what. These must not cost records.
 */
static const struct {
    long status;
    const char *remedy;
} mendable[] = {
    { 401, "check the credentials in headers" },
    { 403, "check the credentials in headers, and what they allow" },
    { 404, "check url" },
    { 405, "check url: nothing there takes a POST" },
    { 407, "check the credentials in proxy" },
};

static const char *remedy_of(long status)
{
    for (size_t i = 0; i < sizeof(mendable) / sizeof(mendable[0]); i++)
        if (mendable[i].status == status)
            return mendable[i].remedy;
    return NULL;
}

/* The configuration's word, or the usual table. */
static enum http_meaning meaning_of(const struct http_options *options, long status)
{
    for (size_t i = 0; i < options->answer_count; i++)
        if (options->answers[i].status == status)
            return options->answers[i].meaning;
    if (status >= 200 && status < 300)
        return HTTP_MEANING_OK;
    if ((status >= 300 && status < 400) || remedy_of(status))
        return HTTP_MEANING_HOLD;
    if (status == 413)
        return HTTP_MEANING_SPLIT;
    return status == 408 || status == 425 || status == 429 || status >= 500
               ? HTTP_MEANING_RETRY
               : HTTP_MEANING_REJECT;
}

/* ---- the server's own words --------------------------------------------- */

static void blot_out(char *line, const char *secret)
{
    size_t size = strlen(secret);

    for (char *at = strstr(line, secret); at; at = strstr(at, secret))
        memset(at, '*', size);
}

static struct trail_text first_line(struct trail_text body)
{
    size_t start = 0;

    while (start < body.size && (unsigned char)body.data[start] <= ' ')
        start++;
    size_t end = start;
    while (end < body.size && body.data[end] != '\n' && body.data[end] != '\r')
        end++;
    return (struct trail_text){ body.data ? body.data + start : NULL, end - start };
}

/* An answer is foreign bytes on their way to somebody's terminal: plain ASCII only. The
 * whole line is searched for secrets before it is cut, lest half of one remain. */
static void quote(const struct http_options *options, struct trail_text body,
                  char quote_ret[QUOTE_SIZE])
{
    struct trail_text line = first_line(body);
    char *text = malloc(line.size + 1);

    quote_ret[0] = '\0';
    if (!text)
        return;
    for (size_t i = 0; i < line.size; i++)
        text[i] = line.data[i] >= ' ' && line.data[i] <= '~' ? line.data[i] : '?';
    text[line.size] = '\0';
    for (const char *secret = options->secrets; *secret; secret += strlen(secret) + 1)
        blot_out(text, secret);
    snprintf(quote_ret, QUOTE_SIZE, "%s", text);
    free(text);
}

/* ---- the verdict -------------------------------------------------------- */

static enum trail_status judge_redirect(const struct http_options *options,
                                        const struct http_answer *answer,
                                        struct trail_error *err)
{
    char *target = answer->location ? http_url_shown(answer->location) : NULL;

    trail_fail(err, TRAIL_RETRY,
               "%.70s: answered %ld: redirects are not followed; set url to its new "
               "place%s%.90s",
               options->shown_url, answer->status, target ? ": " : "",
               target ? target : "");
    free(target);
    return TRAIL_RETRY;
}

static enum trail_status judge_hold(const struct http_options *options,
                                    const struct http_answer *answer, const char *words,
                                    struct trail_error *err)
{
    const char *remedy = remedy_of(answer->status);
    const char *mark = words[0] ? ": " : "";

    if (answer->status >= 300 && answer->status < 400)
        return judge_redirect(options, answer, err);
    return trail_fail(err, TRAIL_RETRY, "%.70s: answered %ld; %s%s%s",
                      options->shown_url, answer->status,
                      remedy ? remedy : "check url and headers", mark, words);
}

enum trail_status http_judge(const struct http_options *options,
                             const struct http_answer *answer, size_t count,
                             uint32_t *answer_ret, struct trail_error *err)
{
    static const uint32_t answers[] = { 0, TRAIL_SINK_BUSY, TRAIL_SINK_HOLD,
                                        TRAIL_SINK_TOO_LARGE, TRAIL_SINK_MALFORMED };
    enum http_meaning meaning = meaning_of(options, answer->status);
    char words[QUOTE_SIZE];

    *answer_ret = answers[meaning];
    if (meaning == HTTP_MEANING_OK)
        return TRAIL_OK;
    quote(options, answer->body, words);
    if (meaning == HTTP_MEANING_HOLD)
        return judge_hold(options, answer, words, err);
    if (meaning == HTTP_MEANING_SPLIT && count > 1)
        return trail_fail(
            err, TRAIL_BAD_INPUT,
            "%.70s: answered %ld: %zu records are too large for one request",
            options->shown_url, answer->status, count);
    return trail_fail(err,
                      meaning == HTTP_MEANING_RETRY ? TRAIL_RETRY : TRAIL_BAD_INPUT,
                      "%.90s: answered %ld%s%s", options->shown_url, answer->status,
                      words[0] ? ": " : "", words);
}
