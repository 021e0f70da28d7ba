/* agree.c -- how far two symbolizers agree: two files of llvm-symbolizer's JSON, a line
 * an address, compared in file, line and chain.
 *
 * usage: symbolize_agree PERCENT OURS THEIRS
 * Prints each difference and the share of equal answers; exits 1 below PERCENT.
 */
#define _POSIX_C_SOURCE 200809L

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

struct tally {
    size_t same, different;
    size_t aliases; /* of the same: equal only as another name of the same code */
};

/* The path with "." and ".." folded; the result is static, one a slot. */
static const char *folded(const char *path, int slot)
{
    static char results[2][4096];
    char copy[4096], *parts[512], *next = NULL, *ret = results[slot];
    size_t count = 0, at = 0;
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *part = copy; part && count < 512; part = next) {
        next = strchr(part, '/');
        if (next)
            *next++ = 0;
        if (strcmp(part, "..") == 0 && count)
            count--;
        else if (*part && strcmp(part, ".") != 0)
            parts[count++] = part;
    }
    ret[0] = 0;
    for (size_t i = 0; i < count && at < 4096; i++)
        at += (size_t)snprintf(ret + at, 4096 - at, "/%s", parts[i]);
    return ret;
}

/* LLVM puts the symbol's name on the outermost frame, where DWARF has the function's,
 * and leaves a symbol version such as @GLIBC_2.34 on it. */
static bool same_function(const char *a, const char *b)
{
    static const char *const endings[] = { ".cold",  ".part.",     ".constprop.",
                                           ".isra.", ".lto_priv.", "@" };
    size_t sizes[2] = { strlen(a), strlen(b) };
    const char *names[2] = { a, b };
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
            const char *at = strstr(names[k], endings[i]);
            if (at && (size_t)(at - names[k]) < sizes[k])
                sizes[k] = (size_t)(at - names[k]);
        }
    return sizes[0] == sizes[1] && strncmp(a, b, sizes[0]) == 0;
}

static const char *member(const json_t *symbol, const char *key)
{
    const char *text = json_string_value(json_object_get(symbol, key));
    return text ? text : "";
}

static bool is_alias(const json_t *symbol, const char *name)
{
    const json_t *names = json_object_get(symbol, "AlsoKnownAs"), *alias;
    size_t i;
    json_array_foreach(names, i, alias) if (same_function(json_string_value(alias),
                                                          name)) return true;
    return false;
}

static bool same_symbol(const json_t *ours, const json_t *theirs, bool outermost,
                        bool *alias_ret)
{
    json_int_t line = json_integer_value(json_object_get(theirs, "Line"));
    if (json_integer_value(json_object_get(ours, "Line")) != line)
        return false;
    if (strcmp(folded(member(ours, "FileName"), 0),
               folded(member(theirs, "FileName"), 1)))
        return false;
    const char *name = member(theirs, "FunctionName");
    if (same_function(member(ours, "FunctionName"), name) ||
        (outermost && same_function(member(ours, "SymbolName"), name)))
        return true;
    *alias_ret = outermost && is_alias(ours, name);
    return *alias_ret;
}

static bool same_answer(const json_t *ours, const json_t *theirs, bool *alias_ret)
{
    const json_t *a = json_object_get(ours, "Symbol"),
                 *b = json_object_get(theirs, "Symbol");
    size_t count = json_array_size(a);
    if (count != json_array_size(b) ||
        strcmp(member(ours, "Address"), member(theirs, "Address")) != 0)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!same_symbol(json_array_get(a, i), json_array_get(b, i), i + 1 == count,
                         alias_ret))
            return false;
    return true;
}

static void print_chain(const char *who, const json_t *answer)
{
    const json_t *symbols = json_object_get(answer, "Symbol"), *symbol;
    size_t i;
    printf("  %s:", who);
    json_array_foreach(symbols, i, symbol)
        printf(" %s@%s:%lld", member(symbol, "FunctionName"),
               member(symbol, "FileName"),
               (long long)json_integer_value(json_object_get(symbol, "Line")));
    printf("\n");
}

static void compare_lines(const char *ours, const char *theirs, struct tally *tally)
{
    json_t *a = json_loads(ours, 0, NULL), *b = json_loads(theirs, 0, NULL);
    bool alias = false;
    if (a && b && same_answer(a, b, &alias)) {
        tally->same++;
        tally->aliases += alias;
    } else {
        tally->different++;
        printf("%s\n", member(b, "Address"));
        print_chain("ours  ", a);
        print_chain("theirs", b);
    }
    json_decref(a);
    json_decref(b);
}

int main(int argc, char **argv)
{
    struct tally tally = { 0 };
    char *lines[2] = { NULL, NULL };
    size_t rooms[2] = { 0, 0 };
    FILE *ours = argc == 4 ? fopen(argv[2], "r") : NULL;
    FILE *theirs = argc == 4 ? fopen(argv[3], "r") : NULL;
    if (!ours || !theirs) {
        fprintf(stderr, "usage: symbolize_agree PERCENT OURS THEIRS\n");
        return 2;
    }
    while (getline(&lines[0], &rooms[0], ours) > 0) {
        ssize_t got;
        do
            got = getline(&lines[1], &rooms[1], theirs);
        while (got == 1); /* LLVM leaves an empty line now and then */
        if (got <= 0)
            break;
        compare_lines(lines[0], lines[1], &tally);
    }
    free(lines[0]);
    free(lines[1]);
    fclose(ours);
    fclose(theirs);
    size_t all = tally.same + tally.different;
    double percent = all ? 100.0 * (double)tally.same / (double)all : 0;
    printf("%zu of %zu answers equal: %.2f %%; %zu of them by another name of the same "
           "code\n",
           tally.same, all, percent, tally.aliases);
    return all == 0 || percent < strtod(argv[1], NULL);
}
