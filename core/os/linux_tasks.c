/* linux_tasks.c -- this process and its threads, as a signal handler can find out. */
#define _GNU_SOURCE

#include "core/os/crash.h"
#include "core/os/linux_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TASKS "/proc/self/task"

/* The digits at `text`, of 10 or 16; 0 if there are none. */
static uint64_t number_at(const char *text, unsigned base)
{
    uint64_t value = 0;
    for (; *text; text++) {
        unsigned digit = *text >= '0' && *text <= '9'   ? (unsigned)(*text - '0')
                         : *text >= 'a' && *text <= 'f' ? (unsigned)(*text - 'a') + 10
                                                        : 16;
        if (digit >= base)
            break;
        value = value * base + digit;
    }
    return value;
}

/* What follows `key` at a line's beginning; NULL. */
static const char *line_of(const char *text, const char *key)
{
    const size_t size = strlen(key);
    while (text && strncmp(text, key, size) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text)
        return NULL;
    for (text += size; *text == '\t' || *text == ' '; text++)
        ;
    return text;
}

/* ---- who this process is ------------------------------------------------- */

/* Field 22 of /proc/self/stat: fields are counted from the name's last bracket. */
static void renew_start(struct trail_os_process *process)
{
    char text[1024];
    process->start[0] = 0;
    if (!trail_proc_read("/proc/self/stat", text, sizeof(text)))
        return;
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < 22; field++) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    size_t size = at ? strspn(at, "0123456789") : 0;
    if (size < sizeof(process->start)) {
        memcpy(process->start, at ? at : "", size);
        process->start[size] = 0;
    }
}

void trail_os_process_renew(struct trail_os_process *process)
{
    char text[2048];
    process->uid = getuid();
    if (process->pid == getpid())
        return;
    process->pid = process->ns_pid = getpid();
    const char *pids = trail_proc_read("/proc/self/status", text, sizeof(text))
                           ? line_of(text, "NSpid:")
                           : NULL;
    for (; pids && *pids >= '0' && *pids <= '9';) {
        process->ns_pid = (int64_t)number_at(pids, 10);
        pids += strspn(pids, "0123456789");
        pids += *pids == '\t' || *pids == ' ';
    }
    renew_start(process);
}

/* ---- its threads --------------------------------------------------------- */

/* As the kernel has it: struct linux_dirent64. */
struct entry {
    uint64_t inode;
    int64_t offset;
    uint16_t size;
    uint8_t type;
    char name[];
};
#define ENTRY_NAME offsetof(struct entry, name)

static bool each_entry(const char *bytes, size_t size,
                       bool (*each)(void *arg, int64_t tid), void *arg)
{
    for (size_t at = 0; at + ENTRY_NAME < size;) {
        uint16_t length;
        memcpy(&length, bytes + at + offsetof(struct entry, size), sizeof(length));
        if (length <= ENTRY_NAME || length > size - at)
            return true;
        int64_t tid = (int64_t)number_at(bytes + at + ENTRY_NAME, 10);
        if (tid > 0 && !each(arg, tid))
            return false;
        at += length;
    }
    return true;
}

bool trail_os_tasks(bool (*each)(void *arg, int64_t tid), void *arg)
{
    char bytes[2048];
    int fd = open(TASKS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    for (bool more = true; more;) {
        long got = syscall(SYS_getdents64, fd, bytes, sizeof(bytes));
        more = got > 0 && each_entry(bytes, (size_t)got, each, arg);
    }
    close(fd);
    return true;
}

static void put_path(int64_t tid, char *to)
{
    char digits[24];
    size_t count = 0;
    for (; tid > 0; tid /= 10)
        digits[count++] = (char)('0' + tid % 10);
    while (count)
        *to++ = digits[--count];
    memcpy(to, "/status", sizeof("/status"));
}

bool trail_os_task_look(int64_t tid, struct trail_os_task *task_ret)
{
    char path[64] = TASKS "/", text[2048];
    put_path(tid, path + strlen(path));
    if (!trail_proc_read(path, text, sizeof(text)))
        return false;
    const char *name = line_of(text, "Name:");
    const char *state = line_of(text, "State:");
    const char *blocked = line_of(text, "SigBlk:");
    struct trail_os_task task = { .tid = tid };
    size_t length = name ? strcspn(name, "\n") : 0;
    memcpy(task.name, name ? name : "", length < 15 ? length : 15);
    task.state = state ? *state : 0;
    task.blocked = blocked ? number_at(blocked, 16) : 0;
    *task_ret = task;
    return true;
}

void trail_os_task_own_name(char name_ret[16])
{
    if (prctl(PR_GET_NAME, name_ret, 0, 0, 0))
        name_ret[0] = 0;
    name_ret[15] = 0;
}

/* ---- asking them --------------------------------------------------------- */

static void (*_Atomic answer_now)(uint32_t token, const void *ucontext);

static void on_crash_ask(int number, siginfo_t *info, void *ucontext)
{
    int kept = errno;
    (void)number;
    if (info->si_code == SI_QUEUE && info->si_pid == getpid())
        atomic_load (&answer_now)((uint32_t)info->si_value.sival_int, ucontext);
    errno = kept;
}

int trail_os_ask_now(void (*answer)(uint32_t token, const void *ucontext))
{
    struct sigaction action = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK }, now;
    action.sa_sigaction = on_crash_ask;
    sigfillset(&action.sa_mask);
    atomic_store(&answer_now, answer);
    for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
        if (sigaction(number, NULL, &now) == 0 && !(now.sa_flags & SA_SIGINFO) &&
            now.sa_handler == SIG_DFL && sigaction(number, &action, NULL) == 0)
            return number;
    return 0;
}

void trail_os_sleep_ms(unsigned ms)
{
    struct timespec time = { .tv_sec = (time_t)(ms / 1000),
                             .tv_nsec = (long)(ms % 1000) * 1000000 };
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &time, NULL);
}
