/* dump.h -- what the threads of a running process do, as a raw trace. */
#ifndef TRAIL_AGENT_DUMP_H
#define TRAIL_AGENT_DUMP_H

#include "core/os/os.h"

/* Hold process `pid` for a moment, and write what its threads did then as one line of
 * JSON, terminated, without newline; it runs again before a stack is walked. What could
 * not be had of it is in `missing`.
 *
 * Errors: as of trail_os_freeze.
 * Owns:   the caller frees *text_ret. */
enum trail_status dump_process(int64_t pid,
                               const struct trail_os_freeze_options *options,
                               char **text_ret, size_t *size_ret,
                               struct trail_error *err);

#endif
