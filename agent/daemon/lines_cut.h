/* lines_cut.h -- a text of several lines, as items of intake.h. */
#ifndef TRAIL_AGENT_LINES_CUT_H
#define TRAIL_AGENT_LINES_CUT_H

#include "agent/daemon/intake.h"

/* The lines of `text` that are not blank, at most `limit` of them, into `items`.
 * Returns how many; *rest_ret is where the next call goes on, `size` when there is no
 * more. */
size_t lines_cut(const char *text, size_t size, uint32_t uid, struct intake_item *items,
                 size_t limit, size_t *rest_ret);

#endif
