/* layout.h -- paths of symbol files, by the layouts of symbolizers. */
#ifndef TRAIL_LAYOUT_H
#define TRAIL_LAYOUT_H

#include <stdbool.h>
#include "backtrail/base.h"

/* A path put together. */
struct trail_path {
    char text[1024];
    size_t size;
    bool bad; /* too long, or holding a zero byte */
};

void trail_path_add(struct trail_path *path, const char *bytes, size_t size);
void trail_path_add_string(struct trail_path *path, const char *string);
/* What follows the last "/". */
const char *trail_path_base(const char *path);

/* `root`/layout with its directives filled in (see struct trail_symbolizer); false: it
 * cannot be, since it goes by a name or an id that there is not. */
bool trail_layout_path(const char *root, const char *layout, const char *name,
                       struct trail_text id, struct trail_path *path_ret);

#endif
