/* flatten.h -- pieces, intervals and rows of a unit, made into flat segments: code of
 * one innermost scope and one location.
 */
#ifndef DWARF_FLATTEN_H
#define DWARF_FLATTEN_H

#include "reader.h"

/* Add the runs of the unit in hand to worker->runs and worker->segments. A DIE that
 * comes later lies deeper, and has the address. False: out of memory or of work. */
bool flatten_unit(struct worker *worker);

/* Make the scopes that segments from `first` on refer to, and those around them,
 * numbers among worker->kept, with their names; the segments then have these. False:
 * out of memory or of work. */
bool flatten_keep_scopes(struct worker *worker, uint32_t first);

/* The two steps of that, for scopes that something else refers to. */
void flatten_mark_scope(struct worker *worker, uint32_t scope);
bool flatten_keep_marked(struct worker *worker);

#endif
