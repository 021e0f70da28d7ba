/* ranges.h -- where the code of a DIE lies (DWARF 5, 2.17). */
#ifndef DWARF_RANGES_H
#define DWARF_RANGES_H

#include "reader.h"

/* Put the live ranges of a DIE of `context` into worker->ranges. False: out of memory
 * or of work. */
bool ranges_read(struct worker *worker, const struct unit_context *context,
                 const struct attributes *attributes);

#endif
