/* process.c -- stacks of another process, whose threads are held. */
#define _GNU_SOURCE

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/stacks.h"
#include "core/capture/target.h"
#include "gdb.h"
#include "stopped.h"
#include "test.h"
#include "walked.h"

#define CAPACITY WALKED_CAPACITY

static struct walked walk(struct trail_target *target, int64_t thread,
                          const struct trail_cursor *cursor, unsigned capacity)
{
    const struct trail_control control = { .size = sizeof(control),
                                           .thread = thread,
                                           .cursor = cursor };
    return walk_with(target, &control, capacity);
}

static struct trail_target *target_of(int64_t pid)
{
    struct trail_error err;
    struct trail_target *target = NULL;
    assert_ok_err(trail_target_process(pid, &target, &err), err);
    return target;
}

/* This process is the other one's parent: the code is at the same place in both. */
static unsigned deep_frames(const struct walked *walked)
{
    unsigned deep = 0;
    for (unsigned i = 0; i < walked->count; i++)
        deep += stack_is_deep((uintptr_t)walked->pcs[i]);
    return deep;
}

static void threads_that_are_held_are_walked_to_their_base(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    stopped_hold(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    assert_int_equal(trail_target_thread_count(target), STOPPED_THREADS);
    assert_int_equal(trail_target_thread(target, 0), stopped.pid);
    for (unsigned i = 0; i < STOPPED_THREADS; i++) {
        struct walked walked = walk(target, stopped.tids[i], NULL, CAPACITY);
        assert_int_equal(walked.info.error, 0);
        assert_int_equal(walked.info.end, TRAIL_END_BASE);
        assert_int_equal(walked.info.flags,
                         sizeof(uintptr_t) == 8 ? TRAIL_INFO_64_BIT : 0);
        assert_int_equal(deep_frames(&walked), STOPPED_FRAMES);
        assert_int_equal(walked.kinds[0], TRAIL_PC_CURRENT);
        assert_int_equal(walked.trust[0], TRAIL_TRUST_CONTEXT);
        for (unsigned j = 1; j < walked.count; j++) {
            assert_int_equal(walked.kinds[j], TRAIL_PC_RETURN);
            assert_int_equal(walked.trust[j], TRAIL_TRUST_CFI);
        }
        assert_int_equal(walked.pcs[walked.count], 0);
    }
    trail_target_destroy(target);
    stopped_end(&stopped);
}

static void gdb_sees_the_same_stack(void **state)
{
    (void)state;
    struct stopped stopped;
    char pid[24];
    uint64_t pcs[CAPACITY];
    stopped_start(&stopped);
    snprintf(pid, sizeof(pid), "%lld", (long long)stopped.pid);
    char own[4096];
    ssize_t size = readlink("/proc/self/exe", own, sizeof(own) - 1);
    assert_true(size > 0);
    own[size] = 0;
    unsigned count = gdb_pcs(own, pid, pcs, CAPACITY);
    stopped_hold(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    struct walked walked = walk(target, 0, NULL, CAPACITY);
    assert_int_equal(walked.count, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(walked.pcs[i], pcs[i]);
    trail_target_destroy(target);
    stopped_end(&stopped);
}

static void a_thread_that_is_not_held_is_refused(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    struct walked walked = walk(target, 0, NULL, CAPACITY);
    assert_int_equal(walked.count, 0);
    assert_int_equal(walked.info.error, EBUSY);
    assert_int_equal(walked.info.end, TRAIL_END_ERROR);
    walked = walk(target, 1, NULL, CAPACITY); /* of another process */
    assert_int_equal(walked.info.error, ESRCH);

    stopped_hold(&stopped);
    assert_true(walk(target, 0, NULL, CAPACITY).count > STOPPED_FRAMES);
    assert_int_equal(ptrace(PTRACE_CONT, stopped.pid, NULL, NULL), 0);
    assert_int_equal(walk(target, 0, NULL, CAPACITY).info.error, EBUSY);
    trail_target_destroy(target);
    stopped_end(&stopped);
}

static void what_cannot_be_a_target_is_told_by_name(void **state)
{
    (void)state;
    struct trail_error err;
    struct trail_target *target = NULL;
    assert_int_equal(trail_target_process(-1, &target, &err), TRAIL_NOT_FOUND);
    assert_string_equal(err.text, "process -1: there is none, or it has ended");
    assert_null(target);
    trail_target_destroy(NULL);
}

static void small_buffers_one_after_another_give_the_whole_stack(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    stopped_hold(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    struct walked whole = walk(target, 0, NULL, CAPACITY);
    for (unsigned size = 1; size <= 9; size++) {
        struct walked part = walk(target, 0, NULL, size);
        unsigned at = 0;
        for (;;) {
            assert_true(at + part.count <= whole.count);
            assert_memory_equal(part.pcs, whole.pcs + at, part.count * 8);
            assert_memory_equal(part.kinds, whole.kinds + at, part.count);
            assert_memory_equal(part.trust, whole.trust + at, part.count);
            at += part.count;
            if (part.info.end != TRAIL_END_FULL)
                break;
            assert_int_equal(part.count, size);
            const struct trail_cursor cursor = part.info.cursor;
            part = walk(target, 0, &cursor, size);
        }
        assert_int_equal(at, whole.count);
        assert_int_equal(part.info.end, TRAIL_END_BASE);
    }
    struct trail_cursor wrong = { { 1, 2, 3, 0 } };
    assert_int_equal(walk(target, 0, &wrong, CAPACITY).info.error, EINVAL);
    trail_target_destroy(target);
    stopped_end(&stopped);
}

/* As if no file could be opened. */
static void tables_are_found_in_memory_too(void **state)
{
    (void)state;
    struct stopped stopped;
    stopped_start(&stopped);
    stopped_hold(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    struct walked whole = walk(target, 0, NULL, CAPACITY);
    trail_target_destroy(target);
    target = target_of(stopped.pid);
    for (size_t i = 0; i < target->image_count; i++)
        target->images[i].path[0] = '?';
    struct walked walked = walk(target, 0, NULL, CAPACITY);
    assert_int_equal(walked.count, whole.count);
    assert_memory_equal(walked.pcs, whole.pcs, sizeof(walked.pcs));
    assert_memory_equal(walked.trust, whole.trust, whole.count);
    trail_target_destroy(target);
    stopped_end(&stopped);
}

/* ---- memory that is gone --------------------------------------------------- */

struct faulty {
    pid_t pid;
    uint64_t limit; /* nothing at or above it can be read */
    unsigned calls;
};

static int faulty_copy(void *arg, void *to, uint64_t from, size_t length)
{
    struct faulty *faulty = arg;
    faulty->calls++;
    if (from + length > faulty->limit)
        return EIO;
    FILE *memory = NULL;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%lld/mem", (long long)faulty->pid);
    memory = fopen(path, "re");
    bool good = memory && fseeko(memory, (off_t)from, SEEK_SET) == 0 &&
                fread(to, 1, length, memory) == length;
    if (memory)
        fclose(memory);
    return good ? 0 : EFAULT;
}

static void the_error_of_a_copy_comes_with_what_was_gathered(void **state)
{
    (void)state;
    struct stopped stopped;
    uint64_t pcs[CAPACITY];
    struct trail_info info = { .size = sizeof(info) };
    stopped_start(&stopped);
    stopped_hold(&stopped);
    struct trail_target *target = target_of(stopped.pid);
    struct walked whole = walk(target, 0, NULL, CAPACITY);
    struct walked part = walk(target, 0, NULL, 10);
    struct faulty faulty = { .pid = stopped.pid, .limit = UINT64_MAX };
    struct trail_control control = { .size = sizeof(control),
                                     .copy = faulty_copy,
                                     .copy_arg = &faulty };

    assert_int_equal(trail_backtrace_target(target, pcs, CAPACITY, &control, &info),
                     whole.count);
    assert_memory_equal(pcs, whole.pcs, whole.count * 8);
    assert_in_range(faulty.calls, 1, whole.count); /* by windows, not by words */

    faulty.limit = part.info.next_frame_addr;
    unsigned count = trail_backtrace_target(target, pcs, CAPACITY, &control, &info);
    assert_in_range(count, 8, 12);
    assert_memory_equal(pcs, whole.pcs, count * 8);
    assert_int_equal(info.error, EIO);
    assert_int_equal(info.end, TRAIL_END_UNMAPPED);
    assert_true(info.flags & TRAIL_INFO_TRUNCATED);
    trail_target_destroy(target);
    stopped_end(&stopped);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(threads_that_are_held_are_walked_to_their_base),
    cmocka_unit_test(gdb_sees_the_same_stack),
    cmocka_unit_test(a_thread_that_is_not_held_is_refused),
    cmocka_unit_test(what_cannot_be_a_target_is_told_by_name),
    cmocka_unit_test(small_buffers_one_after_another_give_the_whole_stack),
    cmocka_unit_test(tables_are_found_in_memory_too),
    cmocka_unit_test(the_error_of_a_copy_comes_with_what_was_gathered),
};
TRAIL_TEST_MAIN(tests)
