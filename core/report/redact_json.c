/* redact_json.c -- a line of JSON redacted on the way through: read once from left to
 * right, and copied but for what must not leave.
 */
#include <stdlib.h>

#include "core/report/redact_value.h"
#include "core/trace/json_write.h"

#define DEPTH_LIMIT 64
#define PATH_SIZE   512
#define LIST_LIMIT  64 /* paths that are listed */
#define MASK        "\"" TRAIL_REDACTED "\""

/* An object or array that is open. */
struct level {
    bool array;
    bool comma; /* something was written in it */
    size_t index;
    size_t path_size;     /* of what it is itself */
    bool attributes;      /* its members are attributes */
    bool traces, process; /* it is a trace, or the process of one */
    char changed[64];     /* member whose text was changed last */
};

struct redaction {
    const struct trail_redact *redact;
    const char *text;
    size_t size, at;
    struct trail_text_buffer out, value, list;
    struct level levels[DEPTH_LIMIT];
    size_t depth;
    char path[PATH_SIZE];
    size_t path_size;
    char key[PATH_SIZE];                  /* of the member that is being read */
    struct trail_text old_list, complete; /* members that come last */
    size_t listed;
    bool writes; /* the first time through is to see whether anything changes */
    bool changed;
    enum trail_status status;
    struct trail_error *err;
};

static void fail(struct redaction *r, const char *what)
{
    if (!r->status)
        r->status = trail_fail(r->err, TRAIL_BAD_INPUT,
                               "redact: no JSON: %s at byte %zu", what, r->at);
}

static void emit(struct redaction *r, const char *bytes, size_t size)
{
    if (r->writes)
        trail_text_buffer_add(&r->out, bytes, size);
}

static void copy(struct redaction *r, size_t start, size_t end)
{
    emit(r, r->text + start, end - start);
}

static void skip_space(struct redaction *r)
{
    while (r->at < r->size && strchr(" \t\r\n", r->text[r->at]) && r->text[r->at])
        r->at++;
}

/* ---- where we are ------------------------------------------------------- */

static void path_push(struct redaction *r, const char *step)
{
    size_t size = strlen(step);
    if (r->path_size + size + 2 > PATH_SIZE)
        return; /* deeper than anybody lists */
    if (r->path_size)
        r->path[r->path_size++] = '.';
    memcpy(r->path + r->path_size, step, size + 1);
    r->path_size += size;
}

static void path_push_member(struct redaction *r)
{
    char number[24];
    struct level *level = &r->levels[r->depth - 1];
    if (level->array)
        snprintf(number, sizeof(number), "%zu", level->index++);
    path_push(r, level->array ? number : r->key);
}

static void path_pop(struct redaction *r)
{
    r->path_size = r->depth ? r->levels[r->depth - 1].path_size : 0;
    r->path[r->path_size] = 0;
}

/* Paths are those of the trace, wherever it is. */
static void list_path(struct redaction *r)
{
    const char *path = strncmp(r->path, "trace.", 6) == 0 ? r->path + 6 : r->path;
    char written[PATH_SIZE * 6 + 8];
    struct trail_json json;
    r->changed = true;
    if (r->listed++ >= LIST_LIMIT)
        return;
    trail_json_init(&json, written, sizeof(written));
    trail_json_string(&json, NULL, path);
    if (r->list.size)
        trail_text_buffer_add(&r->list, ",", 1);
    if (trail_json_fits(&json))
        trail_text_buffer_add(&r->list, json.text, json.size);
}

/* ---- text --------------------------------------------------------------- */

/* Past the string that begins here; false: it has no end. */
static bool skip_string(struct redaction *r)
{
    for (r->at++; r->at < r->size; r->at++) {
        if (r->text[r->at] == '\\')
            r->at++;
        else if (r->text[r->at] == '"') {
            r->at++;
            return true;
        }
    }
    fail(r, "a string without end");
    return false;
}

static void unescape(struct redaction *r, size_t start, size_t end)
{
    trail_redact_unescape(r->text + start, end - start, &r->value);
}

static void write_string(struct redaction *r, const char *text, size_t size)
{
    size_t done = 0;
    emit(r, "\"", 1);
    for (size_t at = 0; at < size; at++) {
        unsigned char byte = (unsigned char)text[at];
        if (byte >= 0x20 && byte != '"' && byte != '\\')
            continue;
        emit(r, text + done, at - done);
        char escape[8];
        snprintf(escape, sizeof(escape), byte < 0x20 ? "\\u%04x" : "\\%c", byte);
        emit(r, escape, strlen(escape));
        done = at + 1;
    }
    emit(r, text + done, size - done);
    emit(r, "\"", 1);
}

/* What a report is put together by, and says nothing of anybody: no pattern is about
 * it, though one may well match it. */
