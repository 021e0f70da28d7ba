/* tail_gaps.c -- chains of tail calls: found where there is one, and only then. */
#include "core/resolve/tail_gaps.h"

#include "test.h"

/* Calls as text: "FA AP" is F calls A, A calls P; "A?" is a call of A to nobody knows
 * whom. A function is a letter. */
struct calls {
    const char *text;
    struct trail_tail tails[64];
    size_t asked;
};

static struct trail_place place_of(char letter)
{
    return (struct trail_place){ 1, (uint64_t)letter * 0x10 };
}

static enum trail_status tails_of(void *arg, struct trail_place function,
                                  struct trail_tails *tails_ret)
{
    struct calls *calls = arg;
    struct trail_tails made = { calls->tails, 0, false };
    calls->asked++;
    for (const char *at = calls->text; *at; at += at[2] ? 3 : 2) {
        if (!trail_place_is(place_of(at[0]), function))
            continue;
        if (at[1] == '?')
            made.open = true;
        else
            calls->tails[made.count++] =
                (struct trail_tail){ place_of(at[1]),
                                     function.start + (uint64_t)(at - calls->text) };
    }
    *tails_ret = made;
    return TRAIL_OK;
}

/* F was called and P runs: what is put back, "" for nothing. */
static const char *chain_of(const char *text)
{
    static char chain[TRAIL_TAIL_DEPTH + 1];
    struct calls calls = { .text = text };
    struct trail_tail_step steps[TRAIL_TAIL_DEPTH];
    size_t count = 99;
    assert_ok(trail_tail_chain(place_of('F'), place_of('P'), tails_of, &calls, steps,
                               &count));
    assert_true(count <= TRAIL_TAIL_DEPTH);
    for (size_t i = 0; i < count; i++)
        chain[i] = (char)(steps[i].function.start / 0x10);
    chain[count] = 0;
    return chain;
}

static void the_only_chain_is_found(void **state)
{
    (void)state;
    assert_string_equal(chain_of("FP"), "F");
    assert_string_equal(chain_of("FA AB BP"), "FAB");
    /* Calls that lead elsewhere are no other way. */
    assert_string_equal(chain_of("FX FA XY AZ AP PQ"), "FA");
}

static void a_second_way_leaves_nothing_to_tell(void **state)
{
    (void)state;
    assert_string_equal(chain_of("FA FB AP BP"), "");
    assert_string_equal(chain_of("FP FA AP"), "");
    assert_string_equal(chain_of("FA AB AC BD CD DP"), "");
    assert_string_equal(chain_of(""), "");
    assert_string_equal(chain_of("FA AB"), "");
}

static void a_cycle_ends_and_may_have_run_any_number_of_times(void **state)
{
    (void)state;
    assert_string_equal(chain_of("FF FP"), "");
    assert_string_equal(chain_of("FA AF AP"), "");
    assert_string_equal(chain_of("FP PF"), "");
    assert_string_equal(chain_of("FP PP"), "");
    assert_string_equal(chain_of("FA AF"), "");
    /* One that does not lead there could not have run. */
    assert_string_equal(chain_of("FX XY YX FP"), "F");
}

static void a_call_of_unknown_target_leaves_nothing_certain(void **state)
{
    (void)state;
    assert_string_equal(chain_of("FP F?"), "");
    assert_string_equal(chain_of("FA AP FX X?"), "");
    /* But not from what runs: it was reached before. */
    assert_string_equal(chain_of("FP P?"), "F");
    assert_string_equal(chain_of("FP PX X?"), "F");
}

static void several_calls_to_one_function_are_one_way_without_a_line(void **state)
{
    (void)state;
    struct calls calls = { .text = "FA FA AP" };
    struct trail_tail_step steps[TRAIL_TAIL_DEPTH];
    size_t count = 0;
    assert_ok(trail_tail_chain(place_of('F'), place_of('P'), tails_of, &calls, steps,
                               &count));
    assert_int_equal(count, 2);
    assert_true(steps[0].return_address == 0);
    assert_true(steps[1].return_address == place_of('A').start + 6);
}

/* Each function calls the next `fan` ones. */
struct grid {
    uint64_t fan, last;
    struct trail_tail tails[300];
    size_t asked;
};

static enum trail_status grid_tails(void *arg, struct trail_place function,
                                    struct trail_tails *tails_ret)
{
    struct grid *grid = arg;
    struct trail_tails made = { grid->tails, 0, false };
    grid->asked++;
    for (uint64_t i = 1; i <= grid->fan && function.start + i <= grid->last; i++)
        grid->tails[made.count++] = (struct trail_tail){ { 1, function.start + i }, 1 };
    *tails_ret = made;
    return TRAIL_OK;
}

static size_t grid_chain(struct grid *grid, uint64_t to)
{
    struct trail_tail_step steps[TRAIL_TAIL_DEPTH];
    size_t count = 99;
    assert_ok(trail_tail_chain((struct trail_place){ 1, 1 },
                               (struct trail_place){ 1, to }, grid_tails, grid, steps,
                               &count));
    assert_true(grid->asked <= TRAIL_TAIL_NODES);
    return count;
}

static void the_search_is_bounded(void **state)
{
    (void)state;
    struct grid line = { .fan = 1, .last = 17 }, longer = { .fan = 1, .last = 18 };
    struct grid wide = { .fan = 300, .last = 10000 };
    struct grid many = { .fan = 20, .last = 250 };
    assert_int_equal(grid_chain(&line, 17), TRAIL_TAIL_DEPTH);
    assert_int_equal(grid_chain(&longer, 18), 0);
    assert_int_equal(grid_chain(&wide, 2), 0);
    assert_int_equal(grid_chain(&many, 200), 0);
    /* What lies behind the last function that is looked at is not known. */
    assert_string_equal(
        chain_of("FP FA AB BC CD DE EG GH HI IJ JK KL LM MN NO OQ QR RS"), "");
    assert_string_equal(chain_of("FP FA AB BC CD DE EG GH HI IJ JK KL LM MN NO"), "F");
}

static enum trail_status no_memory(void *arg, struct trail_place function,
                                   struct trail_tails *tails_ret)
{
    (void)arg, (void)function, (void)tails_ret;
    return TRAIL_NO_MEMORY;
}

static void a_failure_is_passed_on(void **state)
{
    (void)state;
    struct trail_tail_step steps[TRAIL_TAIL_DEPTH];
    size_t count = 7;
    assert_int_equal(trail_tail_chain(place_of('F'), place_of('P'), no_memory, NULL,
                                      steps, &count),
                     TRAIL_NO_MEMORY);
    assert_int_equal(count, 7);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_only_chain_is_found),
    cmocka_unit_test(a_second_way_leaves_nothing_to_tell),
    cmocka_unit_test(a_cycle_ends_and_may_have_run_any_number_of_times),
    cmocka_unit_test(a_call_of_unknown_target_leaves_nothing_certain),
    cmocka_unit_test(several_calls_to_one_function_are_one_way_without_a_line),
    cmocka_unit_test(the_search_is_bounded),
    cmocka_unit_test(a_failure_is_passed_on),
};
TRAIL_TEST_MAIN(tests)
