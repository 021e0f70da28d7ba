/* split.h -- the other half of a split unit: in a .dwo file of its own, or in a package
 * (.dwp: GNU version 2, or DWARF 5, 7.3.5).
 */
#ifndef DWARF_SPLIT_H
#define DWARF_SPLIT_H

#include "reader.h"

/* Whether the unit may be a skeleton: before DWARF 5 its root DIE tells. */
static inline bool split_may_be(const struct unit *unit)
{
    return unit->sizes.version == 4 || unit->type == 4; /* DW_UT_skeleton */
}

/* The half of the skeleton `index`, whose root DIE is `root`. It is looked for once.
 * NULL: out of memory. */
const struct split_half *split_find(struct worker *worker, uint32_t index,
                                    const struct attributes *root);

/* Look for the halves of all units, so that workers side by side find them there.
 * False: out of memory or of work. */
bool split_find_all(struct worker *worker);

#endif
