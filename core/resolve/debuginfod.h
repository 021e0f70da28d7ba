/* debuginfod.h -- symbol files from debuginfod servers, by libdebuginfod.
 *
 * A file is asked for by id, on a thread of its own, and waited for until a deadline;
 * what comes later serves the next lookup. What there is not, what was refused and what
 * failed is remembered, so that nothing is asked for twice. Once a deadline has passed
 * nothing is waited for until the server has caught up: a slow one costs it once.
 *
 * libdebuginfod is loaded when it is first needed. It takes its settings from the
 * environment only, so create() sets DEBUGINFOD_URLS, DEBUGINFOD_CACHE_PATH,
 * DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME of this process.
 *
 * Threads: safe, but for create() and destroy().
 */
#ifndef TRAIL_DEBUGINFOD_H
#define TRAIL_DEBUGINFOD_H

#include "core/resolve/files.h"

struct trail_debuginfod_options {
    const char *const *urls; /* NULL-terminated */
    const char *cache;       /* folder for what was fetched; made if it is missing */
    uint64_t timeout_ns;     /* that one lookup waits for */
};

struct trail_debuginfod;

/* Makes no connection and loads nothing yet. */
enum trail_status trail_debuginfod_create(
    const struct trail_debuginfod_options *options, struct trail_debuginfod **ret,
    struct trail_error *err);
/* Breaks off what is under way. NULL is fine. */
void trail_debuginfod_destroy(struct trail_debuginfod *servers);

/* The debug file, or with TRAIL_ROLE_IMAGE the module itself, of `wanted->id`, open and
 * checked: a file of another id is refused by name, one cut short is no file, and
 * neither is kept. TRAIL_NOT_FOUND: it is not to be had, or not yet; `search` says what
 * failed, if something did. */
enum trail_status trail_debuginfod_find(struct trail_debuginfod *servers,
                                        const struct trail_wanted *wanted,
                                        struct trail_search *search,
                                        struct trail_symbol_file **file_ret);
/* Grows whenever a file has come that nobody waited for any more. */
uint64_t trail_debuginfod_arrived(const struct trail_debuginfod *servers);

#endif
