/* stacks.c -- a packed stack comes back as it was, whatever it was and however little
 * room there is.
 */
#define _GNU_SOURCE

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made.h"
#include "test.h"

static const enum trail_pack_scheme schemes[] = { TRAIL_PACK_ABS, TRAIL_PACK_DELTA };

static void a_stack_comes_back_as_it_was(void **state)
{
    (void)state;
    uint8_t bytes[16 * MADE_MOST];
    uint64_t seed = 1;
    for (unsigned round = 0; round < 2000; round++) {
        struct made made;
        struct trail_info info;
        made_stack(&made, (unsigned)(made_number(&seed) % 200), &seed);
        for (unsigned i = 0; i < 2; i++) {
            size_t size =
                made_pack(&made, bytes, sizeof(bytes), schemes[i], NULL, &info);
            assert_int_equal(info.flags & TRAIL_INFO_TRUNCATED, 0);
            made_comes_back(&made, made.count, bytes, size, NULL);
        }
    }
}

/* As many innermost entries as fit: `made` cut by one more is what one byte less holds.
 * The bytes end where the memory does. */
static void pack_in_every_size(const struct made *made, enum trail_pack_scheme scheme,
                               uint8_t *end)
{
    static uint8_t whole[16 * MADE_MOST];
    struct trail_info info;
    size_t most = made_pack(made, whole, sizeof(whole), scheme, NULL, &info);
    unsigned count_before = 0;
    for (size_t size = 0; size <= most; size++) {
        uint8_t *bytes = end - size;
        struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
        size_t used = made_pack(made, bytes, size, scheme, NULL, &info);
        assert_true(used <= size);
        assert_int_equal((info.flags & TRAIL_INFO_TRUNCATED) != 0, size < most);
        assert_int_equal(info.end, size < most ? TRAIL_END_FULL : TRAIL_END_BASE);
        if (size == 0)
            continue;
        assert_ok(trail_unpack(bytes, used, NULL, NULL, &unpacked, NULL));
        assert_true(unpacked.packed_count >= count_before);
        made_comes_back(made, unpacked.packed_count, bytes, used, NULL);
        count_before = unpacked.packed_count;
    }
    assert_int_equal(count_before, made->count);
}

static void whole_entries_are_packed_into_any_number_of_bytes(void **state)
{
    (void)state;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t seed = 2;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    for (unsigned round = 0; round < 20; round++) {
        struct made made;
        made_stack(&made, 130, &seed);
        pack_in_every_size(&made, schemes[round % 2], pages + page);
    }
    munmap(pages, 2 * page);
}

static void bytes_that_are_filled_exactly_hold_the_last_entry(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct made made;
        uint8_t bytes[256];
        struct trail_info info;
        uint64_t seed = 3;
        made_stack(&made, 12, &seed);
        size_t size = made_pack(&made, bytes, sizeof(bytes), schemes[i], NULL, &info);
        memset(bytes, 0, sizeof(bytes));
        assert_int_equal(made_pack(&made, bytes, size, schemes[i], NULL, &info), size);
        assert_int_equal(info.flags & TRAIL_INFO_TRUNCATED, 0);
        made_comes_back(&made, 12, bytes, size, NULL);
    }
}

static void without_info_the_first_entry_is_current_and_the_others_return(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const uintptr_t addresses[3] = { (uintptr_t)made_stack, (uintptr_t)qsort + 4,
                                         77 };
        uint8_t bytes[64], kinds[3];
        uint64_t back[3];
        struct trail_unpacked unpacked = {
            .size = sizeof(unpacked), .capacity = 3, .addresses = back, .kinds = kinds
        };
        size_t size =
            trail_pack(bytes, sizeof(bytes), schemes[i], NULL, addresses, 3, NULL);
        assert_ok(trail_unpack(bytes, size, NULL, NULL, &unpacked, NULL));
        assert_int_equal(unpacked.count, 3);
        assert_int_equal(kinds[0], TRAIL_PC_CURRENT);
        assert_int_equal(kinds[1], TRAIL_PC_RETURN);
        assert_int_equal(kinds[2], TRAIL_PC_RETURN);
        assert_int_equal(back[2], 77);
    }
}

