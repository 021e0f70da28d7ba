/* map_equal.c -- whether an origin map answers as the symbolizer it was made by: at
 * every address where a row, a range or a symbol starts, one byte after, and where
 * calls return.
 *
 * usage: map_equal PLUGIN.so SYMBOL FILE
 * Makes the map itself. Left out of the comparison is what a map does not keep
 * (core/resolve/origin_answer.h). Prints what differs; exits 1 if something does.
 */
#define _POSIX_C_SOURCE 200809L

#include <dlfcn.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/resolve/origin_answer.h"
#include "core/resolve/origin_build.h"
#include "tests/symbol_host.h"

#define BATCH     4096
#define SHOWN_MAX 20

struct addresses {
    uint64_t *at;
    size_t count, room;
};

struct subject {
    const struct trail_symbolizer *plugin;
    struct trail_call call;
    void *image;
    struct origin_map map;
    struct addresses addresses;
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "map_equal: %s: %s\n", what, why);
    exit(2);
}

/* ---- where to ask -------------------------------------------------------- */

static void add(struct addresses *addresses, uint64_t address)
{
    if (addresses->count == addresses->room) {
        addresses->room = addresses->room ? addresses->room * 2 : 4096;
        addresses->at =
            realloc(addresses->at, addresses->room * sizeof(*addresses->at));
        if (!addresses->at)
            fail("addresses", "out of memory");
    }
    addresses->at[addresses->count++] = address;
}

static enum trail_status take_file(void *arg, uint32_t id, struct trail_text file,
                                   struct trail_text directory)
{
    (void)arg, (void)id, (void)file, (void)directory;
    return TRAIL_OK;
}

static enum trail_status take_function(void *arg, uint32_t id, struct trail_text name,
                                       struct trail_text linkage, uint64_t start,
                                       uint64_t bytes)
{
    (void)id, (void)name, (void)linkage, (void)bytes;
    if (start)
        add(arg, start);
    return TRAIL_OK;
}

static enum trail_status take_scope(void *arg, uint32_t id, uint32_t parent,
                                    uint32_t function, uint32_t call_file,
                                    uint32_t call_line, uint32_t call_column)
{
    (void)arg, (void)id, (void)parent, (void)function, (void)call_file, (void)call_line,
        (void)call_column;
    return TRAIL_OK;
}

static enum trail_status take_range(void *arg, uint64_t start, uint64_t end,
                                    uint32_t scope, uint32_t file, uint32_t line,
                                    uint32_t column)
{
    (void)scope, (void)file, (void)line, (void)column;
    add(arg, start);
    add(arg, start + 1);
    add(arg, end);
    return TRAIL_OK;
}

static enum trail_status take_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text target_linkage, int tail)
{
    (void)target, (void)target_linkage, (void)tail;
    add(arg, return_address);
    return TRAIL_OK;
}

