/* trace_read.c -- a raw trace read from JSON. */
#include "core/trace/trace_read.h"

#include <errno.h>
#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "core/trace/trace_close.h"
#include "core/trace/trace_write.h"
#include "core/trace/wire.h"

#define THREAD_LIMIT 4096
#define PC_LIMIT     65536  /* of one thread */
#define PCS_LIMIT    131072 /* of all threads */
#define IMAGE_LIMIT  8192
#define RANGE_LIMIT  64    /* of one module */
#define RANGES_LIMIT 16384 /* of all modules */
#define ID_LIMIT     64

/* The next one is still a number that all readers can hold. */
#define REVISION_LIMIT (UINT64_C(1) << 53)

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

bool trail_json_number_of(const json_t *value, uint64_t *number_ret)
{
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        if (number < 0)
            return false;
        *number_ret = (uint64_t)number;
        return true;
    }
    const char *text = json_string_value(value);
    if (!text || !((text[0] >= '0' && text[0] <= '9')))
        return false;
    char *end = NULL;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    errno = 0;
    unsigned long long number = strtoull(text, &end, base);
    if (*end != 0 || errno)
        return false;
    *number_ret = number;
    return true;
}

static uint64_t number_or(const json_t *object, const char *key, uint64_t otherwise)
{
    uint64_t number;
    return trail_json_number_of(json_object_get(object, key), &number) ? number
                                                                       : otherwise;
}

static enum trail_status bad(struct trail_error *err, const char *member,
                             const char *want)
{
    return trail_fail(err, TRAIL_BAD_INPUT, "trace: %s: %s", member, want);
}

/* An array member of at most `limit` elements; absent counts as empty. */
static enum trail_status array_of(const json_t *object, const char *key, size_t limit,
                                  size_t *count_ret, struct trail_error *err)
{
    const json_t *array = json_object_get(object, key);
    if (array && !json_is_array(array))
        return bad(err, key, "must be an array");
    if (json_array_size(array) > limit)
        return trail_fail(err, TRAIL_BAD_INPUT, "trace: %s: over %zu elements", key,
                          limit);
    *count_ret = json_array_size(array);
    return TRAIL_OK;
}

static void *zeroed(size_t count, size_t size)
{
    return calloc(count ? count : 1, size);
}

static enum trail_status read_ranges(const json_t *object, const char *key,
                                     struct trail_range **ranges_ret, size_t *count_ret,
                                     struct trail_error *err)
{
    size_t count = 0;
    enum trail_status status = array_of(object, key, RANGE_LIMIT, &count, err);
    if (status)
        return status;
    struct trail_range *ranges = zeroed(count, sizeof(*ranges));
    if (!ranges)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    for (size_t i = 0; i < count; i++) {
        const json_t *range = json_array_get(json_object_get(object, key), i);
        if (!trail_json_number_of(json_array_get(range, 0), &ranges[i].start) ||
            !trail_json_number_of(json_array_get(range, 1), &ranges[i].end)) {
            free(ranges);
            return bad(err, key, "wants [\"0x..\", \"0x..\"] pairs");
        }
    }
    *ranges_ret = ranges;
    *count_ret = count;
    return TRAIL_OK;
}

/* ---- threads ------------------------------------------------------------ */

/* The letters of one column; where there are too few, what a plain stack has. */
static char *letters(const json_t *object, const char *key, size_t count,
                     const char *plain)
{
    const char *given = text_of(object, key);
    size_t size = strlen(given);
    char *text = malloc(count + 1);
    for (size_t i = 0; text && i < count; i++)
        text[i] = i < size ? given[i] : plain[i ? 1 : 0];
    if (text)
        text[count] = 0;
    return text;
}

