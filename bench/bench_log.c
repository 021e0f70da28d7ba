/* bench_log.c -- how fast a log streams through `backtrail resolve --log` and --markup,
 * and in how much memory, beside programs that do less with the same bytes.
 *
 *     bench/run log [MEGABYTES]      (1000; one line in a hundred is a stack line)
 */
#define _DEFAULT_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/os/os.h"
#include "core/resolve/files.h"
#include "core/trace/elf.h"
#include "measure.h"

#define LOG    BENCH_STATE_DIR "/bench.log"
#define MARKUP BENCH_STATE_DIR "/bench.markup"
#define IDS    BENCH_STATE_DIR "/ids"
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

/* ---- stack lines --------------------------------------------------------- */

/* Programs of many compilers, and every address that their tables have: enough to be
 * no better for what is remembered than a log of a few services. */
static const char *const fixtures[] = {
    "x64-gcc-dw3-O2",     "x64-gcc-dw4-O2",    "x64-gcc-dw5-O2",
    "x64-gcc-dw5-64bit",  "x64-gcc-lto",       "x64-gcc-hotcold",
    "x64-gcc-shared.so",  "x64-lld-shared.so", "x64-clang14-dw4-O2",
    "x64-clang19-dw5-O2", "x64-cpp-clang19",   "x64-cpp-gcc",
    "x64-rust-v0",        "x64-rust-legacy",   "x64-dwz-before",
    "aarch64-gcc-dw5-O2", "riscv64-gcc-dw5-O2"
};
#define FIXTURE_COUNT (sizeof(fixtures) / sizeof(fixtures[0]))

static struct place {
    unsigned module;
    uint64_t address;
} places[8192];
static size_t place_count;

static void read_places(unsigned module)
{
    char path[4096], line[4096];
    uint64_t last = 0;
    snprintf(path, sizeof(path), BENCH_FIXTURE_DIR "/%s.expect.tsv", fixtures[module]);
    FILE *table = fopen(path, "r");
    if (!table) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof(line), table)) {
        uint64_t address = strtoull(line, NULL, 16);
        if (address == 0 || address == last || place_count == 8192)
            continue;
        places[place_count++] = (struct place){ module, address };
        last = address;
    }
    fclose(table);
}

/* Each module has a place of its own among the addresses of the made-up process. */
static uint64_t start_of(unsigned module)
{
    return ((uint64_t)module + 1) << 32;
}

static size_t write_stack(char *line, size_t size, uint32_t *state, int markup)
{
    const struct place *place = &places[next_random(state) % place_count];
    unsigned number = next_random(state) % 20;
    uint64_t address = start_of(place->module) + place->address;
    int wrote =
        markup ? snprintf(line, size, "{{{bt:%u:0x%" PRIx64 ":pc}}}\n", number, address)
               : snprintf(line, size, "    #%u 0x%" PRIx64 "  (%s/%s+0x%" PRIx64 ")\n",
                          number, place->address, BENCH_FIXTURE_DIR,
                          fixtures[place->module], place->address);
    return (size_t)wrote;
}

/* The build-id of a fixture in hex; "" if it has none. */
static void read_id(const char *path, char *hex_ret, size_t size)
{
    struct trail_os_file file;
    struct trail_elf elf;
    struct trail_text id;
    hex_ret[0] = 0;
    if (trail_os_file_map(path, (uint64_t)1 << 30, &file, NULL))
        return;
    if (trail_elf_parse(file.bytes, file.size, &elf) && trail_elf_build_id(&elf, &id))
        trail_hex(id, hex_ret, size);
    trail_os_file_close(&file);
}

/* llvm-symbolizer finds files by id alone. */
static void link_id(const char *path, const char *id)
{
    char link[4096];
    if (!id[0])
        return;
    mkdir(IDS, 0755);
    mkdir(IDS "/.build-id", 0755);
    snprintf(link, sizeof(link), IDS "/.build-id/%.2s", id);
    mkdir(link, 0755);
    snprintf(link, sizeof(link), IDS "/.build-id/%.2s/%s.debug", id, id + 2);
    if (symlink(path, link) && errno != EEXIST)
        perror(link);
}

static void write_context(FILE *log)
{
    char path[4096], id[2 * 64 + 1];
    for (unsigned module = 0; module < FIXTURE_COUNT; module++) {
        snprintf(path, sizeof(path), BENCH_FIXTURE_DIR "/%s", fixtures[module]);
        read_id(path, id, sizeof(id));
        link_id(path, id);
        fprintf(log,
                "{{{module:%u:%s:elf:%s}}}\n{{{mmap:0x%" PRIx64
                ":0x10000000:load:%u:rx:0x0}}}\n",
                module, path, id, start_of(module), module);
    }
}

/* ---- the logs ------------------------------------------------------------ */

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
        write_context(log);
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
    for (unsigned module = 0; module < FIXTURE_COUNT; module++)
        read_places(module);
    generate(LOG, size, 0);
    generate(MARKUP, size, 1);
    struct figure cat = measure("exec cat", LOG, size);
    struct figure grep = measure("LC_ALL=C grep -c 0x | cat", LOG, size);
    struct figure log = measure("exec " BENCH_PROGRAM " resolve --log", LOG, size);
    struct figure piped =
        measure("cat | " BENCH_PROGRAM " resolve --log | cat", LOG, size);
    struct figure markup =
        measure("exec " BENCH_PROGRAM " resolve --markup", MARKUP, size);
    /* It takes a minute a round: a part tells its rate. */
    struct figure llvm =
        measure("head -c 20000000 | llvm-symbolizer-22 --filter-markup "
                "--debug-file-directory=" IDS " 2> /dev/null",
                MARKUP, size < 20000000 ? size : 20000000);
    measure_print("log_modules", (double)FIXTURE_COUNT, "modules");
    measure_print("log_addresses", (double)place_count, "addresses");
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
