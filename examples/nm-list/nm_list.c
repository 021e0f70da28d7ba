/* nm_list.c -- a third party's symbolizer: names addresses from a list that nm wrote.
 *
 * The list is the file that "list" says: lines such as "0000000000001139 T greet", as
 * `nm --defined-only -n` prints them. orders.nm names what is in the module orders.
 *
 *     cc -shared -fPIC -fvisibility=hidden $(pkg-config --cflags backtrail) \
 *         nm_list.c -o nm-list.so
 */
#include <backtrail/symbolizer.h>

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define LINE_SIZE 512

/* One name; the list is kept in order of address. */
struct name {
    uint64_t start;
    char text[LINE_SIZE];
};

struct list {
    struct name *names;
    size_t count;
    char module[256]; /* file name of the one module it is about */
};

static const struct trail_option_spec options[] = {
    { .type = TRAIL_OPTION_PATH,
      .key = "list",
      .default_value = "orders.nm",
      .help = "what nm printed" },
};

static int by_start(const void *a, const void *b)
{
    const struct name *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static void destroy(void *state)
{
    struct list *list = state;
    if (list)
        free(list->names);
    free(list);
}

/* A line is an address, a letter for the kind of symbol, and its name. */
static bool read_line(char *line, struct name *name_ret)
{
    char *end = NULL;
    name_ret->start = strtoull(line, &end, 16);
    if (end == line || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) ||
        end[2] != ' ')
        return false;
    end[strcspn(end, "\n")] = 0;
    snprintf(name_ret->text, sizeof(name_ret->text), "%s", end + 3);
    return true;
}

static enum trail_status read_names(FILE *file, struct list *list)
{
    char line[LINE_SIZE];
    struct name name;
    while (fgets(line, sizeof(line), file)) {
        if (!read_line(line, &name))
            continue;
        struct name *grown = realloc(list->names, (list->count + 1) * sizeof(*grown));
        if (!grown)
            return TRAIL_NO_MEMORY;
        list->names = grown;
        grown[list->count++] = name;
    }
    if (list->count)
        qsort(list->names, list->count, sizeof(*list->names), by_start);
    return TRAIL_OK;
}

/* Both a path's file name and the list's lose what comes before the slash; the list's
 * also its ending. */
static const char *file_name(struct trail_text path)
{
    size_t start = path.size;
    while (start > 0 && path.data[start - 1] != '/')
        start--;
    return path.data + start;
}

static enum trail_status create(const struct trail_call *call,
                                const struct trail_options *given, void **state_ret,
                                struct trail_error *err)
{
    const char *path = trail_options_find(given, "list")->text.data;
    struct list *list = calloc(1, sizeof(*list));
    FILE *file = list ? fopen(path, "r") : NULL;
    (void)call;
    if (!file) {
        destroy(list);
        return trail_fail(err, TRAIL_BAD_INPUT, "list: %s: %s", path, strerror(errno));
    }
    enum trail_status status = read_names(file, list);
    fclose(file);
    const char *name = file_name(trail_text_of(path));
    snprintf(list->module, sizeof(list->module), "%.*s", (int)strcspn(name, "."), name);
    if (status) {
        destroy(list);
        return trail_fail(err, status, "list: %s: out of memory", path);
    }
    *state_ret = list;
    return TRAIL_OK;
}

static int reads(const struct trail_module *module)
{
    return module->format == TRAIL_FORMAT_ELF;
}

/* The list is all there is: an image is the state itself. */
static enum trail_status open_image(void *state, const struct trail_call *call,
                                    const struct trail_module *module,
                                    const struct trail_source *sources, size_t count,
                                    void **image_ret, struct trail_error *err)
{
    const struct list *list = state;
    const char *name = file_name(module->path);
    size_t size = (size_t)(module->path.data + module->path.size - name);
    (void)call, (void)sources, (void)count;
    if (size != strlen(list->module) || memcmp(name, list->module, size) != 0)
        return trail_fail(err, TRAIL_NOT_FOUND, "the list is about %s", list->module);
    *image_ret = state;
    return TRAIL_OK;
}

static void close_image(void *image)
{
    (void)image;
}

static enum trail_status resolve(void *image, const struct trail_call *call,
                                 const uint64_t *addresses, size_t count,
                                 trail_emit_fn *emit, void *arg,
                                 struct trail_error *err)
{
    const struct list *list = image;
    (void)call, (void)err;
    for (size_t i = 0; i < count; i++) {
        const struct name *best = NULL;
        for (size_t k = 0; k < list->count && list->names[k].start <= addresses[i]; k++)
            best = &list->names[k];
        if (!best || best + 1 == list->names + list->count)
            continue; /* where the last one ends, the list does not say */
        const struct trail_found found = {
            .size = sizeof(found),
            .index = (uint32_t)i,
            .flags = TRAIL_FOUND_FROM_SYMTAB | TRAIL_FOUND_UNSIZED,
            .function_start = best->start,
            .function = trail_text_of(best->text),
        };
        enum trail_status status = emit(arg, &found);
        if (status)
            return status;
    }
    return TRAIL_OK;
}

TRAIL_SYMBOLIZER(nm_list, "nm-list", "1.0.0", TRAIL_NEEDS_FILES) = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .options = options,
    .option_count = 1,
    .option_stride = sizeof(options[0]),
    .reads = reads,
    .create = create,
    .destroy = destroy,
    .open = open_image,
    .close = close_image,
    .resolve = resolve,
};
