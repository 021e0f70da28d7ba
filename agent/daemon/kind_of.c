/* kind_of.c -- which kind a raw trace is of. */
#include "agent/daemon/kind_of.h"

#include <stdlib.h>

#include "core/report/report.h"
#include "core/resolve/resolved.h"

/* A resolver without symbolizers: it knows module and offset of an address. */
struct kind_of {
    struct trail_resolver *resolver;
};

enum trail_status kind_of_create(struct kind_of **kind_of_ret, struct trail_error *err)
{
    const struct trail_resolver_options options = { .link_count = 0 };
    struct kind_of *made = calloc(1, sizeof(*made));
    if (!made)
        return trail_fail(err, TRAIL_NO_MEMORY, "kinds: out of memory");
    enum trail_status status = trail_resolver_create(&options, &made->resolver, err);
    if (status) {
        free(made);
        return status;
    }
    *kind_of_ret = made;
    return TRAIL_OK;
}

void kind_of_destroy(struct kind_of *kind_of)
{
    if (!kind_of)
        return;
    trail_resolver_destroy(kind_of->resolver);
    free(kind_of);
}

void kind_of(struct kind_of *kind_of, const struct trail_trace *trace,
             char fingerprint_ret[17])
{
    const struct trail_policy policy = { NULL, NULL };
    struct trail_resolved *resolved = NULL;
    char group[17];
    fingerprint_ret[0] = 0;
    if (trail_resolve_trace(kind_of->resolver, trace, &policy, 0, &resolved, NULL))
        return;
    trail_fingerprints(resolved, fingerprint_ret, group);
    trail_resolved_destroy(resolved);
}
