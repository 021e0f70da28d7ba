/* late.c -- a library that is loaded after the first stack was resolved. */
#define _GNU_SOURCE

#include "show.h"

#include <dlfcn.h>

static struct trail_backtrace backtrace;

static void back(void)
{
    trail_capture(&backtrace);
}

int main(int argc, char **argv)
{
    void (*function)(void (*)(void));
    if (argc < 2)
        return 2;
    start();
    back();
    show(&backtrace, 0);
    void *library = dlopen(argv[1], RTLD_NOW);
    if (!library)
        return 1;
    *(void **)&function = dlsym(library, "alpha_calls");
    function(back);
    show(&backtrace, 0);
    return 0;
}