static void a_stack_that_was_cut_before_stays_cut(void **state)
{
    (void)state;
    const uintptr_t address = 99;
    uint8_t bytes[16];
    struct trail_info info = { .size = sizeof(info),
                               .flags = TRAIL_INFO_TRUNCATED,
                               .end = TRAIL_END_NO_CFI };
    struct trail_unpacked unpacked = { .size = sizeof(unpacked) };
    size_t size =
        trail_pack(bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &address, 1, &info);
    assert_ok(trail_unpack(bytes, size, NULL, NULL, &unpacked, NULL));
    assert_true(unpacked.flags & TRAIL_INFO_TRUNCATED);
    assert_int_equal(info.end, TRAIL_END_NO_CFI);
}

static void more_entries_than_asked_for_are_counted(void **state)
{
    (void)state;
    struct made made;
    uint8_t bytes[1024];
    struct trail_info info;
    uint64_t seed = 4, back[11] = { [10] = 5 };
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = 10,
                                       .addresses = back };
    made_stack(&made, 60, &seed);
    size_t size = made_pack(&made, bytes, sizeof(bytes), TRAIL_PACK_DELTA, NULL, &info);
    assert_ok(trail_unpack(bytes, size, NULL, NULL, &unpacked, NULL));
    assert_int_equal(unpacked.count, 10);
    assert_int_equal(unpacked.packed_count, 60);
    assert_int_equal(back[9], made.addresses[9]);
    assert_int_equal(back[10], 5);
}

/* ---- stacks as they are captured ----------------------------------------- */

struct both {
    uintptr_t addresses[TRAIL_MAX_FRAMES];
    uint64_t back[TRAIL_MAX_FRAMES];
    uint8_t kinds[TRAIL_MAX_FRAMES];
    unsigned count, packed;
    size_t size;
    struct trail_info info;
};

/* The same stack from one place, as it is and packed into `size` bytes. */
__attribute__((noinline)) static void take_both(struct both *both, size_t size,
                                                enum trail_pack_scheme scheme)
{
    uint8_t bytes[2048];
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = TRAIL_MAX_FRAMES,
                                       .addresses = both->back,
                                       .kinds = both->kinds };
    both->info = (struct trail_info){ .size = sizeof(both->info) };
    both->count = trail_backtrace(both->addresses, TRAIL_MAX_FRAMES, NULL, NULL);
    both->size = trail_backtrace_packed(bytes, size, scheme, NULL, NULL, &both->info);
    assert_ok(trail_unpack(bytes, both->size, NULL, NULL, &unpacked, NULL));
    both->packed = unpacked.count;
}

/* How many outer entries are equal. */
static unsigned equal_outside(const struct both *both)
{
    unsigned equal = 0;
    while (equal < both->count && equal < both->packed &&
           both->addresses[both->count - 1 - equal] ==
               both->back[both->packed - 1 - equal])
        equal++;
    return equal;
}

static void a_captured_stack_is_packed_in_one_go(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct both both;
        take_both(&both, 2048, schemes[i]);
        /* All but the frames of the library, and where it was called from. */
        assert_in_range(equal_outside(&both), 3, both.count - 1);
        assert_int_equal(both.info.end, TRAIL_END_BASE);
        assert_int_equal(both.kinds[0], TRAIL_PC_CURRENT);
        assert_int_equal(both.info.flags & TRAIL_INFO_TRUNCATED, 0);
    }
}

static void a_packed_stack_takes_less_than_two_fifths_of_its_addresses(void **state)
{
    (void)state;
    struct both both;
    take_both(&both, 2048, TRAIL_PACK_DELTA);
    assert_true(both.size * 10 <= both.packed * sizeof(uintptr_t) * 4);
}

