/* linux_stack.c -- contexts, guarded memory reads and the platform's unwinder. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>
#include <unwind.h>

bool trail_os_context(const void *ucontext, struct trail_os_registers *registers_ret)
{
    const ucontext_t *context = ucontext;
#if defined(__x86_64__)
    *registers_ret = (struct trail_os_registers){
        .pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP],
        .sp = (uint64_t)context->uc_mcontext.gregs[REG_RSP],
        .fp = (uint64_t)context->uc_mcontext.gregs[REG_RBP],
    };
    return true;
#elif defined(__aarch64__)
    *registers_ret = (struct trail_os_registers){
        .pc = context->uc_mcontext.pc,
        .sp = context->uc_mcontext.sp,
        .fp = context->uc_mcontext.regs[29],
    };
    return true;
#else
    (void)context, (void)registers_ret;
    return false;
#endif
}

int trail_os_copy(uint64_t address, void *to, size_t size)
{
    struct iovec local = { .iov_base = to, .iov_len = size };
    struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
    int kept = errno;
    ssize_t got = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
    int reason = got < 0 ? errno : EFAULT;
    errno = kept;
    return got == (ssize_t)size ? 0 : reason;
}

/* Set by the linker around section trail_text. */
extern const char __start_trail_text[] __attribute__((visibility("hidden")));
extern const char __stop_trail_text[] __attribute__((visibility("hidden")));

void trail_os_own_code(uint64_t *start_ret, uint64_t *end_ret)
{
    *start_ret = (uint64_t)(uintptr_t)__start_trail_text;
    *end_ret = (uint64_t)(uintptr_t)__stop_trail_text;
}

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
