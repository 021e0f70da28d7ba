/* entry.c -- a stack of the main thread, and one of another. */
#include "show.h"

#include <pthread.h>

static volatile int done;

OUT_OF_LINE static void work(const char *title)
{
    struct trail_backtrace backtrace = { 0 };
    trail_capture(&backtrace);
    printf("%s\n", title);
    show(&backtrace, 0);
    done = 1;
}

static void *thread_entry(void *arg)
{
    work(arg);
    return NULL;
}

int main(void)
{
    char title[] = "thread";
    pthread_t thread;
    work("main");
    pthread_create(&thread, NULL, thread_entry, title);
    pthread_join(thread, NULL);
    return 0;
}
