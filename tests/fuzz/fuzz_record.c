/* fuzz_record.c -- any bytes as a plugin file: judged, and none of it run. */
#include <stdlib.h>
#include <string.h>

#include "core/registry/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_record_desc desc = { 0 };
    struct trail_error err = { "" };
    enum trail_status status = trail_record_read(data, size, "wasi-null", &desc, &err);
    if (status && !err.text[0])
        abort(); /* a refusal says why */
    if (!status && strcmp(desc.name, "wasi-null") != 0)
        abort();
    return 0;
}
