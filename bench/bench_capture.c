/* bench_capture.c -- what a capture costs, beside others in the same run.
 *
 * The contestants take turns on one and the same stack, round by round, so that a
 * machine that slows down slows all of them. A ratio is the median over the rounds of a
 * process, and that over several processes, since it matters where the kernel puts code
 * and stack. Peers that are not installed are named as skipped.
 */
#define _GNU_SOURCE
#include <gnu/libc-version.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backtrail/backtrail.h"
#include "capture/first.h"
#include "capture/peers.h"
#include "capture/steady.h"
#include "bench/measure.h"

enum { PROCESSES = 7, FIRST_CALLS = 21, NUMBERS_MOST = 4 };

/* ---- other processes of this program ------------------------------------ */

static char program[4096]; /* this one's path */

/* A process, and what it writes; NULL: where this one does. */
struct running {
    pid_t pid;
    FILE *output;
};

static struct running run(char *const arguments[], bool piped)
{
    struct running running = { .pid = -1 };
    int ends[2] = { -1, -1 };
    fflush(NULL);
    if (!piped || pipe(ends) == 0)
        running.pid = fork();
    if (running.pid == 0) {
        if (piped)
            dup2(ends[1], STDOUT_FILENO);
        execv(arguments[0], arguments);
        _exit(127);
    }
    if (running.pid < 0) {
        perror(arguments[0]);
        exit(1);
    }
    if (piped) {
        close(ends[1]);
        running.output = fdopen(ends[0], "r");
    }
    return running;
}

static struct running start(const char *mode, int argument)
{
    char number[12];
    snprintf(number, sizeof(number), "%d", argument);
    char *arguments[] = { program, (char *)(uintptr_t)mode, number, NULL };
    return run(arguments, true);
}

/* Numbers of the next line, false at the end. */
static bool numbers(const struct running *running, double *numbers_ret)
{
    char line[256], *at = line;
    if (!running->output || !fgets(line, sizeof(line), running->output))
        return false;
    for (unsigned i = 0; i < NUMBERS_MOST; i++)
        numbers_ret[i] = strtod(at, &at);
    return true;
}

static void end(const struct running *running)
{
    int status;
    if (running->output)
        fclose(running->output);
    if (waitpid(running->pid, &status, 0) != running->pid || status != 0)
        exit(1);
}

/* ---- figures ------------------------------------------------------------ */

static struct {
    double ours[PROCESSES], peer[PROCESSES], ratio[PROCESSES];
    unsigned count;
} steady[STEADY_FIGURES];

static void gather(void)
{
    double found[NUMBERS_MOST];
    for (unsigned process = 0; process < PROCESSES; process++) {
        const struct running running = start("--steady", 0);
        while (numbers(&running, found)) {
            unsigned i = (unsigned)found[0], at = steady[i].count++;
            steady[i].ours[at] = found[1];
            steady[i].peer[at] = found[2];
            steady[i].ratio[at] = found[3];
        }
        end(&running);
    }
}

static void print_steady(void)
{
    for (unsigned i = 0; i < STEADY_FIGURES; i++) {
        unsigned count = steady[i].count;
        if (count == 0) {
            printf("# skipped: %s, since %s is not installed\n", steady_name(i),
                   steady_peer(i));
            continue;
        }
        double ratio = measure_median(steady[i].ratio, count);
        double ours = measure_median(steady[i].ours, count);
        if (steady[i].peer[0] > 0)
            measure_print(steady_name(i), ratio, "x");
        printf("# %s: %.1f ns against %.1f of %s; %.2f to %.2f in %u processes\n",
               steady_name(i), ours, measure_median(steady[i].peer, count),
               steady_peer(i), steady[i].ratio[0], steady[i].ratio[count - 1], count);
        if (strcmp(steady_name(i), "nofp_cold_d32_vs_unw") == 0)
            measure_print("nofp_cold_d32_ns_frame", ours / 32, "ns/frame");
    }
}

