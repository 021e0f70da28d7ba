/* couriers.c -- what a courier does with each answer of a sink. */
#include "fixture.h"

#include "core/journal/courier.h"
#include "core/os/os.h"

#define SECOND     ((uint64_t)1000000000u)
#define GIVE_UP_NS (60 * SECOND) /* only a test that fails waits so long */

/* A sink that answers as it is told to. */
struct fake {
    struct trail_os_mutex lock;
    struct trail_os_cond changed;
    enum trail_status status;
    uint32_t answer;
    uint64_t retry_after_ns;
    uint64_t poison; /* an entry for which it answers `status`, else OK; 0: always */
    size_t most;     /* records that it takes at once; 0: any */
    bool stuck;      /* it does not return */
    size_t writes, opens, delivered;
    size_t counts[64]; /* records of each write */
    char keys[64][33];
    char told[1024];
};

static enum trail_status fake_write(void *state, struct trail_sink_call *call,
                                    const struct trail_record *records, size_t count,
                                    struct trail_verdict *verdicts,
                                    struct trail_error *err)
{
    struct fake *fake = state;
    (void)verdicts;
    trail_os_mutex_lock(&fake->lock);
    size_t at = fake->writes++ % 64;
    fake->counts[at] = count;
    snprintf(fake->keys[at], 33, "%.*s", (int)call->key.size, call->key.data);
    bool refused = fake->poison == 0;
    for (size_t i = 0; i < count; i++)
        refused |= number_of(trail_record_at(records, i)->id.data) == fake->poison;
    if (fake->most)
        refused = count > fake->most;
    while (fake->stuck && !call->stop(call->host))
        trail_os_cond_wait(&fake->changed, &fake->lock,
                           trail_os_mono_ns() + SECOND / 50);
    enum trail_status status = refused ? fake->status : TRAIL_OK;
    if (status) {
        call->answer = fake->answer;
        call->retry_after_ns = fake->retry_after_ns;
        trail_fail(err, status, "answer %u", fake->answer);
    } else {
        fake->delivered += count;
    }
    trail_os_cond_wake(&fake->changed);
    trail_os_mutex_unlock(&fake->lock);
    return status;
}

static enum trail_status fake_open(void *arg, void **state_ret, struct trail_error *err)
{
    struct fake *fake = arg;
    (void)err;
    trail_os_mutex_lock(&fake->lock);
    fake->opens++;
    trail_os_mutex_unlock(&fake->lock);
    *state_ret = fake;
    return TRAIL_OK;
}

static void fake_destroy(void *state)
{
    (void)state;
}

static void fake_told(void *arg, int level, const char *line)
{
    struct fake *fake = arg;
    (void)level;
    trail_os_mutex_lock(&fake->lock);
    size_t size = strlen(fake->told);
    snprintf(fake->told + size, sizeof(fake->told) - size, "%s\n", line);
    trail_os_mutex_unlock(&fake->lock);
}

static const struct trail_sink fake_table = { .abi = TRAIL_SINK_ABI,
                                              .size = sizeof(struct trail_sink),
                                              .destroy = fake_destroy,
                                              .write = fake_write };

static struct trail_courier *start(struct fixture *fixture, const char *name,
                                   struct fake *fake)
{
    struct trail_courier *courier;
    struct trail_courier_options options = { .name = name,
                                             .sink = &fake_table,
                                             .open = fake_open,
                                             .told = fake_told,
                                             .arg = fake,
                                             .linger_ns = 1,
                                             .jitter_ns = 1 };
    sink_add(fixture, name);
    assert_ok(trail_courier_start(fixture->journal, &options, &courier, NULL));
    return courier;
}

static void stop(struct trail_courier *courier)
{
    trail_courier_stop(courier, 0);
    trail_courier_join(courier);
}

static bool has_written(const struct fake *fake, size_t count)
{
    return fake->writes >= count;
}

static bool has_delivered(const struct fake *fake, size_t count)
{
    return fake->delivered >= count;
}

