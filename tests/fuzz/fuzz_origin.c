/* fuzz_origin.c -- bytes taken for an origin map. */
#include "core/resolve/origin_answer.h"

#include <stdlib.h>

static enum trail_status take(void *arg, const struct trail_found *found)
{
    *(uint64_t *)arg +=
        found->function.size + found->file.size + found->symbol.size + found->line;
    return TRAIL_OK;
}

static enum trail_status take_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text linkage, int tail)
{
    *(uint64_t *)arg += return_address + target + linkage.size + (uint64_t)tail;
    return TRAIL_OK;
}

static bool take_range(void *arg, uint64_t start, uint64_t end,
                       const struct origin_frame *frames, uint32_t count)
{
    *(uint64_t *)arg += start + end + frames[count - 1].function;
    return true;
}

static bool take_one_call(void *arg, const struct origin_call *call)
{
    *(uint64_t *)arg += call->target;
    return true;
}

/* Around where the map has something. */
static void ask(const struct origin_map *map, uint64_t *sum)
{
    const uint64_t near[] = { map->base,
                              map->start,
                              map->start + 63,
                              map->start + 256,
                              map->start - 1,
                              map->start + map->size,
                              0,
                              UINT64_MAX };
    struct trail_map_out out = { .size = sizeof(out), .arg = sum, .call = take_call };
    trail_origin_answer(map, near, sizeof(near) / sizeof(*near), take, sum);
    trail_origin_calls(map, near, sizeof(near) / sizeof(*near), &out);
}

static void ask_tables(const struct origin_map *map, uint64_t *sum)
{
    struct origin_function function;
    struct origin_file file;
    struct origin_symbol symbol;
    for (uint32_t i = 0; i < 200; i++) {
        if (origin_map_function(map, i, &function)) {
            *sum += function.name.size + origin_map_function_at(map, function.start);
            trail_origin_answer(map, &function.start, 1, take, sum);
        }
        if (origin_map_file(map, i, &file))
            *sum += file.path.size;
        if (origin_map_symbol(map, i, &symbol)) {
            *sum += symbol.name.size + symbol.aka.size;
            trail_origin_answer(map, &symbol.from, 1, take, sum);
        }
    }
}

/* Whoever makes a map can make its checksum right; so that mutations get past it. */
static void sign(uint8_t *bytes, size_t size)
{
    if (size < ORIGIN_AT_NAME)
        return;
    uint32_t header_size = origin_get32(bytes + ORIGIN_AT_HEADER_SIZE);
    origin_put64(bytes + ORIGIN_AT_FILE_SIZE, size);
    origin_put64(bytes + ORIGIN_AT_CHECKSUM, 0);
    if (header_size >= ORIGIN_AT_NAME && header_size <= size)
        origin_put64(bytes + ORIGIN_AT_CHECKSUM, origin_sum_of(bytes, header_size));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    /* A map is followed by zeros; an input that had them would be slow to change. */
    size_t padded = size + ORIGIN_SLACK;
    uint8_t *bytes = calloc(1, padded);
    struct origin_map map;
    uint64_t sum = 0;
    if (!bytes)
        return 0;
    if (size)
        memcpy(bytes, data, size);
    sign(bytes, padded);
    if (!origin_map_open(bytes, padded, &map, NULL)) {
        ask(&map, &sum);
        ask_tables(&map, &sum);
        origin_map_each_range(&map, take_range, &sum);
        origin_map_each_call(&map, 0, UINT64_MAX, take_one_call, &sum);
        origin_map_verify(&map, NULL);
    }
    free(bytes);
    return 0;
}
