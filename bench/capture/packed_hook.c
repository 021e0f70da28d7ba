/* packed_hook.c -- preloaded into a program, packs the stack of every Nth malloc, each
 * by itself and in a stream, unpacks it again, and says at the end how many bytes it
 * took.
 *
 * PACKED_OUT names the file that the totals go to: "stacks frames raw alone shared
 * wrong", bytes but for the first two and the last. PACKED_EVERY is N.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <unistd.h>

#include "backtrail/pack.h"

enum { STACKS_MOST = 40000, BYTES_MOST = 4096 };

void *__libc_malloc(size_t size);
void *malloc(size_t size);

static _Thread_local bool busy __attribute__((tls_model("initial-exec")));
static pid_t counted; /* the process that is: not what it forks */
static unsigned seen, every = 16;
static struct {
    unsigned long stacks, frames, alone, shared, wrong;
} total;
static struct trail_pack_stream writer, reader;

static bool comes_back(const uint8_t *bytes, size_t size,
                       struct trail_pack_stream *stream, const uintptr_t *addresses,
                       unsigned count)
{
    static uint64_t back[TRAIL_MAX_FRAMES];
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = TRAIL_MAX_FRAMES,
                                       .addresses = back };
    return trail_unpack(bytes, size, NULL, stream, &unpacked, NULL) == TRAIL_OK &&
           unpacked.count == count &&
           memcmp(back, addresses, count * sizeof(back[0])) == 0;
}

__attribute__((noinline)) static void count_stack(void)
{
    static uint8_t bytes[BYTES_MOST];
    uintptr_t addresses[TRAIL_MAX_FRAMES];
    struct trail_info info = { .size = sizeof(info) };
    unsigned count = trail_backtrace(addresses, TRAIL_MAX_FRAMES, NULL, &info);

    size_t size = trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, addresses,
                             count, &info);
    total.alone += size;
    total.wrong += !comes_back(bytes, size, NULL, addresses, count);
    size = trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, &writer, addresses, count,
                      &info);
    total.shared += size;
    total.wrong += !comes_back(bytes, size, &reader, addresses, count);
    total.frames += count;
    total.stacks++;
}

void *malloc(size_t size)
{
    void *block = __libc_malloc(size);
    if (counted && !busy && ++seen % every == 0 && total.stacks < STACKS_MOST) {
        busy = true;
        count_stack();
        busy = false;
    }
    return block;
}

__attribute__((constructor)) static void start(void)
{
    const char *text = getenv("PACKED_EVERY");
    unsigned long number = text ? strtoul(text, NULL, 10) : 0;
    if (number)
        every = (unsigned)number;
    counted = getenv("PACKED_OUT") ? getpid() : 0;
}

__attribute__((destructor)) static void finish(void)
{
    const char *path = getenv("PACKED_OUT");
    busy = true;
    FILE *file = path && counted == getpid() ? fopen(path, "w") : NULL;
    if (!file)
        return;
    fprintf(file, "%lu %lu %lu %lu %lu %lu\n", total.stacks, total.frames,
            total.frames * sizeof(uintptr_t), total.alone, total.shared, total.wrong);
    fclose(file);
}