static enum trail_status read_pcs(const json_t *object, struct trail_thread *thread,
                                  struct trail_error *err)
{
    enum trail_status status =
        array_of(object, "pcs", PC_LIMIT, &thread->pc_count, err);
    if (status)
        return status;
    thread->pcs = zeroed(thread->pc_count, sizeof(*thread->pcs));
    thread->kinds = letters(object, "kinds", thread->pc_count, "ir");
    thread->trust = letters(object, "trust", thread->pc_count, "xc");
    if (!thread->pcs || !thread->kinds || !thread->trust)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    const json_t *pcs = json_object_get(object, "pcs");
    for (size_t i = 0; i < thread->pc_count; i++)
        if (!trail_json_number_of(json_array_get(pcs, i), &thread->pcs[i]))
            return bad(err, "pcs", "wants addresses such as \"0x401136\"");
    return TRAIL_OK;
}

static enum trail_status read_thread(const json_t *object, uint64_t epoch,
                                     struct trail_thread *thread,
                                     struct trail_error *err)
{
    if (!json_is_object(object))
        return bad(err, "threads", "wants objects");
    thread->tid = (int64_t)number_or(object, "tid", 0);
    thread->name = text_of(object, "name");
    thread->crashed = json_is_true(json_object_get(object, "crashed"));
    thread->end = text_of(object, "end");
    thread->truncated = thread->end[0] && strcmp(thread->end, "base") != 0 &&
                        strcmp(thread->end, "unsupported") != 0;
    thread->epoch = number_or(object, "epoch", epoch);
    enum trail_status status = read_pcs(object, thread, err);
    return status ? status
                  : read_ranges(object, "own", &thread->own, &thread->own_count, err);
}

static enum trail_status read_threads(struct trail_trace *trace,
                                      struct trail_error *err)
{
    uint64_t epoch = number_or(trace->raw, "epoch", 0);
    enum trail_status status =
        array_of(trace->raw, "threads", THREAD_LIMIT, &trace->thread_count, err);
    if (status)
        return status;
    trace->threads = zeroed(trace->thread_count, sizeof(*trace->threads));
    if (!trace->threads)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    const json_t *threads = json_object_get(trace->raw, "threads");
    size_t pcs = 0;
    for (size_t i = 0; !status && i < trace->thread_count; i++) {
        status =
            read_thread(json_array_get(threads, i), epoch, &trace->threads[i], err);
        pcs += trace->threads[i].pc_count;
        if (!status && pcs > PCS_LIMIT)
            status = bad(err, "pcs", "over 131072 of them");
    }
    return status;
}

/* ---- modules ------------------------------------------------------------ */

static uint32_t word_index(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return (uint32_t)i;
    return 0;
}

static uint32_t format_of(const char *word)
{
    static const char *const words[] = { "", "elf", "macho", "pe", "wasm", "jit" };
    return word_index(word, words, sizeof(words) / sizeof(words[0]));
}

static uint32_t id_kind_of(const char *word)
{
    static const char *const words[] = { "none", "build-id", "uuid", "guid-age",
                                         "text-hash" };
    return word_index(word, words, sizeof(words) / sizeof(words[0]));
}

static uint32_t arch_of(const char *word)
{
    static const char *const words[] = {
        "",        "x86_64", "x86", "aarch64", "arm",
        "riscv64", "s390x",  "ppc", "ppc64",   "wasm32"
    };
    return word_index(word, words, sizeof(words) / sizeof(words[0]));
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static enum trail_status read_id(const json_t *object, struct trail_image *image,
                                 struct trail_error *err)
{
    const char *text = text_of(object, "id");
    size_t size = strlen(text);
    if (size % 2 || size / 2 > ID_LIMIT)
        return bad(err, "modules.id", "wants pairs of hexadecimal digits, 64 at most");
    image->id = zeroed(size / 2, 1);
    if (!image->id)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    for (size_t i = 0; i < size; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0)
            return bad(err, "modules.id", "wants hexadecimal digits");
        image->id[i / 2] = (uint8_t)(image->id[i / 2] << 4 | digit);
    }
    image->id_size = size / 2;
    return TRAIL_OK;
}

/* One of another kind, or that is none, is no hash that could be compared. */
static void read_text_hash(const json_t *object, struct trail_image *image)
{
    static const char prefix[] = TRAIL_TEXT_HASH_NAME ":";
    const char *text = text_of(object, "text_hash");
    if (strncmp(text, prefix, sizeof(prefix) - 1) != 0)
        return;
    text += sizeof(prefix) - 1;
    if (strlen(text) != (size_t)2 * TRAIL_TEXT_HASH_SIZE)
        return;
    for (size_t i = 0; i < TRAIL_TEXT_HASH_SIZE; i++) {
        int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return;
        image->text_hash[i] = (uint8_t)(high << 4 | low);
    }
    image->has_text_hash = true;
}

