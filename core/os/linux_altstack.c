/* linux_altstack.c -- the stacks that crashes are handled on. */
#define _GNU_SOURCE

#include "core/os/crash.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* A signal's frame can take 12 KiB (AMX), and so can a stack that is walked. */
#define ALTERNATE_SIZE ((size_t)64 << 10)
#define ENOUGH_SIZE    ((size_t)32 << 10)

/* At the lower end of a stack of ours, by which it is known. */
struct owner {
    uint64_t mark;
    stack_t before;
};
#define OWNER_MARK UINT64_C(0x6b63617274636162)

static size_t page_size(void)
{
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

void *trail_os_guarded(size_t size)
{
    const size_t page = page_size();
    char *memory = mmap(NULL, page + size, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    if (mprotect(memory + page, size, PROT_READ | PROT_WRITE)) {
        munmap(memory, page + size);
        return NULL;
    }
    return memory + page;
}

static struct owner *owner_of(const stack_t *stack)
{
    struct owner *owner = stack->ss_sp;
    if (stack->ss_flags & SS_DISABLE || !owner || stack->ss_size != ALTERNATE_SIZE)
        return NULL;
    return owner->mark == OWNER_MARK ? owner : NULL;
}

enum trail_status trail_os_alternate_set(struct trail_error *err)
{
    stack_t before, stack = { .ss_size = ALTERNATE_SIZE };
    if (sigaltstack(NULL, &before))
        return trail_fail(err, TRAIL_IO, "alternate stack: %s", strerror(errno));
    if (!(before.ss_flags & SS_DISABLE) && before.ss_size >= ENOUGH_SIZE)
        return TRAIL_OK;
    struct owner *owner = trail_os_guarded(ALTERNATE_SIZE);
    if (!owner)
        return trail_fail(err, TRAIL_NO_MEMORY, "alternate stack: out of memory");
    *owner = (struct owner){ OWNER_MARK, before };
    stack.ss_sp = owner;
    if (sigaltstack(&stack, NULL) == 0)
        return TRAIL_OK;
    int reason = errno; /* EPERM: this is called on it */
    munmap((char *)owner - page_size(), page_size() + ALTERNATE_SIZE);
    return trail_fail(err, TRAIL_IO, "alternate stack: %s", strerror(reason));
}

void trail_os_alternate_unset(void)
{
    stack_t stack;
    if (sigaltstack(NULL, &stack))
        return;
    struct owner *owner = owner_of(&stack);
    if (!owner)
        return;
    stack_t before = owner->before;
    if (before.ss_flags & SS_DISABLE)
        before = (stack_t){ .ss_flags = SS_DISABLE, .ss_size = ALTERNATE_SIZE };
    if (sigaltstack(&before, NULL) == 0)
        munmap((char *)owner - page_size(), page_size() + ALTERNATE_SIZE);
}

#if defined(__x86_64__) && defined(__LP64__)
void trail_os_call_on(void *top, void (*body)(void *arg), void *arg)
{
    uintptr_t aligned = (uintptr_t)top & ~(uintptr_t)15;
    __asm__ volatile("movq %%rsp, %%rbx\n\t"
                     "movq %1, %%rsp\n\t"
                     "callq *%2\n\t"
                     "movq %%rbx, %%rsp\n\t"
                     : "+D"(arg)
                     : "r"(aligned), "r"(body)
                     : "rbx", "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11",
                       "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7",
                       "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14",
                       "xmm15", "memory", "cc");
}
#elif defined(__aarch64__)
void trail_os_call_on(void *top, void (*body)(void *arg), void *arg)
{
    register void *first __asm__("x0") = arg;
    register uintptr_t aligned __asm__("x20") = (uintptr_t)top & ~(uintptr_t)15;
    register void (*called)(void *) __asm__("x21") = body;
    __asm__ volatile("mov x19, sp\n\t"
                     "mov sp, %1\n\t"
                     "blr %2\n\t"
                     "mov sp, x19\n\t"
                     : "+r"(first)
                     : "r"(aligned), "r"(called)
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
                       "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x19", "x30",
                       "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9",
                       "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18",
                       "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                       "v28", "v29", "v30", "v31", "memory", "cc");
}
#else
void trail_os_call_on(void *top, void (*body)(void *arg), void *arg)
{
    (void)top;
    body(arg);
}
#endif
