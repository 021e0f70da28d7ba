/* bench_log.c -- how fast a log streams through `backtrail resolve --log` and --markup,
 * and in how much memory, beside programs that do less with the same bytes.
 *
 *     bench/run log [MEGABYTES]      (1000; one line in a hundred is a stack line)
 */
#define _DEFAULT_SOURCE

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

#define LOG    BENCH_STATE_DIR "/bench.log"
#define MARKUP BENCH_STATE_DIR "/bench.markup"
#define ROUNDS 3

struct figure {
    double rate; /* MB/s, the best of the rounds */
    double peak; /* MB resident */
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* What a service says all day. */
static size_t write_plain(char *line, size_t size, uint32_t *state)
{
    static const char *const words[] = {
        "request",    "served",      "index", "timeout", "GET /api/v1/orders",
        "cache miss", "level=info",  "exec",  "proxy",   "{\"a\":1}",
        "user 0",     "msg=\"done\""
    };
    int at =
        snprintf(line, size, "2026-11-30T11:%02u:%02u.%03uZ ", next_random(state) % 60,
                 next_random(state) % 60, next_random(state) % 1000);
    for (int i = 0; i < 7; i++)
        at += snprintf(line + at, size - (size_t)at, "%s ",
                       words[next_random(state) % 12]);
    return (size_t)at +
           (size_t)snprintf(line + at, size - (size_t)at, "%u\n", next_random(state));
}

static size_t write_stack(char *line, size_t size, uint32_t *state, int markup)
{
    unsigned address = 0x401000 + next_random(state) % 0x12a;
    int wrote =
        markup ? snprintf(line, size, "{{{bt:%u:0x%x:pc}}}\n", address % 20, address)
               : snprintf(line, size, "    #%u 0x%x  (%s+0x%x)\n", address % 20,
                          address, BENCH_FIXTURE, address);
    return (size_t)wrote;
}

static void generate(const char *path, uint64_t size, int markup)
{
    char line[4096];
    uint32_t state = 1;
    FILE *log = fopen(path, "w");
    if (!log) {
        perror(path);
        exit(1);
    }
    if (markup)
        fprintf(log,
                "{{{module:0:%s:elf:%s}}}\n{{{mmap:0x401000:0x1000:load:0:rx:"
                "0x401000}}}\n",
                BENCH_FIXTURE, "214b18e9732c20fc56010ada89a354aef4c1b5fe");
    for (uint64_t at = 0, number = 1; at < size; number++) {
        size_t wrote = number % 100 ? write_plain(line, sizeof(line), &state)
                                    : write_stack(line, sizeof(line), &state, markup);
        fwrite(line, 1, wrote, log);
        at += wrote;
    }
    fclose(log);
}

/* A program over the log, by the shell: in seconds; `peak_ret` of its largest part. */
static double run(const char *command, const char *log, double *peak_ret)
{
    struct rusage usage;
    int status = 0;
    uint64_t start = measure_now_ns();
    pid_t child = fork();
    if (child == 0) {
        int in = open(log, O_RDONLY), out = open("/dev/null", O_WRONLY);
        if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0)
            _exit(126);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) < 0 || status != 0)
        return 0;
    *peak_ret = (double)usage.ru_maxrss / 1000;
    return (double)(measure_now_ns() - start) / 1e9;
}

static struct figure measure(const char *command, const char *log, uint64_t size)
{
    struct figure best = { 0 };
    for (int round = 0; round < ROUNDS; round++) {
        double peak = 0;
        double seconds = run(command, log, &peak);
        double rate = seconds > 0 ? (double)size / 1e6 / seconds : 0;
        best.rate = rate > best.rate ? rate : best.rate;
        best.peak = peak > best.peak ? peak : best.peak;
    }
    return best;
}

int main(int argc, char **argv)
{
    uint64_t size = (argc > 1 ? strtoull(argv[1], NULL, 10) : 1000) * 1000000;
    setenv("BACKTRAIL_PLUGIN_PATH", BENCH_PLUGIN_DIR, 1);
    setenv("BACKTRAIL_STATE", BENCH_STATE_DIR, 1);
    mkdir(BENCH_STATE_DIR, 0755);
    generate(LOG, size, 0);
    generate(MARKUP, size, 1);
    struct figure cat = measure("exec cat", LOG, size);
    struct figure grep = measure("LC_ALL=C grep -c 0x | cat", LOG, size);
    struct figure log = measure("exec " BENCH_PROGRAM " resolve --log", LOG, size);
    struct figure piped =
        measure("cat | " BENCH_PROGRAM " resolve --log | cat", LOG, size);
    struct figure markup =
        measure("exec " BENCH_PROGRAM " resolve --markup", MARKUP, size);
    /* It takes minutes for what others do in seconds: a part tells its rate. */
    struct figure llvm =
        measure("head -c 20000000 | llvm-symbolizer-22 --filter-markup "
                "2> /dev/null",
                MARKUP, size < 20000000 ? size : 20000000);
    measure_print("log", log.rate, "MB/s");
    measure_print("log_peak", log.peak, "MB");
    measure_print("log_piped", piped.rate, "MB/s");
    measure_print("markup", markup.rate, "MB/s");
    measure_print("markup_peak", markup.peak, "MB");
    measure_print("cat", cat.rate, "MB/s");
    measure_print("grep", grep.rate, "MB/s");
    measure_print("log_per_cat", cat.rate > 0 ? log.rate / cat.rate : 0, "ratio");
    measure_print("log_per_grep", grep.rate > 0 ? log.rate / grep.rate : 0, "ratio");
    if (llvm.rate > 0) {
        measure_print("llvm_markup", llvm.rate, "MB/s");
        measure_print("markup_per_llvm", markup.rate / llvm.rate, "ratio");
    } else {
        fprintf(stderr, "bench_log: no llvm-symbolizer-22 to compare with\n");
    }
    unlink(LOG);
    unlink(MARKUP);
    return log.rate > 0 ? 0 : 1;
}
