/* fake.h -- symbolizers that know what a table says, and count what they are asked. */
#ifndef TRAIL_TEST_FAKE_H
#define TRAIL_TEST_FAKE_H

#include "core/resolve/resolver.h"
#include "test.h"

#define FAKE_PIECE ((size_t)32 << 10)

/* One call that a fake knows at link-time `address`. */
struct fake_row {
    uint64_t address;
    const char *function, *file;
    uint32_t line, flags; /* flags: enum trail_found_flags */
};

/* A call that a fake tells of when it is asked about `asked`. */
struct fake_call {
    uint64_t asked, return_address, target;
    const char *linkage;
    int tail;
};

/* More names of a function; NULL: it has none of the kind. */
struct fake_names {
    const char *function, *linkage, *symbol, *aka;
};

struct fake {
    const struct fake_row *rows;    /* a zero address ends them; NULL: none */
    const struct fake_call *calls;  /* `asked` 0 ends them; NULL: none */
    const struct fake_names *names; /* a function NULL ends them; NULL: none */
    size_t calls_asked;             /* addresses, whose calls were asked for */
    uint32_t format;                /* that it reads; 0: any */
    enum trail_status open_status;
    const char *open_text;  /* its error */
    uint32_t index_offset;  /* added to each index that is emitted */
    unsigned opens, closes; /* counts */
    uint64_t asked[32];     /* addresses, of all calls in order */
    size_t asked_count;
    uint32_t roles[4], routes[4]; /* of the sources of the last open */
    size_t source_count;
    struct trail_want want; /* asked for at open if it has a role */
    enum trail_status want_status;
    char want_found[1024]; /* name of what was found */
    uint32_t want_route;
    /* As plugins do, ask for a debug file if no source has debug information. */
    bool wants_debug;
    uint32_t best_route; /* where what would be read came from */
    char best[1024];     /* its name */
    uint64_t cancel_at;  /* its time runs out at this address; 0: never */
    size_t hold_count;   /* pieces of FAKE_PIECE bytes that an open image holds */
    uint8_t **held;
    struct trail_plugin plugin;
};

/* Ready to be linked; the rest of *fake is kept. */
struct trail_link fake_link(struct fake *fake, const char *name);
struct trail_resolver *fake_resolver(const struct trail_link *links, size_t count,
                                     size_t image_limit);
/* A module whose file is this very program. */
struct trail_target fake_target(const char *path);

#endif
