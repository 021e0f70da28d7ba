/* resolver.h -- asking the symbolizers, in the order of the config, about addresses of
 * one module.
 *
 * A module is opened once and kept, within the bounds of the options, the one used
 * longest ago going first; it is opened anew when a better file may have come. The
 * first symbolizer that knows a line answers an address whole; a later one is asked
 * only about addresses that are unanswered, or answered from a symbol table alone. An
 * origin map may answer in place of the symbolizer that made it (map_use.h); none is
 * waited for.
 *
 * Threads: a resolver serves one caller at a time; callers wait for each other.
 */
#ifndef TRAIL_RESOLVER_H
#define TRAIL_RESOLVER_H

#include "core/registry/registry.h"
#include "core/resolve/arena.h"
#include "core/resolve/routes.h"

/* A symbolizer that has been set up. */
struct trail_link {
    const struct trail_plugin *plugin;
    void *state;
    /* Not NULL: the plugin is loaded when it is first asked. Fills in the rest of
     * `link`. */
    enum trail_status (*load)(void *arg, struct trail_link *link);
    void *arg;
};

struct trail_resolver_options {
    const struct trail_link *links; /* in order of preference; copied */
    size_t link_count;
    struct trail_routes routes; /* texts must outlive the resolver */
    size_t image_limit;         /* modules kept open; 0: none is kept */
    uint64_t timeout_ns;        /* for one module; 0: no limit */
    uint64_t cache_bytes;       /* of files kept open; 0: no limit */
    size_t cache_files;         /* descriptors; 0: no limit */
};

/* One call at an address. Texts lie in the arena, terminated, "" if unknown. */
struct trail_named {
    uint32_t flags; /* enum trail_found_flags */
    uint32_t line, column, discriminator;
    uint64_t function_start, function_size;
    const char *function; /* demangled if it could be */
    uint32_t scope_size;  /* bytes in front of it that the symbolizer put there */
    const char *linkage;  /* "" if it is no other than function */
    const char *file, *directory, *symbol, *aka;
};

/* What is known of one address. */
struct trail_answer {
    struct trail_named *frames; /* innermost first */
    uint32_t frame_count;
    uint32_t rank; /* 0 nothing, 1 nearest symbol, 2 symbol, 3 debug information */
    const struct trail_plugin *plugin; /* NULL: nobody knew */
    uint32_t route;                    /* enum trail_route */
    const char *source;                /* file that answered */
};

/* Why something is missing, in the words of docs/wire.md. */
struct trail_gap {
    const char *reason; /* "id_mismatch" ...; NULL: nothing is missing */
    const char *detail, *remedy;
    const char *want; /* id in hex, or "" */
};

enum trail_lookup_flags {
    TRAIL_LOOKUP_NO_CACHE = 1,
    TRAIL_LOOKUP_MANGLED = 2, /* leave names as they are in the file */
    /* The trace was made by this very process and came from nowhere else: its modules
     * may be read from memory. */
    TRAIL_LOOKUP_LIVE = 4,
    /* The trace was made just now of another process of this machine: while it runs,
     * its files are those that it sees, and its modules may be read from it. */
    TRAIL_LOOKUP_PROCESS = 64,
    /* Discriminators are wanted, which origin maps do not have: none is used. */
    TRAIL_LOOKUP_DISCRIMINATORS = 8,
    /* trail_resolver_each: its files will do, if a map answers for the symbolizer. */
    TRAIL_LOOKUP_FILES = 32,
    /* trail_resolver_each: only those symbolizers that know of calls. */
    TRAIL_LOOKUP_CALLS = 16,
};

struct trail_resolver;

enum trail_status trail_resolver_create(const struct trail_resolver_options *options,
                                        struct trail_resolver **resolver_ret,
                                        struct trail_error *err);
void trail_resolver_destroy(struct trail_resolver *resolver); /* NULL is fine */

/* Look up `count` link-time addresses of one module. `answers` has room for `count`,
 * and is filled whatever happens; what is missing is told in `gap_ret`, once for the
 * module. Only a lack of memory is an error. */
enum trail_status trail_resolver_lookup(struct trail_resolver *resolver,
                                        const struct trail_target *target,
                                        const uint64_t *addresses, size_t count,
                                        unsigned flags, struct trail_arena *arena,
                                        struct trail_answer *answers,
                                        struct trail_gap *gap_ret);

/* What of a module's gap concerns an address that was answered with `rank`. */
struct trail_gap trail_gap_for(struct trail_gap gap, uint32_t rank);

/* Call `visit` with the module as each symbolizer has it open that reads it, in order,
 * until it returns true. Nothing of `open` (cache.h) stays valid after. */
struct trail_open;
void trail_resolver_each(struct trail_resolver *resolver,
                         const struct trail_target *target, unsigned flags,
                         bool (*visit)(void *arg, struct trail_open *open), void *arg);

/* Let no lookup run past `until_ns` (CLOCK_MONOTONIC), also the one under way. */
void trail_resolver_end_by(struct trail_resolver *resolver, uint64_t until_ns);

/* Modules that are open now; the bytes and descriptors of their files. */
size_t trail_resolver_open_count(struct trail_resolver *resolver);
void trail_resolver_open_size(struct trail_resolver *resolver, uint64_t *bytes_ret,
                              size_t *files_ret);

#endif
