/* core.c -- a core file in, its report out. */
#include <stdlib.h>

#include "agent/outside/core_file.h"
#include "agent/resolve/resolve.h"

int resolve_core(struct trail_pipeline *pipeline, const struct resolve_options *options)
{
    const struct outside_places places = { options->file, options->root };
    struct trail_error err;
    char *text = NULL;
    size_t size = 0;
    enum trail_status status =
        outside_core_text(options->core, &places, &text, &size, &err);
    if (!status)
        status = resolve_print(pipeline, options, text, size, false, &err);
    free(text);
    return status ? failure("%s", err.text) : EXIT_DONE;
}
