/* results.h -- numbers for functions and source files, each content once. */
#ifndef DWARF_RESULTS_H
#define DWARF_RESULTS_H

#include "reader.h"

/* 0: out of memory (worker->status says so), or more than there are numbers for. */
uint32_t results_add_function(struct worker *worker,
                              const struct function_entry *entry);
uint32_t results_add_file(struct worker *worker, const struct file_entry *entry);

/* The path of a file as it was named to the compiler: its directory in front of its
 * name. A text; 0: out of memory. */
uint32_t results_path(struct worker *worker, const struct file_entry *entry);

#endif
