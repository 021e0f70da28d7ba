/* record.c -- what goes into the record comes out of it, once, as it was. */
#include "fixture.h"

#include "core/os/os.h"

static void an_entry_comes_out_as_it_was_after_a_restart(void **unused)
{
    (void)unused;
    struct fixture fixture;
    uint8_t seen[300] = { 0 };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    put(&fixture, 0, 200, TRAIL_CLASS_EVENT);
    put(&fixture, 200, 100, TRAIL_CLASS_CRASH);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    assert_int_equal(sink_stat(&fixture, "hq").queued, 300);
    assert_int_equal(take_all(&fixture, "hq", seen, 300), 300);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(sink_stat(&fixture, "hq").queued, 0);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 300);
    assert_string_equal(fixture.said, "");
    fixture_end(&fixture);
}

static void a_repeat_is_told_and_not_added(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char text[256];
    fixture_begin(&fixture);
    fixture_open(&fixture);
    put(&fixture, 7, 1, TRAIL_CLASS_CRASH);
    fixture_open(&fixture);
    struct trail_journal_entry again = entry_of(7, TRAIL_CLASS_CRASH, text);
    assert_ok(trail_journal_append(fixture.journal, &again, 1, NULL));
    assert_true(again.repeat);
    assert_true(again.seq == 0);
    again.revision = 2; /* a better version is another entry */
    assert_ok(trail_journal_append(fixture.journal, &again, 1, NULL));
    assert_false(again.repeat);
    assert_int_equal(stat_of(&fixture).entries, 2);
    assert_int_equal(stat_of(&fixture).repeats, 1);
    fixture_end(&fixture);
}

static void crashes_are_sent_before_events(void **unused)
{
    (void)unused;
    struct fixture fixture;
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 1, 1, TRAIL_CLASS_EVENT);
    put(&fixture, 2, 1, TRAIL_CLASS_CRASH);
    struct trail_journal_batch *batch = take(&fixture, "hq", 10);
    assert_int_equal(batch->count, 1);
    assert_int_equal(number_of(batch->entries[0].id), 2);
    trail_journal_batch_free(batch);
    fixture_end(&fixture);
}

static void a_batch_has_the_same_members_and_key_on_every_try(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char key[33];
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 10, TRAIL_CLASS_EVENT);
    struct trail_journal_batch *batch = take(&fixture, "hq", 50);
    assert_int_equal(batch->count, 10);
    snprintf(key, sizeof(key), "%s", batch->key);
    trail_journal_batch_free(batch);

    put(&fixture, 10, 10, TRAIL_CLASS_EVENT); /* must not join it */
    for (uint32_t try_ = 0; try_ < 4; try_++) {
        struct trail_journal_try how = { .status = TRAIL_RETRY, .code = 503 };
        fixture_open(&fixture);
        sink_add(&fixture, "hq");
        batch = take(&fixture, "hq", 3);
        assert_int_equal(batch->count, 10);
        assert_int_equal(batch->tries, try_);
        assert_string_equal(batch->key, key);
        assert_ok(
            trail_journal_batch_end(fixture.journal, "hq", batch, &how, NULL, NULL));
    }
    done(&fixture, "hq", take(&fixture, "hq", 50));
    batch = take(&fixture, "hq", 50);
    assert_int_equal(batch->count, 10);
    assert_string_not_equal(batch->key, key);
    trail_journal_batch_free(batch);
    fixture_end(&fixture);
}

static void members_that_are_to_be_tried_again_get_a_batch_of_their_own(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_verdict verdicts[4];
    struct trail_journal_try how = { .status = TRAIL_OK, .text = "too old" };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 4, TRAIL_CLASS_EVENT);
    struct trail_journal_batch *batch = take(&fixture, "hq", 50);
    for (size_t i = 0; i < 4; i++)
        verdicts[i] = (struct trail_verdict){ sizeof(verdicts[i]), TRAIL_OK };
    verdicts[1].status = TRAIL_RETRY;
    verdicts[2].status = TRAIL_BAD_INPUT;
    assert_ok(
        trail_journal_batch_end(fixture.journal, "hq", batch, &how, verdicts, NULL));
    struct trail_journal_sink_stat stat = sink_stat(&fixture, "hq");
    assert_int_equal(stat.delivered, 2);
    assert_int_equal(stat.rejected, 1);
    assert_int_equal(stat.dead, 1);
    assert_int_equal(stat.queued, 1);
    batch = take(&fixture, "hq", 50);
    assert_int_equal(batch->count, 1);
    assert_int_equal(number_of(batch->entries[0].id), 1);
    trail_journal_batch_free(batch);
    fixture_end(&fixture);
}

