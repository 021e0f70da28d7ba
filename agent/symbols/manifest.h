/* manifest.h -- what an export tells of itself: manifest.json, which
 * docs/schema/manifest.schema.json describes.
 */
#ifndef TRAIL_AGENT_MANIFEST_H
#define TRAIL_AGENT_MANIFEST_H

#include <jansson.h>

#include "agent/symbols/wanted.h"

#define MANIFEST_NAME "manifest.json"

/* One file that was asked for. */
struct manifest_file {
    char name[2 * 64 + 16]; /* "<id>.origin"; "" if the module has no id */
    const char *kind;       /* "origin" or "debug" */
    bool exported;
    /* exported: */
    uint64_t size; /* bytes */
    char sha256[65];
    const char *route; /* where it was had from; trail_route_name() */
    bool built;        /* now, since the store had none */
    /* missing: */
    char reason[32], remedy[256]; /* remedy "": there is none */
    char detail[512];
};

struct manifest {
    json_t *asked, *modules;
    size_t exported, missing; /* files */
};

/* Begin one of what was asked for. */
void manifest_init(struct manifest *manifest, const struct symbols_options *options);
/* Tell of a module, and of `count` files of it. */
void manifest_add(struct manifest *manifest, const struct wanted *wanted,
                  const struct manifest_file *files, size_t count);
/* Write it into the folder. In *text_ret is what was written; the caller frees it. */
enum trail_status manifest_write(const struct manifest *manifest, const char *directory,
                                 char **text_ret, struct trail_error *err);
void manifest_deinit(struct manifest *manifest);

#endif