static enum trail_status read_image(const json_t *object, struct trail_image *image,
                                    struct trail_error *err)
{
    if (!json_is_object(object))
        return bad(err, "modules", "wants objects");
    image->path = text_of(object, "path");
    image->format = format_of(text_of(object, "format"));
    image->arch = arch_of(text_of(object, "arch"));
    image->id_kind = id_kind_of(text_of(object, "id_kind"));
    image->vdso = json_is_true(json_object_get(object, "vdso"));
    image->main_program = json_is_true(json_object_get(object, "main"));
    image->bias = number_or(object, "bias", 0);
    const json_t *epochs = json_object_get(object, "epochs");
    if (!trail_json_number_of(json_array_get(epochs, 0), &image->first))
        image->first = 0;
    if (!trail_json_number_of(json_array_get(epochs, 1), &image->last))
        image->last = UINT64_MAX;
    read_text_hash(object, image);
    enum trail_status status = read_id(object, image, err);
    return status ? status
                  : read_ranges(object, "ranges", &image->ranges, &image->range_count,
                                err);
}

static enum trail_status read_images(struct trail_trace *trace, struct trail_error *err)
{
    enum trail_status status =
        array_of(trace->raw, "modules", IMAGE_LIMIT, &trace->image_count, err);
    if (status)
        return status;
    trace->images = zeroed(trace->image_count, sizeof(*trace->images));
    if (!trace->images)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    const json_t *modules = json_object_get(trace->raw, "modules");
    size_t ranges = 0;
    for (size_t i = 0; !status && i < trace->image_count; i++) {
        status = read_image(json_array_get(modules, i), &trace->images[i], err);
        ranges += trace->images[i].range_count;
        if (!status && ranges > RANGES_LIMIT)
            status = bad(err, "ranges", "over 16384 of them");
    }
    return status;
}

/* ---- the whole ---------------------------------------------------------- */

/* Of a trace, and of the report around it. */
static enum trail_status check_version(const json_t *object, struct trail_error *err)
{
    const json_t *member = json_object_get(object, "backtrail");
    json_int_t version = json_integer_value(member);

    if (!member)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "trace: no member \"backtrail\": this is not a raw trace");
    if (!json_is_integer(member))
        return bad(err, "\"backtrail\"", "wants the version, a whole number such as 1");
    if (version > TRAIL_WIRE_VERSION)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "trace: version %lld is newer than %d, which this program "
                          "reads; upgrade backtrail",
                          (long long)version, TRAIL_WIRE_VERSION);
    if (version < TRAIL_WIRE_VERSION_OLDEST)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "trace: version %lld is older than %d, the oldest that this "
                          "program reads; use an older backtrail",
                          (long long)version, TRAIL_WIRE_VERSION_OLDEST);
    return TRAIL_OK;
}

static enum trail_status read_header(struct trail_trace *trace, struct trail_error *err)
{
    const json_t *app = json_object_get(trace->raw, "app");
    const json_t *process = json_object_get(trace->raw, "process");
    enum trail_status status = check_version(trace->raw, err);

    if (status)
        return status;
    trace->id = text_of(trace->raw, "id");
    trace->why = text_of(trace->raw, "why");
    trace->channel = text_of(trace->raw, "channel");
    trace->severity = text_of(trace->raw, "severity");
    trace->message = text_of(trace->raw, "message");
    trace->app_name = text_of(app, "name");
    trace->app_version = text_of(app, "version");
    trace->exe = text_of(process, "exe");
    trace->start = text_of(process, "start");
    trace->pid = (int64_t)number_or(process, "pid", 0);
    trace->time_ns = number_or(trace->raw, "time_ns", 0);
    return TRAIL_OK;
}

