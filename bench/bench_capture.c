/* bench_capture.c -- what a capture costs, beside glibc's backtrace() in the same run.
 *
 * The contestants take turns on one and the same stack, round by round, so that a
 * machine that slows down slows all of them; a figure is the median over the rounds, a
 * ratio the median of the rounds' ratios.
 */
#define _GNU_SOURCE
#include <execinfo.h>

#include "backtrail/backtrail.h"
#include "measure.h"

enum { ROUNDS = 41, CONTESTANTS = 3, DEPTH_MAX = 128 };

struct contestant {
    const char *name;
    unsigned (*walk)(void); /* of the whole stack; gives how many entries it found */
};

static unsigned walk_glibc(void)
{
    void *addresses[DEPTH_MAX];

    return (unsigned)backtrace(addresses, DEPTH_MAX);
}

static unsigned walk_backtrace(void)
{
    uintptr_t addresses[DEPTH_MAX];

    return trail_backtrace(addresses, DEPTH_MAX, NULL, NULL);
}

static unsigned walk_capture(void)
{
    static struct trail_backtrace backtrace;

    trail_capture(&backtrace);
    return backtrace.count;
}

static const struct contestant contestants[CONTESTANTS] = {
    { "glibc_backtrace", walk_glibc },
    { "trail_backtrace", walk_backtrace },
    { "trail_capture", walk_capture },
};

struct measured {
    double ns[CONTESTANTS][ROUNDS]; /* of one walk */
    unsigned count[CONTESTANTS];
};

static double time_walk(const struct contestant *contestant, unsigned depth,
                        unsigned *count_ret)
{
    unsigned repeats = 20000 / depth;
    uint64_t start = measure_now_ns();

    for (unsigned i = 0; i < repeats; i++)
        *count_ret = contestant->walk();
    return (double)(measure_now_ns() - start) / repeats;
}

static void measure(unsigned depth, struct measured *measured)
{
    for (unsigned round = 0; round < ROUNDS; round++)
        for (unsigned i = 0; i < CONTESTANTS; i++)
            measured->ns[i][round] =
                time_walk(&contestants[i], depth, &measured->count[i]);
}

/* Stacks calls up to `left`; through a volatile pointer, so that no compiler folds the
 * recursion or makes a jump of the call. */
static void descend(unsigned left, unsigned depth, struct measured *measured);
static void (*volatile descend_again)(unsigned, unsigned, struct measured *) = descend;
static volatile unsigned returned;

static void descend(unsigned left, unsigned depth, struct measured *measured)
{
    if (left == 0)
        measure(depth, measured);
    else
        descend_again(left - 1, depth, measured);
    returned++;
}

static void print(unsigned depth, struct measured *measured)
{
    char name[64];

    for (unsigned i = 0; i < CONTESTANTS; i++) {
        double ratios[ROUNDS];

        for (unsigned round = 0; round < ROUNDS; round++)
            ratios[round] = measured->ns[i][round] / measured->ns[0][round];
        double ratio = measure_median(ratios, ROUNDS);
        (void)snprintf(name, sizeof(name), "%s_%u_ratio", contestants[i].name, depth);
        if (i > 0)
            measure_print(name, ratio, "x glibc");
    }
    for (unsigned i = 0; i < CONTESTANTS; i++) {
        double ns = measure_median(measured->ns[i], ROUNDS);

        (void)snprintf(name, sizeof(name), "%s_%u", contestants[i].name, depth);
        measure_print(name, ns, "ns");
        (void)snprintf(name, sizeof(name), "%s_%u_frame", contestants[i].name, depth);
        measure_print(name, ns / (measured->count[i] ? measured->count[i] : 1),
                      "ns/frame");
    }
}

int main(void)
{
    static const unsigned depths[] = { 8, 32, 128 };
    static struct measured measured;

    trail_warm_up();
    for (size_t i = 0; i < sizeof(depths) / sizeof(*depths); i++) {
        descend(depths[i], depths[i], &measured);
        print(depths[i], &measured);
        for (unsigned j = 0; j < CONTESTANTS; j++)
            if (measured.count[j] < depths[i] && measured.count[j] > 0)
                fprintf(stderr, "%s found %u frames, not %u\n", contestants[j].name,
                        measured.count[j], depths[i]);
    }
    return 0;
}
