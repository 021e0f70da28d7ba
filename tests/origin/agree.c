/* agree.c -- a map of a real file answers as the symbolizer does that made it: at every
 * address where a range or a symbol begins or ends, and one byte behind.
 *
 * usage: origin_agree PLUGIN_DIR PLUGIN FILE [SYMBOL_DIR]
 * Exits 1 if an answer or a call differs.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/pipeline.h"
#include "core/resolve/open.h"
#include "core/resolve/origin_answer.h"
#include "core/resolve/origin_build.h"
#include "core/trace/elf.h"

#define BATCH 512u
#define SAYS  (1u << 22) /* bytes that are said of a batch at most */

/* What a map does not keep; see origin_answer.h. */
#define LOST                                                                           \
    ((uint32_t)TRAIL_FOUND_LINKAGE_OF_SYMBOL | TRAIL_FOUND_AKA_FIRST |                 \
     TRAIL_FOUND_NO_LINE_TABLE)

struct says {
    char *text;
    size_t size;
    uint64_t calls; /* the same in whatever order they come */
};

struct check {
    const struct trail_symbolizer *symbolizer;
    void *image;
    struct trail_call call;
    struct origin_map map;
    uint64_t *addresses;
    size_t count, capacity, calls, differ;
    struct says ours, theirs;
    bool was_open;
};

/* ---- addresses ----------------------------------------------------------- */

static bool add_address(struct check *check, uint64_t address)
{
    if (check->count == check->capacity) {
        size_t capacity = check->capacity * 2 + 1024;
        uint64_t *grown = realloc(check->addresses, capacity * sizeof(*grown));
        if (!grown)
            return false;
        check->addresses = grown;
        check->capacity = capacity;
    }
    check->addresses[check->count++] = address;
    return true;
}

static bool add_range(void *arg, uint64_t start, uint64_t end,
                      const struct origin_frame *frames, uint32_t count)
{
    (void)frames, (void)count;
    return add_address(arg, start) && add_address(arg, start + 1) &&
           add_address(arg, end);
}

static bool add_call(void *arg, const struct origin_call *call)
{
    return add_address(arg, call->return_address);
}

static void add_symbols(struct check *check)
{
    struct origin_symbol symbol;
    for (uint64_t i = 0; origin_map_symbol(&check->map, i, &symbol); i++) {
        add_address(check, symbol.from);
        add_address(check, symbol.to - 1);
        add_address(check, symbol.to);
    }
}

static void add_functions(struct check *check)
{
    struct origin_function function;
    for (uint32_t i = 1; origin_map_function(&check->map, i, &function); i++)
        if (function.size)
            add_address(check, function.start);
}

/* ---- what is said -------------------------------------------------------- */

static void say_text(struct says *says, struct trail_text text)
{
    if (says->size + text.size + 2 > SAYS)
        return;
    if (text.size)
        memcpy(says->text + says->size, text.data, text.size);
    says->size += text.size;
    says->text[says->size++] = '|';
}

static void say_number(struct says *says, uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRIx64, number);
    say_text(says, trail_text_of(text));
}

static enum trail_status say_found(void *arg, const struct trail_found *found)
{
    struct says *says = arg;
    say_number(says, found->index);
    say_number(says, found->flags & ~LOST);
    say_text(says, found->linkage.size ? found->linkage : found->function);
    say_text(says, found->file);
    say_text(says, found->directory);
    say_number(says, found->line);
    say_number(says, found->column);
    say_number(says, found->function_start);
    say_number(says, found->function_size);
    say_text(says, found->symbol);
    say_text(says, found->aka);
    return TRAIL_OK;
}

static enum trail_status say_call(void *arg, uint64_t return_address, uint64_t target,
                                  struct trail_text linkage, int tail)
{
    struct says *says = arg;
    size_t start = says->size;
    say_number(says, return_address);
    say_number(says, target);
    say_text(says, linkage);
    say_number(says, (uint64_t)(tail != 0));
    says->calls +=
        origin_sum_of((const uint8_t *)says->text + start, says->size - start);
    return TRAIL_OK;
}

/* Around where they begin to differ. */
static void print_part(const char *who, const struct says *says, size_t at)
{
    size_t start = at < 80 ? 0 : at - 80;
    size_t size = says->size - start < 240 ? says->size - start : 240;
    printf("  %s %.*s\n", who, (int)size, says->text + start);
}

static void compare(struct check *check, uint64_t address)
{
    const struct says *ours = &check->ours, *theirs = &check->theirs;
    size_t at = 0;
    while (at < ours->size && at < theirs->size && ours->text[at] == theirs->text[at])
        at++;
    bool is_same = at == ours->size && at == theirs->size;
    if (ours->calls && ours->calls == theirs->calls)
        is_same = true;
    if (!is_same && check->differ++ < 5) {
        printf("in the batch from 0x%" PRIx64 "\n", address);
        print_part("map   ", ours, at);
        print_part("plugin", theirs, at);
    }
    check->ours.size = check->theirs.size = 0;
    check->ours.calls = check->theirs.calls = 0;
}

