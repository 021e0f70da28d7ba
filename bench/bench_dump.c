/* bench_dump.c -- how long a process stands still while its stacks are taken, by ours
 * and by others.
 *
 * usage: bench_dump [REPEATS]
 *
 * pause_ms_tN     longest time that the running thread of a process with N others stood
 *                 still, as it noticed itself; the median of REPEATS
 * held_ms_t200    first thread stopped to last one let go, as the dump says
 * wall_ms_t200    `backtrail dump --raw`, start to end
 * wall_named_ms_t200  the same without --raw
 * pause_t200_vs_X pause of X divided by ours, in the same run
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gap.h"
#include "measure.h"

#define REPEATS_LIMIT 101
#define OUTPUT_SIZE   (4u << 20)
#define SLOW_REPEATS  3 /* of what takes seconds */

struct target {
    pid_t pid;
    char file[32];
    struct gap *gap;
};

/* What one program took, by turns. */
struct taken {
    double pause_ms[REPEATS_LIMIT], wall_ms[REPEATS_LIMIT], held_ms[REPEATS_LIMIT];
    size_t count;
};

static char output[OUTPUT_SIZE];

static void fail(const char *what)
{
    fprintf(stderr, "bench_dump: %s\n", what);
    exit(1);
}

/* ---- the program that is held ------------------------------------------- */

static void target_start(struct target *target, const char *threads)
{
    snprintf(target->file, sizeof(target->file), "%s", "/tmp/bench-dump.XXXXXX");
    int file = mkstemp(target->file);
    if (file < 0 || ftruncate(file, sizeof(struct gap)))
        fail("no temporary file");
    target->gap =
        mmap(NULL, sizeof(*target->gap), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    target->pid = fork();
    if (target->pid == 0) {
        execl(BENCH_TARGET, BENCH_TARGET, target->file, threads, (char *)NULL);
        _exit(127);
    }
    uint64_t wanted = strtoull(threads, NULL, 10);
    while (!target->gap->running || target->gap->blocked < wanted)
        if (waitpid(target->pid, NULL, WNOHANG) == target->pid)
            fail("the program to be held has ended");
        else
            usleep(1000);
    usleep(50000);
}

static void target_end(struct target *target)
{
    kill(target->pid, SIGKILL);
    waitpid(target->pid, NULL, 0);
    munmap(target->gap, sizeof(*target->gap));
    unlink(target->file);
}

/* ---- those who hold it -------------------------------------------------- */

/* Not where the running thread is. */
static void start(char *const *arguments, int to)
{
    cpu_set_t second;
    CPU_ZERO(&second);
    CPU_SET(1, &second);
    sched_setaffinity(0, sizeof(second), &second);
    dup2(to, 1);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 2);
    execvp(arguments[0], arguments);
    _exit(127);
}

