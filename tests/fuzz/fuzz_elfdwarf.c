/* fuzz_elfdwarf.c -- any bytes as a module, read by the plugin elfdwarf. */
#include "plugin_once.h"

extern const struct trail_symbolizer trail_symbolizer_elfdwarf;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    plugin_once(&trail_symbolizer_elfdwarf, data, size);
    return 0;
}
