/* image.h -- the bare reader: an ELF file's DWARF, with nothing of the program or of
 * the plugin around it.
 */
#ifndef BENCH_IMAGE_H
#define BENCH_IMAGE_H

#include "plugins/dwarf/dwarf.h"
#include "plugins/elf/binary.h"
#include "plugins/elf/code.h"

struct image {
    struct binary binary;
    struct code code;
    struct dwarf_range *ranges; /* of executable sections */
    struct dwarf *dwarf;
};

/* A file that is mapped; 1: what went wrong was said. */
int bench_map_file(const char *path, const uint8_t **bytes_ret, size_t *size_ret);

/* The sections have to lie in the file as they are: not compressed, not split. */
int image_open(const char *path, struct image *image_ret);
void image_close(struct image *image);

#endif
