/* two_panics.c -- two threads give up at once. */
#define _GNU_SOURCE

#include "show.h"

#include <pthread.h>

static pthread_barrier_t together;

OUT_OF_LINE static void *give_up(void *name)
{
    pthread_barrier_wait(&together);
    trail_panic("%s", (const char *)name);
}

int main(void)
{
    pthread_t thread;
    start();
    pthread_barrier_init(&together, NULL, 2);
    if (pthread_create(&thread, NULL, give_up, "one"))
        return 1;
    give_up("two");
    return 0;
}