static void print_first(void)
{
    static const enum peer_id who[] = { PEER_OURS, PEER_LIBUNWIND, PEER_GLIBC };
    double ns[3][FIRST_CALLS], mallocs[3][FIRST_CALLS], found[NUMBERS_MOST];
    unsigned counts[3] = { 0 };
    for (unsigned round = 0; round < FIRST_CALLS; round++)
        for (unsigned i = 0; i < 3; i++) {
            const struct running running = start("--first", (int)who[i]);
            while (numbers(&running, found)) {
                ns[i][counts[i]] = found[0];
                mallocs[i][counts[i]++] = found[1];
            }
            end(&running);
        }
    for (unsigned i = 0; i < 3; i++) {
        if (counts[i] == 0)
            continue;
        long calls = first_count(program, who[i]);
        double us = measure_median(ns[i], counts[i]) / 1000;
        measure_median(mallocs[i], counts[i]); /* sorts them */
        double most = mallocs[i][counts[i] - 1];
        printf("# first call of %s: %.1f us, %.0f mallocs, %ld system calls\n",
               peers[who[i]].name, us, most, calls);
        if (i > 0)
            continue;
        measure_print("first_call_us", us, "us");
        measure_print("first_call_mallocs", most, "calls");
        if (calls >= 0)
            measure_print("first_call_syscalls", (double)calls, "calls");
        else
            printf(
                "# skipped: first_call_syscalls, since nothing can be traced here\n");
    }
}

/* Of a thread that has just begun, and of one that is 32 calls deep: the latter's stack
 * is in no cache, and its bytes are those that matter. */
static void print_threads(void)
{
    static const enum peer_id who[] = { PEER_OURS, PEER_LIBUNWIND, PEER_GLIBC };
    for (unsigned i = 0; i < 6; i++) {
        double found[NUMBERS_MOST];
        bool deep = i % 2, ours = i < 2;
        const struct running running =
            start(deep ? "--threads-deep" : "--threads", (int)who[i / 2]);
        bool any = numbers(&running, found);
        end(&running);
        if (!any)
            continue;
        printf("# first call in a thread of %s%s: %.2f us, %.0f bytes\n",
               peers[who[i / 2]].name, deep ? ", 32 calls deep" : "", found[0] / 1000,
               found[1]);
        if (ours)
            measure_print(deep ? "thread_first_d32_us" : "thread_first_us",
                          found[0] / 1000, "us");
        if (ours && deep)
            measure_print("thread_bytes", found[1], "B");
    }
}

/* ---- the run ------------------------------------------------------------ */

static void print_machine(void)
{
    char line[256] = "";
    struct utsname kernel;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "model name", 10) == 0)
            break;
    if (file)
        fclose(file);
    line[strcspn(line, "\n")] = 0;
    const char *colon = strchr(line, ':');
    uname(&kernel);
    printf("# machine: %s, %ld processors, %s %s\n", colon ? colon + 2 : kernel.machine,
           sysconf(_SC_NPROCESSORS_ONLN), kernel.sysname, kernel.release);
    printf("# versions: backtrail %s, glibc %s, %s\n", TRAIL_VERSION,
           gnu_get_libc_version(), __VERSION__);
}

/* On one processor, and before others if that is allowed. */
static void settle(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((unsigned)sysconf(_SC_NPROCESSORS_ONLN) - 1, &one);
    sched_setaffinity(0, sizeof(one), &one);
    setpriority(PRIO_PROCESS, 0, -20);
}

static int run_mode(const char *mode, int argument)
{
    enum peer_id peer = (enum peer_id)argument;
    settle();
    if (strcmp(mode, "--steady") == 0)
        steady_print();
    else if (strcmp(mode, "--first") == 0)
        first_print(peer);
    else if (strcmp(mode, "--first-traced") == 0)
        first_run_traced(peer);
    else if (strcmp(mode, "--threads") == 0)
        first_print_threads(peer, false);
    else if (strcmp(mode, "--threads-deep") == 0)
        first_print_threads(peer, true);
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    static char packed[] = BENCH_PACKED, hook[] = BENCH_PACKED_HOOK;
    char *const pack[] = { packed, hook, NULL };
    peers_load();
    if (argc == 3)
        return run_mode(argv[1], (int)strtol(argv[2], NULL, 10));
    if (readlink("/proc/self/exe", program, sizeof(program) - 1) < 0)
        return 1;
    print_machine();
    gather();
    print_steady();
    print_first();
    print_threads();
    const struct running running = run(pack, false);
    end(&running);
    return 0;
}
