/* one_thread.c -- raw traces of two threads; each says as message who wrote it. */
#define _GNU_SOURCE

#include "show.h"

#include <pthread.h>
#include <unistd.h>

static void *tell(void *arg)
{
    struct trail_backtrace backtrace = { 0 };
    char message[32];
    trail_capture(&backtrace);
    snprintf(message, sizeof(message), "%ld", (long)gettid());
    show_raw(&backtrace, message);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, tell, NULL);
    tell(NULL);
    pthread_join(thread, NULL);
    return 0;
}