static void halves_find_the_one_that_is_never_taken(void **unused)
{
    (void)unused;
    struct fixture fixture;
    size_t delivered = 0, tries = 0;
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 37, TRAIL_CLASS_EVENT);
    for (struct trail_journal_batch *batch; (batch = take(&fixture, "hq", 50));
         tries++) {
        bool poisoned = false;
        for (size_t i = 0; i < batch->count; i++)
            poisoned |= number_of(batch->entries[i].id) == 23;
        struct trail_journal_try how = { .status = TRAIL_BAD_INPUT,
                                         .code = 400,
                                         .text = "number 23 is poison" };
        assert_true(tries < 40);
        if (poisoned) {
            assert_ok(
                trail_journal_batch_split(fixture.journal, "hq", batch, &how, NULL));
            continue;
        }
        delivered += batch->count;
        done(&fixture, "hq", batch);
    }
    assert_int_equal(delivered, 36);
    assert_int_equal(sink_stat(&fixture, "hq").dead, 1);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 36);
    fixture_end(&fixture);
}

static bool count_dead(void *arg, const struct trail_journal_entry *entry,
                       const char *why)
{
    size_t *count = arg;
    assert_string_equal(why, "never");
    assert_true(entry->text.size > 0);
    ++*count;
    return true;
}

static void reject_all(struct fixture *fixture)
{
    struct trail_journal_batch *batch;
    struct trail_journal_try how = { .status = TRAIL_BAD_INPUT, .text = "never" };
    while ((batch = take(fixture, "hq", 10)))
        assert_ok(
            trail_journal_batch_end(fixture->journal, "hq", batch, &how, NULL, NULL));
}

static void dead_letters_can_be_seen_sent_again_and_given_up(void **unused)
{
    (void)unused;
    struct fixture fixture;
    uint8_t seen[20] = { 0 };
    uint64_t count;
    size_t dead = 0;
    char id[33];
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 20, TRAIL_CLASS_EVENT);
    reject_all(&fixture);
    assert_ok(
        trail_journal_queue_list(fixture.journal, "hq", true, count_dead, &dead, NULL));
    assert_int_equal(dead, 20);
    snprintf(id, sizeof(id), "%032x", 5);
    assert_ok(trail_journal_queue_drop(fixture.journal, "hq", id, true, &count, NULL));
    assert_int_equal(count, 1);
    assert_ok(trail_journal_queue_retry(fixture.journal, "hq", NULL, &count, NULL));
    assert_int_equal(count, 19);
    assert_int_equal(take_all(&fixture, "hq", seen, 20), 19);
    assert_int_equal(seen[5], 0);
    assert_int_equal(seen[6], 1);
    assert_int_equal(sink_stat(&fixture, "hq").dead, 0);
    assert_int_equal(sink_stat(&fixture, "hq").dropped, 1);
    fixture_end(&fixture);
}

static void what_waits_can_be_given_up_and_is_told(void **unused)
{
    (void)unused;
    struct fixture fixture;
    uint64_t count;
    char id[33];
    uint8_t seen[20] = { 0 };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 20, TRAIL_CLASS_EVENT);
    trail_journal_batch_free(take(&fixture, "hq", 7)); /* under way */
    snprintf(id, sizeof(id), "%032x", 3);
    assert_ok(trail_journal_queue_drop(fixture.journal, "hq", id, false, &count, NULL));
    assert_int_equal(count, 1);
    assert_int_equal(take_all(&fixture, "hq", seen, 20), 19);
    assert_int_equal(seen[3], 0);
    put(&fixture, 20, 5, TRAIL_CLASS_EVENT);
    assert_ok(
        trail_journal_queue_drop(fixture.journal, "hq", NULL, false, &count, NULL));
    assert_int_equal(count, 5);
    struct trail_journal_batch *batch = take(&fixture, "hq", 50);
    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->entries[0].kind, TRAIL_JOURNAL_DROPPED);
    assert_contains(batch->entries[0].text.data, "by hand");
    trail_journal_batch_free(batch);
    assert_int_equal(sink_stat(&fixture, "hq").dropped, 6);
    fixture_end(&fixture);
}

