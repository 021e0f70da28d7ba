/* demangle.c -- names as their language writes them, by libiberty. */
#include "core/resolve/demangle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <demangle.h>

/* Longer mangled names are left alone, and so are results that would be: a mangled name
 * of a few bytes can stand for gigabytes. */
#define MANGLED_LIMIT   (16u << 10)
#define DEMANGLED_LIMIT (64u << 10)

/* Collects what the demangler hands out piece by piece, up to the limit. */
struct pieces {
    char *text;
    size_t size;
    int over;
};

static void add_piece(const char *piece, size_t size, void *arg)
{
    struct pieces *pieces = arg;
    if (pieces->over || size > DEMANGLED_LIMIT - pieces->size) {
        pieces->over = 1;
        return;
    }
    memcpy(pieces->text + pieces->size, piece, size);
    pieces->size += size;
}

/* Both demanglers take the same callback; only their names differ. */
typedef int demangle_fn(const char *name, int options, demangle_callbackref callback,
                        void *arg);

static char *by_pieces(const char *name, demangle_fn *demangle)
{
    struct pieces pieces = { .text = malloc(DEMANGLED_LIMIT + 1) };
    if (!pieces.text)
        return NULL;
    if (!demangle(name, DMGL_PARAMS | DMGL_ANSI, add_piece, &pieces) || pieces.over) {
        free(pieces.text);
        return NULL;
    }
    pieces.text[pieces.size] = 0;
    char *fitted = realloc(pieces.text, pieces.size + 1);
    return fitted ? fitted : pieces.text;
}

char *trail_demangle(const char *name)
{
    char *text = NULL;
    if (name[0] != '_' || strlen(name) > MANGLED_LIMIT)
        return NULL;
    if (strncmp(name, "_R", 2) == 0)
        return by_pieces(name, rust_demangle_callback);
    if (strncmp(name, "_D", 2) == 0)
        return dlang_demangle(name, DMGL_PARAMS);
    if (strncmp(name, "_ZN", 3) == 0) /* Rust's old scheme is C++'s with a hash at the end */
        text = by_pieces(name, rust_demangle_callback);
    if (!text && strncmp(name, "_Z", 2) == 0)
        text = by_pieces(name, cplus_demangle_v3_callback);
    return text;
}