static void wait_for(struct fake *fake,
                     bool (*is)(const struct fake *fake, size_t count), size_t count)
{
    uint64_t until = trail_os_mono_ns() + GIVE_UP_NS;
    trail_os_mutex_lock(&fake->lock);
    while (!is(fake, count) && trail_os_mono_ns() < until)
        trail_os_cond_wait(&fake->changed, &fake->lock, until);
    bool came = is(fake, count);
    trail_os_mutex_unlock(&fake->lock);
    assert_true(came);
}

/* Wait for a state that is not that of the moment of a write. */
static void wait_state(struct trail_courier *courier, enum trail_courier_state state)
{
    struct trail_courier_stat stat;
    uint64_t until = trail_os_mono_ns() + GIVE_UP_NS;
    do {
        trail_courier_stat(courier, &stat);
        struct trail_os_mutex lock = { { 0 } };
        struct trail_os_cond cond;
        trail_os_cond_init(&cond);
        trail_os_mutex_lock(&lock);
        trail_os_cond_wait(&cond, &lock, trail_os_mono_ns() + SECOND / 1000);
        trail_os_mutex_unlock(&lock);
    } while (stat.state != state && trail_os_mono_ns() < until);
    assert_int_equal(stat.state, state);
}

static void begin(struct fixture *fixture, size_t count)
{
    fixture_begin(fixture);
    fixture_open(fixture);
    sink_add(fixture, "hq");
    put(fixture, 1, count, TRAIL_CLASS_EVENT);
}

static void what_is_put_is_delivered(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake fake = { .status = TRAIL_OK };
    begin(&fixture, 30);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_for(&fake, has_delivered, 30);
    put(&fixture, 31, 5, TRAIL_CLASS_CRASH);
    wait_for(&fake, has_delivered, 35);
    stop(courier);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 35);
    fixture_end(&fixture);
}

static void busy_is_tried_again_with_the_same_key_after_what_it_asks(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_courier_stat stat;
    struct fake fake = { .status = TRAIL_RETRY,
                         .answer = TRAIL_SINK_BUSY,
                         .retry_after_ns = 3600 * SECOND };
    begin(&fixture, 10);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_for(&fake, has_written, 1);
    wait_state(courier, TRAIL_COURIER_WAITING);
    trail_courier_stat(courier, &stat);
    assert_true(stat.next_ns > trail_os_time_ns() + 3500 * SECOND);
    trail_os_clock_shift(3601 * (int64_t)SECOND, 3601 * SECOND); /* an hour passes */
    fake.status = TRAIL_OK;
    trail_courier_kick(courier);
    wait_for(&fake, has_delivered, 10);
    stop(courier);
    assert_string_equal(fake.keys[0], fake.keys[1]);
    assert_int_equal(sink_stat(&fixture, "hq").retries, 1);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 10);
    fixture_end(&fixture);
}

static void no_more_than_a_day_is_waited_whatever_is_asked(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct trail_courier_stat stat;
    struct fake fake = { .status = TRAIL_RETRY,
                         .answer = TRAIL_SINK_BUSY,
                         .retry_after_ns = 72 * 3600 * SECOND };
    begin(&fixture, 1);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_state(courier, TRAIL_COURIER_WAITING);
    trail_courier_stat(courier, &stat);
    assert_true(stat.next_ns <= trail_os_time_ns() + 24 * 3600 * SECOND);
    stop(courier);
    fixture_end(&fixture);
}

static void a_hold_is_loud_makes_the_sink_anew_and_drops_nothing(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake fake = { .status = TRAIL_REFUSED, .answer = TRAIL_SINK_HOLD };
    begin(&fixture, 10);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_state(courier, TRAIL_COURIER_HELD);
    assert_contains(fake.told, "held");
    assert_int_equal(sink_stat(&fixture, "hq").queued, 10);
    fake.status = TRAIL_OK;
    trail_courier_kick(courier);
    wait_for(&fake, has_delivered, 10);
    stop(courier);
    assert_int_equal(fake.opens, 2);
    assert_int_equal(sink_stat(&fixture, "hq").dead, 0);
    fixture_end(&fixture);
}

