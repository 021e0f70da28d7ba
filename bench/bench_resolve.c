/* bench_resolve.c -- what a question costs: the first about a file, and the ones after.
 *
 * bench_resolve [FILE]: without one, the C library of Debian on x86-64, or else a
 * fixture. A first question opens the file; rounds are independent, each with a
 * pipeline of its own, after one that warmed the page cache. Addresses are drawn from
 * executable segments.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <unistd.h>

#include "core/pipeline.h"
#include "core/resolve/resolver.h"
#include "core/trace/elf.h"
#include "measure.h"

enum { ROUNDS = 9, ADDRESSES = 1000, RANGES_MAX = 16 };

struct subject {
    const char *path;
    struct trail_os_file file;
    struct trail_target target;
    uint8_t id[64];
    struct span {
        uint64_t start, size;
    } ranges[RANGES_MAX]; /* executable, link-time */
    size_t range_count;
    uint64_t total; /* bytes of all ranges */
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "bench_resolve: %s: %s\n", what, why);
    exit(1);
}

/* ---- the file ----------------------------------------------------------- */

static void find_code(struct subject *subject, const struct trail_elf *elf)
{
    for (uint32_t i = 0; i < elf->phnum && subject->range_count < RANGES_MAX; i++) {
        Elf64_Phdr segment;
        memcpy(&segment, elf->bytes + elf->phoff + (size_t)i * elf->phentsize,
               sizeof(segment));
        if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X))
            continue;
        subject->ranges[subject->range_count++] =
            (struct span){ segment.p_vaddr, segment.p_memsz };
        subject->total += segment.p_memsz;
    }
}

static void subject_open(struct subject *subject)
{
    struct trail_module *module = &subject->target.module;
    struct trail_error err;
    struct trail_elf elf;
    struct trail_text id;

    if (trail_os_file_map(subject->path, TRAIL_SYMBOL_FILE_LIMIT, &subject->file, &err))
        fail("cannot start", err.text);
    if (!trail_elf_parse(subject->file.bytes, subject->file.size, &elf) || !elf.is64 ||
        !elf.little)
        fail(subject->path, "is no 64-bit little-endian ELF file");
    *module = (struct trail_module){ .size = sizeof(*module),
                                     .format = TRAIL_FORMAT_ELF,
                                     .arch = trail_elf_arch(&elf),
                                     .path = trail_text_of(subject->path) };
    trail_elf_extent(&elf, &module->link_start, &module->link_end);
    if (trail_elf_build_id(&elf, &id) && id.size <= sizeof(subject->id)) {
        memcpy(subject->id, id.data, id.size);
        module->id = (struct trail_text){ (const char *)subject->id, id.size };
        module->id_kind = TRAIL_ID_BUILD_ID;
    }
    subject->target.path = subject->path;
    subject->target.given = true;
    find_code(subject, &elf);
    if (subject->total == 0)
        fail(subject->path, "has no code");
}

/* The same sequence in each run. */
static uint64_t draw(const struct subject *subject, uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t at = (*seed >> 16) % subject->total;
    size_t i = 0;
    while (at >= subject->ranges[i].size)
        at -= subject->ranges[i++].size;
    return subject->ranges[i].start + at;
}

/* ---- questions ---------------------------------------------------------- */

static struct trail_pipeline *pipeline_open(void)
{
    const struct trail_pipeline_options options = { .config_path = "",
                                                    .plugin_path = BENCH_PLUGIN_DIR };
    struct trail_pipeline *pipeline = NULL;
    struct trail_error err;

    if (trail_pipeline_create(&options, &pipeline, &err) ||
        !trail_pipeline_resolver(pipeline, &err))
        fail("cannot start", err.text);
    return pipeline;
}

