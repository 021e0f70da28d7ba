/* posix_threads.c -- clocks, locks, threads and loading on POSIX systems. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u

const char trail_os_library_suffix[] = ".so";

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static _Atomic int64_t time_shift;
static _Atomic uint64_t mono_shift;

void trail_os_clock_shift(int64_t time_ns, uint64_t mono_ns)
{
    atomic_fetch_add(&time_shift, time_ns);
    atomic_fetch_add(&mono_shift, mono_ns);
}

uint64_t trail_os_time_ns(void)
{
    return clock_ns(CLOCK_REALTIME) +
           (uint64_t)atomic_load_explicit(&time_shift, memory_order_relaxed);
}

uint64_t trail_os_mono_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC) +
           atomic_load_explicit(&mono_shift, memory_order_relaxed);
}

/* The opaque storage of os.h holds the real thing; checked here, where it is known. */
_Static_assert(sizeof(pthread_mutex_t) <= sizeof(struct trail_os_mutex),
               "mutex storage");
_Static_assert(sizeof(pthread_cond_t) <= sizeof(struct trail_os_cond), "cond storage");
_Static_assert(sizeof(pthread_t) <= sizeof(struct trail_os_thread), "thread storage");

/* glibc and musl: a pthread mutex of all zeros is PTHREAD_MUTEX_INITIALIZER. */
static pthread_mutex_t *mutex_of(struct trail_os_mutex *mutex)
{
    return (pthread_mutex_t *)(void *)mutex->opaque;
}

static pthread_cond_t *cond_of(struct trail_os_cond *cond)
{
    return (pthread_cond_t *)(void *)cond->opaque;
}

void trail_os_mutex_init(struct trail_os_mutex *mutex)
{
    pthread_mutex_init(mutex_of(mutex), NULL);
}

void trail_os_mutex_deinit(struct trail_os_mutex *mutex)
{
    pthread_mutex_destroy(mutex_of(mutex));
}

void trail_os_mutex_lock(struct trail_os_mutex *mutex)
{
    pthread_mutex_lock(mutex_of(mutex));
}

bool trail_os_mutex_try_lock(struct trail_os_mutex *mutex)
{
    return pthread_mutex_trylock(mutex_of(mutex)) == 0;
}

void trail_os_mutex_unlock(struct trail_os_mutex *mutex)
{
    pthread_mutex_unlock(mutex_of(mutex));
}

void trail_os_cond_init(struct trail_os_cond *cond)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(cond_of(cond), &attributes);
    pthread_condattr_destroy(&attributes);
}

void trail_os_cond_deinit(struct trail_os_cond *cond)
{
    pthread_cond_destroy(cond_of(cond));
}

void trail_os_cond_wait(struct trail_os_cond *cond, struct trail_os_mutex *mutex,
                        uint64_t until_ns)
{
    if (until_ns == UINT64_MAX) {
        pthread_cond_wait(cond_of(cond), mutex_of(mutex));
        return;
    }
    uint64_t shift = atomic_load(&mono_shift);
    until_ns = until_ns > shift ? until_ns - shift : 0;
    struct timespec until = { .tv_sec = (time_t)(until_ns / NS_PER_S),
                              .tv_nsec = (long)(until_ns % NS_PER_S) };
    pthread_cond_timedwait(cond_of(cond), mutex_of(mutex), &until);
}

void trail_os_cond_wake(struct trail_os_cond *cond)
{
    pthread_cond_broadcast(cond_of(cond));
}

struct start {
    void (*body)(void *arg);
    void *arg;
    char name[16];
};

static void *thread_main(void *arg)
{
    struct start start = *(struct start *)arg;
    free(arg);
    pthread_setname_np(pthread_self(), start.name);
    start.body(start.arg);
    return NULL;
}

enum trail_status trail_os_thread_start(void (*body)(void *arg), void *arg,
                                        const char *name,
                                        struct trail_os_thread *thread_ret,
                                        struct trail_error *err)
{
    struct start *start = malloc(sizeof(*start));
    if (!start)
        return trail_fail(err, TRAIL_NO_MEMORY, "thread %s: out of memory", name);
    *start = (struct start){ .body = body, .arg = arg };
    snprintf(start->name, sizeof(start->name), "%s", name);

    /* The host's signals are the host's threads' business, and a broken connection
     * must not raise SIGPIPE here. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int reason = pthread_create(&thread, NULL, thread_main, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (reason) {
        free(start);
        return trail_fail(err, TRAIL_IO, "thread %s: %s", name, strerror(reason));
    }
    *thread_ret = (struct trail_os_thread){ 0 };
    memcpy(thread_ret, &thread, sizeof(thread));
    return TRAIL_OK;
}

void trail_os_thread_join(struct trail_os_thread thread)
{
    pthread_t joined;
    memcpy(&joined, &thread, sizeof(joined));
    pthread_join(joined, NULL);
}

void trail_os_at_fork(void (*prepare)(void), void (*parent)(void), void (*child)(void))
{
    pthread_atfork(prepare, parent, child);
}

/* A fork while another thread is in the loader gives the child a loader that is half
 * way through, and the child's next dlopen ends it. So a fork waits; but not for ever,
 * since the thread that forks may be in the loader itself, running a constructor. */
#define LOADER_WAIT_S 2

static pthread_mutex_t loader = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool loader_held; /* by the fork of this thread */

static void loader_fork_prepare(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += LOADER_WAIT_S;
    loader_held = pthread_mutex_timedlock(&loader, &until) == 0;
}

static void loader_fork_parent(void)
{
    if (loader_held)
        pthread_mutex_unlock(&loader);
    loader_held = false;
}

static void loader_fork_child(void)
{
    pthread_mutex_init(&loader, NULL); /* whoever held it is not here */
    loader_held = false;
}

__attribute__((constructor)) static void loader_init(void)
{
    pthread_atfork(loader_fork_prepare, loader_fork_parent, loader_fork_child);
}

/* dlopen handles are what a library is here. */
enum trail_status trail_os_library_open(const char *path,
                                        struct trail_os_library **library_ret,
                                        struct trail_error *err)
{
    pthread_mutex_lock(&loader);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    pthread_mutex_unlock(&loader);
    if (!handle)
        return trail_fail(err, TRAIL_REFUSED, "%s", dlerror());
    *library_ret = handle;
    return TRAIL_OK;
}

void *trail_os_library_symbol(struct trail_os_library *library, const char *name)
{
    return dlsym(library, name);
}

void *trail_os_next_symbol(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

void trail_os_library_close(struct trail_os_library *library)
{
    if (!library)
        return;
    pthread_mutex_lock(&loader);
    dlclose(library);
    pthread_mutex_unlock(&loader);
}

void trail_os_own_directory(char *path_ret, size_t size)
{
    Dl_info info;
    path_ret[0] = 0;
    if (!dladdr((const void *)trail_os_library_suffix, &info) || !info.dli_fname)
        return;
    char *real = realpath(info.dli_fname, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash && (size_t)(slash - real) < size) {
        *slash = 0;
        memcpy(path_ret, real, strlen(real) + 1);
    }
    free(real);
}
