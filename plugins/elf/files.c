/* files.c -- opens a module's own file, its debug file and its dwz file. */
#include "plugins/elf/files.h"

#include "plugins/elf/companions.h"

static const struct trail_source *source_of(const struct trail_source *sources,
                                            size_t count, uint32_t role)
{
    for (size_t i = 0; i < count; i++) {
        const struct trail_source *source = trail_source_at(sources, i);
        if (source->role == role)
            return source;
    }
    return NULL;
}

/* A file that the host brought along comes first, since somebody asked for it; then the
 * module's own debug information, then a file that the host finds now. */
static void open_debug(struct files *files, const struct trail_call *call,
                       const struct trail_module *module,
                       const struct trail_source *sources, size_t count)
{
    const struct trail_source *given = source_of(sources, count, TRAIL_ROLE_DEBUG);
    bool opened = given && !binary_open(given, &files->debug, NULL);
    if (opened && binary_has_units(&files->debug)) {
        files->with_units = &files->debug;
        return;
    }
    if (binary_has_units(&files->main)) {
        files->with_units = &files->main;
        return;
    }
    if (!opened)
        companions_find_debug(call, module, &files->main, &files->debug);
    if (binary_has_units(&files->debug))
        files->with_units = &files->debug;
}

static void open_alt(struct files *files, const struct trail_call *call,
                     const struct trail_source *sources, size_t count)
{
    if (!files->with_units)
        return;
    const struct trail_source *given = source_of(sources, count, TRAIL_ROLE_ALT);
    if (!given || binary_open(given, &files->alt, NULL))
        companions_find_alt(call, files->with_units, &files->alt);
}

enum trail_status files_open(const struct trail_call *call,
                             const struct trail_module *module,
                             const struct trail_source *sources, size_t count,
                             struct files *files, struct trail_error *err)
{
    const struct trail_source *main = source_of(sources, count, TRAIL_ROLE_IMAGE);
    *files = (struct files){ .with_units = NULL };
    if (!main)
        return trail_fail(err, TRAIL_NOT_FOUND, "no file of the module was given");
    enum trail_status status = binary_open(main, &files->main, err);
    if (!status)
        status = binary_check_program(&files->main, err);
    if (status) {
        files_close(files);
        return status;
    }
    open_debug(files, call, module, sources, count);
    open_alt(files, call, sources, count);
    return TRAIL_OK;
}

void files_close(struct files *files)
{
    binary_close(&files->main);
    binary_close(&files->debug);
    binary_close(&files->alt);
    files->with_units = NULL;
}
