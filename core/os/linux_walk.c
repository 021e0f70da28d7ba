/* linux_walk.c -- the unwinder of the compiler's runtime. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <unwind.h>

struct walk {
    bool (*each)(void *arg, const struct trail_os_step *step);
    void *arg;
    bool base;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct walk *walk = arg;
    int interrupted = 0;
    struct trail_os_step step = {
        .pc = (uint64_t)_Unwind_GetIPInfo(context, &interrupted),
        .sp = (uint64_t)_Unwind_GetCFA(context),
    };
    step.interrupted = interrupted != 0;
    /* The return address of the outermost frame is undefined; an interrupted pc of 0 is
     * a call through a null pointer. */
    if (step.pc == 0 && !step.interrupted) {
        walk->base = true;
        return _URC_END_OF_STACK;
    }
    return walk->each(walk->arg, &step) ? _URC_NO_REASON : _URC_END_OF_STACK;
}

TRAIL_OWN_CODE
bool trail_os_walk(bool (*each)(void *arg, const struct trail_os_step *step), void *arg)
{
    struct walk walk = { .each = each, .arg = arg };
    _Unwind_Backtrace(on_frame, &walk);
    return walk.base;
}
