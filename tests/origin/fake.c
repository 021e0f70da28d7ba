/* fake.c -- makes up modules out of a number. */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"

#include <dirent.h>
#include <unistd.h>

#include "core/os/os.h"
#include "test.h"

#define CHAIN_TEXT 8192u

/* ---- the symbolizer ------------------------------------------------------ */

struct source {
    uint64_t state;
    const struct fake *fake;
    struct trail_map_out *out;
    enum trail_status status;
    uint32_t file_count, function_count, scope_count;
};

static uint32_t draw(struct source *source, uint32_t below)
{
    source->state = source->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(source->state >> 33) % below;
}

static void say(struct source *source, enum trail_status status)
{
    if (!source->status)
        source->status = status;
}

static void say_file(struct source *source)
{
    char path[32], directory[32];
    snprintf(path, sizeof(path), "src/f%u.c", draw(source, 50));
    snprintf(directory, sizeof(directory), "/build%u", draw(source, 3));
    say(source,
        source->out->file(source->out->arg, ++source->file_count, trail_text_of(path),
                          trail_text_of(draw(source, 4) ? directory : "")));
}

static void say_function(struct source *source)
{
    char name[32], linkage[32];
    uint32_t number = draw(source, 200), start = draw(source, 2 * FAKE_HALF);
    snprintf(name, sizeof(name), "f%u", number);
    snprintf(linkage, sizeof(linkage), number % 3 ? "_Z2f%u" : "F_%u", number);
    bool is_placed = draw(source, 3) != 0;
    say(source, source->out->function(source->out->arg, ++source->function_count,
                                      trail_text_of(number % 7 ? name : ""),
                                      trail_text_of(number % 5 ? linkage : ""),
                                      is_placed ? fake_address(source->fake, start) : 0,
                                      is_placed ? 1 + number : 0));
}

static void say_scope(struct source *source)
{
    uint32_t parent = draw(source, 3) ? draw(source, source->scope_count + 1) : 0;
    source->scope_count++;
    say(source, source->out->scope(source->out->arg, source->scope_count, parent,
                                   draw(source, source->function_count + 1),
                                   draw(source, source->file_count + 1),
                                   draw(source, 70000), draw(source, 90)));
}

/* Ranges of one part ascend; those of several parts lie over each other. */
static void say_ranges(struct source *source)
{
    uint32_t at = draw(source, 3000);
    while (at < 2 * FAKE_HALF && !source->status) {
        uint32_t size = 1 + draw(source, draw(source, 20) ? 30 : 1500);
        uint32_t half_end = at < FAKE_HALF ? FAKE_HALF : 2 * FAKE_HALF;
        uint32_t end = at + size < half_end ? at + size : half_end;
        if (draw(source, 5))
            say(source,
                source->out->range(source->out->arg, fake_address(source->fake, at),
                                   fake_address(source->fake, end - 1) + 1,
                                   draw(source, source->scope_count + 1),
                                   draw(source, source->file_count + 1),
                                   draw(source, 70000), draw(source, 90)));
        at = draw(source, 30) ? end : end + draw(source, 3000);
    }
}

static void say_calls(struct source *source)
{
    for (uint32_t i = 0; i < 100 && !source->status; i++) {
        char linkage[32];
        uint64_t target = fake_address(source->fake, draw(source, 2 * FAKE_HALF));
        uint64_t at = fake_address(source->fake, draw(source, 2 * FAKE_HALF));
        snprintf(linkage, sizeof(linkage), "_Z2f%u", draw(source, 60));
        say(source,
            source->out->call(source->out->arg, at + 1, draw(source, 2) ? target : 0,
                              trail_text_of(draw(source, 4) ? linkage : ""),
                              (int)draw(source, 2)));
    }
}

/* Symbols lie in each other, and some are longer than that which holds them. */
static void say_symbols(struct source *source)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < 200 && !source->status; i++) {
        char name[32], aka[32];
        uint32_t size = 1 + draw(source, draw(source, 4) ? 90 : 900);
        at += draw(source, 150);
        uint32_t half_end = at < FAKE_HALF ? FAKE_HALF : 2 * FAKE_HALF;
        if (at >= 2 * FAKE_HALF)
            return;
        uint32_t end = at + size < half_end ? at + size : half_end;
        snprintf(name, sizeof(name), "f%u", draw(source, 90));
        snprintf(aka, sizeof(aka), "a%u\nb", draw(source, 20));
        say(source, source->out->symbol(
                        source->out->arg, fake_address(source->fake, at),
                        fake_address(source->fake, end - 1) + 1, trail_text_of(name),
                        trail_text_of(draw(source, 5) ? "" : aka),
                        draw(source, 9) ? 0 : TRAIL_FOUND_UNSIZED));
        at++;
    }
}