/* Keeps what it prints in `output`; false: it failed. */
static bool run_program(char *const *arguments)
{
    int pipe_ends[2], status = 0;
    size_t size = 0;
    if (pipe(pipe_ends))
        fail("no pipe");
    pid_t child = fork();
    if (child == 0)
        start(arguments, pipe_ends[1]);
    close(pipe_ends[1]);
    for (ssize_t got = 1; got > 0 && size < OUTPUT_SIZE - 1; size += (size_t)got) {
        got = read(pipe_ends[0], output + size, OUTPUT_SIZE - 1 - size);
        if (got < 0)
            fail("nothing to read");
    }
    output[size] = 0;
    close(pipe_ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static double held_ms(void)
{
    const char *at = strstr(output, "held for ");
    return at ? strtod(at + strlen("held for "), NULL) : 0;
}

static void take(struct taken *taken, const struct target *target,
                 char *const *arguments)
{
    target->gap->clear = 1;
    while (target->gap->clear)
        usleep(100);
    uint64_t before = measure_now_ns();
    if (!run_program(arguments)) {
        fprintf(stderr, "bench_dump: %s failed: %.200s\n", arguments[0], output);
        exit(1);
    }
    taken->wall_ms[taken->count] = (double)(measure_now_ns() - before) / 1e6;
    usleep(3000);
    taken->pause_ms[taken->count] = (double)target->gap->most_ns / 1e6;
    taken->held_ms[taken->count++] = held_ms();
}

static double pause_of(struct taken *taken)
{
    return measure_median(taken->pause_ms, taken->count);
}

/* ---- figures ------------------------------------------------------------ */

static void few_threads(const char *threads, const char *name, size_t repeats)
{
    struct target target;
    struct taken ours = { .count = 0 };
    char pid[16];
    target_start(&target, threads);
    snprintf(pid, sizeof(pid), "%d", (int)target.pid);
    char *const dump[] = { BENCH_PROGRAM, "dump", "--raw", pid, NULL };
    for (size_t i = 0; i < repeats; i++)
        take(&ours, &target, dump);
    measure_print(name, pause_of(&ours), "ms");
    target_end(&target);
}

static void compare(const char *name, struct taken *ours, struct taken *other)
{
    char figure[64];
    if (!other->count)
        return;
    snprintf(figure, sizeof(figure), "pause_ms_t200_%s", name);
    measure_print(figure, pause_of(other), "ms");
    snprintf(figure, sizeof(figure), "pause_t200_vs_%s", name);
    measure_print(figure, pause_of(other) / pause_of(ours), "x");
}

static void many_threads(size_t repeats)
{
    struct target target;
    struct taken ours = { .count = 0 }, named = { .count = 0 }, gdb = { .count = 0 },
                 unwptrace = { .count = 0 };
    char pid[16];
    target_start(&target, "200");
    snprintf(pid, sizeof(pid), "%d", (int)target.pid);
    char *const dump[] = { BENCH_PROGRAM, "dump", "--raw", pid, NULL };
    char *const dump_named[] = { BENCH_PROGRAM, "dump", pid, NULL };
    char *const by_unwptrace[] = { BENCH_UNWPTRACE, pid, NULL };
    char *const by_gdb[] = { "gdb", "-nx", "-q", "-batch", "-ex", "thread apply all bt",
                             "-p",  pid,   NULL };
    for (size_t i = 0; i < repeats; i++) {
        take(&ours, &target, dump);
        take(&named, &target, dump_named);
        if (BENCH_UNWPTRACE[0])
            take(&unwptrace, &target, by_unwptrace);
    }
    char *const ask_gdb[] = { "gdb", "--version", NULL };
    for (size_t i = 0; i < SLOW_REPEATS && run_program(ask_gdb); i++)
        take(&gdb, &target, by_gdb);
    measure_print("pause_ms_t200", pause_of(&ours), "ms");
    measure_print("held_ms_t200", measure_median(ours.held_ms, ours.count), "ms");
    measure_print("wall_ms_t200", measure_median(ours.wall_ms, ours.count), "ms");
    measure_print("wall_named_ms_t200", measure_median(named.wall_ms, named.count),
                  "ms");
    compare("gdb", &ours, &gdb);
    compare("unwptrace", &ours, &unwptrace);
    target_end(&target);
}

/* Processes of this group get their share however many others there are. */
static void go_first(void)
{
    if (fork() == 0) {
        setsid();
        int weight = open("/proc/self/autogroup", O_WRONLY);
        if (weight >= 0 && write(weight, "-20", 3) == 3)
            close(weight);
        return;
    }
    int status = 1;
    wait(&status);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

int main(int argc, char **argv)
{
    size_t repeats = argc > 1 ? strtoul(argv[1], NULL, 10) : 21;
    if (!repeats || repeats > REPEATS_LIMIT)
        fail("how often? 1 to 101");
    setenv("BACKTRAIL_PLUGIN_PATH", BENCH_PLUGIN_DIR, 1);
    setenv("BACKTRAIL_STATE", BENCH_STATE_DIR, 1);
    go_first();
    few_threads("1", "pause_ms_t1", repeats);
    few_threads("16", "pause_ms_t16", repeats);
    many_threads(repeats);
    return 0;
}