static void a_new_sink_may_begin_with_what_comes(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_journal_sink late = { .name = "late", .from_now = true };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    put(&fixture, 0, 10, TRAIL_CLASS_EVENT);
    assert_ok(trail_journal_sink_add(fixture.journal, &late, NULL));
    put(&fixture, 10, 3, TRAIL_CLASS_EVENT);
    fixture_open(&fixture);
    assert_ok(trail_journal_sink_add(fixture.journal, &late, NULL));
    assert_int_equal(take_all(&fixture, "late", NULL, 0), 3);
    fixture_end(&fixture);
}

static void a_sink_gets_its_channels_and_kinds_alone(void **unused)
{
    (void)unused;
    struct fixture fixture;
    char *channels[] = { "crash", NULL };
    char text[256];
    struct trail_journal_sink crashes = { .name = "crashes", .channels = channels };
    struct trail_journal_sink raw = { .name = "@resolver",
                                      .kinds = TRAIL_JOURNAL_BIT(TRAIL_JOURNAL_RAW) };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    assert_ok(trail_journal_sink_add(fixture.journal, &crashes, NULL));
    assert_ok(trail_journal_sink_add(fixture.journal, &raw, NULL));
    put(&fixture, 0, 10, TRAIL_CLASS_EVENT);
    put(&fixture, 10, 2, TRAIL_CLASS_CRASH);
    struct trail_journal_entry trace = entry_of(99, TRAIL_CLASS_EVENT, text);
    trace.kind = TRAIL_JOURNAL_RAW;
    assert_ok(trail_journal_append(fixture.journal, &trace, 1, NULL));
    assert_int_equal(take_all(&fixture, "crashes", NULL, 0), 2);
    struct trail_journal_batch *batch = take(&fixture, "@resolver", 50);
    assert_int_equal(batch->count, 1);
    assert_int_equal(number_of(batch->entries[0].id), 99);
    trail_journal_batch_free(batch);
    fixture_end(&fixture);
}

static bool count_all(void *arg, const struct trail_journal_entry *entry)
{
    uint64_t *last = arg;
    assert_true(entry->seq > *last);
    *last = entry->seq;
    return true;
}

static void off_silences_the_stream_and_not_the_record(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_journal_query query = { .channel = "report" };
    uint64_t last = 0;
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    sink_add(&fixture, "other");
    assert_ok(trail_journal_channel_set(fixture.journal, "hq", "report", false, NULL));
    fixture_open(&fixture); /* it is kept */
    sink_add(&fixture, "hq");
    sink_add(&fixture, "other");
    put(&fixture, 0, 10, TRAIL_CLASS_EVENT);
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), 0);
    assert_int_equal(take_all(&fixture, "other", NULL, 0), 10);
    assert_ok(trail_journal_list(fixture.journal, &query, count_all, &last, NULL));
    assert_int_equal(last, 10);
    assert_int_equal(sink_stat(&fixture, "hq").silenced, 10);
    assert_ok(trail_journal_channel_set(fixture.journal, "hq", "report", true, NULL));
    put(&fixture, 10, 1, TRAIL_CLASS_EVENT);
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), 1);
    assert_int_equal(take_all(&fixture, "other", NULL, 0), 1);
    assert_ok(trail_journal_channel_set(fixture.journal, NULL, "report", false, NULL));
    put(&fixture, 11, 1, TRAIL_CLASS_EVENT);
    assert_int_equal(take_all(&fixture, "hq", NULL, 0), 0);
    assert_int_equal(take_all(&fixture, "other", NULL, 0), 0);
    fixture_end(&fixture);
}

struct numbers {
    uint64_t of[400];
    size_t count;
};

static bool note_number(void *arg, const struct trail_journal_entry *entry)
{
    struct numbers *numbers = arg;
    assert_true(numbers->count < 400);
    numbers->of[numbers->count++] = number_of(entry->id);
    return true;
}