static void too_large_is_halved_under_new_keys(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake fake = { .status = TRAIL_BAD_INPUT,
                         .answer = TRAIL_SINK_TOO_LARGE,
                         .most = 5 };
    begin(&fixture, 16);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_for(&fake, has_delivered, 16);
    stop(courier);
    assert_int_equal(fake.counts[0], 16);
    assert_int_equal(fake.counts[1], 8);
    assert_string_not_equal(fake.keys[0], fake.keys[1]);
    assert_int_equal(sink_stat(&fixture, "hq").dead, 0);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 16);
    fixture_end(&fixture);
}

static void malformed_is_bisected_to_the_one_that_is_at_fault(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake fake = { .status = TRAIL_BAD_INPUT,
                         .answer = TRAIL_SINK_MALFORMED,
                         .poison = 11 };
    begin(&fixture, 40);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_for(&fake, has_delivered, 39);
    stop(courier);
    trail_journal_tick(fixture.journal);
    assert_int_equal(sink_stat(&fixture, "hq").dead, 1);
    assert_int_equal(sink_stat(&fixture, "hq").delivered, 39);
    fixture_end(&fixture);
}

static void a_sink_that_hangs_stalls_no_other(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake stuck = { .stuck = true }, quick = { .status = TRAIL_OK };
    begin(&fixture, 20);
    struct trail_courier *slow = start(&fixture, "slow", &stuck);
    wait_for(&stuck, has_written, 1);
    struct trail_courier *courier = start(&fixture, "hq", &quick);
    wait_for(&quick, has_delivered, 20);
    put(&fixture, 21, 20, TRAIL_CLASS_EVENT);
    wait_for(&quick, has_delivered, 40);
    stop(courier);
    stop(slow); /* its call is told to stop */
    fixture_end(&fixture);
}

static void the_end_delivers_what_is_queued_and_keeps_the_rest(void **unused)
{
    (void)unused;
    struct fixture fixture;
    struct fake fake = { .status = TRAIL_OK };
    begin(&fixture, 0);
    struct trail_courier *courier = start(&fixture, "hq", &fake);
    wait_state(courier, TRAIL_COURIER_IDLE);
    put(&fixture, 1, 64, TRAIL_CLASS_EVENT);
    trail_courier_stop(courier, trail_os_mono_ns() + GIVE_UP_NS);
    trail_courier_join(courier);
    assert_int_equal(fake.delivered, 64);

    fake.status = TRAIL_RETRY;
    fake.answer = TRAIL_SINK_BUSY;
    put(&fixture, 65, 10, TRAIL_CLASS_EVENT);
    courier = start(&fixture, "hq", &fake);
    wait_state(courier, TRAIL_COURIER_WAITING);
    trail_courier_stop(courier, trail_os_mono_ns() + GIVE_UP_NS);
    trail_courier_join(courier); /* at once: it failed */
    assert_int_equal(sink_stat(&fixture, "hq").queued, 10);
    fixture_end(&fixture);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_put_is_delivered),
    cmocka_unit_test(busy_is_tried_again_with_the_same_key_after_what_it_asks),
    cmocka_unit_test(no_more_than_a_day_is_waited_whatever_is_asked),
    cmocka_unit_test(a_hold_is_loud_makes_the_sink_anew_and_drops_nothing),
    cmocka_unit_test(too_large_is_halved_under_new_keys),
    cmocka_unit_test(malformed_is_bisected_to_the_one_that_is_at_fault),
    cmocka_unit_test(a_sink_that_hangs_stalls_no_other),
    cmocka_unit_test(the_end_delivers_what_is_queued_and_keeps_the_rest),
};

TRAIL_TEST_MAIN(tests)
