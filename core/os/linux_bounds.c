/* linux_bounds.c -- where stacks end, and how far memory can be read. */
#define _GNU_SOURCE

#include "core/os/os.h"
#include "core/os/linux_facts.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096u

TRAIL_HOT_DATA struct trail_os_stacks trail_os_stacks = { .known = false };

/* ---- glibc: where struct pthread keeps a thread's stack ------------------ */

#ifdef __GLIBC__
extern void *__libc_stack_end;

/* A thread on a stack that we chose looks for the words that say so. */
struct stack_search {
    uintptr_t start, size;
    int32_t start_at;
    int hits;
};

TRAIL_READS_STACK static void *search_thread(void *arg)
{
    struct stack_search *search = arg;
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
    uintptr_t end = search->start + search->size;
    if (thread <= search->start || thread >= end)
        return NULL;
        /* struct pthread lies at the top of the stack it describes: at the thread
         * pointer, or just below it. What is on the other side of it is variables of
         * threads. */
#if defined(__x86_64__) || defined(__i386__)
    uintptr_t from = thread, to = end - thread > PAGE ? thread + PAGE : end;
#else
    uintptr_t from = thread - search->start > PAGE ? thread - PAGE : search->start;
    uintptr_t to = thread;
#endif
    for (uintptr_t at = from; at + 2 * sizeof(at) <= to; at += sizeof(at)) {
        if (trail_word_at(at) != search->start ||
            trail_word_at(at + sizeof(at)) != search->size)
            continue;
        search->start_at = (int32_t)(intptr_t)(at - thread);
        search->hits++;
    }
    return NULL;
}

/* Signals are kept out: their handlers may want more stack than it has. */
static void search_run(struct stack_search *search)
{
    pthread_attr_t attr;
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attr))
        return;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_attr_setstack(&attr, (void *)search->start, search->size) &&
        !pthread_create(&thread, &attr, search_thread, search))
        pthread_join(thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

void trail_os_stacks_init(void)
{
    /* Room for whatever thread-local variables the program has; an odd number. */
    struct stack_search search = { .size = 0x803000 };
    if (trail_os_stacks.known)
        return;
    void *stack = mmap(NULL, search.size, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED)
        return;
    search.start = (uintptr_t)stack;
    search_run(&search);
    munmap(stack, search.size);

    /* Below the stack's end the kernel keeps at least 128 MiB free for it to grow, so
     * that there is no mapping to take for it. */
    const uintptr_t most = (uintptr_t)120 << 20;
    struct rlimit limit = { .rlim_cur = most };
    getrlimit(RLIMIT_STACK, &limit);
    trail_os_stacks.main_end = (uintptr_t)__libc_stack_end;
    trail_os_stacks.main_size =
        limit.rlim_cur < most ? (uintptr_t)limit.rlim_cur : most;
    trail_os_stacks.start_at = search.start_at;
    trail_os_stacks.size_at = search.start_at + (int32_t)sizeof(uintptr_t);
    trail_os_stacks.known = search.hits == 1;
}

uintptr_t trail_os_stack_end_slow(uintptr_t sp)
{
    (void)sp; /* pthread_getattr_np allocates */
    return 0;
}

/* ---- musl: pthread_getattr_np only reads the thread's own record ---------- */

#else
void trail_os_stacks_init(void)
{
}

uintptr_t trail_os_stack_end_slow(uintptr_t sp)
{
    pthread_attr_t attr;
    void *start = NULL;
    size_t size = 0;
    int kept = errno;
    bool told = !pthread_getattr_np(pthread_self(), &attr) &&
                !pthread_attr_getstack(&attr, &start, &size);
    errno = kept;
    return told && sp - (uintptr_t)start < size ? (uintptr_t)start + size : 0;
}
#endif

/* ---- memory that may not be there --------------------------------------- */

uintptr_t trail_os_readable_end(uintptr_t address, unsigned pages)
{
    enum { MOST = 32 };
    struct iovec remote[MOST];
    char bytes[MOST];
    uintptr_t page = address & ~(uintptr_t)(PAGE - 1);
    unsigned count = pages < MOST ? pages : MOST;
    for (unsigned i = 0; i < count; i++)
        remote[i] = (struct iovec){ (void *)(page + (uintptr_t)PAGE * i), 1 };
    struct iovec local = { bytes, count };
    int kept = errno;
    ssize_t got = process_vm_readv(getpid(), &local, 1, remote, count, 0);
    if (got < 0 && (errno == ENOSYS || errno == EPERM))
        for (got = 0; got < (ssize_t)count; got++)
            if (trail_os_copy_by_pipe(page + (uintptr_t)PAGE * (size_t)got, bytes, 1))
                break;
    errno = kept;
    return got > 0 ? page + (uintptr_t)PAGE * (size_t)got : 0;
}

void *trail_os_reserve(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}
