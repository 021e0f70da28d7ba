/* fake.c -- a log filter over a made-up program. */
#include "tests/log/fake.h"

#include <stdlib.h>

#define FIXED_START 0x400000u

static void find(void *arg, struct log_module *module)
{
    (void)arg;
    module->usable = !strstr(module->name, "missing");
    module->fixed = strstr(module->name, "fixed") != NULL;
    module->program = !strstr(module->name, "lib");
    module->link_start = module->fixed ? FIXED_START : 0;
    module->link_end = module->link_start + 0x100000;
}

static bool exists(void *arg, struct trail_text name)
{
    (void)arg;
    return log_find(name, 0, "missing") == SIZE_MAX && !log_is(name, "dir/app");
}

static uint64_t start_of(const struct log_module *module)
{
    return module->fixed ? FIXED_START : 0;
}

static bool symbol(void *arg, struct log_module *module, struct trail_text name,
                   uint64_t size, uint64_t *address_ret)
{
    (void)arg;
    *address_ret = start_of(module) + 0x1100;
    return log_is(name, "main") && size <= 0x100;
}

static const char *symbol_at(void *arg, struct log_module *module, uint64_t address)
{
    (void)arg;
    uint64_t offset = address - start_of(module);
    return offset >= 0x2000 && offset < 0x2010 ? "_ZN3geo6originE" : NULL;
}

static bool of_offset(void *arg, struct log_module *module, uint64_t offset,
                      uint64_t *address_ret)
{
    (void)arg;
    *address_ret = start_of(module) + offset;
    return offset < 0x100000;
}

static bool text(void *arg, struct log_module *module, uint64_t *address_ret)
{
    (void)arg;
    *address_ret = start_of(module) + 0x1000;
    return true;
}

static enum trail_status lookup(void *arg, struct log_module *module, uint64_t address,
                                struct trail_arena *arena,
                                struct trail_answer *answer_ret)
{
    struct fake_log *log = arg;
    uint64_t offset = address - start_of(module);
    struct trail_named *frames = trail_arena_take(arena, 2 * sizeof(*frames));
    if (!frames)
        return TRAIL_NO_MEMORY;
    log->lookup_count++;
    for (int i = 0; i < 2; i++)
        frames[i] = (struct trail_named){ .directory = "/src",
                                          .file = "a.c",
                                          .function = "main",
                                          .line = (uint32_t)(offset & 0xff) + 1,
                                          .column = 5 };
    answer_ret->frames = frames;
    answer_ret->frame_count = offset >> 8 == 0x10 ? 2 : offset >> 8 == 0x11;
    if (offset >> 8 == 0x10) {
        frames[0].function = "leaf";
        frames[0].file = "leaf.h";
        frames[1].function = "outer";
    }
    if (offset >> 8 == 0x12) {
        answer_ret->frame_count = 1;
        frames[0].function = "bare";
        frames[0].file = frames[0].directory = "";
    }
    if (offset >> 8 == 0x13) {
        answer_ret->frame_count = 1;
        frames[0].function = "operator\"\"_x";
        frames[0].file = "a\\b.c";
    }
    return TRAIL_OK;
}

static void release(void *arg, struct log_module *module)
{
    (void)arg, (void)module;
}

static void note(void *arg, const char *line)
{
    struct fake_log *log = arg;
    size_t at = strlen(log->notes);
    snprintf(log->notes + at, sizeof(log->notes) - at, "%s\n", line);
}

static enum trail_status put(void *arg, const struct trail_text *spans, size_t count)
{
    struct fake_log *log = arg;
    log->put_count++;
    for (size_t i = 0; i < count; i++) {
        if (log->out_size + spans[i].size + 1 > log->out_room) {
            size_t room = 2 * (log->out_size + spans[i].size) + 4096;
            char *grown = realloc(log->out, room);
            if (!grown)
                return TRAIL_NO_MEMORY;
            log->out = grown;
            log->out_room = room;
        }
        memcpy(log->out + log->out_size, spans[i].data, spans[i].size);
        log->out_size += spans[i].size;
        log->out[log->out_size] = 0;
    }
    return TRAIL_OK;
}

static void begin(struct fake_log *log, struct log_filter_options options)
{
    log->backend = (struct log_backend){ .arg = log,
                                         .find = find,
                                         .exists = exists,
                                         .symbol = symbol,
                                         .symbol_at = symbol_at,
                                         .of_offset = of_offset,
                                         .text = text,
                                         .lookup = lookup,
                                         .release = release,
                                         .note = note };
    options.backend = &log->backend;
    log_filter_init(&log->filter, &options);
    log->filter.out.put = put;
    log->filter.out.arg = log;
    log->block.filter = &log->filter;
    log->block.size = 0;
    log->block.passing = false;
    log->out[0] = 0;
    log->out_size = log->put_count = log->lookup_count = 0;
    log->notes[0] = 0;
}

struct fake_log *fake_log_create(struct log_filter_options options)
{
    struct fake_log *log = calloc(1, sizeof(*log));
    if (!log)
        return NULL;
    log->out_room = 4096;
    log->out = malloc(log->out_room);
    if (!log->out) {
        free(log);
        return NULL;
    }
    begin(log, options);
    return log;
}

void fake_log_again(struct fake_log *log)
{
    struct log_filter_options options = log->filter.options;
    log_filter_deinit(&log->filter);
    begin(log, options);
}

void fake_log_destroy(struct fake_log *log)
{
    log_filter_deinit(&log->filter);
    free(log->out);
    free(log);
}

void fake_log_feed(struct fake_log *log, const char *bytes, size_t size, size_t chunk)
{
    if (chunk == 0 || chunk > LOG_BLOCK_SIZE)
        chunk = LOG_BLOCK_SIZE;
    while (size) {
        size_t part = size < chunk ? size : chunk;
        memcpy(log_block_room(&log->block), bytes, part);
        log_block_added(&log->block, part);
        bytes += part;
        size -= part;
    }
}

void fake_log_end(struct fake_log *log)
{
    log_block_end(&log->block);
}
