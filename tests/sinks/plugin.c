/* plugin.c -- see plugin.h. */
#define _POSIX_C_SOURCE 200809L

#include <dirent.h>
#include <dlfcn.h>
#include <unistd.h>

#include "plugin.h"

const struct trail_sink *plugin_load(const char *name)
{
    char path[512], symbol[64];

    snprintf(path, sizeof(path), "%s/%s.so", TEST_PLUGIN_DIR, name);
    snprintf(symbol, sizeof(symbol), "trail_sink_%s", name);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    const struct trail_sink *sink = dlsym(library, symbol);
    assert_non_null(sink);
    assert_int_equal(sink->abi, TRAIL_SINK_ABI);
    return sink;
}

static struct trail_option *option_next(struct option_set *set)
{
    uint32_t index = set->view.count++;

    assert_true(index < OPTION_LIMIT);
    return &set->at[index];
}

void option_text(struct option_set *set, const char *key, const char *text)
{
    option_member(set, key, "", text);
}

void option_number(struct option_set *set, const char *key, uint64_t number)
{
    struct trail_option *option = option_next(set);

    *option = (struct trail_option){ .key = key, .name = "", .number = number };
    option->text = trail_text_of("");
}

void option_member(struct option_set *set, const char *key, const char *name,
                   const char *text)
{
    struct trail_option *option = option_next(set);

    *option = (struct trail_option){ .key = key, .name = name };
    option->text = trail_text_of(text);
}

static void set_view(struct option_set *set)
{
    set->view.size = sizeof(set->view);
    set->view.stride = sizeof(set->at[0]);
    set->view.at = set->at;
}

void *state_of(const struct trail_sink *sink, struct option_set *set)
{
    struct trail_error err = { "" };
    void *state = NULL;

    set_view(set);
    assert_ok_err(sink->create(&set->view, &state, &err), err);
    return state;
}

const char *create_error(const struct trail_sink *sink, struct option_set *set,
                         enum trail_status status)
{
    static struct trail_error err;
    void *state = NULL;

    set_view(set);
    err.text[0] = '\0';
    assert_int_equal(sink->create(&set->view, &state, &err), status);
    assert_null(state);
    return err.text;
}

struct trail_record record_of(uint32_t style, const char *body)
{
    return (struct trail_record){
        .size = sizeof(struct trail_record),
        .style = style,
        .class_ = TRAIL_CLASS_EVENT,
        .id = trail_text_of("5f0c2a9e7b1d4c3fa8e6d2b19c047e55"),
        .channel = trail_text_of("report"),
        .body = trail_text_of(body),
    };
}

struct trail_sink_call call_of(const char *key)
{
    return (struct trail_sink_call){
        .size = sizeof(struct trail_sink_call),
        .key = trail_text_of(key),
    };
}

enum trail_status write_one(const struct trail_sink *sink, void *state, uint32_t style,
                            const char *body, struct trail_error *err)
{
    struct trail_record record = record_of(style, body);
    struct trail_sink_call call = call_of("key-1");
    struct trail_verdict verdict = { .size = sizeof(verdict) };

    enum trail_status status = sink->write(state, &call, &record, 1, &verdict, err);
    return status ? status : verdict.status;
}

void folder_make(char folder_ret[FOLDER_SIZE])
{
    snprintf(folder_ret, FOLDER_SIZE, "/tmp/trail-sinks-XXXXXX");
    assert_non_null(mkdtemp(folder_ret));
}

void folder_remove(const char *folder)
{
    char path[512];
    struct dirent *entry;
    DIR *directory = opendir(folder);

    assert_non_null(directory);
    while ((entry = readdir(directory))) {
        snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            remove(path);
    }
    closedir(directory);
    assert_int_equal(rmdir(folder), 0);
}

char *file_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    return text;
}
