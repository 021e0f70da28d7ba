/* linux_ask.c -- having another thread of this process do something, by a signal. */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Below the three that debuggers and tools are fond of. */
#define SIGNALS_LEFT_TO_OTHERS 3

/* Of linux/futex.h, which not every C library's compiler finds. */
enum { WAIT_PRIVATE = 0 | 128, WAKE_PRIVATE = 1 | 128 };

static void (*_Atomic answer_now)(uint32_t token, const void *ucontext);
static _Atomic int installed; /* the signal that is ours; 0: none is */

/* A signal of this number that somebody else sent means nothing here. */
static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    int kept = errno;
    (void)number;
    if (info->si_code == SI_QUEUE && info->si_pid == getpid())
        atomic_load (&answer_now)((uint32_t)info->si_value.sival_int, ucontext);
    errno = kept;
}

static bool is_free(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
           action.sa_handler == SIG_DFL;
}

static int first_free(void)
{
    for (int number = SIGRTMAX - SIGNALS_LEFT_TO_OTHERS; number >= SIGRTMIN; number--)
        if (is_free(number))
            return number;
    return 0;
}

enum trail_status trail_os_ask_install(int number,
                                       void (*answer)(uint32_t token,
                                                      const void *ucontext),
                                       int *number_ret, struct trail_error *err)
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    int wanted = number ? number : first_free();
    if (wanted == 0)
        return trail_fail(err, TRAIL_REFUSED,
                          "asking threads: every real-time signal has a handler");
    if (wanted < SIGRTMIN || wanted > SIGRTMAX)
        return trail_fail(err, TRAIL_BAD_INPUT,
                          "signal %d: not a real-time signal; those are %d to %d",
                          wanted, SIGRTMIN, SIGRTMAX);
    if (!is_free(wanted))
        return trail_fail(err, TRAIL_REFUSED,
                          "signal %d: has a handler already; choose another", wanted);
    action.sa_sigaction = on_signal;
    sigfillset(&action.sa_mask);
    atomic_store(&answer_now, answer);
    if (sigaction(wanted, &action, NULL))
        return trail_fail(err, TRAIL_IO, "signal %d: cannot be handled", wanted);
    atomic_store(&installed, wanted);
    *number_ret = wanted;
    return TRAIL_OK;
}

/* Once this code is gone, a signal that was still on its way must not lead to it. */
__attribute__((destructor)) static void forget(void)
{
    struct sigaction action = { .sa_handler = SIG_IGN };
    int number = atomic_exchange(&installed, 0);
    if (number)
        sigaction(number, &action, NULL);
}

int trail_os_ask(int64_t tid, int number, uint32_t token)
{
    siginfo_t info = { .si_signo = number, .si_code = SI_QUEUE };
    info.si_pid = getpid();
    info.si_uid = getuid();
    info.si_value.sival_int = (int)token;
    return syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)tid, number, &info) ? errno
                                                                               : 0;
}

/* ---- threads ------------------------------------------------------------ */

bool trail_os_thread_own(int64_t tid)
{
    return tid > 0 && tid == (int64_t)(pid_t)tid &&
           syscall(SYS_tgkill, getpid(), (pid_t)tid, 0) == 0;
}

static FILE *open_of_thread(int64_t tid, const char *name)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%" PRId64 "/%s", tid, name);
    return fopen(path, "re");
}

bool trail_os_thread_blocks(int64_t tid, int number)
{
    static const char key[] = "SigBlk:";
    char line[256];
    uint64_t mask = 0;
    FILE *status = open_of_thread(tid, "status");
    while (status && fgets(line, sizeof(line), status))
        if (strncmp(line, key, sizeof(key) - 1) == 0)
            mask = strtoull(line + sizeof(key) - 1, NULL, 16);
    if (status)
        fclose(status);
    return number > 0 && mask >> (number - 1) & 1;
}

void trail_os_thread_called(int64_t tid, char *name_ret, size_t size)
{
    FILE *comm = open_of_thread(tid, "comm");
    if (!comm || !fgets(name_ret, (int)size, comm))
        name_ret[0] = 0;
    if (comm)
        fclose(comm);
    name_ret[strcspn(name_ret, "\n")] = 0;
}

/* ---- waiting ------------------------------------------------------------ */

void trail_os_word_wait(const void *word, uint32_t value, uint64_t until_ns)
{
    uint64_t now = trail_os_mono_ns();
    uint64_t left = until_ns > now ? until_ns - now : 0;
    struct timespec time = { .tv_sec = (time_t)(left / 1000000000u),
                             .tv_nsec = (long)(left % 1000000000u) };
    if (left)
        syscall(SYS_futex, word, WAIT_PRIVATE, value, &time, NULL, 0);
}

void trail_os_word_wake(const void *word)
{
    syscall(SYS_futex, word, WAKE_PRIVATE, 1, NULL, NULL, 0);
}
