/* wanted.c -- the modules that `symbols export` is asked for, each once. */
#include "agent/symbols/wanted.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agent/lines.h"
#include "agent/process.h"
#include "config/units.h"
#include "core/trace/trace_read.h"

static char *copy_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (copy)
        memcpy(copy, text, size);
    return copy;
}

static void wanted_deinit_one(struct wanted *wanted)
{
    free(wanted->path);
    free(wanted->opened);
    free(wanted->bytes);
}

void wanted_deinit(struct wanted_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        wanted_deinit_one(&list->at[i]);
    free(list->at);
    *list = (struct wanted_list){ .count = 0 };
}

/* ---- the list ----------------------------------------------------------- */

/* What a subject is made of; `failed` sticks. */
struct gathering {
    struct wanted_list *list;
    bool failed; /* out of memory */
};

static bool is_same(const struct wanted *a, const struct wanted *b)
{
    if (a->id_size || b->id_size)
        return a->id_size == b->id_size && memcmp(a->id, b->id, a->id_size) == 0;
    return strcmp(a->path, b->path) == 0;
}

static void set_id(struct wanted *wanted, const void *id, size_t size, uint32_t kind)
{
    if (size > sizeof(wanted->id))
        return;
    memcpy(wanted->id, id, size);
    wanted->id_kind = kind;
    wanted->id_size = size;
    trail_hex((struct trail_text){ id, size }, wanted->hex, sizeof(wanted->hex));
}

static void set_known_id(struct wanted *wanted, struct module_file *module)
{
    const struct trail_module *known = &module->target.module;
    module_file_hash(module);
    set_id(wanted, module->id, known->id.size, known->id_kind);
}

static void set_reason(struct wanted *wanted, const char *reason, const char *detail)
{
    wanted->reason = reason;
    snprintf(wanted->detail, sizeof(wanted->detail), "%s", detail);
}

/* Takes over what `wanted` holds. One that is listed may become known better. */
static void put(struct gathering *gathering, struct wanted wanted)
{
    struct wanted_list *list = gathering->list;
    if (!wanted.id_size && !wanted.reason)
        set_reason(&wanted, "no_id", "has no id to be found by");
    for (size_t i = 0; i < list->count; i++) {
        if (!is_same(&list->at[i], &wanted))
            continue;
        bool better = !list->at[i].opened && !list->at[i].bytes &&
                      (wanted.opened || wanted.bytes);
        wanted_deinit_one(better ? &list->at[i] : &wanted);
        if (better)
            list->at[i] = wanted;
        return;
    }
    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 32;
        struct wanted *grown = realloc(list->at, room * sizeof(*grown));
        if (grown) {
            list->at = grown;
            list->room = room;
        }
    }
    gathering->failed = gathering->failed || !wanted.path || list->count == list->room;
    if (gathering->failed)
        wanted_deinit_one(&wanted);
    else
        list->at[list->count++] = wanted;
}

/* ---- files and processes ------------------------------------------------ */

/* A file of the module that users know as `name`. */
static void put_file(struct gathering *gathering, const char *opened, const char *name)
{
    struct trail_error err = { "" };
    struct module_file module;
    struct wanted wanted = { .path = copy_text(name) };
    if (!wanted.path) {
        gathering->failed = true;
        return;
    }
    enum trail_status status = module_file_open(opened, name, &module, &err);
    if (status) {
        set_reason(&wanted, status == TRAIL_NOT_FOUND ? "not_found" : "unreadable",
                   err.text);
    } else {
        wanted.opened = copy_text(opened);
        set_known_id(&wanted, &module);
        module_file_close(&module);
    }
    put(gathering, wanted);
}

static void put_memory(struct gathering *gathering, const struct process_module *from)
{
    struct trail_error err = { "" };
    struct module_file module;
    struct wanted wanted = { .path = copy_text(from->name),
                             .bytes = malloc(from->size + 1),
                             .bytes_size = from->size };
    if (!wanted.path || !wanted.bytes) {
        wanted_deinit_one(&wanted);
        gathering->failed = true;
        return;
    }
    memcpy(wanted.bytes, from->bytes, from->size);
    if (module_file_memory(wanted.bytes, from->size, from->name, &module, &err)) {
        set_reason(&wanted, "unreadable", err.text);
    } else {
        set_known_id(&wanted, &module);
        module_file_close(&module);
    }
    put(gathering, wanted);
}

