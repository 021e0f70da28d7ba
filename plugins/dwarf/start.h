/* start.h -- takes a unit in hand: its abbreviations, its root DIE, its other half if
 * it is split.
 */
#ifndef DWARF_START_H
#define DWARF_START_H

#include "reader.h"

/* Make unit `index` of the main file the one in hand. `first_ret`: its first DIE below
 * the root, NULL if there is none. False: out of memory or of work. */
bool start_unit(struct worker *worker, uint32_t index, const uint8_t **first_ret);
/* The same by what its header says; units need not be listed. */
bool start_unit_alone(struct worker *worker, const struct unit *unit,
                      const uint8_t **first_ret);

/* Whether the unit in hand is split and its other half was not found. */
bool start_is_incomplete(const struct worker *worker);

#endif
