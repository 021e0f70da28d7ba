/* memory.h -- files that exist only in a test, and configurations loaded from them. */
#ifndef CONFIG_MEMORY_H
#define CONFIG_MEMORY_H

#include "tests/test.h"
#include "config/config.h"
#include "config/load.h"

/* The files of the test; the one with a NULL path ends them. */
struct memory_file {
    const char *path, *text;
};
static const struct memory_file *memory_files;

static inline enum trail_status memory_read(const char *path, size_t limit,
                                            char **bytes_ret, size_t *size_ret,
                                            struct trail_error *err)
{
    const struct memory_file *file = memory_files;
    while (file->path && strcmp(file->path, path) != 0)
        file++;
    if (!file->path)
        return trail_fail(err, TRAIL_NOT_FOUND, "%s: No such file or directory", path);
    size_t size = strlen(file->text);
    assert_true(size <= limit);
    *bytes_ret = malloc(size + 1);
    assert_non_null(*bytes_ret);
    memcpy(*bytes_ret, file->text, size + 1);
    *size_ret = size;
    return TRAIL_OK;
}

/* In the order in which the test has them, which has to be that of their names. */
static inline enum trail_status memory_list(
    const char *path, enum trail_status (*entry)(void *arg, const char *name),
    void *arg, struct trail_error *err)
{
    size_t size = strlen(path), found = 0;
    for (const struct memory_file *file = memory_files; file->path; file++) {
        const char *name = strrchr(file->path, '/') + 1;
        if ((size_t)(name - 1 - file->path) != size ||
            strncmp(file->path, path, size) != 0)
            continue;
        found++;
        entry(arg, name);
    }
    return found ? TRAIL_OK
                 : trail_fail(err, TRAIL_NOT_FOUND, "%s: No such file or directory",
                              path);
}

static inline bool memory_real(const char *path, char *path_ret, size_t size)
{
    size_t length = strlen(path);
    const struct memory_file *file = memory_files;
    snprintf(path_ret, size, "%s", path);
    while (file->path && (strncmp(file->path, path, length) != 0 ||
                          (file->path[length] && file->path[length] != '/')))
        file++;
    return file->path != NULL; /* the file, or a folder above it */
}

static const struct trail_config_files memory_door = { memory_read, memory_list,
                                                       memory_real };

/* Load /etc/trail/agent.json, the first of `files`, which messages call
 * trail/agent.json. */
static inline struct trail_config *memory_load(
    const struct memory_file *files, const struct trail_config_variable *variables,
    size_t variable_count, struct trail_config_mistakes *mistakes)
{
    struct trail_config *config = NULL;
    const struct trail_config_input input = {
        .text = files[0].text,
        .size = strlen(files[0].text),
        .name = "trail/agent.json",
        .directory = "/etc/trail",
        .path = files[0].path,
        .files = &memory_door,
        .variables = variables,
        .variable_count = variable_count,
        .variable_directory = "/here",
    };
    memory_files = files;
    trail_config_load_input(&input, &config, mistakes);
    return config;
}

/* The same for files that have to be right. */
static inline struct trail_config *memory_load_good(const struct memory_file *files)
{
    struct trail_config_mistakes mistakes = { .told = NULL };
    struct trail_config *config = memory_load(files, NULL, 0, &mistakes);
    if (!config)
        print_error("%s\n", mistakes.first.text);
    assert_non_null(config);
    return config;
}

/* Fails unless the first of what is wrong with `files` is `message`. */
static inline void assert_memory_refused(const struct memory_file *files,
                                         const char *message)
{
    struct trail_config_mistakes mistakes = { .told = NULL };
    struct trail_config *config = memory_load(files, NULL, 0, &mistakes);
    trail_config_destroy(config);
    assert_string_equal(mistakes.first.text, message);
    assert_null(config);
    assert_int_equal(mistakes.status, TRAIL_BAD_INPUT);
}

#endif
