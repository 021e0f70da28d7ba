/* linux_arch.c -- the architecture that this code was compiled for. */
#include "core/os/os.h"

#include "backtrail/symbolizer.h"

uint32_t trail_os_arch(void)
{
#if defined(__x86_64__) && defined(__LP64__)
    return TRAIL_ARCH_X86_64;
#elif defined(__i386__)
    return TRAIL_ARCH_X86;
#elif defined(__aarch64__) && defined(__LP64__)
    return TRAIL_ARCH_AARCH64;
#elif defined(__arm__)
    return TRAIL_ARCH_ARM;
#elif defined(__riscv) && __riscv_xlen == 64
    return TRAIL_ARCH_RISCV64;
#else
    return TRAIL_ARCH_UNKNOWN;
#endif
}
