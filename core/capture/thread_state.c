/* thread_state.c -- the pool of pages, and which thread has which. */
#include "core/capture/thread_state.h"

#define PAGE 4096u
/* Entries that are looked at for a thread pointer. */
#define LOOK 16
/* Pages that are memory before they are asked for. */
#define READY 64

__thread struct trail_memory *trail_thread_memory
    __attribute__((tls_model("initial-exec")));

static struct {
    char *pool; /* NULL: none */
    _Atomic uint32_t used;
    _Atomic uint64_t refused;
    struct {
        _Atomic uintptr_t thread; /* its pointer; 0: nobody's */
        _Atomic(struct trail_memory *) memory;
    } at[TRAIL_THREADS];
} directory;

void trail_thread_states_init(void)
{
    if (directory.pool)
        return;
    directory.pool = trail_os_reserve((size_t)PAGE * TRAIL_THREADS);
    for (size_t i = 0; i < READY && directory.pool; i++)
        *(volatile char *)(directory.pool + PAGE * i) = 0;
    for (size_t i = 0; i < TRAIL_THREADS; i += PAGE / sizeof(*directory.at))
        atomic_store(&directory.at[i].memory, NULL); /* have them there */
}

/* A page for the thread that has just entered itself at `index`. */
static struct trail_memory *hand_out(size_t index)
{
    uint32_t page = atomic_fetch_add(&directory.used, 1);
    char *at = directory.pool + (size_t)PAGE * page;
    struct trail_memory *memory = (struct trail_memory *)(void *)at;
    trail_memory_forget(memory);
    atomic_store(&directory.at[index].memory, memory);
    return memory;
}

/* NULL: the pool is empty, or it is this very thread that a signal has interrupted
 * while it was in here. */
static struct trail_memory *look_up(uintptr_t thread)
{
    size_t index = (size_t)((uint64_t)thread * 0x9e3779b97f4a7c15u >> 32);
    for (unsigned i = 0; i < LOOK && directory.pool; i++, index++) {
        index %= TRAIL_THREADS;
        uintptr_t seen = atomic_load(&directory.at[index].thread);
        if (seen == 0 &&
            atomic_compare_exchange_strong(&directory.at[index].thread, &seen, thread))
            return hand_out(index);
        if (seen != thread)
            continue;
        struct trail_memory *memory = atomic_load(&directory.at[index].memory);
        if (memory) { /* of a thread that has ended, be it in the midst of a capture */
            memory->busy = 0;
            trail_memory_forget(memory);
        }
        return memory;
    }
    trail_thread_memory = TRAIL_MEMORY_NONE;
    atomic_fetch_add(&directory.refused, 1);
    return NULL;
}

__attribute__((noinline, cold)) struct trail_memory *trail_thread_memory_claim(
    uintptr_t frame)
{
    if (trail_thread_memory == TRAIL_MEMORY_NEVER)
        trail_thread_memory = TRAIL_MEMORY_ONCE;
    else if (trail_thread_memory == TRAIL_MEMORY_ONCE) {
        struct trail_memory *memory = look_up((uintptr_t)&trail_thread_memory);
        if (!memory)
            return NULL;
        trail_thread_memory = memory;
        return trail_memory_take(memory, frame) ? memory : NULL;
    }
    return NULL;
}

uint64_t trail_thread_states_refused(void)
{
    return atomic_load(&directory.refused);
}