static void put_module(void *arg, const struct process_module *module)
{
    struct gathering *gathering = arg;
    if (module->opened) {
        put_file(gathering, module->opened, module->name);
    } else if (module->bytes) {
        put_memory(gathering, module);
    } else {
        struct wanted wanted = { .path = copy_text(module->name) };
        set_reason(&wanted, "not_found",
                   "deleted, replaced or not to be read; run it as root");
        if (wanted.path)
            put(gathering, wanted);
        gathering->failed = gathering->failed || !wanted.path;
    }
}

static enum trail_status add_process(struct gathering *gathering, const char *text,
                                     struct trail_error *err)
{
    uint64_t pid;
    size_t generated;
    struct trail_error why = { "" };
    if (trail_parse_count(text, &pid) || pid == 0 || pid > INT32_MAX)
        return trail_fail(err, TRAIL_BAD_INPUT, "--pid %s: is no process id", text);
    enum trail_status status =
        process_each_module((int64_t)pid, put_module, gathering, &generated, &why);
    return status ? trail_fail(err, status, "process %s: %.200s", text, why.text)
                  : TRAIL_OK;
}

/* ---- ids and reports ---------------------------------------------------- */

static int hex_value(char digit)
{
    const char *digits = "0123456789abcdef0123456789ABCDEF";
    const char *at = digit ? strchr(digits, digit) : NULL;
    return at ? (int)((at - digits) % 16) : -1;
}

static enum trail_status add_id(struct gathering *gathering, const char *text,
                                struct trail_error *err)
{
    uint8_t id[64];
    const char prefix[] = TRAIL_TEXT_HASH_NAME ":"; /* as traces have it */
    bool hash = strncmp(text, prefix, strlen(prefix)) == 0;
    const char *hex = text + (hash ? strlen(prefix) : 0);
    size_t size = strlen(hex) / 2;
    bool good = size > 0 && size <= sizeof(id) && strlen(hex) % 2 == 0;
    for (size_t i = 0; good && i < size; i++) {
        int high = hex_value(hex[2 * i]), low = hex_value(hex[2 * i + 1]);
        good = high >= 0 && low >= 0;
        id[i] = (uint8_t)(high * 16 + low);
    }
    if (!good)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "--id %.140s: is no id: an even number of hexadecimal digits",
                          text);
    struct wanted wanted = { .path = copy_text("") };
    set_id(&wanted, id, size, hash ? TRAIL_ID_TEXT_HASH : TRAIL_ID_BUILD_ID);
    put(gathering, wanted);
    return TRAIL_OK;
}

static enum trail_status take_line(void *arg, const char *line, size_t size,
                                   struct trail_error *err)
{
    struct gathering *gathering = arg;
    struct trail_trace *trace = NULL;
    enum trail_status status = trail_trace_read(line, size, &trace, err);
    if (status)
        return status;
    for (size_t i = 0; i < trace->image_count; i++) {
        const struct trail_image *image = &trace->images[i];
        struct wanted wanted = { .path = copy_text(image->path) };
        if (!wanted.path) {
            gathering->failed = true;
            break;
        }
        if (image->id_size)
            set_id(&wanted, image->id, image->id_size, image->id_kind);
        else if (image->has_text_hash)
            set_id(&wanted, image->text_hash, TRAIL_TEXT_HASH_SIZE, TRAIL_ID_TEXT_HASH);
        put(gathering, wanted);
    }
    trail_trace_destroy(trace);
    return TRAIL_OK;
}

static enum trail_status add_report(struct gathering *gathering, const char *path,
                                    struct trail_error *err)
{
    if (lines_each(path, "reading", take_line, gathering))
        return trail_fail(err, TRAIL_BAD_INPUT, "%.200s: not all of it could be read",
                          path);
    return TRAIL_OK;
}

enum trail_status wanted_add(struct wanted_list *list,
                             const struct symbols_subject *subject,
                             struct trail_error *err)
{
    struct gathering gathering = { .list = list };
    enum trail_status status = TRAIL_OK;
    if (subject->key == KEY_PID)
        status = add_process(&gathering, subject->text, err);
    else if (subject->key == KEY_ID)
        status = add_id(&gathering, subject->text, err);
    else if (subject->key == KEY_REPORT)
        status = add_report(&gathering, subject->text, err);
    else
        put_file(&gathering, subject->text, subject->text);
    if (!status && gathering.failed)
        status = trail_fail(err, TRAIL_NO_MEMORY, "symbols: out of memory");
    return status;
}
