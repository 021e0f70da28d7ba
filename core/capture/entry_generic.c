/* entry_generic.c -- where a capture starts on machines that have no entry of their
 * own: nothing is known of the caller but that it called.
 */
#include "core/capture/entry.h"
#include "core/capture/own.h"

TRAIL_OWN_CODE
unsigned trail_entry(uintptr_t *addresses, unsigned capacity,
                     const struct trail_control *control, struct trail_info *info)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    unsigned count =
        trail_backtrace_from(addresses, capacity, control, info, frame, frame);
    __asm__ volatile("" : : : "memory"); /* not a jump: its frame is the first */
    return count;
}

TRAIL_OWN_CODE
unsigned trail_backtrace(uintptr_t *addresses, unsigned capacity,
                         const struct trail_control *control, struct trail_info *info)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    unsigned count =
        trail_backtrace_from(addresses, capacity, control, info, frame, frame);
    __asm__ volatile("" : : : "memory");
    return count;
}

void trail_own_registers(struct trail_registers *registers_ret)
{
    registers_ret->known = 0;
}
