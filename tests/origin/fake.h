/* fake.h -- a symbolizer that makes up modules, and what should be said of them. */
#ifndef TESTS_ORIGIN_FAKE_H
#define TESTS_ORIGIN_FAKE_H

#include <stdbool.h>

#include "backtrail/symbolizer.h"
#include "core/resolve/origin_build.h"

#define FAKE_HALF 12000u /* bytes of text, of which there are two halves */

/* A module: image of fake_symbolizer. */
struct fake {
    uint64_t seed;
    uint64_t starts[2];     /* of the two halves of its text */
    enum trail_status fail; /* what part 9 returns instead of saying anything */
    bool is_wrong;          /* part 9 names a scope that it never told of */
    bool has_only_symbols;
};

extern const struct trail_symbolizer fake_symbolizer;

/* The address of byte `at` of the text. */
static inline uint64_t fake_address(const struct fake *fake, uint32_t at)
{
    return at < FAKE_HALF ? fake->starts[0] + at : fake->starts[1] + (at - FAKE_HALF);
}

/* ---- what should be said ------------------------------------------------- */

#define TOLD_CALLS   4000u
#define TOLD_SYMBOLS 400u

struct told_call {
    uint64_t return_address, target;
    char linkage[32];
    bool is_tail;
};

struct told_symbol {
    uint64_t start, end;
    char name[32], aka[32];
    uint32_t flags;
};

/* All that a module says, put down in the simplest way. */
struct told {
    const struct fake *fake;
    char *chains[2 * FAKE_HALF]; /* by byte of the text; NULL: nothing is known */
    struct told_call calls[TOLD_CALLS];
    uint32_t call_count;
    struct told_symbol symbols[TOLD_SYMBOLS];
    uint32_t symbol_count;
};

struct told *fake_tell(struct fake *fake);
void told_free(struct told *told);

/* A chain as fake_tell puts it down, out of a map. */
void fake_chain_text(const struct origin_map *map, const struct origin_frame *frames,
                     uint32_t count, char *text_ret, size_t size);

/* ---- maps ---------------------------------------------------------------- */

/* A directory of its own for each test, and the file in it. */
struct fake_place {
    char directory[64], path[96];
};
void fake_place_make(struct fake_place *place);
void fake_place_remove(struct fake_place *place);

struct trail_origin_job fake_job(struct fake *fake, const struct trail_call *call,
                                 unsigned threads);
/* The bytes of the map of a module; the caller frees them. */
uint8_t *fake_map(struct fake *fake, unsigned threads, size_t *size_ret);

#endif
