/* posix_run.c -- starting a program and being in its place. */
#define _GNU_SOURCE

#include "core/os/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S ((uint64_t)1000000000u)

static const int passed[] = { SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGWINCH };

/* As they were: a program that is run finds them so. */
static sigset_t mask_before;
static struct sigaction child_before;

static sigset_t taken_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
        sigaddset(&set, passed[i]);
    return set;
}

void trail_os_run_prepare(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t set = taken_signals();
    sigaction(SIGCHLD, &plain, &child_before); /* if it is ignored nobody is told */
    sigprocmask(SIG_BLOCK, &set, &mask_before);
}

/* In the child. Says why it failed through `report`, and begins when `start` ends. */
static void become(const char *path, char *const *arguments,
                   const char *const *variables, int report, int start)
{
    char byte;
    while (read(start, &byte, 1) < 0 && errno == EINTR)
        ;
    sigaction(SIGCHLD, &child_before, NULL);
    for (size_t i = 0; variables && variables[i]; i += 2)
        if (variables[i + 1])
            setenv(variables[i], variables[i + 1], 1);
        else
            unsetenv(variables[i]);
    sigprocmask(SIG_SETMASK, &mask_before, NULL);
    execv(path, arguments);
    int error = errno;
    (void)!write(report, &error, sizeof(error));
    _exit(127);
}

enum trail_status trail_os_run(const char *path, char *const *arguments,
                               const char *const *variables,
                               void (*before)(int64_t pid), int64_t *pid_ret,
                               struct trail_error *err)
{
    int ends[2], starts[2], error = 0;
    if (pipe2(ends, O_CLOEXEC))
        return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(errno));
    if (pipe2(starts, O_CLOEXEC)) {
        error = errno;
        close(ends[0]);
        close(ends[1]);
        return trail_fail(err, TRAIL_IO, "%s: %s", path, strerror(error));
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(starts[1]);
        become(path, arguments, variables, ends[1], starts[0]);
    }
    if (pid < 0)
        error = errno;
    else if (before)
        before(pid);
    close(starts[0]);
    close(starts[1]);
    close(ends[1]);
    ssize_t got = 0;
    while (pid > 0 && (got = read(ends[0], &error, sizeof(error))) < 0 &&
           errno == EINTR)
        ;
    close(ends[0]);
    if (pid > 0 && got > 0)
        waitpid(pid, NULL, 0);
    *pid_ret = pid;
    if (!error)
        return TRAIL_OK;
    return trail_fail(err, error == ENOENT ? TRAIL_NOT_FOUND : TRAIL_IO, "%s: %s", path,
                      strerror(error));
}

static bool has_ended(pid_t pid, struct trail_os_ending *end_ret)
{
    int status;
    pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    if (got < 0)
        status = 0;
    end_ret->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end_ret->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end_ret->dumped = WIFSIGNALED(status) && WCOREDUMP(status);
    return true;
}

void trail_os_run_pass(int64_t pid, uint64_t wait_ns)
{
    sigset_t set = taken_signals();
    siginfo_t info;
    struct timespec left = { .tv_sec = (time_t)(wait_ns / NS_PER_S),
                             .tv_nsec = (long)(wait_ns % NS_PER_S) };
    int signal = sigtimedwait(&set, &info, &left);
    /* What the terminal sends, it sends to the program, too. */
    if (signal > 0 && signal != SIGCHLD && info.si_code != SI_KERNEL)
        kill((pid_t)pid, signal);
}

bool trail_os_run_wait(int64_t pid, uint64_t wait_ns, struct trail_os_ending *end_ret)
{
    uint64_t until = trail_os_mono_ns() + wait_ns;
    while (!has_ended((pid_t)pid, end_ret)) {
        uint64_t now = trail_os_mono_ns();
        if (now >= until)
            return false;
        trail_os_run_pass(pid, until - now);
    }
    return true;
}

void trail_os_die_of(int signal)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    struct rlimit none = { 0 };
    sigset_t set;
    setrlimit(RLIMIT_CORE, &none);
    sigaction(signal, &plain, NULL);
    sigemptyset(&set);
    sigaddset(&set, signal);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    raise(signal);
}

enum trail_status trail_os_directory_private(const char *prefix, char *path_ret,
                                             size_t size, struct trail_error *err)
{
    int length = snprintf(path_ret, size, "%sXXXXXX", prefix);
    if (length < 0 || (size_t)length >= size)
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: the path is too long", prefix);
    if (!mkdtemp(path_ret))
        return trail_fail(err, TRAIL_IO, "%s: %s", prefix, strerror(errno));
    /* Root's programs become others: a server's workers write here, too. */
    if (geteuid() == 0 && chmod(path_ret, 01733))
        return trail_fail(err, TRAIL_IO, "%s: %s", path_ret, strerror(errno));
    return TRAIL_OK;
}

struct trail_os_runnable trail_os_runnable(const char *path)
{
    struct trail_os_runnable runnable = { 0 };
    struct stat stat_of;
    if (stat(path, &stat_of) || !S_ISREG(stat_of.st_mode) || access(path, X_OK))
        return runnable;
    runnable.may_run = true;
    runnable.changes_user =
        (stat_of.st_mode & S_ISUID && stat_of.st_uid != geteuid()) ||
        (stat_of.st_mode & S_ISGID && stat_of.st_mode & S_IXGRP &&
         stat_of.st_gid != getegid());
    return runnable;
}
