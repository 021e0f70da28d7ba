/* warm.h -- units that were read whole: an answer is a lookup in regions of text. */
#ifndef DWARF_WARM_H
#define DWARF_WARM_H

#include "reader.h"

void warm_destroy(struct warm *warm); /* NULL is fine */

/* Whether the unit is read. */
bool warm_has(const struct dwarf *image, uint32_t unit);

/* Read the unit, if it is not. False: out of memory or of work. */
bool warm_load(struct worker *worker, uint32_t unit);

/* Read all that a unit owns into worker->runs, segments and kept. False: out of memory
 * or of work. */
bool warm_read_unit(struct worker *worker, uint32_t unit, bool wants_calls);

/* The chain at an address of a unit that is read. Returns the number of frames. */
uint32_t warm_find(const struct dwarf *image, uint32_t address,
                   struct origin_frame frames[ORIGIN_CHAIN_MAX]);

/* What regions do not hold. */
struct warm_unit {
    bool is_read, has_line_table, is_incomplete;
    uint32_t discriminator, discriminator_count; /* index, number */
};
const struct warm_unit *warm_unit_of(const struct dwarf *image, uint32_t unit);
uint32_t warm_discriminator(const struct dwarf *image, uint32_t unit, uint32_t address);

#endif