/* The raw trace of a line: the object itself, or what a report has inside. */
static enum trail_status take_raw(json_t *object, struct trail_trace *trace,
                                  struct trail_error *err)
{
    if (!json_is_object(object))
        return trail_fail(err, TRAIL_BAD_INPUT, "trace: wants a JSON object");
    if (strcmp(text_of(object, "kind"), "report") != 0) {
        trace->raw = json_incref(object);
        return TRAIL_OK;
    }
    enum trail_status status = check_version(object, err);
    if (status)
        return status;
    uint64_t revision = number_or(object, "revision", 1);
    trace->revision = revision > 0 && revision < REVISION_LIMIT ? (int64_t)revision : 1;
    trace->report = json_incref(object);
    trace->raw = json_incref(json_object_get(object, "trace"));
    return json_is_object(trace->raw) ? TRAIL_OK
                                      : bad(err, "trace", "is missing from the report");
}

/* jansson quotes what it met, which may hold newlines and worse. */
static enum trail_status bad_json(struct trail_error *err, json_error_t *where)
{
    if (json_error_code(where) == json_error_out_of_memory)
        return trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    for (char *at = where->text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' ';
    return trail_fail(err, TRAIL_BAD_INPUT, "trace: column %d: %s", where->column,
                      where->text);
}

/* Writers put the kind first (docs/wire.md), so a glance at the beginning will do. */
size_t trail_trace_size_limit(const char *text, size_t size)
{
    static const char *const words[] = { "\"kind\":\"report\"",
                                         "\"kind\": \"report\"" };
    char begin[128];
    if (size >= sizeof(begin))
        size = sizeof(begin) - 1;
    memcpy(begin, text, size);
    begin[size] = 0;
    bool report = strstr(begin, words[0]) || strstr(begin, words[1]);
    return report ? TRAIL_REPORT_SIZE_LIMIT : TRAIL_TRACE_SIZE_LIMIT;
}

enum trail_status trail_trace_read(const char *text, size_t size,
                                   struct trail_trace **trace_ret,
                                   struct trail_error *err)
{
    json_error_t where;
    size_t limit = trail_trace_size_limit(text, size);
    if (size > limit)
        return trail_fail(err, TRAIL_BAD_INPUT, "trace: larger than %zu bytes", limit);
    json_t *object = json_loadb(text, size, 0, &where);
    if (!object)
        object = trail_trace_load_cut(text, size, &where);
    if (!object)
        return bad_json(err, &where);

    struct trail_trace *trace = calloc(1, sizeof(*trace));
    enum trail_status status =
        trace ? take_raw(object, trace, err)
              : trail_fail(err, TRAIL_NO_MEMORY, "trace: out of memory");
    json_decref(object);
    if (!status)
        status = read_header(trace, err);
    if (!status)
        status = read_threads(trace, err);
    if (!status)
        status = read_images(trace, err);
    if (status) {
        trail_trace_destroy(trace);
        return status;
    }
    *trace_ret = trace;
    return TRAIL_OK;
}

void trail_trace_destroy(struct trail_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; trace->threads && i < trace->thread_count; i++) {
        free(trace->threads[i].pcs);
        free(trace->threads[i].kinds);
        free(trace->threads[i].trust);
        free(trace->threads[i].own);
    }
    for (size_t i = 0; trace->images && i < trace->image_count; i++) {
        free(trace->images[i].id);
        free(trace->images[i].ranges);
    }
    free(trace->threads);
    free(trace->images);
    json_decref(trace->raw);
    json_decref(trace->report);
    free(trace);
}

const struct trail_image *trail_trace_image(const struct trail_trace *trace,
                                            uint64_t epoch, uint64_t pc,
                                            const struct trail_image **gone_ret)
{
    *gone_ret = NULL;
    for (size_t i = 0; i < trace->image_count; i++) {
        const struct trail_image *image = &trace->images[i];
        bool inside = false;
        for (size_t j = 0; j < image->range_count && !inside; j++)
            inside = pc >= image->ranges[j].start && pc < image->ranges[j].end;
        if (inside && epoch >= image->first && epoch <= image->last)
            return image;
        if (inside)
            *gone_ret = image;
    }
    return NULL;
}
