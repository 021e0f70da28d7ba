/* push.c -- `symbols push`: modules and debug files, sent to the store of a collection
 * server.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <stdlib.h>

#include <jansson.h>

#include "agent/symbols/curl_load.h"
#include "agent/symbols/interrupt.h"
#include "agent/symbols/symbols.h"
#include "agent/terminal.h"

#define ANSWER_SIZE 4096
#define TOKEN_SIZE  256
#define CONNECT_S   5L
#define SLOW_BYTES  1L /* a second, for so many seconds, is an end */
#define SLOW_S      60L

struct push {
    const struct curl *curl;
    CURL *handle;
    struct curl_slist *headers;
    char url[1024];
    char answer[ANSWER_SIZE];
    size_t answer_size;
    char reason[CURL_ERROR_SIZE];
};

/* ---- headers ------------------------------------------------------------ */

/* From a file: what stands on a command line every user of the machine can read. */
static enum trail_status add_token(struct push *push, const char *path,
                                   struct trail_error *err)
{
    char line[TOKEN_SIZE + 64], *text = NULL;
    size_t size = 0;
    if (!path)
        return TRAIL_OK;
    enum trail_status status = trail_os_file_read(path, TOKEN_SIZE, &text, &size, err);
    if (status)
        return status;
    text[strcspn(text, "\r\n")] = 0;
    snprintf(line, sizeof(line), "Authorization: Bearer %s", text);
    free(text);
    struct curl_slist *headers = push->curl->slist_append(push->headers, line);
    memset(line, 0, sizeof(line));
    if (!headers)
        return trail_fail(err, TRAIL_NO_MEMORY, "push: out of memory");
    push->headers = headers;
    return TRAIL_OK;
}

static size_t take_answer(char *bytes, size_t one, size_t size, void *arg)
{
    struct push *push = arg;
    size_t room = sizeof(push->answer) - 1 - push->answer_size;
    size_t kept = size < room ? size : room;
    (void)one;
    memcpy(push->answer + push->answer_size, bytes, kept);
    push->answer_size += kept;
    push->answer[push->answer_size] = 0;
    return size;
}

static enum trail_status start(struct push *push, const struct symbols_options *options,
                               struct trail_error *err)
{
    enum trail_status status = curl_load(&push->curl, err);
    if (status)
        return status;
    push->handle = push->curl->easy_init();
    push->headers =
        push->curl->slist_append(NULL, "Content-Type: application/octet-stream");
    if (!push->handle || !push->headers)
        return trail_fail(err, TRAIL_NO_MEMORY, "push: out of memory");
    size_t size = strlen(options->url);
    while (size && options->url[size - 1] == '/')
        size--;
    if (size + sizeof("/symbols") > sizeof(push->url))
        return trail_fail(err, TRAIL_BAD_INPUT, "push: the URL is too long");
    snprintf(push->url, sizeof(push->url), "%.*s/symbols", (int)size, options->url);
    return add_token(push, options->token_file, err);
}

static void end(struct push *push)
{
    if (push->handle)
        push->curl->easy_cleanup(push->handle);
    if (push->headers)
        push->curl->slist_free_all(push->headers);
}

/* ---- one file ----------------------------------------------------------- */

static void set_up(struct push *push, FILE *file, uint64_t size)
{
    CURLcode (*set)(CURL * handle, CURLoption option, ...) = push->curl->easy_setopt;
    CURL *handle = push->handle;
    push->answer_size = 0;
    push->answer[0] = push->reason[0] = 0;
    set(handle, CURLOPT_URL, push->url);
    set(handle, CURLOPT_PROTOCOLS_STR, "http,https");
    set(handle, CURLOPT_HTTPHEADER, push->headers);
    set(handle, CURLOPT_POST, 1L);
    set(handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
    set(handle, CURLOPT_READDATA, file);
    set(handle, CURLOPT_WRITEFUNCTION, take_answer);
    set(handle, CURLOPT_WRITEDATA, push);
    set(handle, CURLOPT_ERRORBUFFER, push->reason);
    set(handle, CURLOPT_CONNECTTIMEOUT, CONNECT_S);
    set(handle, CURLOPT_LOW_SPEED_LIMIT, SLOW_BYTES);
    set(handle, CURLOPT_LOW_SPEED_TIME, SLOW_S);
    set(handle, CURLOPT_NOSIGNAL, 1L);
}

static const char *member(const json_t *answer, const char *key, const char *otherwise)
{
    const char *text = json_string_value(json_object_get(answer, key));
    return text && text[0] ? text : otherwise;
}

static const char *remedy_of(long code)
{
    switch (code) {
    case 401:
        return "; name a file with a token that it knows with --token-file";
    case 403:
        return "; its config says agent.http.symbols: false";
    case 404:
        return "; the URL is that of a collection server without any path";
    default:
        return "";
    }
}

static enum trail_status tell(struct push *push, const char *path,
                              struct trail_error *err)
{
    long code = 0;
    json_t *answer = json_loadb(push->answer, push->answer_size, 0, NULL);
    enum trail_status status = TRAIL_OK;
    push->curl->easy_getinfo(push->handle, CURLINFO_RESPONSE_CODE, &code);
    push->answer[strcspn(push->answer, "\r\n")] = 0;
    if (code == 200 && answer) {
        terminal_print(member(answer, "id", "?"));
        terminal_print(member(answer, "kind", ""));
        bool added = json_is_true(json_object_get(answer, "added"));
        printf("  %s  %s\n", added ? "added" : "is there already", path);
    } else {
        status = trail_fail(err, TRAIL_IO, "%s: the server answered %ld: %.80s%s", path,
                            code, member(answer, "why", push->answer), remedy_of(code));
    }
    json_decref(answer);
    return status;
}

static enum trail_status push_file(struct push *push, const char *path,
                                   struct trail_error *err)
{
    struct trail_os_stat stat = { .size = 0 };
    enum trail_status status = trail_os_stat_path(path, &stat, err);
    if (!status && !stat.regular)
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: is not a regular file", path);
    FILE *file = status ? NULL : fopen(path, "rbe");
    if (!status && !file)
        status = trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    if (status)
        return status;
    set_up(push, file, stat.size);
    CURLcode code = push->curl->easy_perform(push->handle);
    fclose(file);
    if (code)
        return trail_fail(err, TRAIL_IO, "%s: %s", path,
                          push->reason[0] ? push->reason
                                          : push->curl->easy_strerror(code));
    return tell(push, path, err);
}

int symbols_push(struct symbols_session *session, char **arguments, int count)
{
    struct push push = { .handle = NULL };
    struct trail_error err = { "" };
    int exit_code = EXIT_DONE;
    if (!session->options->url)
        return usage_error("symbols", "push wants --url URL of a collection server");
    if (start(&push, session->options, &err))
        exit_code = failure("%s", err.text);
    for (int i = 0; push.handle && !exit_code && i < count && !interrupt_came(); i++)
        if (push_file(&push, arguments[i], &err))
            exit_code = failure("%s", err.text);
    end(&push);
    return exit_code;
}