static enum trail_status enumerate(void *image, const struct trail_call *call,
                                   uint32_t part, uint32_t parts,
                                   struct trail_map_out *out, struct trail_error *err)
{
    struct fake *fake = image;
    struct source source = { fake->seed * 1000 + part, fake, out, TRAIL_OK, 0, 0, 0 };
    (void)call, (void)parts;
    if (part == 9 && fake->fail)
        return trail_fail(err, fake->fail, "the fake fails");
    for (uint32_t round = 0; round < 4 && !fake->has_only_symbols; round++) {
        for (uint32_t i = 0; i < 10; i++)
            say_file(&source);
        for (uint32_t i = 0; i < 25; i++)
            say_function(&source);
        for (uint32_t i = 0; i < 40; i++)
            say_scope(&source);
    }
    if (part == 9 && fake->is_wrong)
        return out->range(out->arg, 1, 2, source.scope_count + 1, 0, 0, 0);
    if (!fake->has_only_symbols) {
        say_ranges(&source);
        say_calls(&source);
    }
    if (part == 0)
        say_symbols(&source);
    return source.status;
}

const struct trail_symbolizer fake_symbolizer = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .enumerate = enumerate,
};

/* ---- what should be said ------------------------------------------------- */

struct name_pair {
    char a[32], b[32];
    uint64_t start, size;
};

struct told_scope {
    uint32_t parent, function, file, line, column;
};

/* Listens to one part. */
struct listener {
    struct told *told;
    struct name_pair files[64], functions[128];
    struct told_scope scopes[256];
};

static void copy(char to[32], struct trail_text text)
{
    snprintf(to, 32, "%.*s", (int)text.size, text.size ? text.data : "");
}

static enum trail_status hear_file(void *arg, uint32_t id, struct trail_text file,
                                   struct trail_text directory)
{
    struct listener *listener = arg;
    copy(listener->files[id].a, file);
    copy(listener->files[id].b, directory);
    return TRAIL_OK;
}

static enum trail_status hear_function(void *arg, uint32_t id, struct trail_text name,
                                       struct trail_text linkage, uint64_t start,
                                       uint64_t bytes)
{
    struct name_pair *function = &((struct listener *)arg)->functions[id];
    copy(function->b, linkage);
    bool is_mangled = linkage.size > 1 && linkage.data[0] == '_';
    copy(function->a, is_mangled || !name.size ? linkage : name);
    function->start = start;
    function->size = bytes;
    return TRAIL_OK;
}

static enum trail_status hear_scope(void *arg, uint32_t id, uint32_t parent,
                                    uint32_t function, uint32_t call_file,
                                    uint32_t call_line, uint32_t call_column)
{
    struct listener *listener = arg;
    listener->scopes[id] =
        (struct told_scope){ parent, function, call_file, call_line, call_column };
    return TRAIL_OK;
}

static int write_frame(char *to, size_t size, const struct name_pair *function,
                       const struct name_pair *file, uint32_t line, uint32_t column)
{
    return snprintf(to, size, "%s|%s|%llx+%llx|%s|%s|%u:%u;", function->a, function->b,
                    (unsigned long long)function->start,
                    (unsigned long long)function->size, file->b, file->a, line, column);
}

static char *chain_of(const struct listener *listener, uint32_t scope, uint32_t file,
                      uint32_t line, uint32_t column)
{
    char text[CHAIN_TEXT] = "";
    size_t at = 0;
    if (!scope && !file && !line && !column)
        return NULL;
    do {
        const struct told_scope *of = &listener->scopes[scope];
        at += (size_t)write_frame(text + at, sizeof(text) - at,
                                  &listener->functions[of->function],
                                  &listener->files[file], line, column);
        file = of->file, line = of->line, column = of->column;
        scope = of->parent;
    } while (scope);
    return strdup(text);
}

static enum trail_status hear_range(void *arg, uint64_t start, uint64_t end,
                                    uint32_t scope, uint32_t file, uint32_t line,
                                    uint32_t column)
{
    struct listener *listener = arg;
    const struct fake *fake = listener->told->fake;
    bool is_second = start >= fake->starts[1] && start < fake->starts[1] + FAKE_HALF;
    uint64_t at = start - fake->starts[is_second] + (is_second ? FAKE_HALF : 0);
    for (uint64_t i = at; i < at + (end - start); i++) {
        char *chain = chain_of(listener, scope, file, line, column);
        if (!chain)
            return TRAIL_OK;
        free(listener->told->chains[i]);
        listener->told->chains[i] = chain;
    }
    return TRAIL_OK;
}

