/* known.c -- attributes, breadcrumbs and the trace context that a program sets. */
#include "core/crash/known.h"

#include <errno.h>

#include "backtrail/crash.h"
#include "core/crash/known_table.h"
#include "core/os/os.h"

/* Beyond those that are shown, as many as set one at the same time. */
#define PROCESS_RECORDS (TRAIL_KNOWN_SLOTS + 31)
#define THREAD_RECORDS  4096
#define THREADS         2048
/* Places that are looked at for a thread. */
#define LOOK 16

static struct trail_known_record process_records[PROCESS_RECORDS];
static struct trail_known_record thread_records[THREAD_RECORDS];
static struct trail_known_pool process_pool = { .records = process_records,
                                                .count = PROCESS_RECORDS };
static struct trail_known_pool thread_pool = { .records = thread_records,
                                               .count = THREAD_RECORDS };
static struct trail_known_table process_table;

/* A thread is known by the address of its errno, which is free to ask for, and by its
 * id: the next thread with the same stack is another. */
struct thread {
    _Atomic uintptr_t address; /* 0: nobody's */
    _Atomic int64_t tid, pid;
    struct trail_known_table table;
};
static struct thread threads[THREADS];

static _Atomic uint32_t refused, cut;

static void count(enum trail_known_outcome outcome)
{
    if (outcome == TRAIL_KNOWN_REFUSED)
        atomic_fetch_add(&refused, 1);
    if (outcome == TRAIL_KNOWN_CUT)
        atomic_fetch_add(&cut, 1);
}

/* ---- threads ------------------------------------------------------------ */

/* In a child of fork the one thread there goes on with another id. */
static bool is_forked(const struct thread *thread, int64_t tid)
{
    return tid == trail_os_pid() && atomic_load(&thread->pid) != tid;
}

/* The place is the calling thread's; what another left in it is forgotten. */
static struct thread *move_in(struct thread *thread, int64_t tid)
{
    if (atomic_load(&thread->tid) == tid)
        return thread;
    if (!is_forked(thread, tid))
        trail_known_clear(&thread_pool, &thread->table);
    atomic_store(&thread->tid, tid);
    atomic_store(&thread->pid, trail_os_pid());
    return thread;
}

static size_t place_of(uintptr_t address)
{
    return (size_t)((uint64_t)address * 0x9e3779b97f4a7c15u >> 32);
}

static struct thread *find(uintptr_t address)
{
    size_t place = place_of(address);
    for (size_t i = 0; i < LOOK; i++) {
        struct thread *thread = &threads[(place + i) % THREADS];
        if (atomic_load(&thread->address) == address)
            return thread;
    }
    return NULL;
}

/* A place that is nobody's, or whose thread is gone. */
static struct thread *claim(uintptr_t address)
{
    size_t place = place_of(address);
    for (size_t i = 0; i < 2 * LOOK; i++) {
        struct thread *thread = &threads[(place + i % LOOK) % THREADS];
        uintptr_t seen = atomic_load(&thread->address);
        if (seen && (i < LOOK || trail_os_thread_own(atomic_load(&thread->tid))))
            continue;
        if (!atomic_compare_exchange_strong(&thread->address, &seen, address))
            continue;
        trail_known_clear(&thread_pool, &thread->table);
        atomic_store(&thread->tid, 0);
        return thread;
    }
    return NULL;
}

static struct thread *self(bool make)
{
    uintptr_t address = (uintptr_t)&errno;
    struct thread *thread = find(address);
    int64_t tid = thread || make ? trail_os_tid() : 0;
    if (!thread && make)
        thread = claim(address);
    if (!thread)
        return NULL;
    bool is_mine = atomic_load(&thread->tid) == tid || is_forked(thread, tid);
    return make || is_mine ? move_in(thread, tid) : NULL;
}

uint32_t trail_known_self(void)
{
    const struct thread *thread = self(false);
    return thread ? (uint32_t)(thread - threads) + 1 : 0;
}

