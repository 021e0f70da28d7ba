/* target.c -- a program to hold: threads that wait below thirty frames, and one that
 * runs and notices how long it stood still.
 *
 * usage: target FILE THREADS, where FILE has room for struct gap
 *
 * A thread that is held gives up its processor by itself, one that another takes the
 * place of does not: the kernel counts the two apart, and only the first is counted.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <signal.h>
#include <unistd.h>

#include "chain.h"
#include "gap.h"
#include "measure.h"

#define DEPTH      25
#define STACK_SIZE (256u << 10)
#define NOTICED_NS 15000

static struct gap *gap;

static long given_up(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
}

/* Nothing else has its processor if that can be had. */
static void be_alone(void)
{
    cpu_set_t first;
    CPU_ZERO(&first);
    CPU_SET(0, &first);
    sched_setaffinity(0, sizeof(first), &first);
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20);
}

static void *run(void *arg)
{
    be_alone();
    long before = given_up();
    uint64_t last = measure_now_ns();
    gap->running = 1;
    for (;;) {
        uint64_t now = measure_now_ns(), still = now - last;
        last = now;
        if (gap->clear) {
            gap->most_ns = 0;
            before = given_up();
            gap->clear = 0;
            last = measure_now_ns();
        } else if (still > NOTICED_NS) {
            long after = given_up();
            if (after != before && still > gap->most_ns)
                gap->most_ns = still;
            before = after;
            last = measure_now_ns();
        }
    }
    return arg;
}

static void wait_for_ever(struct chain *chain)
{
    (void)chain;
    __atomic_add_fetch(&gap->blocked, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

static void *go_deep(void *arg)
{
    struct chain chain = { .run = wait_for_ever };
    chain_nofp[CHAIN_MOST - DEPTH](&chain, 0);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int file = argc == 3 ? open(argv[1], O_RDWR) : -1;
    if (file < 0)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    gap = mmap(NULL, sizeof(*gap), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (gap == MAP_FAILED)
        return 1;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_SIZE);
    for (long i = strtol(argv[2], NULL, 10); i > 1; i--)
        if (pthread_create(&thread, &attributes, go_deep, NULL))
            return 1;
    if (pthread_create(&thread, &attributes, run, NULL))
        return 1;
    go_deep(NULL);
    return 0;
}