/* Pack what is left out in `size` bytes each time, until there is nothing. */
static unsigned pack_in_pieces(uint64_t *back, unsigned room, size_t size)
{
    struct trail_control control = { .size = sizeof(control) };
    struct trail_info info = { .size = sizeof(info) };
    struct trail_cursor cursor;
    unsigned count = 0;
    do {
        uint8_t bytes[64];
        struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                           .capacity = room - count,
                                           .addresses = back + count };
        size_t used = trail_backtrace_packed(bytes, size, TRAIL_PACK_DELTA, NULL,
                                             &control, &info);
        assert_ok(trail_unpack(bytes, used, NULL, NULL, &unpacked, NULL));
        assert_true(unpacked.count > 0);
        count += unpacked.count;
        cursor = info.cursor;
        control.cursor = &cursor;
    } while (info.end == TRAIL_END_FULL);
    assert_int_equal(info.end, TRAIL_END_BASE);
    return count;
}

static void what_there_was_no_room_for_follows_from_the_cursor(void **state)
{
    (void)state;
    struct both both;
    take_both(&both, 2048, TRAIL_PACK_DELTA);
    for (size_t size = 12; size < 64; size++) {
        struct both pieces = both;
        pieces.packed = pack_in_pieces(pieces.back, TRAIL_MAX_FRAMES, size);
        assert_true(equal_outside(&pieces) >= 2);
        assert_true(pieces.packed >= equal_outside(&both));
    }
}

/* ---- interrupted ones ---------------------------------------------------- */

static uint8_t interrupted_bytes[2048];
static size_t interrupted_size;
static uint64_t interrupted_pc;

static void on_signal(int number, siginfo_t *siginfo, void *ucontext)
{
    uintptr_t first = 0;
    const struct trail_control control = { .size = sizeof(control),
                                           .flags = TRAIL_INTERRUPTED,
                                           .ucontext = ucontext };
    (void)number, (void)siginfo;
    trail_backtrace(&first, 1, &control, NULL);
    interrupted_pc = first;
    interrupted_size =
        trail_backtrace_packed(interrupted_bytes, sizeof(interrupted_bytes),
                               TRAIL_PACK_DELTA, NULL, &control, NULL);
}

static void an_interrupted_pc_is_kept_and_the_others_follow_it(void **state)
{
    (void)state;
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    uint64_t back[TRAIL_MAX_FRAMES];
    uint8_t kinds[TRAIL_MAX_FRAMES];
    struct trail_unpacked unpacked = { .size = sizeof(unpacked),
                                       .capacity = TRAIL_MAX_FRAMES,
                                       .addresses = back,
                                       .kinds = kinds };
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    raise(SIGUSR1);
    assert_ok(
        trail_unpack(interrupted_bytes, interrupted_size, NULL, NULL, &unpacked, NULL));
    assert_true(unpacked.count >= 3);
    assert_int_equal(back[0], interrupted_pc);
    assert_int_equal(kinds[0], TRAIL_PC_CURRENT);
    assert_int_equal(kinds[1], TRAIL_PC_RETURN);
    assert_int_not_equal(back[1], back[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_stack_comes_back_as_it_was),
    cmocka_unit_test(whole_entries_are_packed_into_any_number_of_bytes),
    cmocka_unit_test(bytes_that_are_filled_exactly_hold_the_last_entry),
    cmocka_unit_test(without_info_the_first_entry_is_current_and_the_others_return),
    cmocka_unit_test(a_stack_that_was_cut_before_stays_cut),
    cmocka_unit_test(more_entries_than_asked_for_are_counted),
    cmocka_unit_test(a_captured_stack_is_packed_in_one_go),
    cmocka_unit_test(a_packed_stack_takes_less_than_two_fifths_of_its_addresses),
    cmocka_unit_test(what_there_was_no_room_for_follows_from_the_cursor),
    cmocka_unit_test(an_interrupted_pc_is_kept_and_the_others_follow_it),
};
TRAIL_TEST_MAIN(tests)