void trail_known_thread_end(void)
{
    struct thread *thread = find((uintptr_t)&errno);
    if (!thread)
        return;
    trail_known_clear(&thread_pool, &thread->table);
    atomic_store(&thread->tid, 0);
    atomic_store(&thread->address, 0);
}

/* ---- attributes --------------------------------------------------------- */

void trail_attribute_set(const char *key, const char *value)
{
    struct trail_text text = trail_text_of(key);
    if (text.size)
        count(trail_known_set(&process_pool, &process_table, text, value));
}

static void set_of_thread(struct trail_text key, const char *value)
{
    int saved = errno;
    struct thread *thread = self(value != NULL);
    if (thread)
        count(trail_known_set(&thread_pool, &thread->table, key, value));
    else if (value)
        count(TRAIL_KNOWN_REFUSED);
    errno = saved;
}

void trail_thread_attribute_set(const char *key, const char *value)
{
    struct trail_text text = trail_text_of(key);
    if (text.size)
        set_of_thread(text, value);
}

void trail_known_attributes(uint32_t thread,
                            void (*each)(void *arg, struct trail_text key,
                                         struct trail_text value),
                            void *arg)
{
    struct trail_known_copy copy;
    const struct trail_known_pool *pool = thread ? &thread_pool : &process_pool;
    if (thread > THREADS)
        return;
    const struct trail_known_table *table =
        thread ? &threads[thread - 1].table : &process_table;
    for (uint32_t i = 1; i < TRAIL_KNOWN_SLOTS; i++)
        if (trail_known_get(pool, &table->slots[i], &copy))
            each(arg, (struct trail_text){ copy.key, copy.key_size },
                 (struct trail_text){ copy.value, copy.value_size });
}

struct trail_known_losses trail_known_losses(void)
{
    return (struct trail_known_losses){ atomic_load(&refused), atomic_load(&cut) };
}

/* ---- trace context ------------------------------------------------------ */

/* "00-" 32 digits "-" 16 digits "-" 2 digits; a later version may say more after. */
enum {
    TRACE_AT = 3,
    TRACE_SIZE = 32,
    SPAN_AT = 36,
    SPAN_SIZE = 16,
    FLAGS_AT = 53,
    PARENT_SIZE = 55,
};

/* Digits in lower case, as the recommendation has them. */
static bool are_digits(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

static bool are_zero(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] != '0')
            return false;
    return true;
}

static bool is_traceparent(const char *text)
{
    for (size_t i = 0; i < PARENT_SIZE; i++)
        if (!text[i])
            return false;
    bool is_first = memcmp(text, "00", 2) == 0, is_none = memcmp(text, "ff", 2) == 0;
    char after = text[PARENT_SIZE];
    return are_digits(text, 2) && !is_none && text[2] == '-' &&
           are_digits(text + TRACE_AT, TRACE_SIZE) && text[SPAN_AT - 1] == '-' &&
           are_digits(text + SPAN_AT, SPAN_SIZE) && text[FLAGS_AT - 1] == '-' &&
           are_digits(text + FLAGS_AT, 2) && (!after || (!is_first && after == '-')) &&
           !are_zero(text + TRACE_AT, TRACE_SIZE) &&
           !are_zero(text + SPAN_AT, SPAN_SIZE);
}

void trail_trace_context_set(const char *traceparent)
{
    char kept[PARENT_SIZE + 1] = "";
    bool is_good = traceparent && is_traceparent(traceparent);
    if (is_good)
        memcpy(kept, traceparent, PARENT_SIZE);
    set_of_thread((struct trail_text){ "", 0 }, is_good ? kept : NULL);
}

bool trail_known_context(uint32_t thread, struct trail_known_context *context_ret)
{
    struct trail_known_copy copy;
    if (!thread || thread > THREADS ||
        !trail_known_get(&thread_pool, &threads[thread - 1].table.slots[0], &copy) ||
        copy.value_size != PARENT_SIZE)
        return false;
    memset(context_ret, 0, sizeof(*context_ret));
    memcpy(context_ret->trace_id, copy.value + TRACE_AT, TRACE_SIZE);
    memcpy(context_ret->span_id, copy.value + SPAN_AT, SPAN_SIZE);
    return true;
}
