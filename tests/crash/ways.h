/* ways.h -- ways to die, for dies.c. */
#ifndef TRAIL_TEST_WAYS_H
#define TRAIL_TEST_WAYS_H

struct way {
    const char *name;
    void (*die)(void);
};

/* Ends with a name of NULL. */
extern const struct way plain_ways[], hard_ways[];

/* What every fault is made by: its code lies between these two. */
extern const char __start_faults[], __stop_faults[];
#define FAULT __attribute__((noinline, section("faults")))

/* Of plain_ways; also the second half of hard ones. */
void write_null(void);
void overflow_main(void);

#endif
