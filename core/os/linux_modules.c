/* linux_modules.c -- which images the dynamic loader has mapped. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>
#include <unistd.h>

static void read_exe(char *path_ret, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", path_ret, size - 1);
    path_ret[length > 0 ? length : 0] = 0;
}

static uint64_t vdso_start(void)
{
    return (uint64_t)getauxval(AT_SYSINFO_EHDR);
}

/* What is asked of the kernel beforehand, for callers that cannot. */
static struct {
    uint64_t vdso;
    uint64_t headers, header_count; /* of the program */
    char exe[4096];
} known;

__attribute__((constructor)) static void known_init(void)
{
    known.vdso = vdso_start();
    known.headers = (uint64_t)getauxval(AT_PHDR);
    known.header_count = (uint64_t)getauxval(AT_PHNUM);
    read_exe(known.exe, sizeof(known.exe));
}

struct listing {
    bool (*each)(void *arg, const struct trail_os_module *module);
    void *arg;
    uint64_t vdso; /* address of its ELF header, 0 if there is none */
    size_t seen;
    char exe[4096]; /* dl_iterate_phdr gives the main program no name */
};

/* True if the image's headers lie in the page that the kernel named as the vDSO's. */
static bool is_vdso(const struct dl_phdr_info *info, uint64_t vdso)
{
    for (int i = 0; vdso && i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD && header->p_offset == 0)
            return info->dlpi_addr + header->p_vaddr == vdso;
    }
    return false;
}

static int on_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct listing *listing = arg;
    (void)size;
    struct trail_os_module module = {
        .path = info->dlpi_name ? info->dlpi_name : "",
        .bias = info->dlpi_addr,
        .headers = (const uint8_t *)info->dlpi_phdr,
        .header_count = (uint16_t)info->dlpi_phnum,
        .header_size = sizeof(ElfW(Phdr)),
        .loads = info->dlpi_adds,
        .unloads = info->dlpi_subs,
        .main_program = listing->seen++ == 0,
        .vdso = is_vdso(info, listing->vdso),
    };
    if (module.vdso)
        module.path = "[vdso]";
    else if (module.main_program)
        module.path = listing->exe;
    return listing->each(listing->arg, &module) ? 0 : 1;
}

void trail_os_modules(bool (*each)(void *arg, const struct trail_os_module *module),
                      void *arg)
{
    struct listing listing = { .each = each, .arg = arg };
    listing.vdso = vdso_start();
    read_exe(listing.exe, sizeof(listing.exe));
    dl_iterate_phdr(on_module, &listing);
}

/* What there is around a pc, as far as the C library tells without a lock. */
struct around {
    struct trail_os_module module; /* path, bias and headers */
    const uint8_t *start, *end;
};

#ifdef DLFO_STRUCT_HAS_EH_DBASE
/* Program headers lie where the ELF header, which is mapped first, says. */
static bool headers_at(const uint8_t *start, size_t size,
                       struct trail_os_module *module)
{
    const ElfW(Ehdr) *header = (const void *)start;
    if (size < sizeof(*header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > size ||
        header->e_phnum > (size - header->e_phoff) / sizeof(ElfW(Phdr)))
        return false;
    module->headers = start + header->e_phoff;
    module->header_count = header->e_phnum;
    module->header_size = sizeof(ElfW(Phdr));
    return true;
}

/* All of an image, by its headers. */
static void widen(struct around *ret)
{
    const ElfW(Phdr) *headers = (const void *)ret->module.headers;
    for (size_t i = 0; i < ret->module.header_count; i++) {
        uintptr_t start = (uintptr_t)ret->module.bias + headers[i].p_vaddr;
        if (headers[i].p_type != PT_LOAD)
            continue;
        if (start < (uintptr_t)ret->start)
            ret->start = (const uint8_t *)start;
        if (start + headers[i].p_memsz > (uintptr_t)ret->end)
            ret->end = (const uint8_t *)(start + headers[i].p_memsz);
    }
}

/* Of an image whose segments leave gaps between them the C library tells the one
 * segment that the pc is in. */
static bool find_whole(const struct link_map *map, struct around *ret)
{
    struct dl_find_object first;
    bool is_program = !map->l_name || !map->l_name[0];
    if (is_program && known.headers && known.header_count <= UINT16_MAX) {
        ret->module.headers = (const uint8_t *)(uintptr_t)known.headers;
        ret->module.header_count = (uint16_t)known.header_count;
        ret->module.header_size = sizeof(ElfW(Phdr));
    } else {
        void *at = (void *)map->l_addr;
        if (_dl_find_object(at, &first) || first.dlfo_link_map != map)
            return false;
        const uint8_t *start = first.dlfo_map_start, *end = first.dlfo_map_end;
        if (!headers_at(start, (size_t)(end - start), &ret->module))
            return false;
    }
    widen(ret);
    return true;
}

static bool find_around(uint64_t pc, struct around *ret)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)(uintptr_t)pc, &found))
        return false;
    ret->module = (struct trail_os_module){ .path = found.dlfo_link_map->l_name,
                                            .bias = found.dlfo_link_map->l_addr };
    ret->start = found.dlfo_map_start;
    ret->end = found.dlfo_map_end;
    if (ret->end < ret->start)
        return false;
    return headers_at(ret->start, (size_t)(ret->end - ret->start), &ret->module) ||
           find_whole(found.dlfo_link_map, ret);
}
#else
/* Where there is no such lookup nothing is unloaded either (musl): what was there when
 * this was loaded stays where it was. What came later is not found. */
