/* bench_symbolize.c -- the parts of the benchmark `symbolize` that run in one process:
 * the bare reader, and origin maps. bench/symbolize/bench.py runs it and its peers.
 *
 *     bench_symbolize MODE FILE      addresses on standard input, in hex, one a line
 *
 *     reader     FILE's DWARF: one batch, nothing kept; prints whole chains
 *     warm       FILE's DWARF: a second pass over the addresses, and 100 of them over
 *                and over; prints ns of CPU time
 *     map        the origin map FILE; prints whole chains
 *     map_warm   the origin map FILE: one at a time, in batches of 16, and 100 over and
 *                over
 */
#define _POSIX_C_SOURCE 200809L

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "origin/map.h"
#include "symbolize/image.h"

#define HOT        100
#define HOT_ROUNDS 3000
#define BATCH      16

struct addresses {
    uint64_t *at;
    size_t count;
};

static struct addresses read_addresses(void)
{
    struct addresses addresses = { NULL, 0 };
    size_t room = 0;
    char line[64];
    while (fgets(line, sizeof(line), stdin)) {
        if (addresses.count == room) {
            room = room ? room * 2 : 1024;
            addresses.at = realloc(addresses.at, room * sizeof(*addresses.at));
            if (!addresses.at)
                abort();
        }
        addresses.at[addresses.count++] = strtoull(line, NULL, 16);
    }
    return addresses;
}

static double cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* So that no answer is thought unneeded. */
static uint64_t checksum;

static void use_frames(const struct origin_frame *frames, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        checksum +=
            frames[i].function + frames[i].file + frames[i].line + frames[i].column;
}

/* `pass` over all addresses, then over 100 of them; `what` names the first figure. */
typedef void pass_fn(void *arg, const uint64_t *addresses, size_t count);

static void time_pass(pass_fn *pass, void *arg, struct addresses addresses,
                      const char *what, const char *hot_name)
{
    double start = cpu_ns();
    pass(arg, addresses.at, addresses.count);
    printf("%s\t%.1f\n", what, (cpu_ns() - start) / (double)addresses.count);
    if (!hot_name)
        return;
    size_t few = addresses.count < HOT ? addresses.count : HOT;
    start = cpu_ns();
    for (int i = 0; i < HOT_ROUNDS; i++)
        pass(arg, addresses.at, few);
    printf("%s\t%.1f\n", hot_name, (cpu_ns() - start) / (double)(few * HOT_ROUNDS));
}

/* ---- from DWARF ---------------------------------------------------------- */

struct printing {
    struct dwarf *dwarf;
    const uint64_t *addresses;
};

static enum trail_status print_chain(void *arg, size_t index,
                                     const struct dwarf_chain *chain)
{
    const struct printing *printing = arg;
    printf("0x%" PRIx64, printing->addresses[index]);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct origin_frame *frame = &chain->frames[i];
        struct dwarf_function function = { 0 };
        struct dwarf_source source = { 0 };
        dwarf_function_of(printing->dwarf, frame->function, &function);
        dwarf_source_of(printing->dwarf, frame->file, &source);
        const char *name = function.linkage ? function.linkage : function.name;
        bool apart = source.path && source.path[0] != '/' && source.directory;
        printf("|%s@%s%s%s:%u:%u", name ? name : "", apart ? source.directory : "",
               apart ? "/" : "", source.path ? source.path : "", frame->line,
               frame->column);
    }
    putchar('\n');
    return TRAIL_OK;
}

static int go_on(void *host)
{
    (void)host;
    return 0;
}

static int run_reader(const char *path)
{
    const struct trail_call call = { .size = sizeof(call),
                                     .threads = 1,
                                     .stop = go_on };
    struct addresses addresses = read_addresses();
    struct image image;
    if (image_open(path, &image))
        return 1;
    struct printing printing = { image.dwarf, addresses.at };
    int status = (int)dwarf_resolve(image.dwarf, &call, addresses.at, addresses.count,
                                    print_chain, &printing);
    image_close(&image);
    free(addresses.at);
    return status != 0;
}

static void dwarf_pass(void *arg, const uint64_t *addresses, size_t count)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    for (size_t i = 0; i < count; i++)
        use_frames(frames, dwarf_lookup(arg, addresses[i], frames));
}

