/* map.h -- an origin map: what is known of the addresses of one module, in a file that
 * is used as it lies in memory.
 *
 * docs/origin-map.md describes the format. Opening a map reads and checks its header, a
 * few hundred bytes; whatever else is used is bounded where it is used. So a damaged or
 * hostile map may answer wrongly, but never crashes, hangs, or reads outside of its
 * bytes. origin_map_verify reads all of it and finds any damage.
 *
 * Texts are not terminated for the caller's purposes: they are lent from the map's
 * bytes. Numbers of functions and files count from 1; 0 is none.
 *
 * Threads: an open map is never written to; any number may read it.
 */
#ifndef ORIGIN_MAP_H
#define ORIGIN_MAP_H

#include "origin/format.h"
#include "origin/regions.h"

#define ORIGIN_ID_MAX   64u    /* bytes of a module's id */
#define ORIGIN_TEXT_CUT 65535u /* bytes of one text; a longer one is cut */

/* What a map has something of. */
enum origin_has {
    ORIGIN_HAS_LINES = 1,
    ORIGIN_HAS_INLINES = 2,
    ORIGIN_HAS_CALLS = 4,
    ORIGIN_HAS_SYMBOLS = 8,
    ORIGIN_HAS_FUNCTIONS = 16,
};

/* Whose answers these are, and of what. */
struct origin_info {
    uint32_t format, arch; /* enum trail_format, trail_arch */
    uint32_t id_kind;      /* enum trail_id_kind */
    uint32_t id_size;
    uint8_t id[ORIGIN_ID_MAX];
    char plugin[32], release[24]; /* terminated */
    uint32_t shape;               /* of the plugin's interface */
    uint32_t route;               /* enum trail_route: how the source was come by */
    uint32_t has;                 /* enum origin_has, or-ed; set by the writer */
    uint64_t source_size, source_modified_ns;
    struct trail_text source; /* its name */
};

struct origin_part {
    const uint8_t *at;
    uint64_t size, count; /* bytes, elements */
};

struct origin_map {
    struct origin_regions regions;
    uint64_t start, size; /* addresses of the first piece of text */
    const uint8_t *bytes;
    size_t bytes_size;
    uint64_t base; /* addresses in tables count from here */
    struct origin_widths widths;
    struct origin_part parts[ORIGIN_SECTIONS];
    struct origin_info info;
};

/* Open the map in `bytes`, which stay as they are until it is used no more. There is
 * nothing to close.
 *
 * Errors: TRAIL_NOT_FOUND: this is no origin map; TRAIL_UNSUPPORTED: one of a version
 * that is not known; TRAIL_BAD_INPUT: its header is damaged, or it was cut. `err` names
 * no file.
 */
enum trail_status origin_map_open(const uint8_t *bytes, size_t size,
                                  struct origin_map *map_ret, struct trail_error *err);

/* Whether all bytes of the map are as they were written. Reads every one.
 *
 * Errors: TRAIL_BAD_INPUT: they are not; `err` says where.
 */
enum trail_status origin_map_verify(const struct origin_map *map,
                                    struct trail_error *err);

/* ---- chains -------------------------------------------------------------- */

/* The place of an address in the text, beyond the first piece; UINT64_MAX: none. */
uint64_t origin_map_offset_far(const struct origin_map *map, uint64_t address);

static inline uint64_t origin_map_offset(const struct origin_map *map, uint64_t address)
{
    uint64_t offset = address - map->start;
    return ORIGIN_LIKELY(offset < map->size) ? offset
                                             : origin_map_offset_far(map, address);
}

/* The chain at an address: its frames, innermost first. Returns how many; 0: nothing is
 * known. */
static inline uint32_t origin_map_lookup(const struct origin_map *map, uint64_t address,
                                         struct origin_frame frames[ORIGIN_CHAIN_MAX])
{
    return origin_regions_lookup(&map->regions, origin_map_offset(map, address),
                                 frames);
}

/* The same for each of `count` addresses, in their order. Two to three times as fast.
 * */
void origin_map_lookup_many(const struct origin_map *map, const uint64_t *addresses,
                            size_t count, origin_chain_fn *each, void *arg);

/* Call `each` for all that is known, in ascending order. Where a bucket of 64 bytes
 * ends a range may be cut in two. Stops when `each` returns false. */
typedef bool origin_range_fn(void *arg, uint64_t start, uint64_t end,
                             const struct origin_frame *frames, uint32_t count);
void origin_map_each_range(const struct origin_map *map, origin_range_fn *each,
                           void *arg);

/* ---- names --------------------------------------------------------------- */

struct origin_function {
    struct trail_text name, linkage; /* `linkage` is mangled; either may be empty */
    uint64_t start, size;            /* 0, 0: it is only inlined, or not known */
};

struct origin_file {
    struct trail_text path, directory; /* `path` may be relative to `directory` */
};

/* False: there is none of that number. */
bool origin_map_function(const struct origin_map *map, uint32_t number,
                         struct origin_function *function_ret);
bool origin_map_file(const struct origin_map *map, uint32_t number,
                     struct origin_file *file_ret);

/* Numbers go up to these. */
uint64_t origin_map_function_count(const struct origin_map *map);
uint64_t origin_map_file_count(const struct origin_map *map);

/* The number of the function, or part of one, that starts at `address`; 0: none does.
 * Of several the first. */
uint32_t origin_map_function_at(const struct origin_map *map, uint64_t address);

/* ---- symbols ------------------------------------------------------------- */

/* Symbols lie in each other, so one may be the answer in several stretches. */
struct origin_symbol {
    uint64_t from, to;    /* where it is the answer */
    uint64_t start, size; /* its own; size 0: not known */
    struct trail_text name, aka;
    uint32_t flags; /* enum trail_found_flags */
};

/* False: there is none of that index; no symbol holds the address. */
bool origin_map_symbol(const struct origin_map *map, uint64_t index,
                       struct origin_symbol *symbol_ret);
bool origin_map_symbol_at(const struct origin_map *map, uint64_t address,
                          struct origin_symbol *symbol_ret);
uint64_t origin_map_symbol_count(const struct origin_map *map);

/* ---- calls --------------------------------------------------------------- */

struct origin_call {
    uint64_t return_address;
    uint64_t target;           /* address; 0: not known */
    struct trail_text linkage; /* of what is called; empty: not known */
    bool is_tail;
};

/* Stops when it returns false. */
typedef bool origin_call_fn(void *arg, const struct origin_call *call);

/* The calls that return to [from, to), by return address. */
void origin_map_each_call(const struct origin_map *map, uint64_t from, uint64_t to,
                          origin_call_fn *each, void *arg);

/* The tail calls of the function that starts at `start`, also those in parts of it that
 * lie elsewhere. */
void origin_map_each_tail_call(const struct origin_map *map, uint64_t start,
                               origin_call_fn *each, void *arg);

#endif
