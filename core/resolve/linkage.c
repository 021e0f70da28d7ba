/* linkage.c -- names as the linker has them. */
#include "core/resolve/linkage.h"

static const char part[] = ".cold";

/* Where `wanted` begins in the first `size` bytes of a name, not at its start; `size`:
 * nowhere. */
static size_t find(const char *name, size_t size, const char *wanted)
{
    size_t length = strlen(wanted);
    for (size_t i = 1; i < size && length <= size - i; i++)
        if (memcmp(name + i, wanted, length) == 0)
            return i;
    return size;
}

size_t trail_linkage_unsuffixed(const char *name, size_t size)
{
    static const char *const suffixes[] = { part,          ".part.",     ".isra.",
                                            ".constprop.", ".lto_priv.", ".llvm." };
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
        size = find(name, size, suffixes[i]);
    return size;
}

bool trail_linkage_is_part(const char *name)
{
    size_t size = strlen(name);
    return find(name, size, part) < size;
}

static size_t plain_size(struct trail_text name)
{
    return trail_linkage_unsuffixed(name.data, find(name.data, name.size, "@"));
}

bool trail_linkage_same(struct trail_text a, struct trail_text b)
{
    size_t size = plain_size(a);
    return size && size == plain_size(b) && memcmp(a.data, b.data, size) == 0;
}

static bool starts_with(struct trail_text name, size_t at, const char *word)
{
    size_t size = strlen(word);
    return name.size - at >= size && memcmp(name.data + at, word, size) == 0;
}

size_t trail_scope_size(struct trail_text name)
{
    size_t scopes = 0, depth = 0; /* of brackets, in which other names stand */
    for (size_t i = 0; i < name.size; i++) {
        char byte = name.data[i];
        if (i == scopes && starts_with(name, i, "operator"))
            return scopes; /* what follows may be a bracket by itself */
        if (byte == '<' || byte == '(')
            depth++;
        else if ((byte == '>' || byte == ')') && depth)
            depth--;
        else if (!depth && starts_with(name, i, "::"))
            scopes = ++i + 1;
    }
    return scopes < name.size ? scopes : 0;
}
