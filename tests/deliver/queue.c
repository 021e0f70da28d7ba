/* queue.c -- the bounded queue: order, limits, what is dropped, and closing. */
#include "core/deliver/queue.h"

#include <pthread.h>

#include "backtrail/sink.h"
#include "test.h"

#define SECOND ((uint64_t)1000000000u)

static enum trail_status push(struct trail_queue *queue, const char *body,
                              uint32_t class_)
{
    struct trail_item *item = trail_item_create("id", "channel", body, strlen(body));
    assert_non_null(item);
    item->class_ = class_;
    return trail_queue_push(queue, item);
}

static enum trail_status push_event(struct trail_queue *queue, const char *body)
{
    return push(queue, body, TRAIL_CLASS_EVENT);
}

/* Take all that is there; the bodies one after another. */
static const char *pop_all(struct trail_queue *queue)
{
    static char bodies[256];
    size_t count = 0, seen = 0;
    bodies[0] = 0;
    trail_queue_close(queue);
    struct trail_item *item = trail_queue_pop(queue, 0, &count);
    while (item) {
        struct trail_item *next = item->next;
        snprintf(bodies + strlen(bodies), sizeof(bodies) - strlen(bodies), "%s",
                 item->body);
        free(item);
        item = next;
        seen++;
    }
    assert_int_equal(seen, count);
    trail_queue_done(queue, count);
    trail_queue_deinit(queue);
    return bodies;
}

static void items_come_out_in_the_order_they_went_in(void **state)
{
    (void)state;
    struct trail_queue queue;
    trail_queue_init(&queue, 8, 100);
    assert_ok(push_event(&queue, "a"));
    assert_ok(push(&queue, "b", TRAIL_CLASS_CRASH));
    assert_ok(push_event(&queue, "c"));
    assert_int_equal(queue.count, 3);
    assert_int_equal(queue.size, 3);
    assert_string_equal(pop_all(&queue), "abc");
}

static void a_batch_has_no_more_than_was_asked_for(void **state)
{
    (void)state;
    struct trail_queue queue;
    size_t count;
    trail_queue_init(&queue, 8, 100);
    for (const char *body = "abcde"; *body; body++) {
        char one[2] = { *body, 0 };
        assert_ok(push_event(&queue, one));
    }
    struct trail_item *first = trail_queue_pop(&queue, 2, &count);
    assert_int_equal(count, 2);
    assert_string_equal(first->body, "a");
    assert_string_equal(first->next->body, "b");
    assert_null(first->next->next);
    assert_int_equal(queue.busy, 2);
    assert_int_equal(queue.size, 3);
    free(first->next);
    free(first);
    trail_queue_done(&queue, 2);
    assert_string_equal(pop_all(&queue), "cde");
}

static void a_full_queue_refuses_and_counts_new_events(void **state)
{
    (void)state;
    struct trail_queue queue;
    trail_queue_init(&queue, 2, 100);
    assert_ok(push_event(&queue, "a"));
    assert_ok(push_event(&queue, "b"));
    assert_int_equal(push_event(&queue, "c"), TRAIL_RETRY);
    assert_int_equal(push_event(&queue, "d"), TRAIL_RETRY);
    assert_int_equal(trail_queue_dropped(&queue), 2);
    assert_string_equal(pop_all(&queue), "ab");
}

static void the_bytes_are_bounded_as_well(void **state)
{
    (void)state;
    struct trail_queue queue;
    trail_queue_init(&queue, 100, 10);
    assert_int_equal(push_event(&queue, "12345678901"), TRAIL_RETRY); /* never fits */
    assert_ok(push_event(&queue, "123456"));
    assert_int_equal(push_event(&queue, "12345"), TRAIL_RETRY);
    assert_ok(push_event(&queue, "abcd")); /* to the last byte */
    assert_int_equal(queue.size, 10);
    assert_int_equal(trail_queue_dropped(&queue), 2);
    assert_string_equal(pop_all(&queue), "123456abcd");
}

static void a_crash_takes_the_place_of_the_oldest_events(void **state)
{
    (void)state;
    struct trail_queue queue;
    trail_queue_init(&queue, 3, 100);
    assert_ok(push_event(&queue, "a"));
    assert_ok(push(&queue, "B", TRAIL_CLASS_CRASH));
    assert_ok(push_event(&queue, "c"));
    assert_ok(push(&queue, "D", TRAIL_CLASS_CRASH)); /* for a */
    assert_ok(push(&queue, "E", TRAIL_CLASS_CRASH)); /* for c, the last */
    assert_int_equal(push(&queue, "F", TRAIL_CLASS_CRASH), TRAIL_RETRY);
    assert_int_equal(push_event(&queue, "g"), TRAIL_RETRY);
    assert_int_equal(trail_queue_dropped(&queue), 4);
    assert_string_equal(pop_all(&queue), "BDE");
}