/* Gives the nanoseconds it took; *rank_ret: how well it was answered. */
static double ask(struct trail_pipeline *pipeline, const struct subject *subject,
                  uint64_t address, uint32_t *rank_ret)
{
    struct trail_resolver *resolver = trail_pipeline_resolver(pipeline, NULL);
    struct trail_arena arena = { 0 };
    struct trail_answer answer;
    struct trail_gap gap;

    uint64_t start = measure_now_ns();
    if (trail_resolver_lookup(resolver, &subject->target, &address, 1, 0, &arena,
                              &answer, &gap))
        fail(subject->path, "out of memory");
    double ns = (double)(measure_now_ns() - start);
    *rank_ret = answer.rank;
    trail_arena_deinit(&arena);
    return ns;
}

static void bench_one(const struct subject *subject)
{
    double first[ROUNDS], second[ROUNDS], ratio[ROUNDS];
    uint64_t seed = 7, address = 0;
    uint32_t rank = 0;

    /* One that has an answer, so that both questions are about something. */
    struct trail_pipeline *pipeline = pipeline_open();
    for (unsigned tries = 0; rank < 3 && tries < ADDRESSES; tries++) {
        address = draw(subject, &seed);
        ask(pipeline, subject, address, &rank);
    }
    trail_pipeline_destroy(pipeline, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        pipeline = pipeline_open();
        first[round] = ask(pipeline, subject, address, &rank);
        second[round] = ask(pipeline, subject, address, &rank);
        ratio[round] = first[round] / second[round];
        trail_pipeline_destroy(pipeline, 0);
    }
    measure_print("first_question", measure_median(first, ROUNDS) / 1e3, "us");
    measure_print("second_question", measure_median(second, ROUNDS) / 1e3, "us");
    measure_print("first_to_second_ratio", measure_median(ratio, ROUNDS), "x");
}

/* Memory that is this process's own: what is mapped of files can be given back. */
static double anonymous_kib(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");

    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "Anonymous:", 10) == 0)
            kib = strtoul(line + 10, NULL, 10);
    if (file)
        fclose(file);
    return (double)kib;
}

static void bench_many(const struct subject *subject)
{
    static const char *const names[] = { "first_pass_address", "second_pass_address" };
    static double samples[ADDRESSES];
    struct trail_pipeline *pipeline = pipeline_open();
    double before = anonymous_kib();
    unsigned ranks[4] = { 0 };

    for (unsigned pass = 0; pass < 2; pass++) {
        char name[64];
        uint64_t seed = 11;
        double sum = 0;
        for (unsigned i = 0; i < ADDRESSES; i++) {
            uint32_t rank;
            samples[i] = ask(pipeline, subject, draw(subject, &seed), &rank);
            sum += samples[i];
            ranks[rank & 3] += pass == 0;
        }
        (void)snprintf(name, sizeof(name), "%s_mean", names[pass]);
        measure_print(name, sum / ADDRESSES / 1e3, "us");
        (void)snprintf(name, sizeof(name), "%s_median", names[pass]);
        measure_print(name, measure_median(samples, ADDRESSES) / 1e3, "us");
    }
    double after = anonymous_kib();
    measure_print("anonymous_before", before, "KiB");
    measure_print("anonymous_after", after, "KiB");
    fprintf(stderr, "%s: %u of %d addresses by debug information, %u by symbol\n",
            subject->path, ranks[3], ADDRESSES, ranks[2] + ranks[1]);
    trail_pipeline_destroy(pipeline, 0);
}

int main(int argc, char **argv)
{
    static const char libc[] = "/lib/x86_64-linux-gnu/libc.so.6";
    static struct subject subject;

    if (argc > 2)
        fail("usage", "bench_resolve [FILE]");
    subject.path = argc == 2 ? argv[1] : access(libc, R_OK) == 0 ? libc : BENCH_FIXTURE;
    if (setenv("BACKTRAIL_STATE", BENCH_STATE_DIR, 0))
        fail("cannot start", "no memory for the environment");
    subject_open(&subject);
    bench_many(&subject);
    bench_one(&subject);
    trail_os_file_close(&subject.file);
    return 0;
}
