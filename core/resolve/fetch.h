/* fetch.h -- one file from a debuginfod server, by libdebuginfod, checked. */
#ifndef TRAIL_FETCH_H
#define TRAIL_FETCH_H

#include <stdatomic.h>

#include "core/resolve/files.h"

struct trail_fetcher {
    char urls[1024];                  /* separated by blanks */
    char cache[1024];                 /* folder of libdebuginfod's files */
    const _Atomic bool *closing;      /* true: break off */
    struct trail_os_library *library; /* NULL: not loaded yet */
    char missing[256];                /* why it could not be; "" if it was */
};

/* What is asked for. */
struct trail_fetch_order {
    uint8_t id[64];
    size_t id_size;
    bool executable; /* the module itself, not its debug file */
};

/* What came of it. */
struct trail_fetch_answer {
    enum trail_status status; /* TRAIL_OK: `path` has it */
    enum trail_fetch fetch;
    bool mismatch;   /* it came with another id, and was removed */
    char text[512];  /* what went wrong, one line */
    char path[1200]; /* of the file in the cache */
};

/* Sets the variables that libdebuginfod reads. */
enum trail_status trail_fetcher_init(struct trail_fetcher *fetcher,
                                     const char *const *urls, const char *cache,
                                     struct trail_error *err);
/* Blocks until it is here, refused or given up. One thread at a time. */
void trail_fetch(struct trail_fetcher *fetcher, const struct trail_fetch_order *order,
                 struct trail_fetch_answer *answer_ret);

#endif
