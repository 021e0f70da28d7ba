/* linux_stack.c -- contexts and guarded memory reads. */
#define _GNU_SOURCE

#include "core/os/os.h"
#include "core/os/native.h"

#include <errno.h>
#include <signal.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

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
#elif defined(__i386__)
    *registers_ret = (struct trail_os_registers){
        .pc = (uint32_t)context->uc_mcontext.gregs[REG_EIP],
        .sp = (uint32_t)context->uc_mcontext.gregs[REG_ESP],
        .fp = (uint32_t)context->uc_mcontext.gregs[REG_EBP],
    };
    return true;
#elif defined(__riscv) && __riscv_xlen == 64
    *registers_ret = (struct trail_os_registers){
        .pc = context->uc_mcontext.__gregs[0],
        .sp = context->uc_mcontext.__gregs[2],
        .fp = context->uc_mcontext.__gregs[8],
    };
    return true;
#elif defined(__arm__)
    *registers_ret = (struct trail_os_registers){
        .pc = context->uc_mcontext.arm_pc,
        .sp = context->uc_mcontext.arm_sp,
        .fp = context->uc_mcontext.arm_fp,
    };
    return true;
#else
    (void)context, (void)registers_ret;
    return false;
#endif
}

uintptr_t trail_os_context_registers(const void *ucontext)
{
    const ucontext_t *context = ucontext;
#if defined(__x86_64__) || defined(__i386__)
    return (uintptr_t)context->uc_mcontext.gregs;
#elif defined(__aarch64__)
    return (uintptr_t)context->uc_mcontext.regs;
#elif defined(__riscv)
    return (uintptr_t)context->uc_mcontext.__gregs;
#elif defined(__arm__)
    return (uintptr_t)&context->uc_mcontext.arm_r0;
#else
    (void)context;
    return 0;
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
    if (got < 0 && (reason == ENOSYS || reason == EPERM))
        return trail_os_copy_by_pipe(address, to, size);
    return got == (ssize_t)size ? 0 : reason;
}

/* Set by the linker around section trail_text. */
extern const char __start_trail_text[] __attribute__((visibility("hidden")));
extern const char __stop_trail_text[] __attribute__((visibility("hidden")));

/* In that section itself, so that there is one wherever this is linked. */
TRAIL_OWN_CODE
void trail_os_own_code(uint64_t *start_ret, uint64_t *end_ret)
{
    *start_ret = (uint64_t)(uintptr_t)__start_trail_text;
    *end_ret = (uint64_t)(uintptr_t)__stop_trail_text;
}