/* ---- comparing ----------------------------------------------------------- */

static void compare_answers(struct check *check)
{
    for (size_t i = 0; i < check->count; i += BATCH) {
        size_t size = check->count - i < BATCH ? check->count - i : BATCH;
        trail_origin_answer(&check->map, check->addresses + i, size, say_found,
                            &check->ours);
        check->symbolizer->resolve(check->image, &check->call, check->addresses + i,
                                   size, say_found, &check->theirs, NULL);
        compare(check, check->addresses[i]);
    }
}

static void compare_calls(struct check *check)
{
    struct trail_map_out ours = { .size = sizeof(ours), .call = say_call };
    struct trail_map_out theirs = ours;
    ours.arg = &check->ours;
    theirs.arg = &check->theirs;
    check->count = 0;
    origin_map_each_call(&check->map, 0, UINT64_MAX, add_call, check);
    check->calls = check->count;
    add_functions(check);
    for (size_t i = 0; i < check->count; i++) {
        trail_origin_calls(&check->map, check->addresses + i, 1, &ours);
        check->symbolizer->calls(check->image, &check->call, check->addresses + i, 1,
                                 &theirs, NULL);
        compare(check, check->addresses[i]);
    }
}

static enum trail_status check_map(struct check *check, const char *path,
                                   struct trail_error *err)
{
    struct trail_origin_job job = { .symbolizer = check->symbolizer,
                                    .image = check->image,
                                    .call = &check->call,
                                    .threads = 2 };
    struct trail_os_file file = { .fd = -1 };
    enum trail_status status = trail_origin_build(&job, path, err);
    if (!status)
        status = trail_os_file_map(path, SIZE_MAX, &file, err);
    if (!status)
        status = origin_map_open(file.bytes, file.size, &check->map, err);
    if (!status)
        status = origin_map_verify(&check->map, err);
    if (!status) {
        origin_map_each_range(&check->map, add_range, check);
        add_symbols(check);
        size_t answers = check->count;
        compare_answers(check);
        compare_calls(check);
        printf("%zu addresses and %zu calls, %zu differ\n", answers, check->calls,
               check->differ);
    }
    trail_os_file_close(&file);
    return status;
}

static bool visit(void *arg, struct trail_open *open)
{
    struct check *check = arg;
    char path[] = "/tmp/trail-agree.XXXXXX";
    struct trail_error err = { "" };
    check->symbolizer = open->link->plugin->symbolizer;
    check->image = open->image;
    check->call = trail_open_call(open);
    check->was_open = true;
    int fd = mkstemp(path);
    if (fd >= 0)
        close(fd);
    if (fd < 0 || check_map(check, path, &err)) {
        fprintf(stderr, "%s\n", err.text);
        check->differ++;
    }
    unlink(path);
    return true;
}

static void describe(const char *path, const struct trail_os_file *file,
                     struct trail_target *target)
{
    struct trail_elf elf;
    *target = (struct trail_target){ .path = path, .given = true };
    target->module = (struct trail_module){ .size = sizeof(target->module),
                                            .format = TRAIL_FORMAT_ELF,
                                            .path = trail_text_of(path) };
    if (!trail_elf_parse(file->bytes, file->size, &elf))
        return;
    target->module.arch = trail_elf_arch(&elf);
    if (trail_elf_build_id(&elf, &target->module.id))
        target->module.id_kind = TRAIL_ID_BUILD_ID;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: %s PLUGIN_DIR PLUGIN FILE [SYMBOL_DIR]\n", argv[0]);
        return 2;
    }
    const char *const symbols[] = { argc > 4 ? argv[4] : NULL, NULL };
    const struct trail_pipeline_options options = { .config_path = "",
                                                    .plugin_path = argv[1],
                                                    .symbol_directories = symbols,
                                                    .only_symbolizer = argv[2] };
    struct check check = { .ours.text = malloc(SAYS), .theirs.text = malloc(SAYS) };
    struct trail_pipeline *pipeline = NULL;
    struct trail_os_file file = { .fd = -1 };
    struct trail_error err = { "" };
    struct trail_target target;
    struct trail_resolver *resolver = NULL;

    if (check.ours.text && check.theirs.text &&
        !trail_os_file_map(argv[3], SIZE_MAX, &file, &err) &&
        !trail_pipeline_create(&options, &pipeline, &err))
        resolver = trail_pipeline_resolver(pipeline, &err);
    if (resolver) {
        describe(argv[3], &file, &target);
        trail_resolver_each(resolver, &target, 0, visit, &check);
    }
    if (!check.was_open)
        fprintf(stderr, "%s: not opened: %s\n", argv[3], err.text);
    trail_os_file_close(&file);
    trail_pipeline_destroy(pipeline, 0);
    free(check.addresses);
    free(check.ours.text);
    free(check.theirs.text);
    return !check.was_open || check.differ;
}
