/* known.c -- what a program said of itself is what a reader finds, whoever sets it
 * meanwhile. */
#include "test.h"

#include "backtrail/crash.h"
#include "core/crash/known.h"
#include "core/os/os.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

struct seen {
    unsigned count, wanted_count;
    const char *wanted;
    char value[TRAIL_KNOWN_VALUE_SIZE + 1];
};

static void look(void *arg, struct trail_text key, struct trail_text value)
{
    struct seen *seen = arg;
    seen->count++;
    if (key.size != strlen(seen->wanted) || memcmp(key.data, seen->wanted, key.size))
        return;
    seen->wanted_count++;
    memcpy(seen->value, value.data, value.size);
    seen->value[value.size] = 0;
}

static struct seen look_for(uint32_t thread, const char *key)
{
    struct seen seen = { .wanted = key };
    trail_known_attributes(thread, look, &seen);
    return seen;
}

static void forget_all(void)
{
    for (unsigned i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%u", i);
        trail_attribute_set(key, NULL);
    }
    trail_known_thread_end();
}

static void an_attribute_is_replaced_and_removed(void **unused)
{
    (void)unused;
    trail_attribute_set("k1", "eu");
    trail_attribute_set("k2", "");
    trail_attribute_set("k1", "us");
    struct seen seen = look_for(0, "k1");
    assert_int_equal(seen.count, 2);
    assert_int_equal(seen.wanted_count, 1);
    assert_string_equal(seen.value, "us");
    trail_attribute_set("k1", NULL);
    assert_int_equal(look_for(0, "k1").wanted_count, 0);
    forget_all();
}

static void the_65th_attribute_is_left_out_and_counted(void **unused)
{
    (void)unused;
    uint32_t before = trail_known_losses().attributes;
    for (unsigned i = 0; i < 65; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%u", i);
        trail_attribute_set(key, "x");
    }
    assert_int_equal(look_for(0, "k64").count, 64);
    assert_int_equal(look_for(0, "k64").wanted_count, 0);
    assert_int_equal(trail_known_losses().attributes, before + 1);
    trail_attribute_set("k3", NULL);
    trail_attribute_set("k64", "there is room again");
    assert_int_equal(look_for(0, "k64").wanted_count, 1);
    forget_all();
}

static void a_long_value_is_cut_between_two_characters(void **unused)
{
    (void)unused;
    char value[2048], key[TRAIL_KNOWN_KEY_SIZE + 2];
    uint32_t before = trail_known_losses().cut;
    memset(value, 'a', sizeof(value));
    memcpy(value + TRAIL_KNOWN_VALUE_SIZE - 1, "\xc3\xa9", 2);
    value[sizeof(value) - 1] = 0;
    trail_attribute_set("k1", value);
    assert_int_equal(strlen(look_for(0, "k1").value), TRAIL_KNOWN_VALUE_SIZE - 1);
    assert_int_equal(trail_known_losses().cut, before + 1);
    memset(key, 'k', sizeof(key));
    key[sizeof(key) - 1] = 0;
    trail_attribute_set(key, "its key is too long");
    assert_int_equal(look_for(0, key).count, 1);
    forget_all();
}

static void set_of_thread(void *arg)
{
    uint32_t *self = arg;
    trail_thread_attribute_set("queue", "eu-1");
    trail_trace_context_set(PARENT);
    self[0] = trail_known_self();
    self[1] = look_for(self[0], "queue").wanted_count;
    struct trail_known_context context;
    self[2] = trail_known_context(self[0], &context) &&
              strcmp(context.trace_id, "0af7651916cd43dd8448eb211c80319c") == 0 &&
              strcmp(context.span_id, "b7ad6b7169203331") == 0;
}

static void an_attribute_of_a_thread_is_that_threads_alone(void **unused)
{
    (void)unused;
    uint32_t of[3] = { 0 };
    struct trail_os_thread thread;
    assert_int_equal(trail_known_self(), 0);
    assert_ok(trail_os_thread_start(set_of_thread, of, "known", &thread, NULL));
    trail_os_thread_join(thread);
    assert_int_not_equal(of[0], 0);
    assert_int_equal(of[1], 1);
    assert_int_equal(of[2], 1);
    assert_int_equal(trail_known_self(), 0);
    assert_int_equal(look_for(0, "queue").count, 0);
}

static void see_what_is_left(void *arg)
{
    uint32_t *left = arg;
    *left = trail_known_self();
    trail_thread_attribute_set("mine", "x");
    *left += look_for(trail_known_self(), "queue").wanted_count;
}

static void a_thread_inherits_nothing_from_one_whose_stack_it_has(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 20; i++) {
        uint32_t of[3] = { 0 }, left = 0;
        struct trail_os_thread thread;
        assert_ok(trail_os_thread_start(set_of_thread, of, "one", &thread, NULL));
        trail_os_thread_join(thread);
        assert_ok(trail_os_thread_start(see_what_is_left, &left, "two", &thread, NULL));
        trail_os_thread_join(thread);
        assert_int_equal(left, 0);
    }
}

static void more_threads_than_are_kept_may_set_and_end(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 3000; i++) {
        uint32_t of[3] = { 0 };
        struct trail_os_thread thread;
        assert_ok(trail_os_thread_start(set_of_thread, of, "known", &thread, NULL));
        trail_os_thread_join(thread);
        assert_int_equal(of[1] && of[2], 1);
    }
}

