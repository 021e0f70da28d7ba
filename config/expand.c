/* expand.c -- "${dir}", "${env:NAME}", "${file:PATH}" in texts, and paths made whole.
 */
#include "config/expand.h"

#include <stdbool.h>
#include <stdlib.h>

#include "config/show.h"
#include "core/os/os.h"

/* "${env:A:-${env:B:-${file:c}}}" is as deep as anybody needs. */
#define NESTING_LIMIT 4

struct expansion {
    const struct trail_config_value *at;
    struct trail_error *err;
    char *data; /* terminated */
    size_t size, room;
    unsigned depth;
};

static enum trail_status expand(struct expansion *out, const char *text, size_t size);
static enum trail_status make_path(const struct trail_config_value *at, char **path,
                                   struct trail_error *err);

static const char *directory_of(const struct trail_config_value *at)
{
    return trail_config_place(at).document->directory;
}

static enum trail_status append(struct expansion *out, const char *bytes, size_t size)
{
    if (size > TRAIL_CONFIG_TEXT_LIMIT - out->size)
        return trail_config_fail(out->at, out->err, "expands to more than %u bytes",
                                 TRAIL_CONFIG_TEXT_LIMIT);
    if (out->size + size + 1 > out->room) {
        size_t room = (out->size + size + 1) * 2;
        char *grown = realloc(out->data, room);
        if (!grown)
            return trail_fail(out->err, TRAIL_NO_MEMORY, "out of memory");
        out->data = grown;
        out->room = room;
    }
    if (size)
        memcpy(out->data + out->size, bytes, size);
    out->size += size;
    out->data[out->size] = 0;
    return TRAIL_OK;
}

/* What comes from outside ends in reports and headers: it has to be text. */
static enum trail_status append_foreign(struct expansion *out, const char *source,
                                        const char *bytes, size_t size)
{
    size_t bad_at;
    struct trail_shown shown = trail_show(source, strlen(source));
    if (memchr(bytes, 0, size) || !trail_utf8_check(bytes, size, &bad_at))
        return trail_config_fail(out->at, out->err, "what %s holds is not UTF-8 text",
                                 shown.text);
    return append(out, bytes, size);
}

static bool variable_name(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = name[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && c >= '0' && c <= '9'))
            return false;
    }
    return size > 0;
}

/* "NAME" or "NAME:-default". As in a shell, the default also stands for an empty one.
 */
static enum trail_status expand_variable(struct expansion *out, const char *text,
                                         size_t size)
{
    char name[128];
    const char *value;
    size_t name_size = 0;

    while (name_size < size && text[name_size] != ':')
        name_size++;
    bool has_default = size - name_size >= 2 && text[name_size + 1] == '-';
    struct trail_shown shown = trail_show(text, name_size);
    if (!variable_name(text, name_size) || name_size >= sizeof(name) ||
        (name_size < size && !has_default))
        return trail_config_fail(
            out->at, out->err,
            "${env:%s} names no variable; write ${env:NAME} or ${env:NAME:-default}",
            trail_show(text, size).text);
    snprintf(name, sizeof(name), "%.*s", (int)name_size, text);
    value = trail_os_environment(name);
    if (has_default && (!value || !value[0]))
        return expand(out, text + name_size + 2, size - name_size - 2);
    if (!value)
        return trail_config_fail(out->at, out->err,
                                 "environment variable %s is not set; set it, or write "
                                 "${env:%s:-default}",
                                 shown.text, shown.text);
    return append_foreign(out, name, value, strlen(value));
}

static const char *reason_of(const struct trail_error *err, const char *path)
{
    const char *reason = trail_os_reason(err->text, path);
    return reason ? reason : err->text;
}

static enum trail_status read_file(struct expansion *out, const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    struct trail_error why = { "" };
    struct trail_shown shown = trail_show(path, strlen(path));

    enum trail_status status =
        trail_os_file_read(path, TRAIL_CONFIG_FILE_LIMIT, &bytes, &size, &why);
    if (status)
        return trail_config_fail(out->at, out->err, "${file:%s}: %s", shown.text,
                                 reason_of(&why, path));
    if (size && bytes[size - 1] == '\n')
        size--;
    if (size && bytes[size] == '\n' && bytes[size - 1] == '\r')
        size--;
    status = append_foreign(out, path, bytes, size);
    free(bytes);
    return status;
}

static enum trail_status expand_file(struct expansion *out, const char *text,
                                     size_t size)
{
    struct expansion path = { .at = out->at, .err = out->err, .depth = out->depth };
    enum trail_status status = expand(&path, text, size);
    if (!status)
        status = append(&path, "", 0);
    if (!status)
        status = make_path(out->at, &path.data, out->err);
    if (!status)
        status = read_file(out, path.data);
    free(path.data);
    return status;
}

