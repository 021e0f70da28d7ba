/* members.c -- prints members of reports that come on standard input, one a line.
 *
 * members [-r] PATH...: of each frame, or with -r of each report, these members; "-" is
 * one that is not there. Paths are keys joined by dots. Exit code 1 if a line is not
 * JSON. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

static const json_t *member(const json_t *object, const char *path)
{
    char key[64];
    while (*path && object) {
        size_t size = strcspn(path, ".");
        if (size >= sizeof(key))
            return NULL;
        memcpy(key, path, size);
        key[size] = 0;
        object = json_object_get(object, key);
        path += size + (path[size] == '.');
    }
    return object;
}

static void print_value(const json_t *value)
{
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        fputs(text ? text : "-", stdout);
    free(text);
}

static void print_members(const json_t *object, char **paths)
{
    for (size_t i = 0; paths[i]; i++) {
        if (i)
            putchar(' ');
        print_value(member(object, paths[i]));
    }
    putchar('\n');
}

static void print_frames(const json_t *report, char **paths)
{
    size_t t, f;
    json_t *thread, *frame;
    json_array_foreach(json_object_get(report, "threads"), t, thread)
        json_array_foreach(json_object_get(thread, "frames"), f, frame)
            print_members(frame, paths);
}

int main(int argc, char **argv)
{
    static char line[1 << 20];
    bool whole = argc > 1 && strcmp(argv[1], "-r") == 0;
    char **paths = argv + (whole ? 2 : 1);
    while (fgets(line, sizeof(line), stdin)) {
        json_error_t error;
        json_t *report = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (!report) {
            fprintf(stderr, "%s: %.60s\n", error.text, line);
            return 1;
        }
        if (whole)
            print_members(report, paths);
        else
            print_frames(report, paths);
        json_decref(report);
    }
    return 0;
}
