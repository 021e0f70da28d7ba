/* debuginfod.c -- symbol files from debuginfod servers: asked for once, waited for
 * until a deadline.
 */
#include "core/resolve/debuginfod.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/resolve/fetch.h"

#define REMEMBERED_LIMIT 1024 /* answers; the oldest are forgotten */

enum progress {
    PROGRESS_WAITING,
    PROGRESS_RUNNING,
    PROGRESS_DONE,
};

/* One file that was asked for, and what became of it. */
struct request {
    struct trail_fetch_order order;
    struct trail_fetch_answer answer; /* once it is done */
    enum progress progress;
    bool given_up; /* nobody waits for it any more */
    struct request *next;
};

struct trail_debuginfod {
    struct trail_os_mutex lock;
    struct trail_os_cond changed;
    struct trail_os_thread thread;
    struct trail_fetcher fetcher;
    uint64_t timeout_ns;
    struct request *first; /* in the order in which they were asked for */
    size_t count;
    bool started;
    bool slow; /* a deadline has passed, and something is still under way */
    _Atomic bool closing;
    _Atomic uint64_t arrived;
};

/* ---- the thread --------------------------------------------------------- */

static struct request *next_waiting(struct trail_debuginfod *servers)
{
    struct request *request = servers->first;
    while (request && request->progress != PROGRESS_WAITING)
        request = request->next;
    return request;
}

static void finish(struct trail_debuginfod *servers, struct request *request,
                   const struct trail_fetch_answer *answer)
{
    request->answer = *answer;
    request->progress = PROGRESS_DONE;
    if (request->given_up && answer->status == TRAIL_OK)
        atomic_fetch_add(&servers->arrived, 1);
    if (!next_waiting(servers))
        servers->slow = false;
    trail_os_cond_wake(&servers->changed);
}

static void serve(void *arg)
{
    struct trail_debuginfod *servers = arg;
    trail_os_mutex_lock(&servers->lock);
    while (!atomic_load(&servers->closing)) {
        struct request *request = next_waiting(servers);
        if (!request) {
            trail_os_cond_wait(&servers->changed, &servers->lock, UINT64_MAX);
            continue;
        }
        struct trail_fetch_answer answer = { .status = TRAIL_NOT_FOUND };
        request->progress = PROGRESS_RUNNING;
        trail_os_mutex_unlock(&servers->lock);
        trail_fetch(&servers->fetcher, &request->order, &answer);
        trail_os_mutex_lock(&servers->lock);
        finish(servers, request, &answer);
    }
    trail_os_mutex_unlock(&servers->lock);
}

/* ---- asking ------------------------------------------------------------- */

static bool is_same(const struct trail_fetch_order *a,
                    const struct trail_fetch_order *b)
{
    return a->executable == b->executable && a->id_size == b->id_size &&
           memcmp(a->id, b->id, a->id_size) == 0;
}

/* Forget the oldest answer. */
static void forget_one(struct trail_debuginfod *servers)
{
    struct request **at = &servers->first;
    while (*at && (*at)->progress != PROGRESS_DONE)
        at = &(*at)->next;
    struct request *oldest = *at;
    if (!oldest)
        return;
    *at = oldest->next;
    servers->count--;
    free(oldest);
}

/* The request of this order, a new one if there is none; NULL: no memory, or too many
 * are waiting. */
static struct request *request_of(struct trail_debuginfod *servers,
                                  const struct trail_fetch_order *order)
{
    struct request **at = &servers->first;
    for (; *at; at = &(*at)->next)
        if (is_same(&(*at)->order, order))
            return *at;
    if (servers->count >= REMEMBERED_LIMIT)
        forget_one(servers);
    if (servers->count >= REMEMBERED_LIMIT)
        return NULL;
    struct request *request = calloc(1, sizeof(*request));
    if (!request)
        return NULL;
    request->order = *order;
    for (at = &servers->first; *at; at = &(*at)->next) {
    }
    *at = request;
    servers->count++;
    trail_os_cond_wake(&servers->changed);
    return request;
}

static bool start(struct trail_debuginfod *servers, struct trail_search *search)
{
    struct trail_error err;
    if (servers->started)
        return true;
    if (!trail_os_thread_start(serve, servers, "debuginfod", &servers->thread, &err)) {
        servers->started = true;
        return true;
    }
    search->fetch = TRAIL_FETCH_FAILED;
    snprintf(search->fetched, sizeof(search->fetched), "%s", err.text);
    return false;
}