#define AROUND_LIMIT 512
static struct around noted[AROUND_LIMIT];
static size_t noted_count;

static int note(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct around around = { .start = NULL };
    (void)size, (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        const uint8_t *start = (const uint8_t *)(info->dlpi_addr + header->p_vaddr);
        if (header->p_type != PT_LOAD)
            continue;
        if (!around.start || start < around.start)
            around.start = start;
        if (start + header->p_memsz > around.end)
            around.end = start + header->p_memsz;
    }
    around.module =
        (struct trail_os_module){ .path = info->dlpi_name,
                                  .bias = info->dlpi_addr,
                                  .headers = (const uint8_t *)info->dlpi_phdr,
                                  .header_count = info->dlpi_phnum,
                                  .header_size = sizeof(ElfW(Phdr)) };
    if (noted_count < AROUND_LIMIT && around.start)
        noted[noted_count++] = around;
    return 0;
}

__attribute__((constructor)) static void note_all(void)
{
    dl_iterate_phdr(note, NULL);
}

static bool find_around(uint64_t pc, struct around *ret)
{
    for (size_t i = 0; i < noted_count; i++)
        if (pc >= (uint64_t)(uintptr_t)noted[i].start &&
            pc < (uint64_t)(uintptr_t)noted[i].end) {
            *ret = noted[i];
            return true;
        }
    return false;
}
#endif

bool trail_os_module_at(uint64_t pc, struct trail_os_module *module_ret,
                        uint64_t *start_ret, uint64_t *end_ret)
{
    struct around around;
    if (!find_around(pc, &around))
        return false;
    struct trail_os_module *module = &around.module;
    module->vdso = known.vdso && known.vdso == (uint64_t)(uintptr_t)around.start;
    module->main_program = !module->path || !module->path[0];
    if (module->vdso)
        module->path = "[vdso]";
    else if (module->main_program)
        module->path = known.exe;
    *module_ret = *module;
    *start_ret = (uint64_t)(uintptr_t)around.start;
    *end_ret = (uint64_t)(uintptr_t)around.end;
    return true;
}

struct trail_os_segment trail_os_module_segment(const struct trail_os_module *module,
                                                uint16_t index)
{
    const ElfW(Phdr) *header =
        (const void *)(module->headers + (size_t)index * module->header_size);
    uint64_t start = module->bias + header->p_vaddr;
    return (struct trail_os_segment){
        .start = start,
        .end = start + header->p_memsz,
        .load = header->p_type == PT_LOAD,
        .note = header->p_type == PT_NOTE,
        .readable = (header->p_flags & PF_R) != 0,
        .writable = (header->p_flags & PF_W) != 0,
        .executable = (header->p_flags & PF_X) != 0,
        .align = header->p_align,
    };
}
