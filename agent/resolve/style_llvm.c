/* style_llvm.c -- answers as llvm-symbolizer --output-style=LLVM prints them: function,
 * then file, line and column, a call each, and an empty line behind the last.
 */
#include "agent/resolve/style.h"

#include <inttypes.h>

/* What the symbol has more than the linkage name, e.g. ".cold"; "": nothing. */
static const char *suffix_of(const struct trail_named *named)
{
    const char *linkage = named->linkage[0] ? named->linkage : style_own_name(named);
    size_t size = strlen(linkage);
    if (strncmp(named->symbol, linkage, size) != 0 || named->symbol[size] != '.')
        return "";
    return named->symbol + size;
}

/* The outermost call is called by its symbol, as llvm-symbolizer has it. */
static void print_function(const struct trail_named *named)
{
    const char *suffix = suffix_of(named);
    if (!named->function[0])
        fputs("??", stdout);
    else if (suffix[0] && named->linkage[0])
        printf("%s (%s)", style_own_name(named), suffix);
    else
        printf("%s%s", style_own_name(named), suffix);
}

static void print_place(const struct trail_named *named, const struct gnu_options *gnu)
{
    char path[STYLE_PATH_SIZE];
    style_join_path(named, path, sizeof(path));
    printf("%s:%" PRIu32 ":%" PRIu32 "\n",
           !path[0]         ? "??"
           : gnu->basenames ? style_basename(path)
                            : path,
           named->line, named->column);
}

static void print_call(const struct trail_named *named, const struct gnu_options *gnu,
                       bool first)
{
    if (gnu->pretty && !first)
        fputs(" (inlined by) ", stdout);
    print_function(named);
    fputs(gnu->pretty ? " at " : "\n", stdout);
    print_place(named, gnu);
}

static void answer(struct style_output *output, uint64_t asked,
                   const struct trail_answer *known)
{
    static const struct trail_named nothing = {
        .function = "", .linkage = "", .file = "", .directory = "", .symbol = ""
    };
    const struct gnu_options *gnu = &output->options->gnu;
    if (gnu->addresses)
        printf("0x%" PRIx64 "%s", asked, gnu->pretty ? ": " : "\n");
    for (uint32_t i = 0; i < known->frame_count; i++)
        print_call(&known->frames[i], gnu, i == 0);
    if (known->frame_count == 0)
        print_call(&nothing, gnu, true);
    putchar('\n');
}

const struct style style_llvm = { .answer = answer };
