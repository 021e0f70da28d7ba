/* image.c -- opens the sections of an ELF file for the bare reader. */
#define _POSIX_C_SOURCE 200809L

#include "image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(const char *path, const char *why)
{
    fprintf(stderr, "bench_symbolize: %s: %s\n", path, why);
    return 1;
}

int bench_map_file(const char *path, const uint8_t **bytes_ret, size_t *size_ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return fail(path, "cannot be opened");
    void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return fail(path, "cannot be mapped");
    *bytes_ret = bytes;
    *size_ret = (size_t)st.st_size;
    return 0;
}

static int find_code(struct image *image)
{
    if (!code_add(&image->code, &image->binary))
        return 1;
    size_t count = image->code.spans.count;
    image->ranges = calloc(count ? count : 1, sizeof(*image->ranges));
    if (!image->ranges)
        return 1;
    for (size_t i = 0; i < count; i++)
        image->ranges[i] = (struct dwarf_range){ image->code.spans.at[i].start,
                                                 image->code.spans.at[i].end };
    return 0;
}

int image_open(const char *path, struct image *image_ret)
{
    struct image image = { 0 };
    struct trail_source source = { .size = sizeof(source),
                                   .role = TRAIL_ROLE_IMAGE,
                                   .fd = -1,
                                   .name = trail_text_of(path) };
    struct dwarf_input input = { 0 };
    struct trail_error err = { "" };
    size_t size = 0;
    if (bench_map_file(path, &source.bytes, &size))
        return 1;
    source.bytes_size = size;
    elf_version(EV_CURRENT);
    if (binary_open(&source, &image.binary, &err))
        return fail(path, err.text);
    if (find_code(&image))
        return fail(path, "out of memory");
    for (int i = 0; i < DWARF_SECTIONS; i++) {
        struct binary_section section;
        if (!binary_find(&image.binary, dwarf_section_names[i], &section))
            continue;
        input.main.sections[i].at = section.bytes;
        input.main.sections[i].size = section.size;
    }
    input.is_big_endian = image.binary.is_big_endian;
    input.code = image.ranges;
    input.code_count = image.code.spans.count;
    if (dwarf_open(&input, &image.dwarf, &err))
        return fail(path, err.text);
    *image_ret = image;
    return 0;
}

void image_close(struct image *image)
{
    dwarf_close(image->dwarf);
    free(image->ranges);
    code_deinit(&image->code);
    binary_close(&image->binary);
}
