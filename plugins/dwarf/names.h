/* names.h -- what a function is called: its own attributes, those of the DIEs that it
 * is an instance of or completes, and, where no linkage name says it all, the names of
 * the namespaces and types around it.
 */
#ifndef DWARF_NAMES_H
#define DWARF_NAMES_H

#include "reader.h"

/* The number of the function that the DIE `die` names, as an inlined one: without its
 * place. 0: it has no name, or out of memory. */
uint32_t names_function(struct worker *worker, uint64_t die);

/* The same with its place in the text. */
uint32_t names_placed_function(struct worker *worker, uint64_t die, uint32_t start,
                               uint32_t size);

/* Forget what was learnt of DIEs: it may be half of it. */
void names_forget(struct worker *worker);
void names_deinit(struct worker *worker);

#endif
