/* markup.c -- trail_print through inlined calls and a library; with argument "fork" in
 * a child, too, and with "threads" in many threads at once. Says at the end whether a
 * plugin was loaded.
 */
#define _POSIX_C_SOURCE 200809L

#include "show.h"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS 8
#define PRINTS  20

static volatile int done;

OUT_OF_LINE static void tell(void)
{
    trail_print();
    done = 1;
}

static inline __attribute__((always_inline)) int tell_inlined(int answer)
{
    tell();
    return answer + done;
}

/* qsort calls it: there is a frame of another module in between. */
static int compare(const void *a, const void *b)
{
    int order = *(const int *)a - *(const int *)b;
    return tell_inlined(order) ? order : 0;
}

OUT_OF_LINE static void sort(void)
{
    int numbers[2] = { 1, 2 };
    qsort(numbers, 2, sizeof(numbers[0]), compare);
    done = numbers[0];
}

static void *sort_often(void *unused)
{
    (void)unused;
    for (int i = 0; i < PRINTS; i++)
        sort();
    return NULL;
}

static void sort_in_threads(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, sort_often, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

/* Plugins are loaded from copies in the state directory. */
static bool is_plugin_loaded(void)
{
    char line[4200];
    bool found = false;
    const char *state = getenv("BACKTRAIL_STATE");
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        found = found || (state && strstr(line, state));
    if (maps)
        fclose(maps);
    return found;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status = 0;
    if (strcmp(how, "threads") == 0) {
        sort_in_threads();
        return 0;
    }
    sort();
    if (strcmp(how, "fork") == 0) {
        pid_t child = fork();
        sort();
        if (child == 0)
            _exit(0);
        waitpid(child, &status, 0);
    }
    printf("plugin loaded: %s\n", yes_no(is_plugin_loaded()));
    return status;
}
