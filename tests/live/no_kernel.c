/* no_kernel.c -- 1000 captures in a process that may only write and exit. */
#define _GNU_SOURCE

#include "show.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct trail_backtrace backtrace;

/* Any other system call kills the process with SIGSYS. */
static int confine(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = { .len = sizeof(rules) / sizeof(rules[0]),
                                        .filter = rules };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int capture(const void *left, const void *right)
{
    (void)left, (void)right;
    trail_capture(&backtrace); /* through frames of libc */
    return 0;
}

int main(int argc, char **argv)
{
    char pair[2] = { 0 };
    uint32_t least = UINT32_MAX;
    (void)argv;
    if (confine())
        return 1;
    for (int i = 0; i < 1000; i++) {
        qsort(pair, 2, 1, capture);
        least = backtrace.count < least ? backtrace.count : least;
    }
    if (argc > 1)
        getppid(); /* to see the filter work */
    const char *text = least > 4 ? "captured\n" : "a capture found nothing\n";
    ssize_t written = write(1, text, strlen(text));
    _exit(written < 0);
}
