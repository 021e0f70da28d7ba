/* build.c -- making an origin map: the same on any number of threads, whole or not at
 * all.
 */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"
#include "test.h"

#include <sys/stat.h>
#include <unistd.h>

#include "core/os/os.h"

static struct fake fake_of(uint64_t seed)
{
    return (struct fake){ .seed = seed, .starts = { 0x401040, 0x409000 } };
}

static void the_file_is_the_same_on_one_two_and_five_threads(void **unused)
{
    (void)unused;
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct fake fake = fake_of(seed);
        size_t size = 0, other_size = 0;
        uint8_t *bytes = fake_map(&fake, 1, &size);
        for (unsigned threads = 2; threads <= 5; threads += 3) {
            uint8_t *other = fake_map(&fake, threads, &other_size);
            assert_int_equal(size, other_size);
            assert_memory_equal(bytes, other, size);
            free(other);
        }
        free(bytes);
    }
}

/* ---- failing ------------------------------------------------------------- */

static void put_old(const char *path)
{
    assert_ok(trail_os_file_write(path, "old", 3, 0644, NULL));
}

static void assert_old(const char *path)
{
    char *bytes = NULL;
    size_t size = 0;
    assert_ok(trail_os_file_read(path, 100, &bytes, &size, NULL));
    assert_int_equal(size, 3);
    free(bytes);
}

/* Build over a file that is there; what was there must stay, and nothing beside it. */
static enum trail_status build_over(struct trail_origin_job *job,
                                    struct trail_error *err)
{
    struct fake_place place;
    fake_place_make(&place);
    put_old(place.path);
    enum trail_status status = trail_origin_build(job, place.path, err);
    if (status)
        assert_old(place.path);
    fake_place_remove(&place);
    return status;
}

static void a_symbolizer_that_fails_leaves_no_file(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_error err = { "" };
    for (unsigned threads = 1; threads <= 2; threads++) {
        struct trail_origin_job job = fake_job(&fake, &call, threads);
        fake.fail = TRAIL_CANCELLED;
        assert_int_equal(build_over(&job, &err), TRAIL_CANCELLED);
        assert_string_equal(err.text, "the fake fails");
        fake.fail = TRAIL_OK;
        fake.is_wrong = true;
        assert_int_equal(build_over(&job, &err), TRAIL_BAD_INPUT);
        assert_contains(err.text, "makes no sense");
        fake.is_wrong = false;
        assert_ok_err(build_over(&job, &err), err);
    }
}

static void a_symbolizer_that_cannot_enumerate_is_named(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    struct trail_symbolizer without = { .abi = TRAIL_SYMBOLIZER_ABI,
                                        .size = sizeof(without) };
    struct trail_error err = { "" };
    job.symbolizer = &without;
    assert_int_equal(build_over(&job, &err), TRAIL_UNSUPPORTED);
    without.size = offsetof(struct trail_symbolizer, enumerate);
    without.enumerate = fake_symbolizer.enumerate; /* behind its end */
    assert_int_equal(build_over(&job, &err), TRAIL_UNSUPPORTED);
}

static enum trail_status say_nothing(void *image, const struct trail_call *call,
                                     uint32_t part, uint32_t parts,
                                     struct trail_map_out *out, struct trail_error *err)
{
    (void)image, (void)call, (void)part, (void)parts, (void)out, (void)err;
    return TRAIL_OK;
}

static void of_a_module_without_anything_there_is_no_map(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    struct trail_symbolizer silent = fake_symbolizer;
    struct trail_error err = { "" };
    silent.enumerate = say_nothing;
    job.symbolizer = &silent;
    assert_int_equal(build_over(&job, &err), TRAIL_NOT_FOUND);
    assert_contains(err.text, "nothing is known");
}

static void a_directory_that_is_not_there_is_named(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    struct trail_error err = { "" };
    assert_int_equal(trail_origin_build(&job, "/nonexistent/a.origin", &err),
                     TRAIL_NOT_FOUND);
    assert_contains(err.text, "/nonexistent/a.origin: ");
}

/* ---- progress ------------------------------------------------------------ */

struct watch {
    unsigned last, total, stop_at;
};

static void watch_progress(void *arg, unsigned done, unsigned total)
{
    struct watch *watch = arg;
    assert_true(done >= watch->last && done <= total);
    watch->last = done;
    watch->total = total;
}

