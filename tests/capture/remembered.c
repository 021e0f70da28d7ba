/* remembered.c -- a stack put together from what the thread remembers is the stack
 * that a full walk finds, whatever was done to it meanwhile.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "backtrail/backtrail.h"
#include "core/capture/thread_state.h"
#include "test.h"

#define MOST     400
#define NOINLINE __attribute__((noinline))
#define NO_TAIL  __asm__ volatile("" : : : "memory")

static _Atomic uint64_t captures, in_handlers, differences;
static __thread uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % limit;
}

/* ---- comparing ---------------------------------------------------------- */

struct seen {
    uintptr_t pcs[MOST];
    uint8_t kinds[MOST], trust[MOST];
    unsigned count;
    struct trail_info info;
};

static void seen_init(struct seen *seen)
{
    seen->info = (struct trail_info){ .size = sizeof(seen->info),
                                      .kinds = seen->kinds,
                                      .trust = seen->trust };
}

/* From entry `from` on: the calls of the two captures return to different places. */
static void compare(const struct seen *a, const struct seen *b, unsigned from)
{
    captures++;
    bool same = a->count == b->count && a->info.end == b->info.end &&
                a->info.next_frame_addr == b->info.next_frame_addr;
    for (unsigned i = from; same && i < a->count; i++)
        same = a->pcs[i] == b->pcs[i] && a->kinds[i] == b->kinds[i] &&
               a->trust[i] == b->trust[i];
    if (!same)
        differences++;
}

static unsigned random_capacity(void)
{
    static const unsigned capacities[] = { 2,   13,  40,  128,  139,
                                           140, 141, 150, MOST, MOST };
    return capacities[random_below(10)];
}

static const struct trail_control full = { .size = sizeof(full),
                                           .flags = TRAIL_FULL_WALK };

NOINLINE static void check(void)
{
    struct seen remembered, walked;
    unsigned capacity = random_capacity();
    seen_init(&remembered);
    seen_init(&walked);
    remembered.count =
        trail_backtrace(remembered.pcs, capacity, NULL, &remembered.info);
    walked.count = trail_backtrace(walked.pcs, capacity, &full, &walked.info);
    compare(&remembered, &walked, 2);
    NO_TAIL;
}

static void on_signal(int number, siginfo_t *info, void *ucontext)
{
    (void)number, (void)info;
    struct seen remembered, walked;
    struct trail_control control = { .size = sizeof(control),
                                     .flags = TRAIL_INTERRUPTED,
                                     .ucontext = ucontext };
    seen_init(&remembered);
    seen_init(&walked);
    in_handlers++;
    remembered.count =
        trail_backtrace(remembered.pcs, MOST, &control, &remembered.info);
    control.flags |= TRAIL_FULL_WALK;
    walked.count = trail_backtrace(walked.pcs, MOST, &control, &walked.info);
    compare(&remembered, &walked, 0);
    check(); /* and through the handler */
}

/* ---- what is done to the stack ------------------------------------------ */

#define RECURSE(n)                                                                     \
    NOINLINE static unsigned recurse_##n(unsigned depth, unsigned salt)                \
    {                                                                                  \
        volatile char room[16 + n * 24];                                               \
        room[0] = (char)salt;                                                          \
        if (depth % 5 == 0)                                                            \
            check();                                                                   \
        unsigned result = depth ? recurse(depth - 1, salt + n) : 0;                    \
        if (depth % 7 == 0)                                                            \
            check();                                                                   \
        NO_TAIL;                                                                       \
        return result + (unsigned)room[0];                                             \
    }
static unsigned recurse(unsigned depth, unsigned salt);
RECURSE(0)
RECURSE(1)
RECURSE(2)
RECURSE(3)

static unsigned recurse(unsigned depth, unsigned salt)
{
    static unsigned (*const ways[])(unsigned, unsigned) = { recurse_0, recurse_1,
                                                            recurse_2, recurse_3 };
    return ways[random_below(4)](depth, salt);
}

static int by_value(const void *a, const void *b)
{
    if (random_below(16) == 0)
        check();
    return *(const int *)a - *(const int *)b;
}

NOINLINE static void sort(void)
{
    int values[64];
    for (unsigned i = 0; i < 64; i++)
        values[i] = (int)random_below(1000);
    qsort(values, 64, sizeof(*values), by_value);
    NO_TAIL;
}

/* For all that the compiler knows, it may come back. */
static void (*volatile leave)(jmp_buf, int) = longjmp;

NOINLINE static void jump_out(jmp_buf out, unsigned depth)
{
    check();
    if (depth > 0)
        jump_out(out, depth - 1);
    else
        leave(out, 1);
    NO_TAIL;
}

NOINLINE static void jump(void)
{
    jmp_buf out;
    if (setjmp(out) == 0)
        jump_out(out, 1 + random_below(30));
    check();
}

/* Out of a handler, which leaves a capture behind that never ends. */
static __thread sigjmp_buf out_of_handler;

static void on_jump(int number)
{
    (void)number;
    check();
    siglongjmp(out_of_handler, 1);
}

NOINLINE static void jump_from_handler(void)
{
    if (sigsetjmp(out_of_handler, 1) == 0)
        raise(SIGUSR2);
    check();
}

NOINLINE static void big_frame(void)
{
    volatile char room[100000];
    room[0] = room[99999] = 1;
    check();
    NO_TAIL;
}

