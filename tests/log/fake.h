/* fake.h -- a log filter over a made-up program, its output and notes kept.
 *
 * Modules: any name. One with "missing" in it has no file, nor has "dir/app"; one with
 * "lib" in it is no program; one with "fixed" in it runs at its link-time addresses,
 * which begin at 0x400000, the others' at 0. Behind that start lie
 *
 *     0x1000 leaf, inlined into outer    0x1100 main    0x1200 bare, of no file
 *     0x1300 operator""_x of a\b.c
 *
 * each of 256 bytes, with the line an address is on its last byte plus 1.
 */
#ifndef TRAIL_TEST_LOG_FAKE_H
#define TRAIL_TEST_LOG_FAKE_H

#include "agent/log/block.h"

struct fake_log {
    struct log_backend backend;
    struct log_filter filter;
    struct log_block block;
    char *out; /* terminated */
    size_t out_size, out_room, put_count;
    char notes[4096]; /* a line each */
    size_t lookup_count;
};

/* NULL: no memory. The caller may change `options` before. */
struct fake_log *fake_log_create(struct log_filter_options options);
void fake_log_destroy(struct fake_log *log);
/* Forget all that was fed, as if it were new: a new one has megabytes to clear. */
void fake_log_again(struct fake_log *log);
/* Feed bytes, `chunk` at a time; 0: at once, as far as there is room. */
void fake_log_feed(struct fake_log *log, const char *bytes, size_t size, size_t chunk);
void fake_log_end(struct fake_log *log);

#endif
