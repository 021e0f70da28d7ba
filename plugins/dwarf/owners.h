/* owners.h -- which unit an address belongs to.
 *
 * Several units may claim an address: GNU ld points the debug information of an inline
 * function that it dropped at the copy it kept. The unit with the lowest offset owns
 * it.
 */
#ifndef DWARF_OWNERS_H
#define DWARF_OWNERS_H

#include "reader.h"

/* The owner by what was read so far, or NO_UNIT. */
uint32_t owners_find(const struct dwarf *image, uint32_t address);

/* Whether `unit` owns `address`, and up to where that holds. */
bool owners_stretch(const struct dwarf *image, uint32_t address, uint32_t unit,
                    uint32_t *end_ret);

/* Read what .debug_aranges says: mostly true, and soon read. False: no memory. */
bool owners_read_hint(struct worker *worker);

/* Read the root DIE of every unit. Of those that do not say where their code lies the
 * hint is believed, or else they are looked into. False: out of memory or of work. */
bool owners_read_all(struct worker *worker);

/* The owner of one address, by as little reading as possible: the hint first, then root
 * DIEs up to the one that has it. Neither the list of units nor anything else is made.
 * `is_found_ret` false: there is none, or it takes owners_read_all() to tell. False:
 * out of memory or of work. */
bool owners_find_alone(struct worker *worker, uint32_t address, struct unit *unit_ret,
                       bool *is_found_ret);

#endif