static void a_large_crash_takes_the_place_of_several_events(void **state)
{
    (void)state;
    struct trail_queue queue;
    trail_queue_init(&queue, 100, 10);
    for (size_t i = 0; i < 5; i++)
        assert_ok(push_event(&queue, "xx"));
    assert_ok(push(&queue, "1234567", TRAIL_CLASS_CRASH));
    assert_int_equal(queue.count, 2);
    assert_int_equal(trail_queue_dropped(&queue), 4);
    assert_ok(push_event(&queue, "y"));
    assert_string_equal(pop_all(&queue), "xx1234567y");
}

static void a_closed_queue_takes_nothing_and_gives_what_is_left(void **state)
{
    (void)state;
    struct trail_queue queue;
    size_t count = 7;
    trail_queue_init(&queue, 8, 100);
    assert_ok(push_event(&queue, "a"));
    trail_queue_close(&queue);
    assert_true(trail_queue_closing(&queue));
    assert_int_equal(push_event(&queue, "b"), TRAIL_RETRY);
    free(trail_queue_pop(&queue, 1, &count));
    assert_int_equal(count, 1);
    assert_null(trail_queue_pop(&queue, 1, &count));
    assert_int_equal(count, 0);
    trail_queue_sleep(&queue, UINT64_MAX); /* does not */
    trail_queue_done(&queue, 1);
    trail_queue_deinit(&queue);
}

static void a_queue_is_idle_once_what_was_taken_is_done(void **state)
{
    (void)state;
    struct trail_queue queue;
    size_t count;
    trail_queue_init(&queue, 8, 100);
    assert_true(trail_queue_idle(&queue, 0));
    assert_ok(push_event(&queue, "a"));
    assert_false(trail_queue_idle(&queue, 0));
    struct trail_item *item = trail_queue_pop(&queue, 1, &count);
    uint64_t start = trail_os_mono_ns();
    assert_false(trail_queue_idle(&queue, start + SECOND / 50));
    assert_true(trail_os_mono_ns() >= start + SECOND / 50);
    free(item);
    trail_queue_done(&queue, 1);
    assert_true(trail_queue_idle(&queue, 0));
    trail_queue_deinit(&queue);
}

static void texts_are_cut_to_fit_and_bodies_are_bytes(void **state)
{
    (void)state;
    char longer[200];
    memset(longer, 'i', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = 0;
    struct trail_item *item = trail_item_create(longer, longer, "a\0b", 3);
    assert_int_equal(strlen(item->id), sizeof(item->id) - 1);
    assert_int_equal(strlen(item->channel), sizeof(item->channel) - 1);
    assert_memory_equal(item->body, "a\0b", 4);
    assert_int_equal(item->size, 3);
    free(item);
}

/* ---- threads ------------------------------------------------------------ */

#define PUSHERS 4
#define EACH    500

static void *push_many(void *arg)
{
    struct trail_queue *queue = arg;
    for (unsigned i = 0; i < EACH; i++)
        push_event(queue, "x");
    return NULL;
}

static void *pop_until_closed(void *arg)
{
    static size_t popped;
    struct trail_queue *queue = arg;
    size_t count;
    popped = 0;
    for (struct trail_item *item;
         (item = trail_queue_pop(queue, 16, &count)) != NULL;) {
        while (item) {
            struct trail_item *next = item->next;
            free(item);
            item = next;
        }
        popped += count;
        trail_queue_done(queue, count);
    }
    return &popped;
}

static void threads_push_and_pop_and_none_is_lost(void **state)
{
    (void)state;
    struct trail_queue queue;
    pthread_t pushers[PUSHERS], popper;
    void *popped;
    trail_queue_init(&queue, 64, 1000);
    assert_int_equal(pthread_create(&popper, NULL, pop_until_closed, &queue), 0);
    for (unsigned i = 0; i < PUSHERS; i++)
        assert_int_equal(pthread_create(&pushers[i], NULL, push_many, &queue), 0);
    for (unsigned i = 0; i < PUSHERS; i++)
        pthread_join(pushers[i], NULL);
    assert_true(trail_queue_idle(&queue, UINT64_MAX));
    trail_queue_close(&queue);
    pthread_join(popper, &popped);
    assert_int_equal(*(size_t *)popped + trail_queue_dropped(&queue), PUSHERS * EACH);
    trail_queue_deinit(&queue);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(items_come_out_in_the_order_they_went_in),
    cmocka_unit_test(a_batch_has_no_more_than_was_asked_for),
    cmocka_unit_test(a_full_queue_refuses_and_counts_new_events),
    cmocka_unit_test(the_bytes_are_bounded_as_well),
    cmocka_unit_test(a_crash_takes_the_place_of_the_oldest_events),
    cmocka_unit_test(a_large_crash_takes_the_place_of_several_events),
    cmocka_unit_test(a_closed_queue_takes_nothing_and_gives_what_is_left),
    cmocka_unit_test(a_queue_is_idle_once_what_was_taken_is_done),
    cmocka_unit_test(texts_are_cut_to_fit_and_bodies_are_bytes),
    cmocka_unit_test(threads_push_and_pop_and_none_is_lost),
};
TRAIL_TEST_MAIN(tests)
