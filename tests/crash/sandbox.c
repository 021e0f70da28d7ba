/* sandbox.c -- a process that may do nothing but what the handling of a crash may. */
#define _GNU_SOURCE

#include "sandbox.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* What docs/crash.md says that the handling asks of the kernel. */
static const uint32_t permitted[] = {
    /* time, and what this is */
    __NR_clock_gettime,
    __NR_getpid,
    __NR_gettid,
    __NR_getuid,
    __NR_getrandom,
    __NR_prctl,
    /* signals, threads, and the deadline */
    __NR_rt_sigaction,
    __NR_rt_sigprocmask,
    __NR_rt_sigreturn,
    __NR_tgkill,
    __NR_rt_tgsigqueueinfo,
    __NR_futex,
    __NR_timer_create,
    __NR_timer_settime,
    __NR_timer_delete,
    /* memory that may not be there */
    __NR_process_vm_readv,
    /* /proc/self/task, and the file */
    __NR_openat,
    __NR_read,
    __NR_write,
    __NR_close,
    __NR_getdents64,
    __NR_fstat,
    __NR_newfstatat,
    __NR_fstatfs,
    __NR_renameat,
    __NR_unlinkat,
    __NR_fsync,
    /* standard error */
    __NR_ppoll,
#ifdef __NR_poll
    __NR_poll,
#endif
#ifdef __NR_open
    __NR_open,
#endif
};

#define COUNT (sizeof(permitted) / sizeof(permitted[0]))

bool sandbox_enter(void)
{
    struct sock_filter rules[COUNT + 3];
    unsigned short size = 0;
    rules[size++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                                 offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < COUNT; i++)
        rules[size++] =
            (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, permitted[i],
                                         (uint8_t)(COUNT - i), 0);
    rules[size++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    rules[size++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = { .len = size, .filter = rules };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}
