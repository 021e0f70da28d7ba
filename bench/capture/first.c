/* first.c -- what the first captures cost: of a process, and of a thread. */
#define _GNU_SOURCE
#include "first.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/measure.h"
#include "count_malloc.h"
#include "scenes.h"

enum { DEPTH = 32, THREADS = 100 };

/* ---- of a process ------------------------------------------------------- */

static void run_first(struct chain *chain)
{
    static uintptr_t entries[SCENE_MOST];
    capture_fn *capture = chain->arg;
    measure_now_ns();
    unsigned long before = count_malloc();
    uint64_t start = measure_now_ns();
    unsigned count = capture(entries, DEPTH);
    double ns = (double)(measure_now_ns() - start);
    unsigned long mallocs = count_malloc() - before;
    printf("%.0f\t%lu\t%u\n", ns, mallocs, count);
}

void first_print(enum peer_id peer)
{
    if (peers[peer].capture)
        scene_enter(chain_nofp, DEPTH, run_first, (void *)peers[peer].capture, false);
}

/* ---- system calls ------------------------------------------------------- */

/* A call that nobody else makes, to find the place by. */
enum { MARK = SYS_getppid };

static void run_marked(struct chain *chain)
{
    static uintptr_t entries[SCENE_MOST];
    capture_fn *capture = chain->arg;
    syscall(MARK);
    capture(entries, DEPTH);
    syscall(MARK);
}

void first_run_traced(enum peer_id peer)
{
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP) || !peers[peer].capture)
        return;
    scene_enter(chain_nofp, DEPTH, run_marked, (void *)peers[peer].capture, false);
}

/* Every system call stops it twice; those that are counted lie between two marks. */
static long count_between_marks(pid_t child)
{
    long count = -1;
    int status;
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
        ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_TRACESYSGOOD))
        return -1;
    for (bool entering = true;; entering = !entering) {
        struct user_regs_struct registers;
        if (ptrace(PTRACE_SYSCALL, child, NULL, NULL) ||
            waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
            ptrace(PTRACE_GETREGS, child, NULL, &registers))
            return -1;
        if (!entering)
            continue;
        if (registers.orig_rax == MARK && count >= 0)
            return count;
        if (registers.orig_rax == MARK)
            count = 0;
        else if (count >= 0)
            count++;
    }
}

long first_count(const char *program, enum peer_id peer)
{
    char number[12];
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        snprintf(number, sizeof(number), "%d", (int)peer);
        execl(program, program, "--first-traced", number, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return -1;
    long count = count_between_marks(child);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return count;
}

/* ---- of a thread -------------------------------------------------------- */

static pthread_barrier_t gate;
static capture_fn *thread_capture;
static bool threads_go_deep;
static double first_ns[THREADS];

static void run_in_thread(struct chain *chain)
{
    uintptr_t entries[DEPTH];
    memset(entries, 0, sizeof(entries)); /* its pages are there */
    measure_now_ns();
    pthread_barrier_wait(&gate); /* all are here */
    pthread_barrier_wait(&gate); /* memory is counted */
    uint64_t start = measure_now_ns();
    thread_capture(entries, DEPTH);
    *(double *)chain->arg = (double)(measure_now_ns() - start);
    thread_capture(entries, DEPTH);
    thread_capture(entries, DEPTH);
    pthread_barrier_wait(&gate); /* all are done */
    pthread_barrier_wait(&gate); /* memory is counted */
}

static void *thread_main(void *arg)
{
    struct chain here = { .arg = arg };
    if (threads_go_deep)
        scene_enter(chain_nofp, DEPTH, run_in_thread, arg, false);
    else
        run_in_thread(&here);
    return NULL;
}

/* What /proc says exactly; the cheaper file is off by what each processor keeps. */
static double resident_bytes(void)
{
    char line[256];
    unsigned long kib = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    while (file && fgets(line, sizeof(line), file))
        if (strncmp(line, "Rss:", 4) == 0)
            kib = strtoul(line + 4, NULL, 10);
    if (file)
        fclose(file);
    return (double)kib * 1024;
}

void first_print_threads(enum peer_id peer, bool deep)
{
    pthread_t threads[THREADS];
    uintptr_t entries[DEPTH];
    thread_capture = peers[peer].capture;
    threads_go_deep = deep;
    if (!thread_capture)
        return;
    resident_bytes();
    thread_capture(entries, DEPTH);
    pthread_barrier_init(&gate, NULL, THREADS + 1);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, thread_main, &first_ns[i]))
            exit(1);
    pthread_barrier_wait(&gate);
    double before = resident_bytes();
    pthread_barrier_wait(&gate);
    pthread_barrier_wait(&gate);
    double grown = resident_bytes() - before;
    pthread_barrier_wait(&gate);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%.0f\t%.0f\n", measure_median(first_ns, THREADS), grown / THREADS);
}
