/* call_before.c -- does the instruction before an address make a call? */
#include "core/resolve/call_before.h"

#include "backtrail/symbolizer.h"
#include "core/trace/call_site.h"

enum trail_before trail_call_before(uint32_t arch, const uint8_t *code, size_t size)
{
    uint64_t target;
    if (arch != TRAIL_ARCH_X86_64 && arch != TRAIL_ARCH_AARCH64)
        return TRAIL_BEFORE_UNKNOWN;
    switch (trail_call_site(arch, 0, code, size, &target)) {
    case TRAIL_CALL_SITE_UNKNOWN:
        return TRAIL_BEFORE_UNKNOWN;
    case TRAIL_CALL_SITE_NONE:
        return TRAIL_BEFORE_OTHER;
    default:
        return TRAIL_BEFORE_CALL;
    }
}