static bool is_structure(const struct redaction *r, const char *text, size_t size)
{
    static const char *const keys[] = {
        "kind",  "id",       "time_ns", "mono_ns", "resolved_ns", "boot",
        "start", "trace_id", "span_id", "id_kind", "text_hash",   "cursor",
        "kinds", "trust",    "end",     "exact",   "group",       "plugin_id",
        "hex",   "want",     "format",  "state",   "edge",        "severity",
    };
    if (r->levels[r->depth - 1].attributes)
        return false;
    if (size > 2 && size <= 18 && text[0] == '0' && text[1] == 'x')
        return true;
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(r->key, keys[i]) == 0)
            return true;
    return false;
}

/* One hop after another may redact the same. */
static bool is_mask(const char *text, size_t size)
{
    return size == sizeof(MASK) - 1 && memcmp(text, MASK, size) == 0;
}

static void note_change(struct redaction *r)
{
    struct level *level = &r->levels[r->depth - 1];
    snprintf(level->changed, sizeof(level->changed), "%.60s", r->key);
    list_path(r);
}

static void redact_string(struct redaction *r)
{
    size_t start = r->at;
    if (!skip_string(r))
        return;
    if (!trail_redact_reads(r->redact) ||
        is_structure(r, r->text + start + 1, r->at - start - 2)) {
        copy(r, start, r->at);
        return;
    }
    struct trail_text_buffer made = { 0 };
    unescape(r, start + 1, r->at - 1);
    if (r->value.failed) {
        r->out.failed = true;
    } else if (trail_redact_value(r->redact, r->value.text, r->value.size, &made)) {
        note_change(r);
        write_string(r, made.text ? made.text : "", made.size);
    } else {
        copy(r, start, r->at);
    }
    r->out.failed |= made.failed;
    free(made.text);
}

/* ---- values ------------------------------------------------------------- */

/* Past a value of any kind, looking at nothing in it. */
static void skip_value(struct redaction *r)
{
    size_t depth = 0;
    do {
        skip_space(r);
        char byte = r->at < r->size ? r->text[r->at] : 0;
        if (byte == '"') {
            if (!skip_string(r))
                return;
        } else if (byte == '{' || byte == '[') {
            depth++;
            r->at++;
        } else if (byte == '}' || byte == ']') {
            depth -= depth > 0;
            r->at++;
        } else if (depth && (byte == ',' || byte == ':')) {
            r->at++;
        } else {
            size_t start = r->at;
            while (r->at < r->size && !strchr(",:{}[]\" \t\r\n", r->text[r->at]))
                r->at++;
            if (r->at == start) {
                fail(r, "a value is missing");
                return;
            }
        }
    } while (depth);
}

static void open_level(struct redaction *r, bool array)
{
    const struct level *above = r->depth ? &r->levels[r->depth - 1] : NULL;
    if (r->depth == DEPTH_LIMIT) {
        r->status = trail_fail(r->err, TRAIL_BAD_INPUT,
                               "redact: nested more than %d deep", DEPTH_LIMIT);
        return;
    }
    bool trace = !above || (r->depth == 1 && strcmp(r->key, "trace") == 0);
    r->levels[r->depth] = (struct level){
        .array = array,
        .path_size = r->path_size,
        .attributes = above && !above->array && strcmp(r->key, "attributes") == 0,
        .traces = trace,
        .process = above && above->traces && strcmp(r->key, "process") == 0,
    };
    /* What hangs below an attribute is one, too. */
    r->levels[r->depth].attributes |= above && above->attributes;
    r->depth++;
    emit(r, array ? "[" : "{", 1);
    r->at++;
}

/* The list of what was redacted, after one that was there already; and "complete",
 * which stays the last. */
static void write_last(struct redaction *r)
{
    const char *comma = r->levels[0].comma ? "," : "";
    struct trail_text old = r->old_list;
    if (r->list.size || old.size) {
        emit(r, comma, strlen(comma));
        emit(r, "\"redacted\":[", 12);
        emit(r, old.data, old.size);
        if (r->list.size && old.size)
            emit(r, ",", 1);
        emit(r, r->list.text, r->list.size);
        emit(r, "]", 1);
        comma = ",";
    }
    if (!r->complete.size)
        return;
    emit(r, comma, strlen(comma));
    emit(r, "\"complete\":", 11);
    emit(r, r->complete.data, r->complete.size);
}

static void close_level(struct redaction *r)
{
    if (r->depth == 1)
        write_last(r);
    emit(r, r->levels[r->depth - 1].array ? "]" : "}", 1);
    r->at++;
    r->depth--;
    path_pop(r);
}

/* ---- members ------------------------------------------------------------ */

static struct trail_text take_value(struct redaction *r)
{
    skip_space(r);
    size_t start = r->at;
    skip_value(r);
    return (struct trail_text){ r->text + start, r->at - start };
}

/* "path_hex" has the bytes of a path that was changed. */
static bool tells_the_same(const struct level *level, const char *key)
{
    size_t size = strlen(level->changed);
    return size && strncmp(key, level->changed, size) == 0 &&
           strcmp(key + size, "_hex") == 0;
}

