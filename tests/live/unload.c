/* unload.c -- a stack through a library that is unloaded before it is resolved, when
 * another lies in its place. Arguments: the two libraries ("-" for none), and "resolve"
 * if it is to be resolved once before that, too. */
#define _GNU_SOURCE

#include "show.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

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

/* ---- the place of a library ---------------------------------------------- */

struct place {
    uintptr_t within; /* an address in it */
    uintptr_t start, end;
};

static int note_place(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct place *place = arg;
    uintptr_t start = UINTPTR_MAX, end = 0;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t from = info->dlpi_addr + (header->p_vaddr & ~(uintptr_t)4095);
        uintptr_t to = info->dlpi_addr +
                       ((header->p_vaddr + header->p_memsz + 4095) & ~(uintptr_t)4095);
        if (header->p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = to > end ? to : end;
    }
    if (place->within < start || place->within >= end)
        return 0;
    place->start = start;
    place->end = end;
    return 1;
}

static struct place place_of(uintptr_t within)
{
    struct place place = { within, 0, 0 };
    dl_iterate_phdr(note_place, &place);
    return place;
}

static void fill(const struct place *place)
{
    mmap((void *)place->start, place->end - place->start, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

/* The kernel chooses where a library goes. As long as that is not `wanted`, fill the
 * place it chose, and ask again: nothing else can take `wanted` meanwhile. */
static void *open_library_at(const char *path, const struct place *wanted)
{
    for (int i = 0; i < 256; i++) {
        munmap((void *)wanted->start, wanted->end - wanted->start);
        void *library = open_library(path);
        struct link_map *map;
        dlinfo(library, RTLD_DI_LINKMAP, &map);
        struct place got = place_of((uintptr_t)map->l_ld);
        if (got.start <= wanted->within && wanted->within < got.end)
            return library;
        dlclose(library);
        fill(wanted);
        fill(&got);
    }
    return open_library(path);
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
    struct place place = place_of(called_from);
    dlclose(alpha);
    if (strcmp(argv[2], "-") == 0) {
        show(&backtrace, 0);
        return 0;
    }
    fill(&place);
    void *bravo = open_library_at(argv[2], &place);
    printf("bravo lies where alpha lay: %s\n",
           yes_no(dladdr((void *)called_from, &info) &&
                  strcmp(info.dli_fname, argv[2]) == 0));
    show(&backtrace, 0);
    call(bravo, "bravo_calls");
    show(&backtrace, 0);
    return 0;
}
