/* builtins.c -- the plugins that are part of this library: enough to print a report
 * where nothing can be loaded. The same structs as in the files, in a table.
 */
#include "core/builtins.h"

extern const struct trail_plugin_record trail_record_wasi_null, trail_record_stderr;
extern const struct trail_symbolizer trail_symbolizer_wasi_null;
extern const struct trail_sink trail_sink_stderr;

const struct trail_builtin trail_builtins[] = {
    { &trail_record_wasi_null, &trail_symbolizer_wasi_null },
    { &trail_record_stderr, &trail_sink_stderr },
};

const size_t trail_builtin_count = sizeof(trail_builtins) / sizeof(trail_builtins[0]);
