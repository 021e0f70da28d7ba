/* fetch.c -- one file from a debuginfod server, by libdebuginfod, checked. */
#define _POSIX_C_SOURCE 200809L

#include "core/resolve/fetch.h"

#include <errno.h>
#include <stdlib.h>

#define LOG_LIMIT (256u << 10) /* bytes of libdebuginfod's own account */

/* It is loaded when it is needed, so that nothing of ours depends on it; these are its
 * functions as elfutils/debuginfod.h declares them. */
struct client;
struct library {
    struct client *(*begin)(void);
    void (*end)(struct client *client);
    int (*find_debuginfo)(struct client *client, const unsigned char *id, int id_size,
                          char **path);
    int (*find_executable)(struct client *client, const unsigned char *id, int id_size,
                           char **path);
    void (*set_progress)(struct client *client,
                         int (*progress)(struct client *client, long done, long all));
    void (*set_user_data)(struct client *client, void *data);
    void *(*get_user_data)(struct client *client);
    const char *(*get_url)(struct client *client);
    void (*set_verbose_fd)(struct client *client, int fd);
};

/* ---- setting up --------------------------------------------------------- */

static enum trail_status join_urls(struct trail_fetcher *fetcher,
                                   const char *const *urls, struct trail_error *err)
{
    size_t size = 0;
    for (; *urls; urls++) {
        int added = snprintf(fetcher->urls + size, sizeof(fetcher->urls) - size, "%s%s",
                             size ? " " : "", *urls);
        if (added < 0 || (size_t)added >= sizeof(fetcher->urls) - size)
            return trail_fail(err, TRAIL_BAD_INPUT,
                              "symbols.debuginfod.urls: over 1023 bytes together");
        size += (size_t)added;
    }
    return TRAIL_OK;
}

enum trail_status trail_fetcher_init(struct trail_fetcher *fetcher,
                                     const char *const *urls, const char *cache,
                                     struct trail_error *err)
{
    *fetcher = (struct trail_fetcher){ .library = NULL };
    enum trail_status status = join_urls(fetcher, urls, err);
    if (status)
        return status;
    int size = snprintf(fetcher->cache, sizeof(fetcher->cache), "%s", cache);
    if (size < 0 || (size_t)size >= sizeof(fetcher->cache))
        return trail_fail(err, TRAIL_BAD_INPUT, "%.200s: its path is too long", cache);
    /* How long a lookup waits is ours to say; these end what hangs in the background.
     */
    if (!trail_os_environment_set("DEBUGINFOD_URLS", fetcher->urls) ||
        !trail_os_environment_set("DEBUGINFOD_CACHE_PATH", fetcher->cache) ||
        !trail_os_environment_set("DEBUGINFOD_TIMEOUT", "30") ||
        !trail_os_environment_set("DEBUGINFOD_MAXTIME", "600"))
        return trail_fail(err, TRAIL_NO_MEMORY, "debuginfod: out of memory");
    return TRAIL_OK;
}

