/* gather.c -- reads the files that make up a configuration, in the order in which they
 * count. */
#define _POSIX_C_SOURCE 200809L

#include "config/gather.h"

#include <stdlib.h>

#include "config/expand.h"
#include "config/read.h"
#include "config/show.h"
#include "core/os/os.h"

#define PATH_LIMIT 4096

/* A pipe that nobody writes to would be waited for. */
static enum trail_status read_regular(const char *path, size_t limit, char **bytes_ret,
                                      size_t *size_ret, struct trail_error *err)
{
    struct trail_os_stat stat;
    enum trail_status status = trail_os_stat_path(path, &stat, err);
    if (!status && !stat.regular && !stat.directory)
        status = trail_fail(err, TRAIL_BAD_INPUT, "%s: is not a regular file", path);
    return status ? status : trail_os_file_read(path, limit, bytes_ret, size_ret, err);
}

const struct trail_config_files trail_config_os_files = { read_regular,
                                                          trail_os_directory_list,
                                                          trail_os_path_real };

/* A file whose includes are being read, and the one that includes it. */
struct step {
    const struct step *above;
    const struct trail_config_document *document;
};

/* One include that is being followed: to one file, or to all that match. */
struct gathering {
    struct trail_config_document *whole;
    const struct trail_config_files *files;
    struct trail_config_mistakes *mistakes;
    enum trail_config_origin origin;
    const struct step *above;             /* NULL: a drop-in */
    const struct trail_config_value *at;  /* where it is written; NULL: a drop-in */
    const char *directory, *shown, *glob; /* of names that are listed */
};

static void gather(const struct gathering *from,
                   struct trail_config_document *document);

/* ---- one file ----------------------------------------------------------- */

enum trail_status trail_config_add_part(struct trail_config_document *whole,
                                        struct trail_config_document *part,
                                        struct trail_error *why)
{
    struct trail_config_document **grown =
        realloc(whole->parts, (whole->part_count + 1) * sizeof(*grown));
    if (!grown) {
        trail_config_document_destroy(part);
        return trail_fail(why, TRAIL_NO_MEMORY, "out of memory");
    }
    whole->parts = grown;
    whole->parts[whole->part_count++] = part;
    return TRAIL_OK;
}

/* Say that `shown` cannot be part of the configuration: where it is included, or else
 * by its own name. */
TRAIL_PRINTF(3, 4)
static void refuse(const struct gathering *from, const char *shown, const char *format,
                   ...)
{
    struct trail_error why = { "" };
    char reason[160], name[61];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    size_t size = strlen(shown);
    snprintf(name, sizeof(name), "%s%s", size > 48 ? "..." : "",
             size > 48 ? shown + size - 45 : shown);
    enum trail_status status =
        from->at ? trail_config_fail(from->at, &why, "%s: %s",
                                     trail_show(name, strlen(name)).text, reason)
                 : trail_config_fail_file(shown, &why, "%s", reason);
    trail_config_note(from->mistakes, status, &why);
}

/* Refuse a file that is being read already: it would include itself for ever. */
static bool is_cycle(const struct gathering *from, const char *real, const char *shown)
{
    char chain[128] = "";
    size_t used = 0;
    const struct step *step = from->above;
    while (step && (!step->document->real || strcmp(step->document->real, real) != 0))
        step = step->above;
    if (!step)
        return false;
    /* From the file itself up to here, and back to it. */
    for (const struct step *at = from->above; used < sizeof(chain); at = at->above) {
        struct trail_shown name =
            trail_show(at->document->file, strlen(at->document->file));
        used += (size_t)snprintf(chain + used, sizeof(chain) - used, "%s%s",
                                 used ? ", included by " : "", name.text);
        if (at == step)
            break;
    }
    refuse(from, shown, "includes itself: included by %s", chain);
    return true;
}

static bool is_taken(const struct gathering *from, const char *real)
{
    for (uint32_t i = 0; i < from->whole->part_count; i++) {
        const char *other = from->whole->parts[i]->real;
        if (other && strcmp(other, real) == 0)
            return true;
    }
    return false;
}