static enum trail_status hear_call(void *arg, uint64_t return_address, uint64_t target,
                                   struct trail_text linkage, int tail)
{
    struct told *told = ((struct listener *)arg)->told;
    struct told_call *call = &told->calls[told->call_count++];
    call->return_address = return_address;
    call->target = target;
    call->is_tail = tail;
    copy(call->linkage, linkage);
    return TRAIL_OK;
}

static enum trail_status hear_symbol(void *arg, uint64_t start, uint64_t end,
                                     struct trail_text name, struct trail_text aka,
                                     uint32_t flags)
{
    struct told *told = ((struct listener *)arg)->told;
    struct told_symbol *symbol = &told->symbols[told->symbol_count++];
    *symbol = (struct told_symbol){ .start = start, .end = end, .flags = flags };
    copy(symbol->name, name);
    copy(symbol->aka, aka);
    return TRAIL_OK;
}

/* From the last part to the first, since what is said first stands. */
struct told *fake_tell(struct fake *fake)
{
    struct told *told = calloc(1, sizeof(*told));
    struct trail_call call = { .size = sizeof(call) };
    assert_non_null(told);
    told->fake = fake;
    for (uint32_t part = TRAIL_ORIGIN_PARTS; part-- > 0;) {
        struct listener listener = { .told = told };
        struct trail_map_out out = { sizeof(out), &listener,  hear_file, hear_function,
                                     hear_scope,  hear_range, hear_call, hear_symbol };
        assert_ok(enumerate(fake, &call, part, TRAIL_ORIGIN_PARTS, &out, NULL));
    }
    return told;
}

void told_free(struct told *told)
{
    for (uint32_t i = 0; i < 2 * FAKE_HALF; i++)
        free(told->chains[i]);
    free(told);
}

void fake_chain_text(const struct origin_map *map, const struct origin_frame *frames,
                     uint32_t count, char *text_ret, size_t size)
{
    size_t at = 0;
    text_ret[0] = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct origin_function function;
        struct origin_file file;
        struct name_pair names = { .start = 0 }, paths = { .start = 0 };
        if (origin_map_function(map, frames[i].function, &function)) {
            copy(names.a, function.name);
            copy(names.b, function.linkage);
            names.start = function.start;
            names.size = function.size;
        }
        if (origin_map_file(map, frames[i].file, &file)) {
            copy(paths.a, file.path);
            copy(paths.b, file.directory);
        }
        at += (size_t)write_frame(text_ret + at, size - at, &names, &paths,
                                  frames[i].line, frames[i].column);
    }
}

/* ---- maps ---------------------------------------------------------------- */

void fake_place_make(struct fake_place *place)
{
    snprintf(place->directory, sizeof(place->directory), "/tmp/trail-origin.XXXXXX");
    assert_non_null(mkdtemp(place->directory));
    snprintf(place->path, sizeof(place->path), "%s/a.origin", place->directory);
}

/* Nothing but the map may be left in it. */
void fake_place_remove(struct fake_place *place)
{
    unlink(place->path);
    assert_int_equal(rmdir(place->directory), 0);
}

struct trail_origin_job fake_job(struct fake *fake, const struct trail_call *call,
                                 unsigned threads)
{
    struct trail_origin_job job = {
        .symbolizer = &fake_symbolizer,
        .image = fake,
        .call = call,
        .threads = threads,
        .info = { .format = TRAIL_FORMAT_ELF,
                  .arch = TRAIL_ARCH_X86_64,
                  .id_kind = TRAIL_ID_BUILD_ID,
                  .id_size = 20,
                  .id = { 1, 2, 3 },
                  .plugin = "fake",
                  .release = "1.2.3",
                  .shape = 0xabcdef,
                  .route = TRAIL_ROUTE_EMBEDDED,
                  .source_size = 77,
                  .source_modified_ns = 99,
                  .source = trail_text_of("/lib/a.so") },
    };
    return job;
}

uint8_t *fake_map(struct fake *fake, unsigned threads, size_t *size_ret)
{
    struct trail_call call = { .size = sizeof(call), .threads = threads };
    struct trail_origin_job job = fake_job(fake, &call, threads);
    struct fake_place place;
    struct trail_error err = { "" };
    char *bytes = NULL;
    fake_place_make(&place);
    assert_ok_err(trail_origin_build(&job, place.path, &err), err);
    assert_ok_err(trail_os_file_read(place.path, 1 << 30, &bytes, size_ret, &err), err);
    fake_place_remove(&place);
    /* In memory of just its size, so that a sanitizer sees what lies behind it. */
    uint8_t *exact = malloc(*size_ret);
    assert_non_null(exact);
    memcpy(exact, bytes, *size_ret);
    free(bytes);
    return exact;
}
