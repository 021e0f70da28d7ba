/* known_locks.c -- locks of C11 for a test, made of those that the thread sanitizer
 * knows: it does not see mtx_lock(), and would call all that it guards a race.
 *
 * A program's own functions are found before those of the C library, also by a plugin.
 */
#include <pthread.h>
#include <threads.h>

#include "backtrail/base.h"

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t), "one fits into the other");
_Static_assert(_Alignof(mtx_t) >= _Alignof(pthread_mutex_t), "and lies as it has to");

TRAIL_EXPORT int mtx_init(mtx_t *mutex, int type)
{
    (void)type; /* plain ones are all that there are */
    return pthread_mutex_init((pthread_mutex_t *)mutex, NULL) ? thrd_error
                                                              : thrd_success;
}

TRAIL_EXPORT int mtx_lock(mtx_t *mutex)
{
    return pthread_mutex_lock((pthread_mutex_t *)mutex) ? thrd_error : thrd_success;
}

TRAIL_EXPORT int mtx_unlock(mtx_t *mutex)
{
    return pthread_mutex_unlock((pthread_mutex_t *)mutex) ? thrd_error : thrd_success;
}

TRAIL_EXPORT void mtx_destroy(mtx_t *mutex)
{
    pthread_mutex_destroy((pthread_mutex_t *)mutex);
}
