/* linux_process.c -- who this process is, and what may be done with a thread. */
#define _GNU_SOURCE

#include "core/os/os.h"
#include "core/os/linux_proc.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

/* Kernel's PF_KTHREAD in field 9 (flags) of /proc/PID/stat; see proc(5). */
#define PF_KTHREAD 0x00200000ul

void trail_os_random(void *bytes, size_t size)
{
    unsigned char *at = bytes;
    while (size) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            break;
        at += got;
        size -= (size_t)got;
    }
    /* Without getrandom an id is still unlikely to repeat: time and address. */
    for (uint64_t seed = trail_os_time_ns() ^ (uintptr_t)at; size; size--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        *at++ = (unsigned char)(seed >> 56);
    }
}

void trail_os_memory_release(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

const char *trail_os_environment(const char *name)
{
    return secure_getenv(name);
}

bool trail_os_environment_set(const char *name, const char *value)
{
    return setenv(name, value, 1) == 0;
}

void trail_os_environment_each(const char *prefix,
                               bool (*each)(void *arg, const char *name,
                                            const char *value),
                               void *arg)
{
    size_t size = strlen(prefix);
    bool more = true;
    if (getauxval(AT_SECURE))
        return;
    for (char **at = environ; at && *at && more; at++) {
        const char *equals = strchr(*at, '=');
        if (!equals || strncmp(*at, prefix, size) != 0)
            continue;
        char *name = strndup(*at, (size_t)(equals - *at));
        if (name)
            more = each(arg, name, equals + 1);
        free(name);
    }
}

int64_t trail_os_pid(void)
{
    return getpid();
}

int64_t trail_os_tid(void)
{
    return (int64_t)syscall(SYS_gettid);
}

void trail_os_thread_name(char *name_ret, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%lld/comm",
             (long long)trail_os_tid());
    if (!trail_proc_read(path, name_ret, size))
        name_ret[0] = 0;
    name_ret[strcspn(name_ret, "\n")] = 0;
}

/* The text after the command name of a stat line, which may itself hold spaces and
 * brackets: fields are counted from the last ')'. Field 3 comes first. */
static const char *stat_fields(const char *line)
{
    const char *close_bracket = strrchr(line, ')');
    return close_bracket && close_bracket[1] == ' ' ? close_bracket + 2 : NULL;
}

/* Field `number` (as proc(5) counts, from 3) of the text that stat_fields gave. */
static const char *stat_field(const char *fields, int number)
{
    for (; fields && number > 3; number--) {
        fields = strchr(fields, ' ');
        fields = fields ? fields + 1 : NULL;
    }
    return fields;
}

int trail_os_thread_check(int64_t tid)
{
    char path[64], line[1024];
    if (tid <= 0)
        return ESRCH;
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)tid);
    if (!trail_proc_read(path, line, sizeof(line)))
        return errno == EACCES || errno == EPERM ? EPERM : ESRCH;

    const char *fields = stat_fields(line);
    const char *flags = stat_field(fields, 9);
    if (!fields || !flags)
        return ESRCH;
    if (fields[0] == 'Z' || fields[0] == 'X')
        return ESRCH;
    if (strtoul(flags, NULL, 10) & PF_KTHREAD)
        return EINVAL;
    return 0;
}

/* "/proc/PID/name", or of this process. */
static void proc_file(int64_t pid, const char *name, char path_ret[64])
{
    if (pid == getpid())
        snprintf(path_ret, 64, "/proc/self/%s", name);
    else
        snprintf(path_ret, 64, "/proc/%lld/%s", (long long)pid, name);
}

/* The last number of the "NSpid:" line: the pid as the process itself sees it. */
static int64_t innermost_pid(int64_t pid)
{
    char path[64], text[4096];
    proc_file(pid, "status", path);
    if (!trail_proc_read(path, text, sizeof(text)))
        return pid;
    char *line = strstr(text, "\nNSpid:");
    if (!line)
        return pid;
    line += strlen("\nNSpid:");
    line[strcspn(line, "\n")] = 0;
    char *tab = strrchr(line, '\t');
    return tab ? strtoll(tab, NULL, 10) : pid;
}

static void start_time(int64_t pid, char *text_ret, size_t size)
{
    char path[64], line[1024];
    text_ret[0] = 0;
    proc_file(pid, "stat", path);
    if (!trail_proc_read(path, line, sizeof(line)))
        return;
    const char *start = stat_field(stat_fields(line), 22);
    if (start)
        snprintf(text_ret, size, "%.*s", (int)strcspn(start, " \n"), start);
}

/* uname's machine, in the words of wire.md. */
static const char *arch_name(const char *machine)
{
    static const char *const names[] = { "x86_64", "aarch64", "riscv64", "s390x",
                                         "ppc64" };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(machine, names[i]) == 0)
            return sizeof(void *) == 4 && i == 0 ? "x86" : names[i];
    if (strncmp(machine, "arm", 3) == 0)
        return "arm";
    return machine[0] == 'i' ? "x86" : "unknown";
}

static uint32_t user_of(int64_t pid)
{
    char path[64];
    struct stat st;
    proc_file(pid, "", path);
    return stat(path, &st) == 0 ? st.st_uid : 0;
}

void trail_os_process_of(int64_t pid, struct trail_os_process *process_ret)
{
    char path[64];
    *process_ret = (struct trail_os_process){ 0 };
    process_ret->pid = pid;
    process_ret->ns_pid = innermost_pid(pid);
    process_ret->uid = pid == getpid() ? getuid() : user_of(pid);
    process_ret->os = "linux";
    process_ret->bits = (int)sizeof(void *) * 8;
    const uint16_t one = 1;
    process_ret->little_endian = *(const uint8_t *)&one == 1;

    struct utsname system;
    process_ret->arch = uname(&system) == 0 ? arch_name(system.machine) : "unknown";
    if (gethostname(process_ret->host, sizeof(process_ret->host) - 1))
        process_ret->host[0] = 0;
    start_time(pid, process_ret->start, sizeof(process_ret->start));
    if (trail_proc_read("/proc/sys/kernel/random/boot_id", process_ret->boot,
                        sizeof(process_ret->boot)))
        process_ret->boot[strcspn(process_ret->boot, "\n")] = 0;
    proc_file(pid, "exe", path);
    ssize_t size = readlink(path, process_ret->exe, sizeof(process_ret->exe) - 1);
    process_ret->exe[size > 0 ? size : 0] = 0;
}

void trail_os_process_self(struct trail_os_process *process_ret)
{
    trail_os_process_of(getpid(), process_ret);
}
