/* json.c -- reads the JSON that the program prints, and prints members of it.
 *
 * json [-a] [-e PATH] MEMBER...: each line of standard input is a value and becomes
 * a row; with -a all of the input is one array, whose elements are the rows; with -e
 * each element of the array at PATH is a row. Of each row the members are printed with
 * a tab between them. A path is keys and indexes joined by dots; "" is the whole row,
 * "keys" at the end the names of what is there, "^" in front takes the value that the
 * row lies in. "-" is printed for what is not there. Exit code 1 if anything is not
 * JSON. */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

static void print_keys(json_t *object)
{
    const char *key, *comma = "";
    json_t *value;
    json_object_foreach(object, key, value)
    {
        printf("%s%s", comma, key);
        comma = ",";
    }
}

static json_t *step(json_t *value, const char *key)
{
    if (json_is_array(value))
        return json_array_get(value, (size_t)strtoul(key, NULL, 10));
    return json_object_get(value, key);
}

/* The value at `path`; *keys_ret: its names are asked for. */
static json_t *value_at(json_t *value, const char *path, bool *keys_ret)
{
    char key[64];
    *keys_ret = false;
    while (*path && value) {
        size_t size = strcspn(path, ".");
        if (size >= sizeof(key))
            return NULL;
        memcpy(key, path, size);
        key[size] = 0;
        path += size + (path[size] == '.');
        *keys_ret = *path == 0 && strcmp(key, "keys") == 0;
        if (!*keys_ret)
            value = step(value, key);
    }
    return value;
}

static void print_member(json_t *whole, json_t *row, const char *path)
{
    bool keys;
    json_t *value =
        *path == '^' ? value_at(whole, path + 1, &keys) : value_at(row, path, &keys);
    if (keys) {
        print_keys(value);
        return;
    }
    char *text = value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    if (json_is_string(value))
        fputs(json_string_value(value), stdout);
    else
        fputs(text ? text : "-", stdout);
    free(text);
}

static void print_row(json_t *whole, json_t *row, char **members)
{
    for (size_t i = 0; members[i]; i++) {
        if (i)
            putchar('\t');
        print_member(whole, row, members[i]);
    }
    putchar('\n');
}

static void print_value(json_t *value, const char *each, char **members)
{
    bool keys;
    size_t i;
    json_t *row;
    if (!each) {
        print_row(value, value, members);
        return;
    }
    json_array_foreach(value_at(value, each, &keys), i, row)
        print_row(value, row, members);
}

static int refuse(const json_error_t *error, const char *text)
{
    fprintf(stderr, "json: %s: %.80s\n", error->text, text);
    return 1;
}

static int print_array(const char *each, char **members)
{
    json_error_t error = { .text = "is no array" };
    json_t *array = json_loadf(stdin, JSON_REJECT_DUPLICATES, &error), *value;
    size_t i;
    if (!json_is_array(array))
        return refuse(&error, "standard input");
    json_array_foreach(array, i, value) print_value(value, each, members);
    json_decref(array);
    return 0;
}

static int print_lines(const char *each, char **members)
{
    char *line = NULL;
    size_t room = 0;
    json_error_t error;
    int status = 0;
    while (!status && getline(&line, &room, stdin) >= 0) {
        json_t *value = json_loads(line, JSON_REJECT_DUPLICATES, &error);
        if (value)
            print_value(value, each, members);
        else
            status = refuse(&error, line);
        json_decref(value);
    }
    free(line);
    return status;
}

int main(int argc, char **argv)
{
    bool array = false;
    const char *each = NULL;
    int option;
    while ((option = getopt(argc, argv, "ae:")) >= 0) {
        if (option == 'a')
            array = true;
        else if (option == 'e')
            each = optarg;
        else
            return 2;
    }
    return array ? print_array(each, argv + optind) : print_lines(each, argv + optind);
}
