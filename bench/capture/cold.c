/* cold.c -- captures with cold caches: what a rare event, or a sampler, really pays. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>

#include "bench/measure.h"
#include "scenes.h"

enum { SWEPT = 32 << 20, LINE = 64 };

struct cold {
    const struct contestant *contestants;
    unsigned count;
    double *ns;
    volatile char *swept;
};

static void run_cold(struct chain *chain)
{
    static uintptr_t entries[SCENE_MOST];
    struct cold *cold = chain->arg;
    for (unsigned i = 0; i < cold->count; i++) {
        capture_fn *capture = peers[cold->contestants[i].peer].capture;
        if (!capture)
            continue;
        capture(entries, cold->contestants[i].depth);
        for (size_t at = 0; at < SWEPT; at += LINE)
            cold->swept[at]++;
        uint64_t start = measure_now_ns();
        capture(entries, cold->contestants[i].depth);
        cold->ns[i] = (double)(measure_now_ns() - start);
    }
}

void scene_time_cold(const struct contestant *contestants, unsigned count,
                     double *ns_ret)
{
    static char *swept;
    if (!swept) {
        swept = malloc(SWEPT);
        if (!swept)
            exit(1);
        memset(swept, 1, SWEPT);
    }
    struct cold cold = { contestants, count, ns_ret, swept };
    scene_enter(contestants->chain, contestants->depth, run_cold, &cold, false);
}