static enum trail_status take_symbol(void *arg, uint64_t start, uint64_t end,
                                     struct trail_text name, struct trail_text aka,
                                     uint32_t flags)
{
    (void)name, (void)aka, (void)flags;
    add(arg, start);
    add(arg, start + 1);
    add(arg, end);
    return TRAIL_OK;
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void collect(struct subject *subject)
{
    struct addresses *addresses = &subject->addresses;
    struct trail_map_out out = { .size = sizeof(out),
                                 .arg = addresses,
                                 .file = take_file,
                                 .function = take_function,
                                 .scope = take_scope,
                                 .range = take_range,
                                 .call = take_call,
                                 .symbol = take_symbol };
    struct trail_error err = { "" };
    if (subject->plugin->enumerate(subject->image, &subject->call, 0, 1, &out, &err))
        fail("enumerate", err.text);
    qsort(addresses->at, addresses->count, sizeof(*addresses->at), compare_addresses);
    size_t kept = 0;
    for (size_t i = 0; i < addresses->count; i++)
        if (kept == 0 || addresses->at[i] != addresses->at[kept - 1])
            addresses->at[kept++] = addresses->at[i];
    addresses->count = kept;
}

/* ---- answers as text ----------------------------------------------------- */

struct answers {
    char *text;
    size_t size, room;
    size_t starts[BATCH + 1]; /* of the text of each address; ascending */
    uint32_t index;           /* of the last one */
};

static void append(struct answers *answers, const char *data, size_t size)
{
    if (answers->size + size + 1 > answers->room) {
        answers->room = (answers->size + size + 1) * 2;
        answers->text = realloc(answers->text, answers->room);
        if (!answers->text)
            fail("answers", "out of memory");
    }
    if (size)
        memcpy(answers->text + answers->size, data, size);
    answers->size += size;
    answers->text[answers->size] = 0;
}

static void append_text(struct answers *answers, struct trail_text text)
{
    append(answers, text.data, text.size);
    append(answers, "|", 1);
}

static bool is_mangled(struct trail_text name)
{
    return name.size > 1 && name.data[0] == '_' && strchr("ZRD", name.data[1]);
}

/* A mangled name is all that a map keeps of a function that has one. */
static void append_names(struct answers *answers, const struct trail_found *found)
{
    const struct trail_text none = { NULL, 0 };
    bool mangled = is_mangled(found->linkage);
    append_text(answers, mangled ? found->linkage : found->function);
    append_text(answers,
                mangled || is_mangled(found->function) ? none : found->linkage);
}

static void start_index(struct answers *answers, size_t index)
{
    while (answers->index < index)
        answers->starts[++answers->index] = answers->size;
}

static enum trail_status keep_frame(void *arg, const struct trail_found *found)
{
    const uint32_t not_kept = TRAIL_FOUND_LINKAGE_OF_SYMBOL | TRAIL_FOUND_AKA_FIRST;
    struct answers *answers = arg;
    char numbers[128];
    start_index(answers, found->index);
    int size = snprintf(numbers, sizeof(numbers),
                        "  line %u:%u flags %u at %" PRIx64 "+%" PRIx64 " ",
                        found->line, found->column, found->flags & ~not_kept,
                        found->function_start, found->function_size);
    append(answers, numbers, (size_t)size);
    append_names(answers, found);
    append_text(answers, found->directory);
    append_text(answers, found->file);
    append_text(answers, found->symbol);
    append_text(answers, found->aka);
    append(answers, "\n", 1);
    return TRAIL_OK;
}

static enum trail_status keep_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text target_linkage, int tail)
{
    char numbers[128];
    int size = snprintf(numbers, sizeof(numbers),
                        "  call back at %" PRIx64 " of %" PRIx64 "%s ", return_address,
                        target, tail ? " tail" : "");
    append(arg, numbers, (size_t)size);
    append_text(arg, target_linkage);
    append(arg, "\n", 1);
    return TRAIL_OK;
}

/* ---- comparing ----------------------------------------------------------- */

static size_t show(size_t shown, uint64_t address, const struct answers *theirs,
                   const struct answers *ours, size_t i)
{
    if (shown < SHOWN_MAX)
        printf("0x%" PRIx64 "\n plugin:\n%.*s map:\n%.*s", address,
               (int)(theirs->starts[i + 1] - theirs->starts[i]),
               theirs->text + theirs->starts[i],
               (int)(ours->starts[i + 1] - ours->starts[i]),
               ours->text + ours->starts[i]);
    return shown + 1;
}

static void restart(struct answers *answers)
{
    answers->size = 0;
    answers->index = 0;
    append(answers, "", 0);
}

