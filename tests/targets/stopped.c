/* stopped.c -- child processes of known stacks that are held by ptrace. */
#define _GNU_SOURCE

#include "stopped.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/stacks.h"
#include "test.h"

struct waiter {
    int64_t *tid;
    int ready, over;
};

static void wait_for_the_end(void *arg)
{
    struct waiter *waiter = arg;
    char byte;
    *waiter->tid = (int64_t)syscall(SYS_gettid);
    if (write(waiter->ready, waiter->tid, sizeof(*waiter->tid)) < 0)
        _exit(1);
    while (read(waiter->over, &byte, 1) < 0 && errno == EINTR) {
    }
}

static void *thread_main(void *arg)
{
    stack_deep(STOPPED_DEPTH, wait_for_the_end, arg);
    return NULL;
}

static void child_main(int ready, int over)
{
    static int64_t tids[STOPPED_THREADS];
    static struct waiter waiters[STOPPED_THREADS];
    pthread_t thread;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (unsigned i = STOPPED_THREADS; i-- > 0;) {
        waiters[i] = (struct waiter){ &tids[i], ready, over };
        if (i && pthread_create(&thread, NULL, thread_main, &waiters[i]))
            _exit(1);
    }
    thread_main(&waiters[0]);
    _exit(0);
}

/* Until the thread is in the kernel, waiting. */
static void wait_asleep(int64_t tid)
{
    char path[64], name[64];
    char status = 0;
    snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)tid);
    while (status != 'S') {
        FILE *stat = fopen(path, "re");
        assert_non_null(stat);
        size_t size = fread(name, 1, sizeof(name) - 1, stat);
        fclose(stat);
        name[size] = 0;
        const char *behind = strrchr(name, ')');
        assert_non_null(behind);
        status = behind[2];
    }
}

void stopped_start(struct stopped *stopped)
{
    int ready[2];
    if (TEST_EMULATED)
        skip(); /* whoever is traced would be the emulator */
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(stopped->over), 0);
    stopped->pid = fork();
    if (stopped->pid == 0) {
        close(stopped->over[1]);
        child_main(ready[1], stopped->over[0]);
    }
    assert_true(stopped->pid > 0);
    stopped->tids[0] = stopped->pid;
    for (unsigned i = 0, others = 1; i < STOPPED_THREADS; i++) {
        int64_t tid = 0;
        assert_int_equal(read(ready[0], &tid, sizeof(tid)), sizeof(tid));
        if (tid != stopped->pid)
            stopped->tids[others++] = tid;
        wait_asleep(tid);
    }
    close(ready[0]);
    close(ready[1]);
}

static void hold_thread(pid_t tid)
{
    int status = 0;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL)) {
        print_message("threads of another process cannot be held here: %s\n",
                      strerror(errno));
        skip();
    }
    assert_int_equal(ptrace(PTRACE_INTERRUPT, tid, NULL, NULL), 0);
    assert_int_equal(waitpid(tid, &status, __WALL), tid);
    assert_true(WIFSTOPPED(status));
}

void stopped_hold(const struct stopped *stopped)
{
    for (unsigned i = 0; i < STOPPED_THREADS; i++)
        hold_thread((pid_t)stopped->tids[i]);
}

/* Those that are held end one by one, and are waited for like children. */
void stopped_end(struct stopped *stopped)
{
    kill(stopped->pid, SIGKILL);
    for (unsigned i = STOPPED_THREADS; i-- > 0;) {
        int status = 0;
        pid_t tid = (pid_t)stopped->tids[i];
        while (waitpid(tid, &status, __WALL) == tid && WIFSTOPPED(status)) {
        }
    }
    close(stopped->over[0]);
    close(stopped->over[1]);
}
