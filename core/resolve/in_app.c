/* in_app.c -- telling a program's own code from that of its libraries. */
#include "core/resolve/in_app.h"

bool trail_glob(const char *glob, const char *text)
{
    const char *star = NULL, *resume = NULL;
    while (*text) {
        if (*glob == '*') {
            star = glob++;
            resume = text;
        } else if (*glob == '?' || *glob == *text) {
            glob++;
            text++;
        } else if (star) { /* let the last star take one byte more */
            glob = star + 1;
            text = ++resume;
        } else {
            return false;
        }
    }
    return glob[strspn(glob, "*")] == 0;
}

static bool glob_any(char *const *globs, const char *text)
{
    for (; globs && *globs; globs++)
        if (trail_glob(*globs, text))
            return true;
    return false;
}

/* Sources that are compiled into a program without being its own. */
static bool foreign_source(const char *file)
{
    static const char *const roots[] = { "/usr/include/", "/usr/lib/",
                                         "/rustc/",       "/usr/local/include/",
                                         "library/std/",  "library/core/",
                                         "library/alloc/" };
    for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
        if (strncmp(file, roots[i], strlen(roots[i])) == 0)
            return true;
    return false;
}

/* True if `path` lies in the directory of `exe`, or below. Programs of the system share
 * theirs with everybody's, so that tells nothing there. */
static bool beside(const char *exe, const char *path)
{
    const char *slash = strrchr(exe, '/');
    size_t size = slash ? (size_t)(slash - exe) + 1 : 0;
    if (size <= 1 || strncmp(exe, "/usr/bin/", size) == 0 ||
        strncmp(exe, "/bin/", size) == 0)
        return false;
    return strncmp(exe, path, size) == 0;
}

bool trail_in_app(const struct trail_policy *policy, const struct trail_trace *trace,
                  const struct trail_image *image, const struct trail_frame *frame)
{
    if (!image || image->vdso || glob_any(policy->in_app_exclude, image->path) ||
        strcmp(frame->hidden, "capture") == 0)
        return false;
    if (foreign_source(frame->file))
        return false;
    if (glob_any(policy->in_app_include, image->path))
        return true;
    return image->main_program || strcmp(image->path, trace->exe) == 0 ||
           beside(trace->exe, image->path);
}
