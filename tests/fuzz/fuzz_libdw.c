/* fuzz_libdw.c -- any bytes as a module, read by the plugin libdw. */
#include "plugin_once.h"

extern const struct trail_symbolizer trail_symbolizer_libdw;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plugin_once(&trail_symbolizer_libdw, data, size);
    return 0;
}
