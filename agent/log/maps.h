/* maps.h -- what a log says of where modules are mapped, besides markup: lines of
 * /proc/PID/maps, and of gdb's `info sharedlibrary` and `info proc mappings`.
 */
#ifndef TRAIL_AGENT_LOG_MAPS_H
#define TRAIL_AGENT_LOG_MAPS_H

#include "agent/log/modules.h"

/* Remember what the line tells; false: it is no such line. */
bool log_maps_learn(struct log_modules *modules, struct trail_text line);

#endif