static void a_list_is_in_the_order_in_which_entries_came(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct numbers numbers = { .count = 0 };
    struct trail_journal_query query = { .limit = 0 };
    fixture_begin(&fixture);
    fixture.limits.file_bytes = 1; /* as small as may be: many files */
    fixture_open(&fixture);
    for (uint64_t i = 0; i < 300; i++)
        put(&fixture, i, 1, i % 3 ? TRAIL_CLASS_EVENT : TRAIL_CLASS_CRASH);
    assert_ok(trail_journal_list(fixture.journal, &query, note_number, &numbers, NULL));
    assert_int_equal(numbers.count, 300);
    for (uint64_t i = 0; i < 300; i++)
        assert_int_equal(numbers.of[i], i);
    numbers.count = 0;
    query.after_seq = 250;
    query.limit = 20;
    assert_ok(trail_journal_list(fixture.journal, &query, note_number, &numbers, NULL));
    assert_int_equal(numbers.count, 20);
    assert_int_equal(numbers.of[0], 250);
    numbers.count = 0;
    query = (struct trail_journal_query){ .id = "00000000000000000000000000000123" };
    assert_ok(trail_journal_list(fixture.journal, &query, note_number, &numbers, NULL));
    assert_int_equal(numbers.count, 1);
    fixture_end(&fixture);
}

struct steps {
    struct trail_journal_step of[16];
    size_t count;
    char texts[16][64];
};

static void note_step(void *arg, const struct trail_journal_step *step)
{
    struct steps *steps = arg;
    assert_true(steps->count < 16);
    snprintf(steps->texts[steps->count], 64, "%s", step->text);
    steps->of[steps->count++] = *step;
}

static void a_history_tells_every_try_and_what_was_answered(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct steps steps = { .count = 0 };
    char id[33];
    struct trail_journal_try busy = { .status = TRAIL_RETRY,
                                      .code = 503,
                                      .text = "503 Service Unavailable" };
    fixture_begin(&fixture);
    fixture_open(&fixture);
    sink_add(&fixture, "hq");
    put(&fixture, 0, 3, TRAIL_CLASS_EVENT);
    for (int i = 0; i < 2; i++)
        assert_ok(trail_journal_batch_end(fixture.journal, "hq",
                                          take(&fixture, "hq", 9), &busy, NULL, NULL));
    done(&fixture, "hq", take(&fixture, "hq", 9));
    snprintf(id, sizeof(id), "%032x", 1);
    assert_ok(trail_journal_history(fixture.journal, id, note_step, &steps, NULL));
    assert_int_equal(steps.count, 4);
    assert_int_equal(steps.of[0].fate, TRAIL_JOURNAL_DELIVERED);
    assert_int_equal(steps.of[0].tries, 3);
    assert_int_equal(steps.of[0].batch_count, 3);
    assert_int_equal(steps.of[1].code, 503);
    assert_string_equal(steps.texts[2], "503 Service Unavailable");
    assert_int_equal(steps.of[3].status, TRAIL_OK);
    assert_int_equal(trail_journal_history(fixture.journal, "ffff", note_step, &steps,
                                           NULL),
                     TRAIL_NOT_FOUND);
    fixture_end(&fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_entry_comes_out_as_it_was_after_a_restart),
    cmocka_unit_test(a_repeat_is_told_and_not_added),
    cmocka_unit_test(crashes_are_sent_before_events),
    cmocka_unit_test(a_batch_has_the_same_members_and_key_on_every_try),
    cmocka_unit_test(members_that_are_to_be_tried_again_get_a_batch_of_their_own),
    cmocka_unit_test(halves_find_the_one_that_is_never_taken),
    cmocka_unit_test(dead_letters_can_be_seen_sent_again_and_given_up),
    cmocka_unit_test(what_waits_can_be_given_up_and_is_told),
    cmocka_unit_test(a_new_sink_may_begin_with_what_comes),
    cmocka_unit_test(a_sink_gets_its_channels_and_kinds_alone),
    cmocka_unit_test(off_silences_the_stream_and_not_the_record),
    cmocka_unit_test(a_list_is_in_the_order_in_which_entries_came),
    cmocka_unit_test(a_history_tells_every_try_and_what_was_answered),
};

TRAIL_TEST_MAIN(tests)
