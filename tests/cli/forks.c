/* forks.c -- forks.c CONFIG COUNT: four threads report all the time, while the process
 * forks COUNT times, and each child reports for itself and leaves.
 */
#define _POSIX_C_SOURCE 200809L

#include <backtrail/backtrail.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS    4
#define REPORTS    25 /* of one thread */
#define PATIENCE_S 60 /* a child that hangs is ended by its alarm */

static void report(const char *who)
{
    const struct trail_attribute attributes[] = { { "who", who } };
    struct trail_error err = { "" };
    while (trail_report(TRAIL_INFO, who, attributes, 1, &err)) {
        fprintf(stderr, "forks: %s\n", err.text);
        trail_flush(1000000000u, NULL); /* the queue was full */
    }
}

static void *work(void *arg)
{
    (void)arg;
    for (int i = 0; i < REPORTS; i++)
        report("parent");
    return NULL;
}

static int child(void)
{
    alarm(PATIENCE_S);
    report("child");
    trail_shutdown();
    _exit(0); /* nothing of the parent's is flushed here */
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    struct trail_error err = { "" };
    int failed = 0, status;
    if (argc != 3 || trail_init(argv[1], &err)) {
        fprintf(stderr, "usage: forks CONFIG COUNT %s\n", err.text);
        return 2;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 1;
    for (long i = strtol(argv[2], NULL, 10); i > 0; i--) {
        pid_t pid = fork();
        if (pid == 0)
            return child();
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            failed++;
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    while (trail_flush(1000000000u, &err))
        continue;
    trail_shutdown();
    printf("%d failed\n", failed);
    return failed != 0;
}
