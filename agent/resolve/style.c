/* style.c -- what the styles of answers share. */
#include "agent/resolve/style.h"

#include "core/report/report.h"

const struct style *style_of(const struct resolve_options *options)
{
    switch (options->style) {
    case TRAIL_STYLE_JSON:
        return &style_json;
    case RESOLVE_STYLE_GNU:
        return &style_gnu;
    case RESOLVE_STYLE_LLVM:
        return &style_llvm;
    default:
        return &style_text;
    }
}

void style_join_path(const struct trail_named *named, char *path_ret, size_t size)
{
    bool alone = named->file[0] == '/' || !named->file[0] || !named->directory[0];
    snprintf(path_ret, size, "%s%s%s", alone ? "" : named->directory, alone ? "" : "/",
             named->file);
}

const char *style_basename(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
