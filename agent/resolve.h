/* resolve.h -- what the two ways of resolving share: addresses of a file, and traces.
 */
#ifndef TRAIL_AGENT_RESOLVE_H
#define TRAIL_AGENT_RESOLVE_H

#include "agent/options.h"
#include "core/pipeline.h"

struct resolve_options {
    struct shared_options shared;
    const char *file;   /* -e; NULL: traces are resolved */
    const char *plugin; /* the only symbolizer to use; NULL: as configured */
    uint32_t format;    /* --platform: enum trail_format to take modules for; 0: look */
    uint32_t style;     /* enum trail_style; 0: not given */
    bool full, mangled, no_cache;
};

/* Look up addresses, from `addresses` or, if there are none, from standard input. */
int resolve_file(struct trail_pipeline *pipeline, const struct resolve_options *options,
                 char **addresses, int count);
/* Resolve raw traces from a file, "-" for standard input. */
int resolve_traces(struct trail_pipeline *pipeline,
                   const struct resolve_options *options, const char *path);

static inline unsigned resolve_lookup_flags(const struct resolve_options *options)
{
    return (options->mangled ? TRAIL_LOOKUP_MANGLED : 0u) |
           (options->no_cache ? TRAIL_LOOKUP_NO_CACHE : 0u);
}

#endif
