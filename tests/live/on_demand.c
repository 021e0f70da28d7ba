/* on_demand.c -- what is loaded before and after a stack is resolved. Plugins are
 * loaded from copies that are named by their hash; the argument is
 * that of elfdwarf. */
#include "show.h"

static void tell(const char *when, const char *plugin)
{
    const char *const names[] = { "elfdwarf", "libdw", "libcurl" };
    const char *const parts[] = { plugin, "libdw", "libcurl" };
    bool found[3] = { false };
    char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        for (size_t i = 0; i < 3; i++)
            found[i] = found[i] || strstr(line, parts[i]);
    if (maps)
        fclose(maps);
    for (size_t i = 0; i < 3; i++)
        printf("%s: %s: %s\n", when, names[i], yes_no(found[i]));
}

int main(int argc, char **argv)
{
    const char *plugin = argc > 1 ? argv[1] : "";
    struct trail_backtrace backtrace = { 0 };
    start();
    trail_capture(&backtrace);
    tell("captured", plugin);
    free(trail_to_string(&backtrace, 0));
    tell("resolved", plugin);
    return 0;
}
