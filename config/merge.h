/* merge.h -- several configuration texts as one. Objects are merged key by key; of
 * anything else the later one counts, lists too. Only "symbolizers" and "sinks" differ:
 * an entry goes over the earlier one of its name, or else to the end; [] empties them.
 */
#ifndef TRAIL_CONFIG_MERGE_H
#define TRAIL_CONFIG_MERGE_H

#include "config/document.h"
#include "config/mistakes.h"

/* Fill `whole`, whose parts are there, the later ones over the earlier. Comments
 * are left out. */
void trail_config_merge(struct trail_config_document *whole,
                        struct trail_config_mistakes *mistakes);

#endif
