/* linux_loader.c -- the loader's counters, and the unwind tables of images. */
#define _GNU_SOURCE

#include "core/os/os.h"
#include "core/os/linux_facts.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#define PAGE 4096u

static const uint64_t no_adds = 0;
static const uint32_t none_loaded = 0;
TRAIL_HOT_DATA struct trail_os_loader trail_os_loader = { .adds = &no_adds,
                                                          .loaded = &none_loaded };

/* ---- counters: load and unload a small library, see what counts along ---- */

struct loader_view {
    unsigned long long adds, removals;
    uintptr_t base;       /* of the loader */
    uintptr_t start, end; /* its variables */
};

static int view_loader(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loader_view *view = arg;
    (void)size;
    view->adds = info->dlpi_adds;
    view->removals = info->dlpi_subs;
    if (info->dlpi_addr != view->base)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_W))
            continue;
        view->start = (view->base + header->p_vaddr + 7) & ~(uintptr_t)7;
        view->end = view->base + header->p_vaddr + header->p_memsz;
    }
    return 0;
}

#define MOST_WORDS 2048

/* Which words of the loader have counted along so far. */
struct counting {
    struct loader_view view;
    bool is_adds[MOST_WORDS], is_loaded[MOST_WORDS];
};

TRAIL_READS_STACK static void counting_look(struct counting *counting)
{
    struct loader_view *view = &counting->view;
    dl_iterate_phdr(view_loader, view);
    for (size_t i = 0; i < (view->end - view->start) / 8; i++) {
        const volatile uint64_t *at = (const volatile uint64_t *)view->start + i;
        counting->is_adds[i] &= *at == view->adds;
        counting->is_loaded[i] &= (uint32_t)*at == view->adds - view->removals;
    }
}

/* True if one was loaded and unloaded again. */
static bool counting_round(struct counting *counting, const char *name)
{
    void *library = dlopen(name, RTLD_NOLOAD | RTLD_LAZY);
    if (library) { /* in use: it would not be loaded, nor unloaded */
        dlclose(library);
        return false;
    }
    library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    counting_look(counting);
    dlclose(library);
    counting_look(counting);
    return true;
}

static void counting_conclude(const struct counting *counting)
{
    const struct loader_view *view = &counting->view;
    int adds = 0, loaded = 0;
    struct trail_os_loader found = trail_os_loader;
    for (size_t i = 0; i < (view->end - view->start) / 8; i++) {
        const volatile uint64_t *at = (const volatile uint64_t *)view->start + i;
        if (counting->is_adds[i] && !adds++)
            found.adds = at;
        /* The first is that of the main namespace, which is where programs live. */
        if (counting->is_loaded[i] && !loaded++)
            found.loaded = (const volatile uint32_t *)at;
    }
    found.known = adds == 1 && loaded >= 1;
    if (found.known)
        trail_os_loader = found;
}

static void loader_init(void)
{
    static const char *const spare[] = { "libBrokenLocale.so.1", "libanl.so.1",
                                         "libutil.so.1", "libthread_db.so.1" };
    static struct counting counting;
    int rounds = 0;
    if (trail_os_loader.known)
        return;
    counting = (struct counting){ .view = { .base = getauxval(AT_BASE) } };
    dl_iterate_phdr(view_loader, &counting.view);
    if (!counting.view.start || counting.view.end < counting.view.start ||
        (counting.view.end - counting.view.start) / 8 > MOST_WORDS)
        return;
    memset(counting.is_adds, true, sizeof(counting.is_adds));
    memset(counting.is_loaded, true, sizeof(counting.is_loaded));
    for (size_t i = 0; i < sizeof(spare) / sizeof(*spare); i++)
        rounds += counting_round(&counting, spare[i]);
    if (rounds >= 2)
        counting_conclude(&counting);
}

/* ---- unwind tables ------------------------------------------------------ */

/* The segment in which `address` lies; NULL: none. */
static const ElfW(Phdr) * segment_of(const ElfW(Phdr) * headers, size_t count,
                                     uintptr_t bias, uintptr_t address)
{
    for (size_t i = 0; i < count; i++)
        if (headers[i].p_type == PT_LOAD &&
            address - bias - headers[i].p_vaddr < headers[i].p_filesz)
            return &headers[i];
    return NULL;
}

/* Where images' program headers are, for pcs that are asked about without a lock. */
struct image {
    const ElfW(Phdr) * headers;
    size_t count;
    uintptr_t bias, start, end;
};

static bool image_at(uintptr_t pc, struct image *image_ret)
{
    struct trail_os_module module;
    uint64_t start, end;
    if (!trail_os_module_at(pc, &module, &start, &end))
        return false;
    *image_ret = (struct image){ .headers = (const void *)module.headers,
                                 .count = module.header_count,
                                 .bias = (uintptr_t)module.bias,
                                 .start = (uintptr_t)start,
                                 .end = (uintptr_t)end };
    return true;
}

static void images_init(void)
{
    struct image image; /* what it calls is bound now, not in a handler */
    image_at((uintptr_t)images_init, &image);
#ifndef DLFO_STRUCT_HAS_EH_DBASE
    trail_os_loader.known = true; /* what never goes away (musl) needs no counter */
#endif
}

static bool image_unwind(const struct image *image, struct trail_os_unwind *unwind_ret)
{
    for (size_t i = 0; i < image->count; i++) {
        if (image->headers[i].p_type != PT_GNU_EH_FRAME)
            continue;
        uintptr_t index = image->bias + image->headers[i].p_vaddr;
        const ElfW(Phdr) *segment =
            segment_of(image->headers, image->count, image->bias, index);
        if (!segment || !(segment->p_flags & PF_R))
            return false;
        *unwind_ret = (struct trail_os_unwind){
            .index = (const uint8_t *)index,
            .segment = (const uint8_t *)(image->bias + segment->p_vaddr),
            .segment_size = segment->p_filesz,
            .start = image->start,
            .end = image->end,
        };
        return true;
    }
    return false;
}

bool trail_os_unwind_at(uintptr_t pc, struct trail_os_unwind *unwind_ret)
{
    struct image image;
    return image_at(pc, &image) && image_unwind(&image, unwind_ret);
}

bool trail_os_is_code(uintptr_t pc)
{
    struct image image;
    if (!image_at(pc, &image))
        return false;
    const ElfW(Phdr) *segment = segment_of(image.headers, image.count, image.bias, pc);
    return segment && segment->p_flags & PF_X;
}

/* ---- all of it ---------------------------------------------------------- */

/* A byte of each page: page faults now, not during a capture. */
static int touch_tables(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    struct image image = { .headers = info->dlpi_phdr,
                           .count = info->dlpi_phnum,
                           .bias = info->dlpi_addr };
    struct trail_os_unwind unwind;
    if (!image_unwind(&image, &unwind))
        return 0;
    const volatile uint8_t *at = unwind.index;
    const uint8_t *end = unwind.segment + unwind.segment_size;
    for (size_t pages = 0; at < end && pages < 1024; pages++, at += PAGE)
        (void)*at;
    return 0;
}

void trail_os_facts_init(void)
{
    trail_os_stacks_init();
    loader_init();
    images_init();
    dl_iterate_phdr(touch_tables, NULL);
}
