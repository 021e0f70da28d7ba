/* style_gnu.c -- answers as GNU addr2line prints them.
 *
 * Where addr2line is wrong this is not: see tests/cli/data/addr2line-faults.txt.
 */
#include "agent/resolve/style.h"

#include <inttypes.h>
#include <stdlib.h>

#include "backtrail/symbolizer.h"

/* ---- names -------------------------------------------------------------- */

/* Longer than what is known of aliases. */
#define NAME_SIZE 2048

/* addr2line prints what debug information calls a function: its linkage name, or its
 * name in the source. Where C++ has no linkage name, and where there is no debug
 * information, the symbol takes its place: that which is first in the table. */
static const char *name_of(const struct trail_named *named, char *first, size_t size)
{
    bool of_symbol = named->flags & TRAIL_FOUND_LINKAGE_OF_SYMBOL;
    if (of_symbol && named->symbol[0] != '_')
        return style_own_name(named);
    if (named->flags & TRAIL_FOUND_AKA_FIRST) {
        snprintf(first, size, "%.*s", (int)strcspn(named->aka, "\n"), named->aka);
        return first;
    }
    if (of_symbol)
        return named->symbol;
    return named->linkage[0] ? named->linkage : style_own_name(named);
}

/* Leading dots and dollars, and a version behind "@", belong to no mangled name: they
 * stay around it. */
static bool print_demangled(const char *name, enum trail_demangling demangling)
{
    char inner[STYLE_PATH_SIZE];
    size_t before = strspn(name, ".$"), size = strcspn(name + before, "@");
    if (size >= sizeof(inner))
        return false;
    memcpy(inner, name + before, size);
    inner[size] = 0;
    char *plain = trail_demangle_as(inner, demangling);
    if (plain)
        printf("%.*s%s%s", (int)before, name, plain, name + before + size);
    free(plain);
    return plain != NULL;
}

static void print_name(const struct trail_named *named, const struct gnu_options *gnu)
{
    char first[NAME_SIZE];
    const char *name = name_of(named, first, sizeof(first));
    if (!name[0])
        name = "??";
    else if (gnu->demangle && print_demangled(name, gnu->demangling))
        return;
    fputs(name, stdout);
}

/* ---- answers ------------------------------------------------------------ */

static void print_place(const struct trail_named *named, const struct gnu_options *gnu)
{
    char path[STYLE_PATH_SIZE];
    style_join_path(named, path, sizeof(path));
    printf("%s:", !path[0] ? "??" : gnu->basenames ? style_basename(path) : path);
    if (!named->line)
        fputs("?\n", stdout);
    else if (named->discriminator)
        printf("%" PRIu32 " (discriminator %" PRIu32 ")\n", named->line,
               named->discriminator);
    else
        printf("%" PRIu32 "\n", named->line);
}

static void print_address(const struct style_output *output, uint64_t asked)
{
    if (output->is32)
        printf("0x%08" PRIx64, asked & UINT32_MAX);
    else
        printf("0x%016" PRIx64, asked);
    fputs(output->options->gnu.pretty ? ": " : "\n", stdout);
}

static void print_call(const struct trail_named *named, const struct gnu_options *gnu)
{
    if (gnu->functions) {
        print_name(named, gnu);
        fputs(gnu->pretty ? " at " : "\n", stdout);
    }
    print_place(named, gnu);
}

static void answer(struct style_output *output, uint64_t asked,
                   const struct trail_answer *known)
{
    const struct gnu_options *gnu = &output->options->gnu;
    uint32_t count = gnu->inlines || known->frame_count == 0 ? known->frame_count : 1;
    if (gnu->addresses)
        print_address(output, asked);
    for (uint32_t i = 0; i < count; i++) {
        if (gnu->pretty && i)
            fputs(" (inlined by) ", stdout);
        print_call(&known->frames[i], gnu);
    }
    if (count)
        return;
    if (gnu->functions)
        fputs(gnu->pretty ? "?? " : "??\n", stdout);
    fputs("??:0\n", stdout);
}

const struct style style_gnu = { .answer = answer };