static void a_trace_context_that_is_malformed_is_none(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {
        "",
        "00",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0g",
    };
    struct trail_known_context context;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        trail_trace_context_set(PARENT);
        assert_true(trail_known_context(trail_known_self(), &context));
        trail_trace_context_set(wrong[i]);
        assert_false(trail_known_context(trail_known_self(), &context));
    }
    trail_trace_context_set(
        "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-x");
    assert_true(trail_known_context(trail_known_self(), &context));
    assert_int_equal(look_for(trail_known_self(), "").count, 0);
    trail_trace_context_set(NULL);
    assert_false(trail_known_context(trail_known_self(), &context));
}

struct crumbs {
    unsigned count;
    char first[64], last[TRAIL_KNOWN_BREADCRUMB_SIZE + 1];
    uint64_t time_ns;
};

static void look_at_crumb(void *arg, uint64_t time_ns, struct trail_text text)
{
    struct crumbs *crumbs = arg;
    if (crumbs->count++ == 0)
        snprintf(crumbs->first, sizeof(crumbs->first), "%.*s", (int)text.size,
                 text.data);
    memcpy(crumbs->last, text.data, text.size);
    crumbs->last[text.size] = 0;
    assert_true(time_ns >= crumbs->time_ns);
    crumbs->time_ns = time_ns;
}

static void the_last_64_breadcrumbs_are_kept_in_order(void **unused)
{
    (void)unused;
    struct crumbs none = { 0 }, some = { 0 }, most = { 0 };
    char text[512];
    trail_known_breadcrumbs(look_at_crumb, &none);
    assert_int_equal(none.count, 0);
    for (unsigned i = 0; i < 150; i++) {
        snprintf(text, sizeof(text), "crumb %u", i);
        trail_breadcrumb(text);
        if (i == 2)
            trail_known_breadcrumbs(look_at_crumb, &some);
    }
    trail_known_breadcrumbs(look_at_crumb, &most);
    assert_int_equal(some.count, 3);
    assert_string_equal(some.first, "crumb 0");
    assert_int_equal(most.count, 64);
    assert_string_equal(most.first, "crumb 86");
    assert_string_equal(most.last, "crumb 149");
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = 0;
    trail_breadcrumb(text);
    most.time_ns = 0;
    trail_known_breadcrumbs(look_at_crumb, &most);
    assert_int_equal(strlen(most.last), TRAIL_KNOWN_BREADCRUMB_SIZE);
}

/* ---- many at once ------------------------------------------------------- */

#define WRITERS 4
#define ROUNDS  20000

/* Every value that is ever set is one letter, many times. */
static void write_much(void *arg)
{
    char value[200], key[16];
    for (unsigned i = 0; i < ROUNDS; i++) {
        size_t size = 1 + i % (sizeof(value) - 1);
        memset(value, 'a' + (int)((i + (uintptr_t)arg) % 26), size);
        value[size] = 0;
        snprintf(key, sizeof(key), "k%u", i % 3);
        trail_attribute_set(key, i % 7 ? value : NULL);
        trail_breadcrumb(value);
    }
}

static void check_whole(void *arg, struct trail_text key, struct trail_text value)
{
    (void)arg, (void)key;
    for (size_t i = 1; i < value.size; i++)
        assert_int_equal(value.data[i], value.data[0]);
}

static void check_crumb(void *arg, uint64_t time_ns, struct trail_text text)
{
    (void)time_ns;
    check_whole(arg, (struct trail_text){ "", 0 }, text);
}

static void a_reader_sees_no_text_that_was_half_set(void **unused)
{
    (void)unused;
    struct trail_os_thread threads[WRITERS];
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_ok(
            trail_os_thread_start(write_much, (void *)i, "writer", &threads[i], NULL));
    for (unsigned i = 0; i < 2000; i++) {
        trail_known_attributes(0, check_whole, NULL);
        trail_known_breadcrumbs(check_crumb, NULL);
    }
    for (unsigned i = 0; i < WRITERS; i++)
        trail_os_thread_join(threads[i]);
    for (unsigned i = 0; i < 3; i++) {
        char key[16];
        snprintf(key, sizeof(key), "k%u", i);
        trail_attribute_set(key, "last");
        assert_int_equal(look_for(0, key).wanted_count, 1);
        assert_string_equal(look_for(0, key).value, "last");
    }
    forget_all();
    assert_int_equal(look_for(0, "").count, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_attribute_is_replaced_and_removed),
    cmocka_unit_test(the_65th_attribute_is_left_out_and_counted),
    cmocka_unit_test(a_long_value_is_cut_between_two_characters),
    cmocka_unit_test(an_attribute_of_a_thread_is_that_threads_alone),
    cmocka_unit_test(a_thread_inherits_nothing_from_one_whose_stack_it_has),
    cmocka_unit_test(more_threads_than_are_kept_may_set_and_end),
    cmocka_unit_test(a_trace_context_that_is_malformed_is_none),
    cmocka_unit_test(the_last_64_breadcrumbs_are_kept_in_order),
    cmocka_unit_test(a_reader_sees_no_text_that_was_half_set),
};
TRAIL_TEST_MAIN(tests)
