/* threads.c -- parts of one module that are asked for at the very same time make the
 * map that one thread makes. The thread sanitizer watches.
 */
#define _POSIX_C_SOURCE 200809L
#include "fake.h"
#include "test.h"

#include <dlfcn.h>
#include <pthread.h>

#include "core/os/os.h"
#include "tests/symbol_host.h"

/* ---- a symbolizer whose parts begin in pairs ----------------------------- */

static const struct trail_symbolizer *behind;
static pthread_barrier_t gate;

/* Every thread waits here for the other: TRAIL_ORIGIN_PARTS is even. */
static enum trail_status enumerate_in_pairs(void *image, const struct trail_call *call,
                                            uint32_t part, uint32_t parts,
                                            struct trail_map_out *out,
                                            struct trail_error *err)
{
    pthread_barrier_wait(&gate);
    return behind->enumerate(image, call, part, parts, out, err);
}

/* The map, in memory that the caller frees, made by `threads` threads: 1 or 2. */
static struct symbol_bytes make_map(const struct trail_symbolizer *plugin, void *image,
                                    const struct trail_call *call, unsigned threads)
{
    struct trail_symbolizer paired = *plugin;
    struct fake named = { 0 };
    struct fake_place place;
    struct trail_error err = { "" };
    struct symbol_bytes bytes = { NULL, 0 };
    paired.enumerate = enumerate_in_pairs;
    behind = plugin;
    struct trail_origin_job job = fake_job(&named, call, threads);
    job.symbolizer = &paired;
    job.image = image;
    fake_place_make(&place);
    assert_int_equal(pthread_barrier_init(&gate, NULL, threads), 0);
    assert_ok_err(trail_origin_build(&job, place.path, &err), err);
    pthread_barrier_destroy(&gate);
    assert_true(symbol_host_read(place.path, &bytes));
    fake_place_remove(&place);
    return bytes;
}

static void assert_same(struct symbol_bytes one, struct symbol_bytes other)
{
    assert_int_equal(one.size, other.size);
    assert_memory_equal(one.at, other.at, one.size);
    free(one.at);
    free(other.at);
}

/* ---- real files ---------------------------------------------------------- */

struct opened {
    const struct trail_symbolizer *plugin;
    struct symbol_host host;
    struct symbol_bytes bytes;
    struct trail_call call;
    void *state, *image;
};

static void open_file(const struct trail_symbolizer *plugin, const char *path,
                      struct opened *opened)
{
    const struct trail_options none = { .size = sizeof(none),
                                        .stride = sizeof(struct trail_option) };
    const struct trail_module module = { .size = sizeof(module),
                                         .format = TRAIL_FORMAT_ELF };
    struct trail_error err = { "" };
    opened->plugin = plugin;
    symbol_host_init(&opened->host, path);
    opened->call = symbol_host_call(&opened->host);
    assert_true(symbol_host_read(path, &opened->bytes));
    const struct trail_source source = symbol_host_source(opened->bytes);
    assert_ok_err(plugin->create(&opened->call, &none, &opened->state, &err), err);
    assert_ok_err(plugin->open(opened->state, &opened->call, &module, &source, 1,
                               &opened->image, &err),
                  err);
}

static void close_file(struct opened *opened)
{
    opened->plugin->close(opened->image);
    opened->plugin->destroy(opened->state);
    symbol_host_deinit(&opened->host);
    free(opened->bytes.at);
}

static struct symbol_bytes map_of_file(const struct trail_symbolizer *plugin,
                                       const char *path, unsigned threads)
{
    struct opened opened = { .plugin = NULL };
    open_file(plugin, path, &opened);
    struct symbol_bytes map = make_map(plugin, opened.image, &opened.call, threads);
    close_file(&opened);
    return map;
}

/* This program has units enough for every part; the others have names in units that
 * several parts look into, and halves in files of their own. */
static void two_threads_in_one_module_make_the_map_that_one_makes(void **unused)
{
    static const char *const paths[] = {
        "/proc/self/exe",
        TEST_SOURCE_DIR "/tests/fixtures/elf/x64-gcc-lto",
        TEST_SOURCE_DIR "/tests/fixtures/elf/x64-dwz",
        TEST_SOURCE_DIR "/tests/fixtures/elf/x64-rust-v0",
        TEST_SOURCE_DIR "/tests/fixtures/elf/dwzm/x64-dwzm-a",
        TEST_SOURCE_DIR "/tests/fixtures/elf/x64-split-clang-19-dw5/prog",
    };
    void *library = dlopen(TEST_PLUGIN_DIR "/elfdwarf.so", RTLD_NOW);
    (void)unused;
    assert_non_null(library);
    const struct trail_symbolizer *plugin = dlsym(library, "trail_symbolizer_elfdwarf");
    assert_non_null(plugin);
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_same(map_of_file(plugin, paths[i], 1), map_of_file(plugin, paths[i], 2));
}

static void two_threads_collect_a_made_up_module_as_one_does(void **unused)
{
    struct fake fake = { .seed = 7, .starts = { 0x401040, 0x409000 } };
    struct trail_call call = { .size = sizeof(call), .threads = 1 };
    (void)unused;
    assert_same(make_map(&fake_symbolizer, &fake, &call, 1),
                make_map(&fake_symbolizer, &fake, &call, 2));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(two_threads_in_one_module_make_the_map_that_one_makes),
    cmocka_unit_test(two_threads_collect_a_made_up_module_as_one_does),
};

TRAIL_TEST_MAIN(tests)