static bool has_room(const struct gathering *from, const char *shown, size_t size)
{
    size_t total = size, depth = 0, open = 0;
    for (const struct step *step = from->above; step;
         step = step->above, depth++, open++)
        total += step->document->size;
    for (uint32_t i = 0; i < from->whole->part_count; i++)
        total += from->whole->parts[i]->size;
    if (depth > TRAIL_CONFIG_INCLUDE_LIMIT)
        refuse(from, shown, "includes nested deeper than %d levels",
               TRAIL_CONFIG_INCLUDE_LIMIT);
    else if (from->whole->part_count + open >= TRAIL_CONFIG_PART_LIMIT)
        refuse(from, shown, "more than %d files in one configuration",
               TRAIL_CONFIG_PART_LIMIT);
    else if (total > TRAIL_CONFIG_TOTAL_LIMIT)
        refuse(from, shown, "all files together are larger than %u MiB",
               TRAIL_CONFIG_TOTAL_LIMIT >> 20);
    else
        return true;
    return false;
}

static const char *reason_of(const struct trail_error *why, const char *path)
{
    const char *reason = trail_os_reason(why->text, path);
    return reason ? reason : "cannot be read";
}

char *trail_config_directory_of(const struct trail_config_files *files,
                                const char *path)
{
    char real[PATH_LIMIT];
    const char *slash = strrchr(path, '/');
    char *named = slash == path ? strdup("/")
                  : slash       ? strndup(path, (size_t)(slash - path))
                                : strdup(".");
    if (!named || !files->real(named, real, sizeof(real)))
        return named;
    free(named);
    return strdup(real);
}

/* Make a document of what was read; NULL: a mistake was noted. */
static struct trail_config_document *make_document(const struct gathering *from,
                                                   const char *path, const char *shown,
                                                   const char *real, const char *text,
                                                   size_t size)
{
    struct trail_config_document *document = NULL;
    struct trail_error why = { "" };
    char *directory = trail_config_directory_of(from->files, path);
    enum trail_status status = TRAIL_NO_MEMORY;
    if (!directory)
        trail_fail(&why, status, "out of memory");
    else
        status =
            trail_config_document_create(text, size, shown, directory, &document, &why);
    free(directory);
    if (!status) {
        document->origin = from->origin;
        document->real = strdup(real);
    }
    if (!status && !document->real) {
        trail_config_document_destroy(document);
        document = NULL;
        status = trail_fail(&why, TRAIL_NO_MEMORY, "out of memory");
    }
    trail_config_note(from->mistakes, status, &why);
    return document;
}

/* Read a file and all that it includes. A file counts once, where it is named first. */
static void gather_path(const struct gathering *from, const char *path,
                        const char *shown)
{
    char real[PATH_LIMIT];
    char *text = NULL;
    size_t size = 0;
    struct trail_error why = { "" };
    if (!from->files->real(path, real, sizeof(real)))
        snprintf(real, sizeof(real), "%s", path);
    if (is_cycle(from, real, shown) || is_taken(from, real) ||
        !has_room(from, shown, 0))
        return;
    if (from->files->read(path, TRAIL_CONFIG_SIZE_LIMIT, &text, &size, &why)) {
        refuse(from, shown, "%s", reason_of(&why, path));
        return;
    }
    if (has_room(from, shown, size)) {
        struct trail_config_document *document =
            make_document(from, path, shown, real, text, size);
        if (document)
            gather(from, document);
    }
    free(text);
}

/* ---- what a file includes ----------------------------------------------- */

static enum trail_status gather_listed(void *arg, const char *name)
{
    const struct gathering *from = arg;
    char path[PATH_LIMIT], shown[PATH_LIMIT];
    if (!trail_os_name_matches(from->glob, name) ||
        trail_config_mistakes_full(from->mistakes))
        return TRAIL_OK;
    int size = snprintf(path, sizeof(path), "%s/%s", from->directory, name);
    snprintf(shown, sizeof(shown), "%s%s", from->shown, name);
    if (size < (int)sizeof(path))
        gather_path(from, path, shown);
    else
        refuse(from, shown, "its path is too long");
    return TRAIL_OK;
}

static bool has_wildcard(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] == '*' || text[i] == '?' || text[i] == '[')
            return true;
    return false;
}

/* Read the files of a folder that match. Where nothing is, nothing matches. */
static void gather_folder(struct gathering *from)
{
    char real[PATH_LIMIT];
    struct trail_error why = { "" };
    enum trail_status status =
        from->files->list(from->directory, gather_listed, from, &why);
    if (status == TRAIL_NOT_FOUND &&
        !from->files->real(from->directory, real, sizeof(real)))
        return;
    if (status == TRAIL_NOT_FOUND)
        refuse(from, from->shown, "%s",
               from->at ? "is a file, not a folder"
                        : "is a file; make it a folder of drop-ins, or rename it");
    else if (status)
        refuse(from, from->shown, "%s", reason_of(&why, from->directory));
}