static int stop_at(void *host)
{
    const struct watch *watch = host;
    return watch->last >= watch->stop_at;
}

static void progress_is_told_and_work_is_stopped_anywhere(void **unused)
{
    (void)unused;
    struct fake fake = fake_of(1);
    struct watch watch = { 0, 0, UINT32_MAX };
    struct trail_call call = {
        .size = sizeof(call), .threads = 1, .host = &watch, .stop = stop_at
    };
    struct trail_error err = { "" };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    job.progress = watch_progress;
    job.progress_arg = &watch;
    assert_ok_err(build_over(&job, &err), err);
    assert_true(watch.total > 0);
    assert_int_equal(watch.last, watch.total);
    for (unsigned at = 0; at + 1 < watch.total; at++) {
        watch = (struct watch){ 0, watch.total, at };
        enum trail_status status = build_over(&job, &err);
        /* What is small may be written in one go. */
        if (at < TRAIL_ORIGIN_PARTS || status)
            assert_int_equal(status, TRAIL_CANCELLED);
    }
}

/* ---- long chains --------------------------------------------------------- */

/* 1,000 scopes, each inlined into the one before. */
static enum trail_status nest(void *image, const struct trail_call *call, uint32_t part,
                              uint32_t parts, struct trail_map_out *out,
                              struct trail_error *err)
{
    (void)image, (void)call, (void)parts, (void)err;
    if (part != 3)
        return TRAIL_OK;
    assert_ok(out->function(out->arg, 1, trail_text_of("outer"), trail_text_of(""),
                            0x1000, 0x100));
    assert_ok(
        out->function(out->arg, 2, trail_text_of("inner"), trail_text_of(""), 0, 0));
    for (uint32_t i = 1; i <= 1000; i++)
        assert_ok(out->scope(out->arg, i, i - 1, i == 1 ? 1 : 2, 0, i, 0));
    return out->range(out->arg, 0x1000, 0x1100, 1000, 0, 5000, 0);
}

static void a_chain_of_a_thousand_calls_keeps_its_function(void **unused)
{
    (void)unused;
    struct trail_symbolizer nesting = fake_symbolizer;
    struct fake_place place;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_origin_job job = fake_job(&fake, &call, 2);
    struct trail_os_file file = { .fd = -1 };
    struct trail_error err = { "" };
    struct origin_map map;
    struct origin_frame frames[ORIGIN_CHAIN_MAX] = { { 0 } };
    struct origin_function function;

    nesting.enumerate = nest;
    job.symbolizer = &nesting;
    fake_place_make(&place);
    assert_ok_err(trail_origin_build(&job, place.path, &err), err);
    assert_ok_err(trail_os_file_map(place.path, 1 << 30, &file, &err), err);
    assert_ok_err(origin_map_open(file.bytes, file.size, &map, &err), err);
    assert_int_equal(origin_map_lookup(&map, 0x10ff, frames), ORIGIN_CHAIN_MAX);
    assert_int_equal(frames[0].line, 5000);
    assert_int_equal(frames[1].line, 1000);
    assert_true(origin_map_function(&map, frames[255].function, &function));
    assert_memory_equal(function.name.data, "outer", 5);
    trail_os_file_close(&file);
    fake_place_remove(&place);
}

static void the_file_can_be_read_by_all(void **unused)
{
    (void)unused;
    struct fake_place place;
    struct fake fake = fake_of(1);
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    struct trail_origin_job job = fake_job(&fake, &call, 1);
    struct stat st;
    fake_place_make(&place);
    assert_ok(trail_origin_build(&job, place.path, NULL));
    assert_int_equal(stat(place.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    fake_place_remove(&place);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_file_is_the_same_on_one_two_and_five_threads),
    cmocka_unit_test(a_symbolizer_that_fails_leaves_no_file),
    cmocka_unit_test(a_symbolizer_that_cannot_enumerate_is_named),
    cmocka_unit_test(of_a_module_without_anything_there_is_no_map),
    cmocka_unit_test(a_directory_that_is_not_there_is_named),
    cmocka_unit_test(progress_is_told_and_work_is_stopped_anywhere),
    cmocka_unit_test(a_chain_of_a_thousand_calls_keeps_its_function),
    cmocka_unit_test(the_file_can_be_read_by_all),
};

TRAIL_TEST_MAIN(tests)
