/* module_map.h -- the images that this process has mapped, and those it had: an address
 * means something only together with the generation of the map it was taken in.
 *
 * Threads: safe. Functions lock, and are not for signal handlers, unless they say so.
 */
#ifndef TRAIL_MODULE_MAP_H
#define TRAIL_MODULE_MAP_H

#include "backtrail/backtrail.h"
#include "core/os/os.h"
#include "core/trace/text_hash.h"

#define TRAIL_MAP_RANGES 8    /* segments kept of one image */
#define TRAIL_MAP_LIMIT  8192 /* images kept; the oldest unmapped ones go first */

struct trail_mapped {
    char *path;
    uint8_t id[64];
    uint8_t id_size;                         /* bytes; 0: it has no build-id */
    uint8_t text_hash[TRAIL_TEXT_HASH_SIZE]; /* of one without a build-id */
    bool has_text_hash;
    bool vdso, main_program;
    bool seen;            /* private to a refresh */
    uint64_t bias, hash;  /* hash: trail_stamp_hash */
    uint64_t first, last; /* epochs in which it was mapped; last 0: it still is */
    uint8_t range_count;
    struct trail_os_segment ranges[TRAIL_MAP_RANGES];
};

/* Bring the map up to date with the loader. Cheap when nothing was loaded or unloaded.
 */
enum trail_status trail_module_map_refresh(struct trail_error *err);

/* Call `each` with the image that every address of the backtrace lay in when it was
 * taken, once per image in order of first use. Refreshes first. An image that was
 * unmapped before the map had it is told with no path, no id and its extent alone, so
 * that nothing else is taken for it. Lent until the callback returns. */
enum trail_status trail_module_map_touched(
    const struct trail_backtrace *backtrace,
    void (*each)(void *arg, const struct trail_mapped *image), void *arg,
    struct trail_error *err);

/* The same without the loader's lock or the map's, from what is mapped now: for the
 * addresses from `first` on. An image that has been unmapped is told as the map had it
 * if nobody is using the map at the moment, else by its extent alone, as "[unloaded]".
 * Async-signal-safe. */
void trail_module_map_present(const struct trail_backtrace *backtrace, uint32_t first,
                              void (*each)(void *arg, const struct trail_mapped *image),
                              void *arg);

#endif
