/* style.h -- how answers about addresses of a file are written: one table of functions
 * for each style.
 */
#ifndef TRAIL_AGENT_STYLE_H
#define TRAIL_AGENT_STYLE_H

#include "agent/resolve/resolve.h"
#include "backtrail/backtrail.h"
#include "core/resolve/resolver.h"

/* What a style knows of the questions. */
struct style_output {
    const struct resolve_options *options;
    const struct trail_module *module;
    bool is32;     /* addresses have 32 bits */
    bool streamed; /* questions come one by one; each answer stands alone */
    void *state;   /* the style's own, between begin and end */
};

struct style {
    /* Around all answers; may be NULL. */
    void (*begin)(struct style_output *output);
    void (*end)(struct style_output *output);
    /* `asked` is the address as it was given. */
    void (*answer)(struct style_output *output, uint64_t asked,
                   const struct trail_answer *answer);
};

extern const struct style style_text, style_json, style_gnu, style_llvm;

/* That of options->style: text unless told otherwise, and for Tracy too. */
const struct style *style_of(const struct resolve_options *options);

/* The file as one path: a relative name is relative to the compilation directory. */
void style_join_path(const struct trail_named *named, char *path_ret, size_t size);
/* A function as the source has it, without the scopes around it: GNU's and LLVM's tools
 * name none where there is no mangled name. */
static inline const char *style_own_name(const struct trail_named *named)
{
    return named->function + named->scope_size;
}
/* What follows the last slash. */
const char *style_basename(const char *path);

#define STYLE_PATH_SIZE 8192

#endif
