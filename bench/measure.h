/* measure.h -- time, medians and figures, the same for every benchmark. */
#ifndef TRAIL_MEASURE_H
#define TRAIL_MEASURE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t measure_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline int measure_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts `samples`. */
static inline double measure_median(double *samples, size_t count)
{
    qsort(samples, count, sizeof(*samples), measure_compare);
    if (count % 2)
        return samples[count / 2];
    return (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

static inline void measure_print(const char *name, double value, const char *unit)
{
    printf("%s\t%.3f\t%s\n", name, value, unit);
}

#endif
