/* linux_fatal.c -- the signals that end a program: taking them, and passing them on. */
#define _GNU_SOURCE

#include "core/os/crash.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define COUNT 7
static const int numbers[COUNT] = { SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                    SIGABRT, SIGTRAP, SIGSYS };
#define FLAGS (SA_SIGINFO | SA_ONSTACK | SA_NODEFER)

/* What a timer of ours sends along. */
static const char deadline_mark;

static struct sigaction previous[COUNT];
static _Atomic bool installed[COUNT];
static trail_os_fatal_fn *_Atomic on_fatal;

static int index_of(int number)
{
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] == number)
            return i;
    return -1;
}

/* ---- what came ----------------------------------------------------------- */

/* enum trail_signal_access: 0 unknown, 1 read, 2 write, 3 execute. */
#if defined(__x86_64__) || defined(__i386__)
#define PAGE_FAULT 14
static int access_of(const ucontext_t *context)
{
    const unsigned long error = (unsigned long)context->uc_mcontext.gregs[REG_ERR];
    if (context->uc_mcontext.gregs[REG_TRAPNO] != PAGE_FAULT)
        return 0;
    if (error & 16)
        return 3;
    return error & 2 ? 2 : 1;
}
#elif defined(__aarch64__)
#define ESR_MAGIC_ 0x45535201u
struct record {
    uint32_t magic, size;
    uint64_t value;
};
/* The syndrome is among the records behind the registers. */
static int access_of(const ucontext_t *context)
{
    const uint8_t *bytes = (const uint8_t *)context->uc_mcontext.__reserved;
    const size_t room = sizeof(context->uc_mcontext.__reserved);
    struct record record;
    for (size_t at = 0; at + sizeof(record) <= room; at += record.size) {
        memcpy(&record, bytes + at, sizeof(record));
        if (record.size < 8 || record.size > room - at)
            return 0;
        if (record.magic != ESR_MAGIC_)
            continue;
        unsigned class = record.value >> 26 & 63;
        if (class == 0x20)
            return 3;
        return class == 0x24 ? (record.value & 64 ? 2 : 1) : 0;
    }
    return 0;
}
#else
static int access_of(const ucontext_t *context)
{
    (void)context;
    return 0;
}
#endif

static struct trail_os_fatal fatal_of(int number, const siginfo_t *info,
                                      const ucontext_t *context)
{
    const bool is_fault = info->si_code > 0 && number != SIGABRT;
    const bool has_address = is_fault && number != SIGSYS && info->si_code != SI_KERNEL;
    const bool is_sent = info->si_code == SI_USER || info->si_code == SI_TKILL ||
                         info->si_code == SI_QUEUE;
    const bool is_access = number == SIGSEGV || number == SIGBUS;
    return (struct trail_os_fatal){
        .number = number,
        .code = info->si_code,
        .address = has_address ? (uint64_t)(uintptr_t)info->si_addr : 0,
        .access = is_fault && is_access ? access_of(context) : 0,
        .sender = is_sent ? info->si_pid : 0,
        .is_deadline = info->si_code == SI_TIMER &&
                       info->si_value.sival_ptr == (const void *)&deadline_mark,
        .system_call = is_fault && number == SIGSYS ? info->si_syscall : -1,
        .ucontext = context,
        .info = info,
    };
}

/* ---- and what becomes of it ---------------------------------------------- */

static void on_fatal_signal(int number, siginfo_t *info, void *ucontext);

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO && action->sa_sigaction == on_fatal_signal;
}

void trail_os_fatal_uninstall(void)
{
    struct sigaction now;
    for (int i = 0; i < COUNT; i++)
        if (atomic_exchange(&installed[i], false) &&
            sigaction(numbers[i], NULL, &now) == 0 && is_ours(&now))
            sigaction(numbers[i], &previous[i], NULL);
}

void trail_os_fatal_taken(void (*each)(void *arg, int number, uint64_t handler),
                          void *arg)
{
    struct sigaction now;
    for (int i = 0; i < COUNT; i++) {
        if (!atomic_load(&installed[i]) || sigaction(numbers[i], NULL, &now) ||
            is_ours(&now))
            continue;
        uintptr_t handler = now.sa_flags & SA_SIGINFO ? (uintptr_t)now.sa_sigaction
                                                      : (uintptr_t)now.sa_handler;
        each(arg, numbers[i], handler);
    }
}

static void block(int number, int how)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(how, &set, NULL);
}

/* The signal comes once more, just where it came, as soon as the handler has returned:
 * then a core, a debugger and an earlier handler see what they would have seen. */
static void pass_on(int number, siginfo_t *info)
{
    trail_os_deadline_set(0);
    trail_os_fatal_uninstall();
    block(number, SIG_BLOCK);
    if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number,
                info) == 0)
        return;
    if (info->si_code <= 0) /* a fault comes again by itself */
        syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
}

