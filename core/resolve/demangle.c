/* demangle.c -- names as their language writes them, by libiberty. */
#include "core/resolve/demangle.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <demangle.h>

/* Longer mangled names are left alone, and so are results that would be: a mangled name
 * of a few bytes can stand for gigabytes. */
#define MANGLED_LIMIT   (16u << 10)
#define DEMANGLED_LIMIT (64u << 10)
#define D_WORK_LIMIT    (1u << 20) /* letters that D's demangler may look at */

/* Collects what the demangler hands out piece by piece, up to the limit. A callback
 * cannot say "stop", and going on would take as long as the name is hostile, so it
 * jumps: in this mode the demanglers hold no memory but a punycode buffer. */
struct pieces {
    char *text;
    size_t size;
    jmp_buf over;
};

static void add_piece(const char *piece, size_t size, void *arg)
{
    struct pieces *pieces = arg;
    if (size > DEMANGLED_LIMIT - pieces->size)
        longjmp(pieces->over, 1);
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
    if (setjmp(pieces.over) ||
        !demangle(name, DMGL_PARAMS | DMGL_ANSI, add_piece, &pieces)) {
        free(pieces.text);
        return NULL;
    }
    pieces.text[pieces.size] = 0;
    char *fitted = realloc(pieces.text, pieces.size + 1);
    return fitted ? fitted : pieces.text;
}

/* Where the back reference at `at`, the letter Q, points: a number in base 26, its last
 * digit in lower case, counts the bytes back (D ABI, "Back references"). Digits begin
 * an identifier, which refers to nothing further. `at` itself if it is none. */
static size_t d_target(const char *name, size_t at)
{
    size_t distance = 0, i = at + 1;
    for (; name[i] >= 'A' && name[i] <= 'Z' && distance <= MANGLED_LIMIT; i++)
        distance = distance * 26 + (size_t)(name[i] - 'A');
    if (name[i] < 'a' || name[i] > 'z')
        return at;
    distance = distance * 26 + (size_t)(name[i] - 'a');
    if (distance > at || (name[at - distance] >= '0' && name[at - distance] <= '9'))
        return at;
    return at - distance;
}

/* D's demangler takes no callback. Whether its work stays within bounds: each type that
 * is referred to costs again what lies between it and the reference. */
static int d_is_bounded(const char *name, size_t size)
{
    uint32_t *cost = malloc((size + 1) * sizeof(*cost));
    int bounded = cost != NULL;
    for (size_t i = 0; bounded && i < size; i++) {
        uint32_t before = i ? cost[i - 1] : 0;
        size_t target = name[i] == 'Q' ? d_target(name, i) : i;
        cost[i] =
            before + 1 + (before - (target ? cost[target - 1] : 0)) * (target < i);
        bounded = cost[i] <= D_WORK_LIMIT;
    }
    free(cost);
    return bounded;
}

static char *by_d(const char *name)
{
    char *text =
        d_is_bounded(name, strlen(name)) ? dlang_demangle(name, DMGL_PARAMS) : NULL;
    if (text && strlen(text) > DEMANGLED_LIMIT) {
        free(text);
        text = NULL;
    }
    return text;
}

char *trail_demangle(const char *name)
{
    char *text = NULL;
    if (name[0] != '_' || strlen(name) > MANGLED_LIMIT)
        return NULL;
    if (strncmp(name, "_R", 2) == 0)
        return by_pieces(name, rust_demangle_callback);
    if (strncmp(name, "_D", 2) == 0)
        return by_d(name);
    /* Rust's old scheme is C++'s with a hash at the end. */
    if (strncmp(name, "_ZN", 3) == 0)
        text = by_pieces(name, rust_demangle_callback);
    if (!text && strncmp(name, "_Z", 2) == 0)
        text = by_pieces(name, cplus_demangle_v3_callback);
    return text;
}

bool trail_demangling_of(const char *name, enum trail_demangling *demangling_ret)
{
    static const char *const names[] = {
        [TRAIL_DEMANGLING_AUTO] = "auto", [TRAIL_DEMANGLING_GNU_V3] = "gnu-v3",
        [TRAIL_DEMANGLING_RUST] = "rust", [TRAIL_DEMANGLING_D] = "dlang",
        [TRAIL_DEMANGLING_JAVA] = "java", [TRAIL_DEMANGLING_GNAT] = "gnat",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(names[i], name) == 0) {
            *demangling_ret = (enum trail_demangling)i;
            return true;
        }
    return false;
}

static int by_java(const char *name, int options, demangle_callbackref callback,
                   void *arg)
{
    (void)options;
    return java_demangle_v3_callback(name, callback, arg);
}

char *trail_demangle_as(const char *name, enum trail_demangling demangling)
{
    char *text = NULL;
    if (strlen(name) > MANGLED_LIMIT)
        return NULL;
    switch (demangling) {
    case TRAIL_DEMANGLING_AUTO:
        text = by_pieces(name, rust_demangle_callback);
        return text ? text : by_pieces(name, cplus_demangle_v3_callback);
    case TRAIL_DEMANGLING_GNU_V3:
        return by_pieces(name, cplus_demangle_v3_callback);
    case TRAIL_DEMANGLING_RUST:
        return by_pieces(name, rust_demangle_callback);
    case TRAIL_DEMANGLING_D:
        return strncmp(name, "_D", 2) == 0 ? by_d(name) : NULL;
    case TRAIL_DEMANGLING_JAVA:
        return by_pieces(name, by_java);
    case TRAIL_DEMANGLING_GNAT:
        return ada_demangle(name, 0);
    }
    return NULL;
}