/* Returns how many differ. */
static size_t compare_frames(struct subject *subject, const uint64_t *addresses,
                             size_t count, struct answers *theirs, struct answers *ours)
{
    struct trail_error err = { "" };
    size_t different = 0;
    restart(theirs);
    restart(ours);
    if (subject->plugin->resolve(subject->image, &subject->call, addresses, count,
                                 keep_frame, theirs, &err))
        fail("resolve", err.text);
    if (trail_origin_answer(&subject->map, addresses, count, keep_frame, ours))
        fail("the map", "does not answer");
    start_index(theirs, count);
    start_index(ours, count);
    for (size_t i = 0; i < count; i++) {
        size_t size = theirs->starts[i + 1] - theirs->starts[i];
        if (size != ours->starts[i + 1] - ours->starts[i] ||
            memcmp(theirs->text + theirs->starts[i], ours->text + ours->starts[i],
                   size))
            different = show(different, addresses[i], theirs, ours, i);
    }
    return different;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Calls are told in any order: put their lines in one. */
static void sort_lines(struct answers *answers)
{
    char *lines[1024], *copy = strdup(answers->text);
    size_t count = 0;
    if (!copy)
        fail("answers", "out of memory");
    for (char *at = copy, *next; *at && count < 1024; at = next) {
        lines[count++] = at;
        next = strchr(at, '\n');
        *next++ = 0;
    }
    qsort(lines, count, sizeof(*lines), compare_texts);
    restart(answers);
    for (size_t i = 0; i < count; i++) {
        append(answers, lines[i], strlen(lines[i]));
        append(answers, "\n", 1);
    }
    free(copy);
}

static size_t compare_calls(struct subject *subject, const uint64_t *addresses,
                            size_t count, struct answers *theirs, struct answers *ours)
{
    struct trail_map_out out = { .size = sizeof(out), .call = keep_call };
    struct trail_error err = { "" };
    size_t different = 0;
    for (size_t i = 0; i < count; i++) {
        restart(theirs);
        restart(ours);
        out.arg = theirs;
        if (subject->plugin->calls(subject->image, &subject->call, &addresses[i], 1,
                                   &out, &err))
            fail("calls", err.text);
        out.arg = ours;
        if (trail_origin_calls(&subject->map, &addresses[i], 1, &out))
            fail("the map", "does not tell of calls");
        sort_lines(theirs);
        sort_lines(ours);
        start_index(theirs, 1);
        start_index(ours, 1);
        if (strcmp(theirs->text, ours->text) != 0)
            different = show(different, addresses[i], theirs, ours, 0);
    }
    return different;
}

static int compare(struct subject *subject)
{
    static struct answers theirs, ours;
    const struct addresses *addresses = &subject->addresses;
    size_t frames = 0, calls = 0, asked = 0;
    /* One question a call: a part of them will do, all of a small module. */
    size_t step = addresses->count / 20000 + 1;
    for (size_t i = 0; i < addresses->count; i += BATCH) {
        size_t left = addresses->count - i;
        frames += compare_frames(subject, addresses->at + i,
                                 left < BATCH ? left : BATCH, &theirs, &ours);
    }
    for (size_t i = 0; subject->plugin->calls && i < addresses->count; i += step) {
        calls += compare_calls(subject, addresses->at + i, 1, &theirs, &ours);
        asked++;
    }
    printf("%zu addresses, %zu answers differ; calls at %zu of them, %zu differ\n",
           addresses->count, frames, asked, calls);
    free(theirs.text);
    free(ours.text);
    return frames || calls || addresses->count == 0;
}

static void make_map(struct subject *subject, const char *path,
                     struct symbol_bytes *map)
{
    struct trail_error err = { "" };
    const struct trail_origin_job job = { .symbolizer = subject->plugin,
                                          .image = subject->image,
                                          .call = &subject->call,
                                          .info = { .format = TRAIL_FORMAT_ELF,
                                                    .plugin = "any",
                                                    .release = "1",
                                                    .source = trail_text_of("any") },
                                          .threads = 2 };
    if (trail_origin_build(&job, path, &err) || !symbol_host_read(path, map))
        fail(path, err.text);
    unlink(path);
    if (origin_map_open(map->at, map->size, &subject->map, &err) ||
        origin_map_verify(&subject->map, &err))
        fail("the map", err.text);
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/trail-map-XXXXXX", path[64];
    void *library = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    struct subject subject = { .plugin = library ? dlsym(library, argv[2]) : NULL };
    if (!subject.plugin || !mkdtemp(folder)) {
        fprintf(stderr, "usage: map_equal PLUGIN.so SYMBOL FILE\n");
        return 2;
    }
    struct symbol_host host;
    struct symbol_bytes bytes, map = { NULL, 0 };
    struct trail_error err = { "" };
    const struct trail_options none = { .size = sizeof(none),
                                        .stride = sizeof(struct trail_option) };
    const struct trail_module module = { .size = sizeof(module),
                                         .format = TRAIL_FORMAT_ELF };
    void *state = NULL;
    symbol_host_init(&host, argv[3]);
    subject.call = symbol_host_call(&host);
    if (!symbol_host_read(argv[3], &bytes))
        fail(argv[3], "cannot be read");
    const struct trail_source source = symbol_host_source(bytes);
    if (subject.plugin->create(&subject.call, &none, &state, &err) ||
        subject.plugin->open(state, &subject.call, &module, &source, 1, &subject.image,
                             &err))
        fail(argv[3], err.text);
    snprintf(path, sizeof(path), "%s/map", folder);
    make_map(&subject, path, &map);
    rmdir(folder);
    collect(&subject);
    int status = compare(&subject);
    subject.plugin->close(subject.image);
    subject.plugin->destroy(state);
    symbol_host_deinit(&host);
    free(subject.addresses.at);
    free(map.at);
    free(bytes.at);
    return status;
}