/* `text` is what stands between "${" and "}". */
static enum trail_status expand_one(struct expansion *out, const char *text,
                                    size_t size)
{
    enum trail_status status;

    if (out->depth == NESTING_LIMIT)
        return trail_config_fail(out->at, out->err,
                                 "${...} nested deeper than %d levels", NESTING_LIMIT);
    out->depth++;
    if (size == 3 && memcmp(text, "dir", 3) == 0)
        status = append(out, directory_of(out->at), strlen(directory_of(out->at)));
    else if (size >= 4 && memcmp(text, "env:", 4) == 0)
        status = expand_variable(out, text + 4, size - 4);
    else if (size >= 5 && memcmp(text, "file:", 5) == 0)
        status = expand_file(out, text + 5, size - 5);
    else
        status = trail_config_fail(out->at, out->err,
                                   "${%s} is not known; write ${dir}, ${env:NAME} or "
                                   "${file:PATH}, or $${ for ${ itself",
                                   trail_show(text, size).text);
    out->depth--;
    return status;
}

static bool starts(const char *text, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* Offset of the "}" that closes what was opened just before `text`; `size`: none. */
static size_t closing(const char *text, size_t size)
{
    size_t level = 1, at = 0;
    while (at < size) {
        if (starts(text + at, size - at, "$${")) {
            at += 3;
        } else if (starts(text + at, size - at, "${")) {
            level++;
            at += 2;
        } else if (text[at] == '}' && --level == 0) {
            return at;
        } else {
            at++;
        }
    }
    return size;
}

static enum trail_status expand(struct expansion *out, const char *text, size_t size)
{
    enum trail_status status = TRAIL_OK;
    size_t at = 0;

    while (at < size && !status) {
        const char *rest = text + at;
        size_t left = size - at;
        if (starts(rest, left, "$${")) {
            status = append(out, "${", 2);
            at += 3;
        } else if (starts(rest, left, "${")) {
            size_t end = closing(rest + 2, left - 2);
            if (end == left - 2)
                return trail_config_fail(out->at, out->err,
                                         "${ without its }; write $${ for ${ itself");
            status = expand_one(out, rest + 2, end);
            at += end + 3;
        } else {
            const char *next = memchr(rest + 1, '$', left - 1);
            size_t run = next ? (size_t)(next - rest) : left;
            status = append(out, rest, run);
            at += run;
        }
    }
    return status;
}

enum trail_status trail_config_expand(const struct trail_config_value *at,
                                      const char *text, char **text_ret,
                                      struct trail_error *err)
{
    struct expansion out = { .at = at, .err = err };
    enum trail_status status = expand(&out, text, strlen(text));
    if (!status)
        status = append(&out, "", 0); /* an empty text is memory too */
    if (status) {
        free(out.data);
        return status;
    }
    *text_ret = out.data;
    return TRAIL_OK;
}

static bool absolute(const char *path)
{
    bool letter =
        (path[0] >= 'a' && path[0] <= 'z') || (path[0] >= 'A' && path[0] <= 'Z');
    return path[0] == '/' || path[0] == '\\' ||
           (letter && path[1] == ':' && (path[2] == '/' || path[2] == '\\'));
}

/* Replace *path by what it means seen from the document. */
static enum trail_status make_path(const struct trail_config_value *at, char **path,
                                   struct trail_error *err)
{
    const char *base = directory_of(at), *rest = *path;

    if (!rest[0])
        return trail_config_fail(at, err, "an empty text is not a path");
    if (rest[0] == '~' && (rest[1] == '/' || !rest[1])) {
        base = trail_os_environment("HOME");
        rest += rest[1] ? 2 : 1;
        if (!base || !base[0])
            return trail_config_fail(at, err,
                                     "~ needs the environment variable HOME, which is "
                                     "not set");
    } else if (absolute(rest) || (strcmp(base, ".") == 0 && strcmp(rest, "-") != 0)) {
        return TRAIL_OK; /* it means the same already; but "-" would be standard input
                          */
    }
    size_t size = strlen(base) + 1 + strlen(rest) + 1;
    char *whole = malloc(size);
    if (!whole)
        return trail_fail(err, TRAIL_NO_MEMORY, "out of memory");
    const char *between = base[strlen(base) - 1] == '/' || !rest[0] ? "" : "/";
    snprintf(whole, size, "%s%s%s", base, between, rest);
    free(*path);
    *path = whole;
    return TRAIL_OK;
}

enum trail_status trail_config_expand_path(const struct trail_config_value *at,
                                           const char *text, char **path_ret,
                                           struct trail_error *err)
{
    char *path = NULL;
    enum trail_status status = trail_config_expand(at, text, &path, err);
    if (!status)
        status = make_path(at, &path, err);
    if (status) {
        free(path);
        return status;
    }
    *path_ret = path;
    return TRAIL_OK;
}
