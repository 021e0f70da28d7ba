/* damage.c -- damaged files, read by a symbolizer: none may crash it, take it 5 s of
 * CPU time or 256 MiB, or make it break a promise.
 *
 * usage: damage PLUGIN.so SYMBOL [--step N] FILE...
 * Reads each FILE as it is; with --step also with one byte flipped, and cut off, at
 * every Nth offset. A process a FILE, so that a crash costs one. Addresses are those of
 * FILE.expect.tsv, or of ../elf/x64-gcc-dw5-O2.expect.tsv. Exits 1 if one failed.
 */
#define _DEFAULT_SOURCE

#include "damage.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPU_LIMIT_S   5
#define MEMORY_LIMIT  ((uint64_t)256 << 20)
#define MEMORY_GUARD  ((rlim_t)2 << 30) /* of the machine that runs this */
#define ADDRESSES_MAX 256

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true /* its own memory is many times that of what it watches */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* What the child is at, and what it found; shared with its parent. */
struct progress {
    char what[64];
    char broken[128];
    uint64_t cases, peak;
    double slowest_s;
    char slowest[64];
};

/* ---- one case ----------------------------------------------------------- */

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* SIGPROF ends the process when the time is up: the parent sees it. */
static void limit_cpu(time_t seconds)
{
    const struct itimerval timer = { .it_value = { .tv_sec = seconds } };
    setitimer(ITIMER_PROF, &timer, NULL);
}

static void run_case(const struct damage_subject *subject, struct symbol_bytes bytes,
                     const char *what, struct progress *progress)
{
    /* An exact allocation, so that a sanitizer sees a read past the end. */
    struct symbol_bytes copy = { malloc(bytes.size ? bytes.size : 1), bytes.size };
    if (!copy.at)
        abort();
    memcpy(copy.at, bytes.at, bytes.size);
    snprintf(progress->what, sizeof(progress->what), "%s", what);
    damage_watch_memory();
    double start = cpu_s();
    limit_cpu(CPU_LIMIT_S);
    const char *broken = damage_ask(subject, copy);
    limit_cpu(0);
    double spent = cpu_s() - start;
    uint64_t peak = SANITIZED ? 0 : damage_peak_bytes();
    free(copy.at);
    progress->cases++;
    progress->peak = peak > progress->peak ? peak : progress->peak;
    if (spent > progress->slowest_s) {
        progress->slowest_s = spent;
        snprintf(progress->slowest, sizeof(progress->slowest), "%s", what);
    }
    if (peak > MEMORY_LIMIT)
        broken = "less than 256 MiB are taken";
    if (broken) {
        snprintf(progress->broken, sizeof(progress->broken), "%s", broken);
        _exit(3);
    }
}

/* ---- one file ----------------------------------------------------------- */

static size_t read_addresses(const char *path, uint64_t *addresses_ret)
{
    char name[4096], line[4096];
    snprintf(name, sizeof(name), "%s.expect.tsv", path);
    FILE *table = fopen(name, "r");
    if (!table) {
        const char *slash = strrchr(path, '/');
        snprintf(name, sizeof(name), "%.*s/../elf/x64-gcc-dw5-O2.expect.tsv",
                 slash ? (int)(slash - path) : 1, slash ? path : ".");
        table = fopen(name, "r");
    }
    size_t count = 0;
    addresses_ret[count++] = 0;
    addresses_ret[count++] = UINT64_MAX;
    while (table && count < ADDRESSES_MAX && fgets(line, sizeof(line), table)) {
        uint64_t address = strtoull(line, NULL, 16);
        if (address && address != addresses_ret[count - 1])
            addresses_ret[count++] = address;
    }
    if (table)
        fclose(table);
    return count;
}

static void run_file(const struct trail_symbolizer *plugin, const char *path,
                     size_t step, struct progress *progress)
{
    uint64_t addresses[ADDRESSES_MAX];
    struct symbol_host host;
    char what[64];
    symbol_host_init(&host, path);
    const struct damage_subject subject = { .plugin = plugin,
                                            .folder = host.folder,
                                            .addresses = addresses,
                                            .address_count =
                                                read_addresses(path, addresses) };
    struct symbol_bytes bytes;
    if (!symbol_host_read(path, &bytes))
        abort();
    run_case(&subject, bytes, "as it is", progress);
    for (size_t at = 0; step && at < bytes.size; at += step) {
        snprintf(what, sizeof(what), "byte %zu flipped", at);
        bytes.at[at] ^= 0xff;
        run_case(&subject, bytes, what, progress);
        bytes.at[at] ^= 0xff;
        snprintf(what, sizeof(what), "cut at %zu", at);
        run_case(&subject, (struct symbol_bytes){ bytes.at, at }, what, progress);
    }
    free(bytes.at);
}

/* Returns whether all went well. */
static bool watch_file(const struct trail_symbolizer *plugin, const char *path,
                       size_t step, struct progress *progress)
{
    const struct rlimit guard = { MEMORY_GUARD, MEMORY_GUARD };
    int status = 0;
    memset(progress, 0, sizeof(*progress));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!SANITIZED)
            setrlimit(RLIMIT_DATA, &guard);
        run_file(plugin, path, step, progress);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return false;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFEXITED(status) && progress->broken[0])
        printf("%s, %s: broken: %s\n", path, progress->what, progress->broken);
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
        printf("%s, %s: took more than %d s of CPU time\n", path, progress->what,
               CPU_LIMIT_S);
    else
        printf("%s, %s: ended with %s %d\n", path, progress->what,
               WIFSIGNALED(status) ? "signal" : "exit code",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return false;
}

int main(int argc, char **argv)
{
    int first = 3;
    size_t step = 0;
    if (argc > 5 && strcmp(argv[3], "--step") == 0) {
        step = strtoul(argv[4], NULL, 10);
        first = 5;
    }
    void *library = argc > first ? dlopen(argv[1], RTLD_NOW) : NULL;
    const struct trail_symbolizer *plugin = library ? dlsym(library, argv[2]) : NULL;
    struct progress *progress = mmap(NULL, sizeof(*progress), PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!plugin || progress == MAP_FAILED) {
        fprintf(stderr, "usage: damage PLUGIN.so SYMBOL [--step N] FILE...\n");
        return 2;
    }
    uint64_t cases = 0, peak = 0;
    double slowest = 0;
    int failed = 0;
    for (int i = first; i < argc; i++) {
        failed += !watch_file(plugin, argv[i], step, progress);
        cases += progress->cases;
        peak = progress->peak > peak ? progress->peak : peak;
        if (progress->slowest_s > slowest) {
            slowest = progress->slowest_s;
            printf("%s, %s: %.3f s\n", argv[i], progress->slowest, slowest);
        }
    }
    printf("%" PRIu64
           " inputs of %d files, %d files failed; at most %.3f s and %" PRIu64
           " KiB for one\n",
           cases, argc - first, failed, slowest, peak >> 10);
    return failed != 0;
}
