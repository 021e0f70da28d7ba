/* linux_live.c -- the files that a process has mapped, and its memory, by way of /proc.
 */
#define _GNU_SOURCE

#include "core/os/os.h"

#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

int trail_os_live_copy(int64_t pid, uint64_t address, void *to, size_t size)
{
    struct iovec local = { .iov_base = to, .iov_len = size };
    struct iovec remote = { .iov_base = (void *)(uintptr_t)address, .iov_len = size };
    int kept = errno;
    ssize_t got = process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0);
    int reason = got < 0 ? errno : EFAULT;
    errno = kept;
    return got == (ssize_t)size ? 0 : reason;
}

/* Put "/proc/PID/" together with the rest, for this process "/proc/self/": its number
 * may be another one where /proc was mounted. */
TRAIL_PRINTF(4, 5)
static bool proc_path(int64_t pid, char *path_ret, size_t size, const char *format, ...)
{
    char who[24] = "self";
    if (pid != (int64_t)getpid())
        snprintf(who, sizeof(who), "%" PRId64, pid);
    int length = snprintf(path_ret, size, "/proc/%s/", who);
    if (length < 0 || (size_t)length >= size)
        return false;
    va_list args;
    va_start(args, format);
    int more = vsnprintf(path_ret + length, size - (size_t)length, format, args);
    va_end(args);
    return more >= 0 && (size_t)more < size - (size_t)length;
}

bool trail_os_live_root(int64_t pid, const char *path, char *path_ret, size_t size)
{
    return path[0] == '/' && proc_path(pid, path_ret, size, "root%s", path);
}

/* Where a file is mapped, and which it is. */
struct mapping {
    uint64_t start, end, inode;
    unsigned major, minor;
};

struct wanted_mapping {
    uint64_t start, end;
    struct mapping *ret;
    bool found;
};

static bool is_wanted(void *arg, const struct trail_os_mapping *mapping)
{
    struct wanted_mapping *wanted = arg;
    if (!mapping->inode || mapping->start < wanted->start || mapping->end > wanted->end)
        return true;
    *wanted->ret = (struct mapping){ mapping->start, mapping->end, mapping->inode,
                                     mapping->major, mapping->minor };
    wanted->found = true;
    return false;
}

/* The first mapping of a file in [start, end). */
static bool find_mapping(int64_t pid, uint64_t start, uint64_t end, struct mapping *ret)
{
    struct wanted_mapping wanted = { start, end, ret, false };
    trail_os_mappings(pid, is_wanted, &wanted, NULL);
    return wanted.found;
}

static bool is_mapped_file(const char *path, const struct mapping *mapping)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           (uint64_t)st.st_ino == mapping->inode &&
           major(st.st_dev) == mapping->major && minor(st.st_dev) == mapping->minor;
}

void trail_os_live_paths(int64_t pid, uint64_t start, uint64_t end, const char *path,
                         bool main_program,
                         bool (*each)(void *arg, const char *path, bool proven),
                         void *arg)
{
    char seen[4096 + 64], way[96];
    struct mapping mapping;
    bool rooted = trail_os_live_root(pid, path, seen, sizeof(seen));
    bool done = false;
    if (main_program) {
        proc_path(pid, way, sizeof(way), "exe");
        done = each(arg, way, true);
    }
    if (!done && rooted)
        done = each(arg, seen, false);
    if (done || !find_mapping(pid, start, end, &mapping))
        return;
    if (rooted && is_mapped_file(seen, &mapping) && each(arg, seen, true))
        return;
    proc_path(pid, way, sizeof(way), "map_files/%" PRIx64 "-%" PRIx64, mapping.start,
              mapping.end);
    each(arg, way, true);
}
