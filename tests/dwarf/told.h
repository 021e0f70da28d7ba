/* told.h -- what dwarf_enumerate tells, kept to be looked up in. */
#ifndef TEST_DWARF_TOLD_H
#define TEST_DWARF_TOLD_H

#include "plugins/dwarf/dwarf.h"
#include "test.h"

#define TOLD_MAX 20000

struct told_name {
    char text[512];
};

struct told_scope {
    uint32_t parent, function, file, line, column;
};

struct told_range {
    uint64_t start, end;
    uint32_t scope, file, line, column;
};

struct told_call {
    uint64_t return_address, target, function_start;
    char linkage[256];
    int is_tail;
};

struct told {
    struct told_name *files, *functions;
    uint64_t *function_starts;
    struct told_scope *scopes;
    struct told_range *ranges;
    struct told_call *calls;
    uint32_t file_count, function_count, scope_count, range_count, call_count;
};

static inline void told_join(struct told_name *name, struct trail_text one,
                             char between, struct trail_text other)
{
    snprintf(name->text, sizeof(name->text), "%.*s%c%.*s", (int)one.size,
             one.data ? one.data : "", between, (int)other.size,
             other.data ? other.data : "");
}

static inline enum trail_status told_file(void *arg, uint32_t id,
                                          struct trail_text file,
                                          struct trail_text directory)
{
    struct told *told = arg;
    assert_int_equal(id, ++told->file_count);
    told_join(&told->files[id], directory, ':', file);
    return TRAIL_OK;
}

static inline enum trail_status told_function(void *arg, uint32_t id,
                                              struct trail_text name,
                                              struct trail_text linkage, uint64_t start,
                                              uint64_t size)
{
    struct told *told = arg;
    (void)size;
    assert_int_equal(id, ++told->function_count);
    told_join(&told->functions[id], name, '|', linkage);
    told->function_starts[id] = start;
    return TRAIL_OK;
}

static inline enum trail_status told_scope(void *arg, uint32_t id, uint32_t parent,
                                           uint32_t function, uint32_t file,
                                           uint32_t line, uint32_t column)
{
    struct told *told = arg;
    assert_int_equal(id, ++told->scope_count);
    assert_true(parent < id && function <= told->function_count &&
                file <= told->file_count);
    told->scopes[id] = (struct told_scope){ parent, function, file, line, column };
    return TRAIL_OK;
}

static inline enum trail_status told_range(void *arg, uint64_t start, uint64_t end,
                                           uint32_t scope, uint32_t file, uint32_t line,
                                           uint32_t column)
{
    struct told *told = arg;
    assert_true(start < end && scope <= told->scope_count && file <= told->file_count);
    told->ranges[told->range_count++] =
        (struct told_range){ start, end, scope, file, line, column };
    return TRAIL_OK;
}

static inline enum trail_status told_call(void *arg, uint64_t return_address,
                                          uint64_t target, struct trail_text linkage,
                                          int tail)
{
    struct told *told = arg;
    struct told_call *call = &told->calls[told->call_count++];
    *call = (struct told_call){ .return_address = return_address,
                                .target = target,
                                .is_tail = tail };
    snprintf(call->linkage, sizeof(call->linkage), "%.*s", (int)linkage.size,
             linkage.data ? linkage.data : "");
    return TRAIL_OK;
}

static inline void told_init(struct told *told)
{
    *told = (struct told){
        .files = calloc(TOLD_MAX, sizeof(*told->files)),
        .functions = calloc(TOLD_MAX, sizeof(*told->functions)),
        .function_starts = calloc(TOLD_MAX, sizeof(*told->function_starts)),
        .scopes = calloc(TOLD_MAX, sizeof(*told->scopes)),
        .ranges = calloc(TOLD_MAX * 4, sizeof(*told->ranges)),
        .calls = calloc(TOLD_MAX, sizeof(*told->calls)),
    };
}

static inline struct trail_map_out told_out(struct told *told)
{
    return (struct trail_map_out){ .size = sizeof(struct trail_map_out),
                                   .arg = told,
                                   .file = told_file,
                                   .function = told_function,
                                   .scope = told_scope,
                                   .range = told_range,
                                   .call = told_call };
}

static inline void told_deinit(struct told *told)
{
    free(told->files);
    free(told->functions);
    free(told->function_starts);
    free(told->scopes);
    free(told->ranges);
    free(told->calls);
}

/* The frames at an address, as the reader's other answers have them. */
static inline uint32_t told_frames(const struct told *told, uint64_t address,
                                   struct origin_frame *frames)
{
    const struct told_range *range = NULL;
    for (uint32_t i = 0; i < told->range_count && !range; i++)
        if (told->ranges[i].start <= address && address < told->ranges[i].end)
            range = &told->ranges[i];
    if (!range)
        return 0;
    struct origin_frame frame = { .file = range->file,
                                  .line = range->line,
                                  .column = range->column };
    uint32_t count = 0, scope = range->scope;
    do {
        frame.function = told->scopes[scope].function;
        frames[count++] = frame;
        frame = (struct origin_frame){ .file = told->scopes[scope].file,
                                       .line = told->scopes[scope].line,
                                       .column = told->scopes[scope].column };
        scope = told->scopes[scope].parent;
    } while (scope);
    return count;
}

#endif
