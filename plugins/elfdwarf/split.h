/* split.h -- the .dwp and .dwo files that the compiler moved debug information to. */
#ifndef ELFDWARF_SPLIT_H
#define ELFDWARF_SPLIT_H

#include "image.h"

/* The package of all split units, beside the program by its name and ".dwp". */
enum trail_status split_find_package(struct image *image, const struct trail_call *call,
                                     struct dwarf_file *package_ret);

/* One .dwo file, for struct dwarf_input; `arg` is the image. */
bool split_find_dwo(void *arg, struct trail_text name, struct trail_text directory,
                    uint64_t id, struct dwarf_file *file_ret);

void split_close_all(struct image *image);

#endif
