/* threads.c -- 8 threads make 50 reports each, all at once. */
#define _POSIX_C_SOURCE 200809L

#include "show.h"

#include <pthread.h>

#define THREADS 8
#define REPORTS 50

static void report(long thread, int number)
{
    char message[64];
    struct trail_error err;
    enum trail_status status;
    snprintf(message, sizeof(message), "thread %ld report %d", thread, number);
    do {
        status = trail_report(TRAIL_INFO, message, NULL, 0, &err);
        if (status == TRAIL_RETRY) /* more than the queue takes: let it drain */
            trail_flush(1000000000u, NULL);
    } while (status == TRAIL_RETRY);
    if (status)
        fprintf(stderr, "report: %s\n", err.text);
}

static void *reports(void *arg)
{
    for (int i = 0; i < REPORTS; i++)
        report(*(const long *)arg, i);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    long numbers[THREADS];
    start();
    for (long i = 0; i < THREADS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, reports, &numbers[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    /* How long shutdown waits is not what is looked at here. */
    trail_flush(300000000000u, NULL);
    trail_shutdown();
    return 0;
}
