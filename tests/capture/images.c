/* images.c -- rules do not outlive their image, with the loader's counters and without
 * them; and what else is found out about the process.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unwind.h>

#include "backtrail/backtrail.h"
#include "core/capture/thread_state.h"
#include "test.h"

#define MOST 64

/* ---- images ------------------------------------------------------------- */

struct truth {
    uintptr_t pcs[MOST];
    unsigned count;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct truth *truth = arg;
    if (truth->count < MOST && _Unwind_GetIP(context))
        truth->pcs[truth->count++] = _Unwind_GetIP(context);
    return _URC_NO_REASON;
}

/* The stack as the compiler's runtime has it, from the caller of this outward. */
__attribute__((noinline)) static void compare(void *arg)
{
    unsigned *compared = arg;
    struct truth truth = { .count = 0 };
    uintptr_t pcs[MOST];
    unsigned count = trail_backtrace(pcs, MOST, NULL, NULL), at = 0;
    _Unwind_Backtrace(on_frame, &truth);
    while (at < truth.count && truth.pcs[at] != pcs[2])
        at++;
    assert_in_range(at, 0, 4);
    assert_int_equal(count - 2, truth.count - at);
    assert_memory_equal(pcs + 2, truth.pcs + at, (count - 2) * sizeof(*pcs));
    (*compared)++;
}

static void call_from(const char *path, unsigned *compared)
{
    void (*call)(void (*)(void *), void *);
    void *library = dlopen(path, RTLD_NOW);
    assert_non_null(library);
    *(void **)&call = dlsym(library, "caller_call");
    assert_non_null((void *)(uintptr_t)call);
    for (unsigned i = 0; i < 3; i++)
        call(compare, compared);
    assert_int_equal(dlclose(library), 0);
}

static void take_turns(void)
{
    unsigned compared = 0;
    for (unsigned i = 0; i < 20; i++) {
        call_from(CALLER_A, &compared);
        call_from(CALLER_B, &compared);
    }
    assert_int_equal(compared, 120);
}

static void a_library_that_comes_where_another_was_has_its_own_rules(void **state)
{
    (void)state;
    take_turns();
}

/* As on a C library whose counters could not be found. */
static void without_counters_the_images_are_looked_at(void **state)
{
    (void)state;
    static const uint64_t adds;
    static const uint32_t loaded;
    const struct trail_os_loader loader = trail_os_loader;
    trail_os_loader = (struct trail_os_loader){ .adds = &adds, .loaded = &loaded };
    take_turns();
    uint64_t before = atomic_load(&trail_rules.worked_out);
    unsigned compared = 0;
    for (unsigned i = 0; i < 5; i++)
        compare(&compared);
    uint64_t once = atomic_load(&trail_rules.worked_out);
    for (unsigned i = 0; i < 5; i++)
        compare(&compared);
    trail_os_loader = loader;
    assert_true(once >= before);
    /* Rules are kept there too: only the first round works any out. */
    assert_in_range(atomic_load(&trail_rules.worked_out) - once, 0, 2);
}

static void the_counters_of_the_loader_are_found(void **state)
{
    (void)state;
    assert_true(trail_os_loader.known);
    uint64_t before = trail_os_loader_generation();
    assert_int_equal(trail_os_loader_generation(), before);
    void *library = dlopen(CALLER_A, RTLD_NOW);
    uint64_t loaded = trail_os_loader_generation();
    dlclose(library);
    assert_int_not_equal(loaded, before);
    assert_int_not_equal(trail_os_loader_generation(), before);
    assert_int_not_equal(trail_os_loader_generation(), loaded);
}

/* ---- stacks ------------------------------------------------------------- */

static void *end_of_thread(void *arg)
{
    *(uintptr_t *)arg = trail_os_stack_end((uintptr_t)__builtin_frame_address(0));
    return NULL;
}

static void the_end_of_every_threads_stack_is_known(void **state)
{
    (void)state;
    size_t size = 16u << 20; /* sanitizers want much of it for themselves */
    char *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attr;
    pthread_t thread;
    uintptr_t end = 0;
    assert_ptr_not_equal(stack, MAP_FAILED);
    assert_true(trail_os_stacks.known);
    assert_int_equal(pthread_attr_init(&attr), 0);
    assert_int_equal(pthread_attr_setstack(&attr, stack, size), 0);
    assert_int_equal(pthread_create(&thread, &attr, end_of_thread, &end), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(end, (uintptr_t)stack + size);
    assert_int_equal(trail_os_stack_end((uintptr_t)stack + size / 2), 0); /* not ours */
    munmap(stack, size);

    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    assert_true(trail_os_stack_end(here) > here);
    assert_int_equal(trail_os_stack_end((uintptr_t)&trail_rules), 0);
}

static void memory_is_readable_up_to_where_it_ends(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 6 * page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(memory, MAP_FAILED);
    assert_int_equal(mprotect(memory + 4 * page, page, PROT_NONE), 0);
    uintptr_t start = (uintptr_t)memory;
    assert_int_equal(trail_os_readable_end(start + 100, 32), start + 4 * page);
    assert_int_equal(trail_os_readable_end(start + 100, 2), start + 2 * page);
    assert_int_equal(trail_os_readable_end(start + 4 * page + 8, 32), 0);
    munmap(memory, 6 * page);
}

/* ---- threads ------------------------------------------------------------ */

static void *capture_thrice(void *arg)
{
    struct trail_memory **memories = arg;
    uintptr_t pcs[MOST];
    size_t before = mallinfo2().uordblks;
    for (unsigned i = 0; i < 3; i++) {
        trail_backtrace(pcs, MOST, NULL, NULL);
        memories[i] = trail_thread_memory;
    }
    memories[3] = (struct trail_memory *)(mallinfo2().uordblks - before);
    return NULL;
}

static void a_thread_gets_its_memory_at_the_second_capture(void **state)
{
    (void)state;
    struct trail_memory *memories[4];
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, capture_thrice, memories), 0);
    pthread_join(thread, NULL);
    assert_ptr_equal(memories[0], TRAIL_MEMORY_ONCE);
    assert_true(trail_thread_has_memory(memories[1]));
    assert_ptr_equal(memories[2], memories[1]);
    assert_ptr_equal(memories[3], NULL); /* nothing was allocated */
}

/* One thread after the other has the same thread pointer: they need no page each. */
static void the_memory_of_a_thread_that_ended_is_taken_over(void **state)
{
    (void)state;
    enum { THREADS = TRAIL_THREADS + 500 };
    struct trail_memory *memories[4];
    uint64_t refused = trail_thread_states_refused();
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, capture_thrice, memories), 0);
        pthread_join(thread, NULL);
        assert_true(trail_thread_has_memory(memories[2]));
        assert_int_equal(memories[2]->busy, 0);
    }
    assert_int_equal(trail_thread_states_refused(), refused);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_library_that_comes_where_another_was_has_its_own_rules),
    cmocka_unit_test(without_counters_the_images_are_looked_at),
    cmocka_unit_test(the_counters_of_the_loader_are_found),
    cmocka_unit_test(the_end_of_every_threads_stack_is_known),
    cmocka_unit_test(memory_is_readable_up_to_where_it_ends),
    cmocka_unit_test(a_thread_gets_its_memory_at_the_second_capture),
    cmocka_unit_test(the_memory_of_a_thread_that_ended_is_taken_over),
};
TRAIL_TEST_MAIN(tests)