static void dwarf_names_pass(void *arg, const uint64_t *addresses, size_t count)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    for (size_t i = 0; i < count; i++) {
        uint32_t frame_count = dwarf_lookup(arg, addresses[i], frames);
        for (uint32_t j = 0; j < frame_count; j++) {
            struct dwarf_function function;
            struct dwarf_source source;
            if (dwarf_function_of(arg, frames[j].function, &function))
                checksum += (uintptr_t)function.name;
            if (dwarf_source_of(arg, frames[j].file, &source))
                checksum += (uintptr_t)source.path;
        }
    }
}

static int run_warm(const char *path)
{
    struct addresses addresses = read_addresses();
    struct image image;
    if (image_open(path, &image))
        return 1;
    time_pass(dwarf_pass, image.dwarf, addresses, "first_pass_ns", NULL);
    time_pass(dwarf_pass, image.dwarf, addresses, "random_ns", "hot_ns");
    dwarf_names_pass(image.dwarf, addresses.at, addresses.count);
    time_pass(dwarf_names_pass, image.dwarf, addresses, "random_names_ns",
              "hot_names_ns");
    image_close(&image);
    free(addresses.at);
    return 0;
}

/* ---- from an origin map -------------------------------------------------- */

static int map_open(const char *path, struct origin_map *map_ret)
{
    struct trail_error err = { "" };
    const uint8_t *bytes = NULL;
    size_t size = 0;
    if (bench_map_file(path, &bytes, &size))
        return 1;
    if (origin_map_open(bytes, size, map_ret, &err)) {
        fprintf(stderr, "bench_symbolize: %s: %s\n", path, err.text);
        return 1;
    }
    return 0;
}

static void print_text(struct trail_text text)
{
    fwrite(text.data, 1, text.size, stdout);
}

static int run_map(const char *path)
{
    struct addresses addresses = read_addresses();
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    struct origin_map map;
    if (map_open(path, &map))
        return 1;
    for (size_t i = 0; i < addresses.count; i++) {
        uint32_t count = origin_map_lookup(&map, addresses.at[i], frames);
        printf("0x%" PRIx64, addresses.at[i]);
        for (uint32_t j = 0; j < count; j++) {
            struct origin_function function = { .start = 0 };
            struct origin_file file = { .path = { "", 0 } };
            origin_map_function(&map, frames[j].function, &function);
            origin_map_file(&map, frames[j].file, &file);
            putchar('|');
            print_text(function.linkage.size ? function.linkage : function.name);
            putchar('@');
            print_text(file.path);
            printf(":%u:%u", frames[j].line, frames[j].column);
        }
        putchar('\n');
    }
    free(addresses.at);
    return 0;
}

static void map_pass(void *arg, const uint64_t *addresses, size_t count)
{
    struct origin_frame frames[ORIGIN_CHAIN_MAX];
    for (size_t i = 0; i < count; i++)
        use_frames(frames, origin_map_lookup(arg, addresses[i], frames));
}

static void use_chain(void *arg, size_t index, const struct origin_frame *frames,
                      uint32_t count)
{
    (void)arg, (void)index;
    use_frames(frames, count);
}

static void map_batch_pass(void *arg, const uint64_t *addresses, size_t count)
{
    for (size_t i = 0; i < count; i += BATCH)
        origin_map_lookup_many(arg, addresses + i,
                               count - i < BATCH ? count - i : BATCH, use_chain, NULL);
}

static int run_map_warm(const char *path)
{
    struct addresses addresses = read_addresses();
    struct origin_map map;
    if (map_open(path, &map))
        return 1;
    time_pass(map_pass, &map, addresses, "first_pass_ns", NULL);
    time_pass(map_pass, &map, addresses, "random_ns", "hot_ns");
    time_pass(map_batch_pass, &map, addresses, "batch_ns", NULL);
    free(addresses.at);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct mode {
        const char *name;
        int (*run)(const char *path);
    } modes[] = {
        { "reader", run_reader },
        { "warm", run_warm },
        { "map", run_map },
        { "map_warm", run_map_warm },
    };
    for (size_t i = 0; argc == 3 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (strcmp(argv[1], modes[i].name) == 0) {
            int failed = modes[i].run(argv[2]);
            fprintf(stderr, "checksum %" PRIu64 "\n", checksum);
            return failed;
        }
    fprintf(stderr, "usage: bench_symbolize reader|warm|map|map_warm FILE\n");
    return 2;
}
