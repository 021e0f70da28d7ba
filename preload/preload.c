/* preload.c -- crash capture for programs that nobody rebuilds: LD_PRELOAD names this
 * library, and the BACKTRAIL_... variables say how.
 *
 * Of its own it has the start of the program and of each thread, and sees what is
 * written to standard error. A program that uses the capture library itself gets what
 * it calls of crash.h from here, so that there is one that records crashes, and not
 * two.
 */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "core/os/os.h"
#include "preload/next.h"
#include "preload/panic.h"

typedef void *routine_fn(void *arg);
typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes,
                      routine_fn *routine, void *arg);
typedef ssize_t write_fn(int fd, const void *bytes, size_t size);

/* What a thread is to run, until it has begun. Not from malloc: whoever starts a thread
 * may be malloc. */
struct beginning {
    _Atomic uint32_t taken;
    routine_fn *routine;
    void *arg;
};
#define BEGINNINGS 256
static struct beginning beginnings[BEGINNINGS];
static _Atomic uint32_t hint;

/* Its destructor runs however a thread ends. */
static pthread_key_t at_end;
static _Atomic uint32_t at_end_made;

static void end_thread(void *unused)
{
    (void)unused;
    trail_thread_deinit();
}

TRAIL_OWN_CODE static void *begin_thread(void *arg)
{
    struct beginning *beginning = arg;
    routine_fn *routine = beginning->routine;
    void *its = beginning->arg;
    atomic_store(&beginning->taken, 0);
    if (!trail_thread_init(NULL) && atomic_load(&at_end_made))
        pthread_setspecific(at_end, beginnings);
    return routine(its);
}

static struct beginning *take(void)
{
    uint32_t at = atomic_fetch_add(&hint, 1);
    for (uint32_t i = 0; i < BEGINNINGS; i++) {
        struct beginning *beginning = &beginnings[(at + i) % BEGINNINGS];
        uint32_t none = 0;
        if (atomic_compare_exchange_strong(&beginning->taken, &none, 1))
            return beginning;
    }
    return NULL;
}

/* With more threads about to begin than are kept in mind, one goes without an alternate
 * stack. */
TRAIL_EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                                routine_fn *routine, void *arg)
{
    create_fn *create;
    preload_next(PRELOAD_PTHREAD_CREATE, &create);
    struct beginning *beginning = take();
    if (!beginning)
        return create(thread, attributes, routine, arg);
    beginning->routine = routine;
    beginning->arg = arg;
    int error = create(thread, attributes, begin_thread, beginning);
    if (error)
        atomic_store(&beginning->taken, 0);
    return error;
}

/* What was written could be read: whoever hands over a bad address gets an error. */
TRAIL_EXPORT ssize_t write(int fd, const void *bytes, size_t size)
{
    write_fn *next;
    preload_next(PRELOAD_WRITE, &next);
    if (__builtin_expect(fd != STDERR_FILENO, 1))
        return next(fd, bytes, size);
    ssize_t done = next(fd, bytes, size);
    int saved = errno;
    if (done > 0)
        trail_panic_look(bytes, (size_t)done);
    errno = saved;
    return done;
}

/* Captures are for crashes only: core/capture/capture.c. */
extern const char trail_starts_cold;
const char trail_starts_cold = 1;

__attribute__((constructor)) static void begin_program(void)
{
    struct trail_error err = { "" };
    preload_next_init();
    if (!pthread_key_create(&at_end, end_thread))
        atomic_store(&at_end_made, 1);
    enum trail_status status = trail_crash_install(NULL, &err);
    if (status && status != TRAIL_REFUSED)
        fprintf(stderr, "backtrail: %s\n", err.text);
}
