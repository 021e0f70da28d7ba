/* unload.c -- a stack through a library that is unloaded before it is resolved, when
 * another lies in its place. Arguments: the two libraries ("-" for none), and "resolve"
 * if it is to be resolved once before that, too. */
#define _GNU_SOURCE

#include "show.h"

#include <dlfcn.h>

static struct trail_backtrace backtrace;
static uintptr_t called_from;

static void back(void)
{
    called_from = (uintptr_t)__builtin_return_address(0);
    trail_capture(&backtrace);
}

static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    return library;
}

static void call(void *library, const char *name)
{
    void (*function)(void (*)(void));
    *(void **)&function = dlsym(library, name);
    function(back);
}

int main(int argc, char **argv)
{
    Dl_info info;
    if (argc < 3)
        return 2;
    start();
    void *alpha = open_library(argv[1]);
    call(alpha, "alpha_calls");
    if (argc > 3)
        show(&backtrace, 0);
    dlclose(alpha);
    if (strcmp(argv[2], "-") == 0) {
        show(&backtrace, 0);
        return 0;
    }
    void *bravo = open_library(argv[2]);
    printf("bravo lies where alpha lay: %s\n",
           yes_no(dladdr((void *)called_from, &info) &&
                  strcmp(info.dli_fname, argv[2]) == 0));
    show(&backtrace, 0);
    call(bravo, "bravo_calls");
    show(&backtrace, 0);
    return 0;
}
