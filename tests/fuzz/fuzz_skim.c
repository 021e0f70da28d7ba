/* fuzz_skim.c -- any bytes as a report: what is skimmed is what jansson reads, and what
 * jansson refuses is not skimmed. */
#include <stdlib.h>

#include <jansson.h>

#include "core/trace/skim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(const json_t *object, const char *key, const char *skimmed)
{
    const char *text = json_string_value(json_object_get(object, key));
    if (strcmp(text ? text : "", skimmed) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_skim skim;
    if (!trail_skim((const char *)data, size, &skim))
        return 0;
    json_t *report = json_loadb((const char *)data, size, 0, NULL);
    const json_t *trace = json_object_get(report, "trace");
    if (!json_is_object(report) || !json_is_object(trace))
        abort();
    expect(report, "kind", "report");
    expect(report, "id", skim.id);
    expect(trace, "id", skim.id);
    expect(trace, "why", skim.why);
    expect(trace, "channel", skim.channel);
    expect(json_object_get(trace, "app"), "name", skim.app);
    expect(json_object_get(report, "fingerprint"), "exact", skim.exact);
    json_decref(report);
    return 0;
}
