/* damage.h -- bytes that may be damaged, read by a symbolizer under limits. */
#ifndef DAMAGE_H
#define DAMAGE_H

#include "tests/symbol_host.h"

struct damage_subject {
    const struct trail_symbolizer *plugin;
    const char *folder; /* where companion files lie */
    const uint64_t *addresses;
    size_t address_count;
};

/* Open the bytes as a module and ask it everything that the plugin can answer.
 *
 * Returns NULL, or what promise of symbolizer.h was not kept.
 */
const char *damage_ask(const struct damage_subject *subject, struct symbol_bytes bytes);

/* Memory at its height since damage_watch_memory, less pages of files. */
uint64_t damage_peak_bytes(void);
void damage_watch_memory(void);

#endif