/* Members that are not copied as they come; true: this was one. */
static bool special_member(struct redaction *r)
{
    const struct level *level = &r->levels[r->depth - 1];
    if (r->depth == 1 && strcmp(r->key, "complete") == 0) {
        r->complete = take_value(r);
        return true;
    }
    if (r->depth == 1 && strcmp(r->key, "redacted") == 0) {
        struct trail_text list = take_value(r);
        if (list.size < 2 || list.data[0] != '[')
            return true;
        r->old_list = (struct trail_text){ list.data + 1, list.size - 2 };
        size_t blank = 0;
        while (blank < r->old_list.size && strchr(" \t", r->old_list.data[blank]))
            blank++;
        r->old_list.data += blank;
        r->old_list.size -= blank;
        return true;
    }
    bool out = (level->traces || level->process) && !level->attributes &&
               trail_redact_takes_out(r->redact, r->key);
    if (!out && !tells_the_same(level, r->key))
        return false;
    path_push(r, r->key);
    list_path(r);
    path_pop(r);
    skip_value(r);
    return true;
}

static void read_value(struct redaction *r)
{
    const struct level *level = &r->levels[r->depth - 1];
    char byte = r->at < r->size ? r->text[r->at] : 0;
    size_t start = r->at;
    bool masked =
        level->attributes && !level->array && trail_redact_names(r->redact, r->key);
    if (!masked && (byte == '{' || byte == '[')) {
        open_level(r, byte == '[');
        return;
    }
    if (masked) {
        skip_value(r);
        if (!is_mask(r->text + start, r->at - start))
            note_change(r);
        emit(r, MASK, sizeof(MASK) - 1);
    } else if (byte == '"') {
        redact_string(r);
    } else {
        skip_value(r);
        copy(r, start, r->at);
    }
    path_pop(r);
}

static void set_key(struct redaction *r, size_t start, size_t end)
{
    size_t size = end - start;
    if (!memchr(r->text + start, '\\', size) && size < sizeof(r->key)) {
        memcpy(r->key, r->text + start, size);
        r->key[size] = 0;
        return;
    }
    unescape(r, start, end);
    snprintf(r->key, sizeof(r->key), "%s", r->value.text ? r->value.text : "");
}

/* One member of an object, or element of an array. */
static void read_member(struct redaction *r)
{
    struct level *level = &r->levels[r->depth - 1];
    size_t start = r->at, end = r->at;
    if (!level->array) {
        if (r->text[r->at] != '"') {
            fail(r, "no key");
            return;
        }
        if (!skip_string(r))
            return;
        end = r->at;
        set_key(r, start + 1, end - 1);
        skip_space(r);
        if (r->at == r->size || r->text[r->at++] != ':') {
            fail(r, "no colon");
            return;
        }
        skip_space(r);
        if (special_member(r))
            return;
    }
    if (level->comma)
        emit(r, ",", 1);
    level->comma = true;
    copy(r, start, end);
    if (!level->array)
        emit(r, ":", 1);
    path_push_member(r);
    read_value(r);
}

static void read_all(struct redaction *r)
{
    skip_space(r);
    if (r->at == r->size || r->text[r->at] != '{') {
        fail(r, "no object");
        return;
    }
    open_level(r, false);
    while (r->depth && !r->status) {
        const struct level *level = &r->levels[r->depth - 1];
        skip_space(r);
        char byte = r->at < r->size ? r->text[r->at] : 0;
        if (byte == (level->array ? ']' : '}'))
            close_level(r);
        else if (byte == ',')
            r->at++;
        else if (byte)
            read_member(r);
        else
            fail(r, "it is cut short");
    }
    skip_space(r);
    if (!r->status && r->at < r->size)
        fail(r, "something follows it");
}

enum trail_status trail_redact_json(const struct trail_redact *redact, const char *text,
                                    size_t size, char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct redaction *r = calloc(1, sizeof(*r));
    if (!r)
        return trail_fail(err, TRAIL_NO_MEMORY, "redact: out of memory");
    *r = (struct redaction){ .redact = redact, .text = text, .size = size, .err = err };
    read_all(r);
    if (!r->status && r->changed) {
        free(r->value.text);
        free(r->list.text);
        *r = (struct redaction){
            .redact = redact, .text = text, .size = size, .err = err, .writes = true
        };
        read_all(r);
    }
    enum trail_status status = r->status;
    if (!status && (r->out.failed || r->value.failed || r->list.failed))
        status = trail_fail(err, TRAIL_NO_MEMORY, "redact: out of memory");
    free(r->value.text);
    free(r->list.text);
    if (status || !r->changed) {
        free(r->out.text);
        *text_ret = NULL;
        *size_ret = 0;
    } else {
        *text_ret = trail_text_buffer_take(&r->out, size_ret);
    }
    free(r);
    return status;
}
