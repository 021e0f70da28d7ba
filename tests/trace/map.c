/* map.c -- images that come and go, and addresses that mean what they meant. */
#include <dlfcn.h>

#include "core/os/os.h"
#include "core/trace/epoch.h"
#include "core/trace/module_map.h"
#include "test.h"

/* One of the two images that are built beside this program. */
struct loaded {
    void *handle;
    void (*call)(void (*body)(void *arg), void *arg);
};

static struct loaded load(int number)
{
    char path[1024];
    struct loaded loaded;
    snprintf(path, sizeof(path), "%s/trace_image_%d.so", TEST_IMAGE_DIR, number);
    loaded.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded.handle)
        print_error("%s\n", dlerror());
    assert_non_null(loaded.handle);
    void *symbol = dlsym(loaded.handle, "image_call");
    memcpy(&loaded.call, &symbol, sizeof(symbol));
    return loaded;
}

static void take(void *arg)
{
    trail_capture(arg);
}

/* The images that a backtrace touched, copied out. */
struct touched {
    size_t count;
    struct trail_mapped images[16];
    char names[16][64];
};

static void on_image(void *arg, const struct trail_mapped *image)
{
    struct touched *touched = arg;
    const char *slash = strrchr(image->path, '/');
    assert_true(touched->count < 16);
    snprintf(touched->names[touched->count], sizeof(touched->names[0]), "%s",
             slash ? slash + 1 : image->path);
    touched->images[touched->count++] = *image;
}

static struct touched touched_by(const struct trail_backtrace *backtrace)
{
    struct touched touched = { .count = 0 };
    struct trail_error err = { "" };
    assert_ok_err(trail_module_map_touched(backtrace, on_image, &touched, &err), err);
    return touched;
}

static const struct trail_mapped *image_named(const struct touched *touched,
                                              const char *name)
{
    for (size_t i = 0; i < touched->count; i++)
        if (strcmp(touched->names[i], name) == 0)
            return &touched->images[i];
    return NULL;
}

static void the_map_changes_its_epoch_only_when_images_change(void **state)
{
    (void)state;
    assert_ok(trail_module_map_refresh(NULL));
    uint64_t epoch = trail_epoch_now();
    assert_ok(trail_module_map_refresh(NULL));
    assert_int_equal(trail_epoch_now(), epoch);

    struct loaded loaded = load(1);
    assert_ok(trail_module_map_refresh(NULL));
    assert_int_equal(trail_epoch_now(), epoch + 1);
    dlclose(loaded.handle);
    assert_ok(trail_module_map_refresh(NULL));
    assert_int_equal(trail_epoch_now(), epoch + 2);
}

static void every_image_of_a_stack_is_told_once(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    trail_capture(&backtrace);
    struct touched touched = touched_by(&backtrace);

    for (size_t i = 0; i < touched.count; i++) {
        assert_int_equal(touched.images[i].last, 0);
        assert_true(touched.images[i].range_count > 0);
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(touched.names[i], touched.names[j]);
    }
    assert_non_null(image_named(&touched, "test_trace_map"));
    assert_true(touched.images[0].main_program);
    assert_int_equal(touched.images[0].id_size, 20);
}

static void an_image_loaded_after_the_last_refresh_is_found(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    assert_ok(trail_module_map_refresh(NULL));
    struct loaded loaded = load(1);
    loaded.call(take, &backtrace);
    struct touched touched = touched_by(&backtrace);

    const struct trail_mapped *image = image_named(&touched, "trace_image_1.so");
    assert_non_null(image);
    assert_true(image->first <= backtrace.epoch);
    assert_int_equal(image->last, 0);
    dlclose(loaded.handle);
}

static void an_image_that_was_unloaded_is_remembered(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct loaded loaded = load(1);
    assert_ok(trail_module_map_refresh(NULL));
    loaded.call(take, &backtrace);
    dlclose(loaded.handle);
    struct touched touched = touched_by(&backtrace);

    const struct trail_mapped *image = image_named(&touched, "trace_image_1.so");
    assert_non_null(image);
    assert_true(image->first <= backtrace.epoch && image->last >= backtrace.epoch);
    assert_int_equal(image->id_size, 20);
}

static void an_image_in_the_place_of_another_is_not_taken_for_it(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct loaded one = load(1);
    assert_ok(trail_module_map_refresh(NULL));
    one.call(take, &backtrace);
    dlclose(one.handle);
    struct loaded two = load(2); /* as a rule where the first one was */
    struct touched touched = touched_by(&backtrace);

    assert_non_null(image_named(&touched, "trace_image_1.so"));
    assert_null(image_named(&touched, "trace_image_2.so"));
    dlclose(two.handle);
}

/* A stack in image 2, stamped as of an image that the map has never seen. */
static void take_unseen(struct trail_backtrace *backtrace)
{
    struct loaded two = load(2);
    uintptr_t inside = (uintptr_t)dlsym(two.handle, "image_number");
    two.call(take, backtrace);
    for (uint32_t i = 0; i < backtrace->stamp_count; i++)
        if (inside >= backtrace->stamps[i].start && inside < backtrace->stamps[i].end)
            backtrace->stamps[i].hash ^= 1;
    dlclose(two.handle);
}

static void an_image_that_was_never_seen_is_not_guessed(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    assert_ok(trail_module_map_refresh(NULL));
    take_unseen(&backtrace);
    struct loaded one = load(1);
    struct touched touched = touched_by(&backtrace);

    const struct trail_mapped *image = image_named(&touched, "trace_image_1.so");
    if (image) /* that it lies there now is told, and that it came later */
        assert_true(image->first > backtrace.epoch);
    assert_null(image_named(&touched, "trace_image_2.so"));
    dlclose(one.handle);
}

static void an_image_that_was_there_before_and_after_is_not_taken_for_it(void **state)
{
    (void)state;
    struct trail_backtrace backtrace = { 0 };
    struct loaded one = load(1);
    assert_ok(trail_module_map_refresh(NULL));
    dlclose(one.handle);
    take_unseen(&backtrace);
    one = load(1); /* to the map it was never gone */
    struct touched touched = touched_by(&backtrace);
    assert_null(image_named(&touched, "trace_image_1.so"));
    dlclose(one.handle);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_map_changes_its_epoch_only_when_images_change),
    cmocka_unit_test(every_image_of_a_stack_is_told_once),
    cmocka_unit_test(an_image_loaded_after_the_last_refresh_is_found),
    cmocka_unit_test(an_image_that_was_unloaded_is_remembered),
    cmocka_unit_test(an_image_in_the_place_of_another_is_not_taken_for_it),
    cmocka_unit_test(an_image_that_was_never_seen_is_not_guessed),
    cmocka_unit_test(an_image_that_was_there_before_and_after_is_not_taken_for_it),
};
TRAIL_TEST_MAIN(tests)