/* A function of the library. ISO C has no cast from an object's pointer to one. */
static bool bind(struct trail_fetcher *fetcher, const char *name, void *function_ret)
{
    void *symbol = trail_os_library_symbol(fetcher->library, name);
    memcpy(function_ret, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static bool load(struct trail_fetcher *fetcher, struct library *ret)
{
    struct trail_error err;
    if (!fetcher->library && !fetcher->missing[0] &&
        trail_os_library_open("libdebuginfod.so.1", &fetcher->library, &err))
        snprintf(fetcher->missing, sizeof(fetcher->missing),
                 "%.180s; install libdebuginfod1", err.text);
    if (!fetcher->library)
        return false;
    return bind(fetcher, "debuginfod_begin", &ret->begin) &&
           bind(fetcher, "debuginfod_end", &ret->end) &&
           bind(fetcher, "debuginfod_find_debuginfo", &ret->find_debuginfo) &&
           bind(fetcher, "debuginfod_find_executable", &ret->find_executable) &&
           bind(fetcher, "debuginfod_set_progressfn", &ret->set_progress) &&
           bind(fetcher, "debuginfod_set_user_data", &ret->set_user_data) &&
           bind(fetcher, "debuginfod_get_user_data", &ret->get_user_data) &&
           bind(fetcher, "debuginfod_get_url", &ret->get_url) &&
           bind(fetcher, "debuginfod_set_verbose_fd", &ret->set_verbose_fd);
}

/* ---- what the servers answered ------------------------------------------ */

/* Whether a server answered with a status from `least` to `most`, and which.
 * libdebuginfod has one error for all, but lists the header lines in its account. */
static bool has_status(const char *account, int least, int most, int *status_ret)
{
    for (const char *at = account; (at = strstr(at, "header HTTP/")) != NULL;) {
        at += strlen("header HTTP/");
        const char *blank = at + strcspn(at, " \n");
        int status = *blank == ' ' ? (int)strtol(blank, NULL, 10) : 0;
        if (status >= least && status <= most) {
            *status_ret = status;
            return true;
        }
    }
    return false;
}

static char *read_account(FILE *file)
{
    char *text = calloc(1, LOG_LIMIT + 1);
    rewind(file);
    if (text)
        text[fread(text, 1, LOG_LIMIT, file)] = 0;
    return text;
}

/* Why nothing came: `reason` is an errno. */
static void explain(const struct trail_fetcher *fetcher, int reason,
                    const char *account, struct trail_fetch_answer *ret)
{
    int status = 0;
    ret->fetch = TRAIL_FETCH_FAILED;
    if (has_status(account, 401, 401, &status) ||
        has_status(account, 403, 403, &status)) {
        ret->fetch = TRAIL_FETCH_REFUSED;
        snprintf(ret->text, sizeof(ret->text), "%.200s: answers HTTP %d", fetcher->urls,
                 status);
    } else if (has_status(account, 200, 299, &status)) {
        snprintf(ret->text, sizeof(ret->text), "%.200s: the transfer broke off",
                 fetcher->urls);
    } else if (has_status(account, 405, 599, &status) ||
               has_status(account, 400, 403, &status)) {
        snprintf(ret->text, sizeof(ret->text), "%.200s: answers HTTP %d", fetcher->urls,
                 status);
    } else if (reason != ENOENT) {
        snprintf(ret->text, sizeof(ret->text), "%.180s: %.60s", fetcher->urls,
                 strerror(reason));
    } else {
        ret->fetch = TRAIL_FETCH_NONE;
    }
}

/* ---- one file ----------------------------------------------------------- */

/* For on_progress: a client is all that it is given. Always the same function. */
static void *(*_Atomic user_data_of)(struct client *client);

static int on_progress(struct client *client, long done, long all)
{
    const struct trail_fetcher *fetcher = atomic_load(&user_data_of)(client);
    (void)done, (void)all;
    return atomic_load(fetcher->closing) ? 1 : 0;
}

/* libdebuginfod remembers every failure as "there is none", and would keep what is not
 * what was asked for. */
static void forget(const struct trail_fetcher *fetcher,
                   const struct trail_fetch_order *order)
{
    char path[1400], hex[2 * 64 + 1];
    trail_hex((struct trail_text){ (const char *)order->id, order->id_size }, hex,
              sizeof(hex));
    snprintf(path, sizeof(path), "%s/%s/%s", fetcher->cache, hex,
             order->executable ? "executable" : "debuginfo");
    trail_os_file_remove(path, NULL);
}

/* What came is opened as any other file is: by its id, and to its end. */
static void check(const struct trail_fetcher *fetcher,
                  const struct trail_fetch_order *order, const char *url,
                  struct trail_fetch_answer *answer)
{
    const struct trail_wanted any = { .role = TRAIL_ROLE_DEBUG };
    const struct trail_text wanted = { (const char *)order->id, order->id_size };
    struct trail_text id = { NULL, 0 };
    struct trail_search search = { .mismatch = false };
    struct trail_symbol_file *file = NULL;
    char found[2 * 64 + 1], want[2 * 64 + 1];
    answer->status = trail_symbol_file_open(answer->path, TRAIL_ROUTE_DEBUGINFOD, &any,
                                            &search, &file);
    if (answer->status)
        return;
    bool whole = trail_symbol_file_whole(file);
    bool has = whole && trail_symbol_file_id(file->file.bytes, file->file.size, &id);
    bool same =
        has && id.size == wanted.size && memcmp(id.data, wanted.data, id.size) == 0;
    trail_hex(id, found, sizeof(found));
    trail_hex(wanted, want, sizeof(want));
    trail_symbol_file_close(file);
    if (same)
        return;
    answer->status = whole ? TRAIL_REFUSED : TRAIL_NOT_FOUND;
    answer->mismatch = whole;
    if (!whole)
        answer->fetch = TRAIL_FETCH_FAILED;
    if (whole)
        snprintf(answer->text, sizeof(answer->text), "%.90s: has id %s, wanted %s", url,
                 has ? found : "none", want);
    else
        snprintf(answer->text, sizeof(answer->text),
                 "%.200s: what came is no whole file", url);
    forget(fetcher, order);
}

static void fetch_by(struct trail_fetcher *fetcher, struct library *library,
                     const struct trail_fetch_order *order, FILE *account,
                     struct trail_fetch_answer *answer)
{
    char *path = NULL, *text = NULL;
    struct client *client = library->begin();
    if (!client) {
        answer->status = TRAIL_NO_MEMORY;
        return;
    }
    atomic_store(&user_data_of, library->get_user_data);
    library->set_user_data(client, fetcher);
    library->set_progress(client, on_progress);
    library->set_verbose_fd(client, fileno(account));
    int fd = (order->executable ? library->find_executable : library->find_debuginfo)(
        client, order->id, (int)order->id_size, &path);
    struct trail_os_file held = { .fd = fd };
    if (fd >= 0) {
        const char *url = library->get_url(client);
        snprintf(answer->path, sizeof(answer->path), "%s", path);
        trail_os_file_close(&held);
        check(fetcher, order, url ? url : fetcher->urls, answer);
    } else {
        text = read_account(account);
        explain(fetcher, -fd, text ? text : "", answer);
        if (answer->fetch != TRAIL_FETCH_NONE)
            forget(fetcher, order);
    }
    free(text);
    free(path);
    library->end(client);
}

void trail_fetch(struct trail_fetcher *fetcher, const struct trail_fetch_order *order,
                 struct trail_fetch_answer *answer_ret)
{
    struct library library;
    struct trail_error err;
    struct trail_fetch_answer answer = { .status = TRAIL_NOT_FOUND };
    FILE *account = NULL;
    if (!load(fetcher, &library)) {
        answer.fetch = TRAIL_FETCH_FAILED;
        snprintf(answer.text, sizeof(answer.text), "%s",
                 fetcher->missing[0] ? fetcher->missing
                                     : "libdebuginfod is older than 0.185");
    } else if (trail_os_directory_make(fetcher->cache, 0755, &err)) {
        answer.fetch = TRAIL_FETCH_FAILED;
        snprintf(answer.text, sizeof(answer.text), "%s", err.text);
    } else if ((account = tmpfile()) == NULL) {
        answer.fetch = TRAIL_FETCH_FAILED;
        snprintf(answer.text, sizeof(answer.text), "a temporary file: %s",
                 strerror(errno));
    } else {
        fetch_by(fetcher, &library, order, account, &answer);
        fclose(account);
    }
    *answer_ret = answer;
}