/* Follow an include whose path and shown name are known. */
static void follow(struct gathering *from, char *path, char *shown)
{
    char *slash = strrchr(path, '/');
    char *name = slash ? slash + 1 : path;
    if (has_wildcard(path, (size_t)(name - path))) {
        refuse(from, shown, "only the last part of a path may have *, ? or [");
    } else if (!has_wildcard(name, strlen(name))) {
        gather_path(from, path, shown);
    } else {
        char *shown_slash = strrchr(shown, '/');
        shown[shown_slash ? shown_slash + 1 - shown : 0] = 0;
        if (slash)
            *slash = 0;
        from->glob = name;
        from->shown = shown;
        from->directory = !slash ? "." : path[0] ? path : "/";
        gather_folder(from);
    }
}

/* The name of an included file as messages have it: beside the name of the file that
 * includes it. NULL: no memory. */
static char *show_path(const char *file, const char *written, const char *path)
{
    const char *slash = strrchr(file, '/');
    bool beside = slash && written[0] != '~' && strcmp(written, path) != 0;
    size_t size = strlen(file) + strlen(beside ? written : path) + 2;
    char *shown = malloc(size);
    if (shown && beside)
        snprintf(shown, size, "%.*s%s", (int)(slash + 1 - file), file, written);
    else if (shown)
        snprintf(shown, size, "%s", written[0] == '~' ? path : written);
    return shown;
}

static void gather_include(struct gathering *from, const struct trail_config_value *at)
{
    char *written = NULL, *path = NULL, *shown = NULL;
    uint64_t number;
    struct trail_error why = { "" };
    enum trail_status status =
        trail_config_read_scalar(at, TRAIL_OPTION_PATH, &path, &number, &why);
    if (!status)
        status = trail_config_expand(at, json_string_value(at->json), &written, &why);
    if (!status) {
        shown = show_path(at->document->file, written, path);
        if (!shown)
            status = trail_fail(&why, TRAIL_NO_MEMORY, "out of memory");
    }
    from->at = at;
    if (!trail_config_note(from->mistakes, status, &why))
        follow(from, path, shown);
    free(shown);
    free(written);
    free(path);
}

/* Add a document after all that it includes; takes it over. */
static void gather(const struct gathering *from, struct trail_config_document *document)
{
    const struct step step = { from->above, document };
    struct gathering below = *from;
    struct trail_error why = { "" };
    struct trail_config_value top = trail_config_top(document);
    struct trail_config_value include = trail_config_member(&top, "include");

    below.above = &step;
    trail_config_note(from->mistakes, trail_config_expect_list(&include, &why), &why);
    for (size_t i = 0; i < json_array_size(include.json) &&
                       !trail_config_mistakes_full(from->mistakes);
         i++) {
        struct trail_config_value element = trail_config_element(&include, i);
        gather_include(&below, &element);
    }
    trail_config_note(from->mistakes,
                      trail_config_add_part(from->whole, document, &why), &why);
}

void trail_config_gather(struct trail_config_document *whole,
                         const struct trail_config_files *files,
                         struct trail_config_document *document, const char *path,
                         struct trail_config_mistakes *mistakes)
{
    char real[PATH_LIMIT];
    const struct gathering from = { .whole = whole,
                                    .files = files,
                                    .mistakes = mistakes };
    if (path[0] && files->real(path, real, sizeof(real)))
        document->real = strdup(real);
    gather(&from, document);
}

void trail_config_gather_drop_ins(struct trail_config_document *whole,
                                  const struct trail_config_files *files,
                                  const char *path,
                                  struct trail_config_mistakes *mistakes)
{
    char directory[PATH_LIMIT], shown[PATH_LIMIT];
    struct gathering from = { .whole = whole,
                              .files = files,
                              .mistakes = mistakes,
                              .origin = TRAIL_CONFIG_FROM_DROP_IN,
                              .directory = directory,
                              .shown = shown,
                              .glob = "*.json" };
    if (snprintf(directory, sizeof(directory), "%s.d", path) >= (int)sizeof(directory))
        return;
    snprintf(shown, sizeof(shown), "%s.d/", path);
    gather_folder(&from);
}
