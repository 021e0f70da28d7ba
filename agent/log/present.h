/* present.h -- elements of markup that stand for something to be read. */
#ifndef TRAIL_AGENT_LOG_PRESENT_H
#define TRAIL_AGENT_LOG_PRESENT_H

#include "agent/log/markup.h"

/* Write a part of a line with its bt, pc, symbol and data elements resolved. */
void log_present(struct log_markup *markup, struct trail_text line,
                 struct trail_text part);

#endif
