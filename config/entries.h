/* entries.h -- the elements of "symbolizers" and "sinks", as far as the host reads
 * them. */
#ifndef TRAIL_CONFIG_ENTRIES_H
#define TRAIL_CONFIG_ENTRIES_H

#include "config/config.h"
#include "config/document.h"
#include "config/keys.h"
#include "config/mistakes.h"

/* Read the list `list`; `kind` is an enum trail_plugin_kind. A list that is not given
 * has no entries, and one that is not enabled is left out. Mistakes are noted. */
void trail_config_entries_load(const struct trail_config_value *list, uint32_t kind,
                               struct trail_config_entry **entries_ret,
                               size_t *count_ret,
                               struct trail_config_mistakes *mistakes);
/* What stands for a list of sinks that is not given: standard error. */
enum trail_status trail_config_entries_default(struct trail_config_entry **entries_ret,
                                               size_t *count_ret,
                                               struct trail_error *err);
void trail_config_entries_free(struct trail_config_entry *entries, size_t count);

/* The keys of an entry that are the host's own. */
void trail_config_host_keys(uint32_t kind, struct trail_config_names *names_ret);

#endif
