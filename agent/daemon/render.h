/* render.h -- an entry of the record in the style that a sink wants. */
#ifndef TRAIL_AGENT_RENDER_H
#define TRAIL_AGENT_RENDER_H

#include "core/journal/journal.h"

/* `style`: enum trail_style; `full`: text with hidden frames, too. What is no report
 * comes as its line of JSON. The caller frees the body. */
enum trail_status render_entry(const struct trail_journal_entry *entry, uint32_t style,
                               bool full, char **body_ret, size_t *size_ret,
                               struct trail_error *err);

#endif