/* A stack that is gone afterwards; the next may be mapped there. */
static __thread ucontext_t back, coroutine;

static void coroutine_body(void)
{
    recurse(random_below(12), 2);
    swapcontext(&coroutine, &back);
    recurse(3, 3);
    check();
}

NOINLINE static void run_coroutine(void)
{
    size_t size = (64u + 64u * random_below(3)) << 10;
    void *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = size;
    coroutine.uc_link = &back;
    makecontext(&coroutine, coroutine_body, 0);
    swapcontext(&back, &coroutine);
    check();
    swapcontext(&back, &coroutine);
    munmap(stack, size);
    check();
}

static void some_work(void)
{
    switch (random_below(8)) {
    case 0:
        sort();
        break;
    case 1:
        jump();
        break;
    case 2:
        jump_from_handler();
        break;
    case 3:
        big_frame();
        break;
    case 4:
        run_coroutine();
        break;
    default:
        recurse(random_below(random_below(4) ? 40 : 200), 3);
        break;
    }
}

/* ---- who does it -------------------------------------------------------- */

#define WORKERS 3

/* The thread sanitizer delivers a signal later, with the registers of when it came: of
 * frames that may be gone. */
#if defined(__SANITIZE_THREAD__)
#define HAS_SIGNALS false
#elif defined(__has_feature)
#define HAS_SIGNALS !__has_feature(thread_sanitizer)
#else
#define HAS_SIGNALS true
#endif

struct worker {
    pthread_t thread;
    uint64_t wanted;
    uint32_t seed;
    _Atomic bool alive;
};

static void *work(void *arg)
{
    struct worker *worker = arg;
    random_state = worker->seed;
    while (captures < worker->wanted)
        some_work();
    worker->alive = false;
    return NULL;
}

/* Signals for everybody, and images that come and go, until all are done. */
static void disturb(struct worker *workers)
{
    for (bool busy = true; busy; sched_yield()) {
        busy = false;
        for (unsigned i = 0; i < WORKERS; i++) {
            if (!workers[i].alive)
                continue;
            busy = true;
            if (HAS_SIGNALS)
                pthread_kill(workers[i].thread, SIGUSR1);
        }
        if (random_below(200) == 0) {
            void *library = dlopen("libBrokenLocale.so.1", RTLD_NOW);
            if (library)
                dlclose(library);
        }
    }
}

static void handle(int number, void (*plain)(int),
                   void (*with_context)(int, siginfo_t *, void *))
{
    struct sigaction action = { .sa_flags = SA_RESTART };
    if (plain) {
        action.sa_handler = plain;
    } else {
        action.sa_sigaction = with_context;
        action.sa_flags |= SA_SIGINFO;
    }
    sigemptyset(&action.sa_mask);
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void run(uint64_t wanted)
{
    struct worker workers[WORKERS];
    captures = in_handlers = differences = 0;
    handle(SIGUSR1, NULL, on_signal);
    handle(SIGUSR2, on_jump, NULL);
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i].wanted = wanted;
        workers[i].seed = i + 1;
        workers[i].alive = true;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]),
                         0);
    }
    disturb(workers);
    for (unsigned i = 0; i < WORKERS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_true(captures >= wanted);
    assert_true(in_handlers > 0 || !HAS_SIGNALS);
    assert_int_equal(differences, 0);
}

static void what_is_remembered_is_what_a_full_walk_finds(void **state)
{
    (void)state;
    run(50000);
}

static void what_is_remembered_is_what_a_full_walk_finds_long(void **state)
{
    (void)state;
    run(1000000);
}

/* ---- by hand ------------------------------------------------------------ */

/* One word of a kept frame changes, and nothing else: the return address of a caller
 * that is called from another line. */
NOINLINE static void inner(void)
{
    check();
    check();
    NO_TAIL;
}

NOINLINE static void middle(bool other)
{
    if (other)
        inner();
    else
        inner();
    NO_TAIL;
}

NOINLINE static void outer(unsigned depth, unsigned changes)
{
    if (depth)
        outer(depth - 1, changes);
    else
        for (unsigned i = 0; i < changes; i++)
            middle(random_below(2));
    NO_TAIL;
}

static void a_changed_word_in_the_middle_is_seen(void **state)
{
    (void)state;
    captures = differences = 0;
    for (unsigned depth = 0; depth < 160; depth += 7)
        outer(depth, 20);
    assert_int_equal(captures, 23 * 40);
    assert_int_equal(differences, 0);
}

static void a_memory_that_is_in_use_is_not_taken_again(void **state)
{
    (void)state;
    struct trail_memory memory = { .busy = 0 };
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    trail_memory_forget(&memory);
    assert_true(trail_memory_take(&memory, here));
    assert_false(trail_memory_take(&memory, here - 4096)); /* a handler */
    trail_memory_give_back(&memory);
    assert_true(trail_memory_take(&memory, here - 4096));
    /* That capture's frame is gone, since we are above: it was left by longjmp. */
    memory.first = 3;
    assert_true(trail_memory_take(&memory, here));
    assert_int_equal(memory.first, TRAIL_REMEMBERED);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_remembered_is_what_a_full_walk_finds),
    cmocka_unit_test(what_is_remembered_is_what_a_full_walk_finds_long),
    cmocka_unit_test(a_changed_word_in_the_middle_is_seen),
    cmocka_unit_test(a_memory_that_is_in_use_is_not_taken_again),
};
TRAIL_TEST_MAIN(tests)
