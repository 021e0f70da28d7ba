/* manifest.c -- what an export tells of itself: manifest.json. */
#include "agent/symbols/manifest.h"

#include <stdlib.h>

#include "backtrail/backtrail.h"
#include "core/report/json_text.h"

static const char *subject_name(enum symbols_key key)
{
    switch (key) {
    case KEY_PID:
        return "pid";
    case KEY_ID:
        return "id";
    case KEY_REPORT:
        return "report";
    default:
        return "exe";
    }
}

void manifest_init(struct manifest *manifest, const struct symbols_options *options)
{
    *manifest = (struct manifest){ .asked = json_array(), .modules = json_array() };
    for (size_t i = 0; i < options->subject_count; i++) {
        const struct symbols_subject *subject = &options->subjects[i];
        json_t *object = json_object();
        json_object_set_new(object, subject_name(subject->key),
                            trail_json_text_of(subject->text));
        json_array_append_new(manifest->asked, object);
    }
}

static json_t *file_json(const struct manifest_file *file)
{
    json_t *object = json_object();
    if (file->name[0])
        json_object_set_new(object, "name", json_string(file->name));
    json_object_set_new(object, "kind", json_string(file->kind));
    json_object_set_new(object, "state",
                        json_string(file->exported ? "exported" : "missing"));
    if (!file->exported) {
        json_object_set_new(object, "reason", json_string(file->reason));
        json_object_set_new(object, "detail", trail_json_text_of(file->detail));
        if (file->remedy[0])
            json_object_set_new(object, "remedy", json_string(file->remedy));
        return object;
    }
    json_object_set_new(object, "size", json_integer((json_int_t)file->size));
    json_object_set_new(object, "sha256", json_string(file->sha256));
    json_object_set_new(object, "route", json_string(file->route));
    if (file->built)
        json_object_set_new(object, "built", json_true());
    return object;
}

void manifest_add(struct manifest *manifest, const struct wanted *wanted,
                  const struct manifest_file *files, size_t count)
{
    json_t *object = json_object(), *array = json_array();
    if (wanted->hex[0])
        json_object_set_new(object, "id", json_string(wanted->hex));
    if (wanted->id_kind == TRAIL_ID_TEXT_HASH)
        json_object_set_new(object, "id_kind", json_string("text-hash"));
    if (wanted->path[0])
        json_object_set_new(object, "path", trail_json_text_of(wanted->path));
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(array, file_json(&files[i]));
        if (files[i].exported)
            manifest->exported++;
        else
            manifest->missing++;
    }
    json_object_set_new(object, "files", array);
    json_array_append_new(manifest->modules, object);
}

enum trail_status manifest_write(const struct manifest *manifest, const char *directory,
                                 char **text_ret, struct trail_error *err)
{
    char path[SYMBOLS_PATH_SIZE];
    json_t *whole =
        json_pack("{s:i, s:s, s:{s:s, s:s}, s:O, s:O}", "backtrail", 1, "kind",
                  "symbols", "writer", "name", "backtrail", "version", TRAIL_VERSION,
                  "asked", manifest->asked, "modules", manifest->modules);
    size_t size = whole ? json_dumpb(whole, NULL, 0, JSON_COMPACT) : 0;
    char *text = size ? malloc(size + 2) : NULL;
    if (text)
        json_dumpb(whole, text, size, JSON_COMPACT);
    json_decref(whole);
    if (!text)
        return trail_fail(err, TRAIL_NO_MEMORY, "%s: out of memory", MANIFEST_NAME);
    memcpy(text + size, "\n", 2);
    snprintf(path, sizeof(path), "%s/%s", directory, MANIFEST_NAME);
    enum trail_status status = trail_os_file_write(path, text, strlen(text), 0644, err);
    if (status)
        free(text);
    else
        *text_ret = text;
    return status;
}

void manifest_deinit(struct manifest *manifest)
{
    json_decref(manifest->asked);
    json_decref(manifest->modules);
}
