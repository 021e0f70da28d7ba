/* http_tokens.c -- the bearer tokens that let requests in. */
#define _DEFAULT_SOURCE

#include "agent/daemon/http_tokens.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "core/os/os.h"

struct http_tokens {
    size_t count;
    char at[HTTP_TOKEN_LIMIT][HTTP_TOKEN_SIZE]; /* zero behind the end */
};

static enum trail_status check_mode(const char *path, struct trail_error *err)
{
    struct stat st;
    if (stat(path, &st) == 0 && st.st_mode & S_IROTH)
        return trail_fail(
            err, TRAIL_REFUSED,
            "agent.http.tokens: %s can be read by everybody; chmod 640 it", path);
    return TRAIL_OK;
}

static enum trail_status add(struct http_tokens *tokens, const char *path,
                             const char *token, size_t size, unsigned line,
                             struct trail_error *err)
{
    if (size < HTTP_TOKEN_LEAST || size >= HTTP_TOKEN_SIZE)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "agent.http.tokens: %s:%u: a token has %d to %d characters",
                          path, line, HTTP_TOKEN_LEAST, HTTP_TOKEN_SIZE - 1);
    if (tokens->count == HTTP_TOKEN_LIMIT)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "agent.http.tokens: %s: has more than %d tokens", path,
                          HTTP_TOKEN_LIMIT);
    memcpy(tokens->at[tokens->count++], token, size);
    return TRAIL_OK;
}

static enum trail_status read_lines(struct http_tokens *tokens, const char *path,
                                    char *text, struct trail_error *err)
{
    enum trail_status status = TRAIL_OK;
    unsigned line = 1;
    for (char *at = text; *at && !status; line++) {
        size_t size = strcspn(at, "\r\n");
        char *next = at + size + strspn(at + size, "\r");
        if (size && at[0] != '#')
            status = add(tokens, path, at, size, line, err);
        at = *next == '\n' ? next + 1 : next;
    }
    if (!status && !tokens->count)
        status = trail_fail(err, TRAIL_BAD_INPUT,
                            "agent.http.tokens: %s: has no token; 'openssl rand -hex "
                            "32' makes one",
                            path);
    return status;
}

enum trail_status http_tokens_read(const char *path, struct http_tokens **tokens_ret,
                                   struct trail_error *err)
{
    struct http_tokens *tokens = NULL;
    struct trail_error why = { "" };
    char *text = NULL;
    size_t size = 0;
    *tokens_ret = NULL;
    if (!path)
        return TRAIL_OK;
    enum trail_status status =
        trail_os_file_read(path, (size_t)HTTP_TOKEN_LIMIT * (HTTP_TOKEN_SIZE + 2),
                           &text, &size, &why);
    if (status)
        return trail_fail(err, status, "agent.http.tokens: %s", why.text);
    status = check_mode(path, err);
    if (!status) {
        tokens = calloc(1, sizeof(*tokens));
        status = tokens ? read_lines(tokens, path, text, err)
                        : trail_fail(err, TRAIL_NO_MEMORY, "tokens: out of memory");
    }
    explicit_bzero(text, size);
    free(text);
    if (status)
        http_tokens_destroy(tokens);
    else
        *tokens_ret = tokens;
    return status;
}

void http_tokens_destroy(struct http_tokens *tokens)
{
    if (!tokens)
        return;
    explicit_bzero(tokens, sizeof(*tokens));
    free(tokens);
}

/* How much of a token is right must not be told by the time that it takes. */
static bool is_same(const char *a, const char *b)
{
    unsigned char difference = 0;
    for (size_t i = 0; i < HTTP_TOKEN_SIZE; i++)
        difference |= (unsigned char)(a[i] ^ b[i]);
    return difference == 0;
}

bool http_tokens_let_in(const struct http_tokens *tokens, const char *header)
{
    static const char scheme[] = "Bearer ";
    char given[HTTP_TOKEN_SIZE] = "";
    bool found = false;
    if (!tokens)
        return true;
    if (!header || strncasecmp(header, scheme, sizeof(scheme) - 1) != 0)
        return false;
    header += sizeof(scheme) - 1;
    header += strspn(header, " ");
    if (!header[0] || strlen(header) >= sizeof(given))
        return false;
    memcpy(given, header, strlen(header));
    for (size_t i = 0; i < tokens->count; i++)
        found |= is_same(tokens->at[i], given);
    return found;
}
