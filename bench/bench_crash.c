/* bench_crash.c -- what a crash costs, from the fault to the trace in the inbox, and
 * what it costs a program to be ready for one.
 *
 * fault_to_file_us: one thread, 30 calls deep. A handler that was there before is
 * called when all is done, so the figure is no less than what the file takes.
 * preload_start_us: `true` with libbacktrail-preload.so, minus without. Both: medians.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/crash.h"
#include "measure.h"

enum { DEPTH = 30, CRASHES = 101, STARTS = 301 };

extern char **environ;
static uint64_t fault_ns;
static int result; /* where the child writes how long it took */

/* ---- from the fault to the file ------------------------------------------ */

static void when_done(int number)
{
    const uint64_t took_ns = measure_now_ns() - fault_ns;
    (void)number;
    _exit(write(result, &took_ns, sizeof(took_ns)) != sizeof(took_ns));
}

__attribute__((noinline)) static int fall(int depth)
{
    static int *volatile nowhere;
    int below = depth > 1 ? fall(depth - 1) : 0;
    if (depth == 1) {
        fault_ns = measure_now_ns();
        *nowhere = 1;
    }
    return below + depth;
}

static void crash(const char *inbox)
{
    struct trail_error err = { "" };
    const struct trail_crash_options options = { .size = sizeof(options),
                                                 .flags = TRAIL_CRASH_QUIET,
                                                 .inbox = inbox,
                                                 .free_size = 1 };
    signal(SIGSEGV, when_done);
    if (trail_crash_install(&options, &err)) {
        fprintf(stderr, "bench_crash: %s\n", err.text);
        _exit(1);
    }
    _exit(fall(DEPTH));
}

/* How long one crash took, ns; 0: it could not be measured. */
static double crash_once(const char *inbox)
{
    int ends[2], status = 0;
    uint64_t took_ns = 0;
    if (pipe(ends))
        return 0;
    result = ends[1];
    pid_t child = fork();
    if (child == 0)
        crash(inbox);
    close(ends[1]);
    if (read(ends[0], &took_ns, sizeof(took_ns)) != sizeof(took_ns))
        took_ns = 0;
    close(ends[0]);
    waitpid(child, &status, 0);
    return (double)took_ns;
}

static int measure_crashes(void)
{
    static double samples[CRASHES];
    char place[] = "/tmp/bench-crash-XXXXXX", command[64];
    if (!mkdtemp(place))
        return 1;
    for (size_t i = 0; i < CRASHES; i++)
        samples[i] = crash_once(place);
    snprintf(command, sizeof(command), "%s", place);
    pid_t child = fork();
    if (child == 0)
        execlp("rm", "rm", "-rf", command, (char *)NULL);
    waitpid(child, NULL, 0);
    double median = measure_median(samples, CRASHES);
    if (samples[0] == 0)
        return 1;
    measure_print("fault_to_file_us", median / 1000, "us");
    return 0;
}

/* ---- what it takes to be ready ------------------------------------------- */

#ifdef BENCH_PRELOAD
/* How long `true` takes from start to end, ns. */
static double start_once(char *const *environment)
{
    char *const arguments[] = { (char *)(uintptr_t) "true", NULL };
    pid_t child;
    int status;
    const uint64_t begin_ns = measure_now_ns();
    if (posix_spawnp(&child, "true", NULL, NULL, arguments, environment))
        return 0;
    waitpid(child, &status, 0);
    return (double)(measure_now_ns() - begin_ns);
}

static int measure_starts(void)
{
    static double with[STARTS], without[STARTS];
    static char preload[] = "LD_PRELOAD=" BENCH_PRELOAD;
    static char inbox[] = "BACKTRAIL_INBOX=/tmp";
    static char path[] = "PATH=/usr/bin:/bin";
    char *loaded[] = { path, preload, inbox, NULL }, *plain[] = { path, NULL };
    for (size_t i = 0; i < STARTS; i++) {
        without[i] = start_once(plain);
        with[i] = start_once(loaded);
    }
    double added = measure_median(with, STARTS) - measure_median(without, STARTS);
    measure_print("preload_start_us", added / 1000, "us");
    return 0;
}
#else
static int measure_starts(void)
{
    return 0;
}
#endif

int main(void)
{
    int failed = measure_crashes();
    return measure_starts() | failed;
}