/* True: it is done. What is not done when the time is over goes on without us. */
static bool wait_for(struct trail_debuginfod *servers, struct request *request,
                     uint64_t until_ns)
{
    uint64_t end = trail_os_mono_ns() + servers->timeout_ns;
    if (until_ns && until_ns < end)
        end = until_ns;
    while (request->progress != PROGRESS_DONE && !servers->slow &&
           trail_os_mono_ns() < end)
        trail_os_cond_wait(&servers->changed, &servers->lock, end);
    if (request->progress == PROGRESS_DONE)
        return true;
    request->given_up = true;
    servers->slow = true;
    return false;
}

/* Ask, and wait for the answer. False: there is none yet. */
static bool ask(struct trail_debuginfod *servers, const struct trail_fetch_order *order,
                struct trail_search *search, struct trail_fetch_answer *answer_ret)
{
    trail_os_mutex_lock(&servers->lock);
    struct request *request =
        start(servers, search) ? request_of(servers, order) : NULL;
    bool done = request && wait_for(servers, request, search->until_ns);
    if (done)
        *answer_ret = request->answer;
    if (request && !done) {
        search->fetch = TRAIL_FETCH_FAILED;
        snprintf(search->fetched, sizeof(search->fetched),
                 "%.150s: no answer within %.3g s", servers->fetcher.urls,
                 (double)servers->timeout_ns / 1e9);
    }
    trail_os_mutex_unlock(&servers->lock);
    return done;
}

enum trail_status trail_debuginfod_find(struct trail_debuginfod *servers,
                                        const struct trail_wanted *wanted,
                                        struct trail_search *search,
                                        struct trail_symbol_file **file_ret)
{
    struct trail_fetch_order order = { .executable = wanted->role == TRAIL_ROLE_IMAGE,
                                       .id_size = wanted->id.size };
    struct trail_fetch_answer answer = { .status = TRAIL_NOT_FOUND };
    bool served = wanted->role == TRAIL_ROLE_IMAGE ||
                  wanted->role == TRAIL_ROLE_DEBUG || wanted->role == TRAIL_ROLE_ALT;
    if (!served || wanted->id_kind == TRAIL_ID_TEXT_HASH || wanted->id.size == 0 ||
        wanted->id.size > sizeof(order.id))
        return TRAIL_NOT_FOUND;
    memcpy(order.id, wanted->id.data, wanted->id.size);
    if (!ask(servers, &order, search, &answer))
        return TRAIL_NOT_FOUND;
    if (answer.fetch != TRAIL_FETCH_NONE) {
        search->fetch = answer.fetch;
        snprintf(search->fetched, sizeof(search->fetched), "%s", answer.text);
    }
    if (answer.mismatch) {
        search->mismatch = true;
        snprintf(search->detail, sizeof(search->detail), "%s", answer.text);
    }
    if (answer.status)
        return answer.status;
    return trail_symbol_file_open(answer.path, TRAIL_ROUTE_DEBUGINFOD, wanted, search,
                                  file_ret);
}

uint64_t trail_debuginfod_arrived(const struct trail_debuginfod *servers)
{
    return atomic_load(&servers->arrived);
}

/* ---- making ------------------------------------------------------------- */

enum trail_status trail_debuginfod_create(
    const struct trail_debuginfod_options *options, struct trail_debuginfod **ret,
    struct trail_error *err)
{
    struct trail_debuginfod *servers = calloc(1, sizeof(*servers));
    if (!servers)
        return trail_fail(err, TRAIL_NO_MEMORY, "debuginfod: out of memory");
    enum trail_status status =
        trail_fetcher_init(&servers->fetcher, options->urls, options->cache, err);
    if (status) {
        free(servers);
        return status;
    }
    servers->fetcher.closing = &servers->closing;
    servers->timeout_ns = options->timeout_ns;
    trail_os_mutex_init(&servers->lock);
    trail_os_cond_init(&servers->changed);
    *ret = servers;
    return TRAIL_OK;
}

void trail_debuginfod_destroy(struct trail_debuginfod *servers)
{
    if (!servers)
        return;
    atomic_store(&servers->closing, true);
    trail_os_mutex_lock(&servers->lock);
    trail_os_cond_wake(&servers->changed);
    trail_os_mutex_unlock(&servers->lock);
    if (servers->started)
        trail_os_thread_join(servers->thread);
    while (servers->first) {
        struct request *next = servers->first->next;
        free(servers->first);
        servers->first = next;
    }
    trail_os_cond_deinit(&servers->changed);
    trail_os_mutex_deinit(&servers->lock);
    free(servers);
}