static void die_of(int number)
{
    struct sigaction action = { .sa_handler = SIG_DFL };
    trail_os_fatal_uninstall();
    sigaction(number, &action, NULL);
    block(number, SIG_UNBLOCK);
    syscall(SYS_tgkill, getpid(), (pid_t)syscall(SYS_gettid), number);
    _exit(128 + number); /* the first process of a namespace survives its signals */
}

static bool is_ignored(int number, const siginfo_t *info)
{
    int i = index_of(number);
    return info->si_code <= 0 && i >= 0 && !(previous[i].sa_flags & SA_SIGINFO) &&
           previous[i].sa_handler == SIG_IGN;
}

TRAIL_OWN_CODE
static void on_fatal_signal(int number, siginfo_t *info, void *ucontext)
{
    int kept = errno, die = number, cancelled;
    trail_os_fatal_fn *handler = atomic_load(&on_fatal);
    struct trail_os_fatal fatal = fatal_of(number, info, ucontext);

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancelled);
    if (handler && !is_ignored(number, info))
        switch (handler(&fatal, &die)) {
        case TRAIL_OS_PASS_ON:
            pass_on(number, info);
            break;
        case TRAIL_OS_DIE:
            die_of(die);
            break;
        case TRAIL_OS_RETURN:
            break;
        }
    pthread_setcancelstate(cancelled, &cancelled);
    errno = kept;
}

/* ---- setting up ---------------------------------------------------------- */

/* What is blocked in the handler; by it another copy of this code is told, too. */
static void fill_mask(sigset_t *mask)
{
    sigemptyset(mask);
    for (int number = 1; number < 32; number++)
        if (index_of(number) < 0)
            sigaddset(mask, number);
    sigaddset(mask, SIGRTMAX - 1);
    sigaddset(mask, SIGRTMAX - 3);
}

static bool is_of_a_copy(const struct sigaction *action)
{
    sigset_t mask;
    fill_mask(&mask);
    for (int number = 1; number <= SIGRTMAX; number++)
        if (sigismember(&mask, number) == 1 && number != SIGKILL && number != SIGSTOP &&
            sigismember(&action->sa_mask, number) != 1)
            return false;
    for (int i = 0; i < COUNT; i++)
        if (sigismember(&action->sa_mask, numbers[i]) == 1)
            return false;
    return (action->sa_flags & FLAGS) == FLAGS &&
           sigismember(&action->sa_mask, SIGRTMAX - 2) == 0;
}

/* A fault whose signal is blocked kills without a word. */
static void unblock_faults(void)
{
    for (int i = 0; i < COUNT; i++)
        if (numbers[i] != SIGABRT)
            block(numbers[i], SIG_UNBLOCK);
}

enum trail_status trail_os_fatal_install(trail_os_fatal_fn *handler,
                                         struct trail_error *err)
{
    struct sigaction action = { .sa_flags = FLAGS }, now;
    action.sa_sigaction = on_fatal_signal;
    fill_mask(&action.sa_mask);

    if (sigaction(SIGSEGV, NULL, &now) == 0 && !is_ours(&now) && is_of_a_copy(&now))
        return trail_fail(err, TRAIL_REFUSED,
                          "crashes: another copy of Backtrail in this process records "
                          "them already; one is enough");
    atomic_store(&on_fatal, handler);
    for (int i = 0; i < COUNT; i++) {
        if (sigaction(numbers[i], NULL, &now))
            continue;
        if (!is_ours(&now))
            previous[i] = now;
        if (sigaction(numbers[i], &action, NULL))
            return trail_fail(err, TRAIL_IO, "signal %d: %s", numbers[i],
                              strerror(errno));
        atomic_store(&installed[i], true);
    }
    unblock_faults();
    return TRAIL_OK;
}

bool trail_os_fatal_default(int number)
{
    struct sigaction action = { .sa_flags = FLAGS };
    int i = index_of(number);
    if (i < 0 || !atomic_load(&installed[i]))
        return false;
    action.sa_sigaction = on_fatal_signal;
    fill_mask(&action.sa_mask);
    previous[i] = (struct sigaction){ .sa_handler = SIG_DFL };
    return sigaction(number, &action, NULL) == 0;
}

/* ---- in the handler ------------------------------------------------------ */

void trail_os_fatal_alone(void)
{
    sigset_t all;
    sigfillset(&all);
    for (int i = 0; i < COUNT; i++)
        sigdelset(&all, numbers[i]);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

bool trail_os_deadline_set(unsigned ms)
{
    static int timer = -1; /* the kernel's number: the C library's calls may allocate */
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGTRAP };
    struct itimerspec when = { .it_value = { .tv_sec = (time_t)(ms / 1000),
                                             .tv_nsec = (long)(ms % 1000) * 1000000 } };
    if (timer >= 0)
        syscall(SYS_timer_delete, timer);
    timer = -1;
    if (ms == 0)
        return true;
    event.sigev_value.sival_ptr = (void *)(uintptr_t)&deadline_mark;
    event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer)) {
        timer = -1;
        return false;
    }
    return syscall(SYS_timer_settime, timer, 0, &when, NULL) == 0;
}
