/* Good plugins load once, from a copy named by their content; files win over what is
 * built in. */
#define _XOPEN_SOURCE 700

#include "box.h"

#include <pthread.h>
#include <unistd.h>

static void nothing_is_loaded_until_it_is_asked_for(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    const struct trail_plugin *plugin = box_find(registry, "good.so");
    assert_int_equal(plugin->state, TRAIL_PLUGIN_FOUND);
    assert_int_equal(plugin->kind, TRAIL_KIND_SYMBOLIZER);
    assert_string_equal(plugin->name, "good");
    assert_string_equal(plugin->release, "1.0.0");
    assert_string_equal(plugin->hash, "");
    assert_null(plugin->symbolizer);
    assert_false(box_marked(&box));
    trail_registry_destroy(registry);
    box_close(&box);
}

static void loading_twice_gives_the_same_plugin(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *first = NULL, *second = NULL;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    assert_ok(
        trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good", &first, NULL));
    assert_ok(
        trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good", &second, NULL));
    assert_ptr_equal(first, second);
    assert_ptr_equal(first->symbolizer, second->symbolizer);
    assert_ptr_equal(first, box_find(registry, "good.so"));
    trail_registry_destroy(registry);
    box_close(&box);
}

static void a_replaced_file_gives_new_code_while_the_old_goes_on(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *old = NULL;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *before = box_registry(&box);
    assert_int_equal(box_load(before, "good"), 1);
    assert_ok(trail_registry_load(before, TRAIL_KIND_SYMBOLIZER, "good", &old, NULL));

    box_copy(&box, "good-again.so", "good.so");
    struct trail_registry *after = box_registry(&box);
    assert_int_equal(box_load(after, "good"), 2);
    assert_string_equal(box_find(after, "good.so")->release, "2.0.0");
    assert_int_equal(box_answer(old), 1);
    trail_registry_destroy(after);
    trail_registry_destroy(before);
    box_close(&box);
}

static void a_file_replaced_after_the_search_is_judged_anew(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    box_copy(&box, "good-again.so", "good.so");
    assert_int_equal(box_load(registry, "good"), 2);
    assert_string_equal(box_find(registry, "good.so")->release, "2.0.0");
    trail_registry_destroy(registry);

    registry = box_registry(&box);
    assert_int_equal(unlink(box.marker), 0);
    box_copy(&box, "wrong-abi.so", "good.so");
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good",
                                         &(const struct trail_plugin *){ NULL }, NULL),
                     TRAIL_REFUSED);
    box_assert_refused(registry, "good.so", "ABI 99");
    assert_false(box_marked(&box));
    trail_registry_destroy(registry);
    box_close(&box);
}

static void an_older_table_is_completed_with_empty_slots(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *plugin = NULL;

    box_open(&box);
    box_copy(&box, "old-table.so", "old-table.so");
    struct trail_registry *registry = box_registry(&box);
    assert_ok(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "old-table", &plugin,
                                  NULL));
    assert_int_equal(box_answer(plugin), 1);
    assert_null(plugin->symbolizer->enumerate);
    assert_null(plugin->symbolizer->calls);
    trail_registry_destroy(registry);
    box_close(&box);
}

static void what_the_loader_refuses_is_told_with_the_file(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *plugin = NULL;
    struct trail_error err = { "" };

    box_open(&box);
    box_copy(&box, "undefined.so", "undefined.so");
    box_copy(&box, "no-slot.so", "no-slot.so");
    struct trail_registry *registry = box_registry(&box);
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "undefined",
                                         &plugin, &err),
                     TRAIL_REFUSED);
    assert_contains(err.text, "/undefined.so: ");
    assert_contains(err.text, "trail_fixture_defined_nowhere");
    assert_false(box_marked(&box));
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "no-slot",
                                         &plugin, &err),
                     TRAIL_REFUSED);
    assert_contains(err.text, "/no-slot.so: trail_symbolizer_no_slot lacks a function");
    assert_null(plugin);
    box_assert_refused(registry, "no-slot.so", "lacks a function");
    trail_registry_destroy(registry);
    box_close(&box);
}

static void an_unknown_name_is_told_with_the_directories(void **unused)
{
    (void)unused;
    struct box box;
    const struct trail_plugin *plugin = NULL;
    struct trail_error err = { "" };

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "godo",
                                         &plugin, &err),
                     TRAIL_NOT_FOUND);
    assert_contains(err.text, "no symbolizer godo.so in ");
    assert_contains(err.text, box.plugins);
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SINK, "good", &plugin,
                                         &err),
                     TRAIL_NOT_FOUND);
    assert_string_equal(err.text, "good is a symbolizer, not a sink");
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SINK, "", &plugin, &err),
                     TRAIL_NOT_FOUND);
    trail_registry_destroy(registry);
    box_close(&box);
}

/* ---- order of search, built-in plugins ---------------------------------- */

static int built_in_reads(const struct trail_module *module)
{
    (void)module;
    return 1;
}

static enum trail_status built_in_create(const struct trail_call *call,
                                         const struct trail_options *options,
                                         void **state_ret, struct trail_error *err)
{
    (void)call, (void)options, (void)state_ret, (void)err;
    return TRAIL_OK;
}

static enum trail_status built_in_open(void *state, const struct trail_call *call,
                                       const struct trail_module *module,
                                       const struct trail_source *sources, size_t count,
                                       void **image_ret, struct trail_error *err)
{
    (void)state, (void)call, (void)module, (void)sources, (void)count, (void)image_ret;
    return trail_fail(err, TRAIL_NOT_FOUND, "never");
}

static enum trail_status built_in_resolve(void *image, const struct trail_call *call,
                                          const uint64_t *addresses, size_t count,
                                          trail_emit_fn *emit, void *arg,
                                          struct trail_error *err)
{
    const struct trail_found found = { .size = sizeof(found), .line = 77 };

    (void)image, (void)call, (void)addresses, (void)count, (void)err;
    return emit(arg, &found);
}

static void built_in_nothing(void *state)
{
    (void)state;
}

static const struct trail_symbolizer built_in_table = {
    .abi = TRAIL_SYMBOLIZER_ABI,
    .size = sizeof(struct trail_symbolizer),
    .reads = built_in_reads,
    .create = built_in_create,
    .destroy = built_in_nothing,
    .open = built_in_open,
    .close = built_in_nothing,
    .resolve = built_in_resolve,
};

static const struct trail_plugin_record built_in_record = {
    .desc = { .version = TRAIL_RECORD_VERSION,
              .kind = TRAIL_KIND_SYMBOLIZER,
              .abi = TRAIL_SYMBOLIZER_ABI,
              .table = sizeof(struct trail_symbolizer),
              .shape = TRAIL_SYMBOLIZER_SHAPE,
              .name = "good",
              .release = "built" }
};

static const struct trail_builtin builtins[] = { { &built_in_record,
                                                   &built_in_table } };

static uint32_t answer_with_builtins(const char *const *directories, size_t count,
                                     const char *state)
{
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = count,
                                                    .state_directory = state,
                                                    .builtins = builtins,
                                                    .builtin_count = 1 };
    struct trail_registry *registry = NULL;
    const struct trail_plugin *plugin = NULL;
    struct trail_error err = { "" };

    assert_ok_err(trail_registry_create(&options, &registry, &err), err);
    assert_ok_err(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good", &plugin,
                                      &err),
                  err);
    uint32_t answer = box_answer(plugin);
    const struct trail_plugin *last =
        trail_registry_at(registry, trail_registry_count(registry) - 1);
    assert_string_equal(last->path, "");
    assert_string_equal(last->release, "built");
    assert_int_equal(last->state,
                     answer == 77 ? TRAIL_PLUGIN_BUILT_IN : TRAIL_PLUGIN_SHADOWED);
    trail_registry_destroy(registry);
    return answer;
}

static void a_built_in_plugin_serves_where_no_file_bears_its_name(void **unused)
{
    (void)unused;
    struct box box;

    box_open(&box);
    const char *const directories[] = { box.plugins };
    assert_int_equal(answer_with_builtins(directories, 0, NULL), 77);
    assert_int_equal(answer_with_builtins(directories, 1, box.state), 77);
    box_copy(&box, "good.so", "good.so");
    assert_int_equal(answer_with_builtins(directories, 1, box.state), 1);
    box_close(&box);
}

static void the_first_directory_wins_even_with_a_refused_file(void **unused)
{
    (void)unused;
    struct box first, second;
    const struct trail_plugin *plugin = NULL;

    box_open(&first);
    box_open(&second);
    box_copy(&first, "good-again.so", "good.so");
    box_copy(&second, "good.so", "good.so");
    const char *const directories[] = { first.plugins, second.plugins, first.plugins };
    const struct trail_registry_options options = { .directories = directories,
                                                    .directory_count = 3,
                                                    .state_directory = first.state };
    struct trail_registry *registry = NULL;
    assert_ok(trail_registry_create(&options, &registry, NULL));
    assert_int_equal(trail_registry_count(registry), 2);
    assert_int_equal(box_load(registry, "good"), 2);
    assert_int_equal(trail_registry_at(registry, 1)->state, TRAIL_PLUGIN_SHADOWED);
    assert_contains(trail_registry_at(registry, 1)->reason, first.plugins);
    trail_registry_destroy(registry);

    box_write(&first, "good.so", "text", 4);
    assert_ok(trail_registry_create(&options, &registry, NULL));
    assert_int_equal(trail_registry_load(registry, TRAIL_KIND_SYMBOLIZER, "good",
                                         &plugin, NULL),
                     TRAIL_REFUSED);
    trail_registry_destroy(registry);
    box_close(&second);
    box_close(&first);
}

/* ---- threads ------------------------------------------------------------ */

struct loader {
    struct trail_registry *registry;
    const struct trail_plugin *plugin;
};

static void *load_in_thread(void *arg)
{
    struct loader *loader = arg;

    trail_registry_load(loader->registry, TRAIL_KIND_SYMBOLIZER, "good",
                        &loader->plugin, NULL);
    return NULL;
}

static void threads_that_load_at_once_get_one_plugin(void **unused)
{
    (void)unused;
    struct box box;
    pthread_t threads[8];
    struct loader loaders[8];

    box_open(&box);
    box_copy(&box, "good.so", "good.so");
    struct trail_registry *registry = box_registry(&box);
    for (size_t i = 0; i < 8; i++) {
        loaders[i] = (struct loader){ registry, NULL };
        assert_int_equal(pthread_create(&threads[i], NULL, load_in_thread, &loaders[i]),
                         0);
    }
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (size_t i = 0; i < 8; i++)
        assert_ptr_equal(loaders[i].plugin, box_find(registry, "good.so"));
    trail_registry_destroy(registry);
    box_close(&box);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_is_loaded_until_it_is_asked_for),
    cmocka_unit_test(loading_twice_gives_the_same_plugin),
    cmocka_unit_test(a_replaced_file_gives_new_code_while_the_old_goes_on),
    cmocka_unit_test(a_file_replaced_after_the_search_is_judged_anew),
    cmocka_unit_test(an_older_table_is_completed_with_empty_slots),
    cmocka_unit_test(what_the_loader_refuses_is_told_with_the_file),
    cmocka_unit_test(an_unknown_name_is_told_with_the_directories),
    cmocka_unit_test(a_built_in_plugin_serves_where_no_file_bears_its_name),
    cmocka_unit_test(the_first_directory_wins_even_with_a_refused_file),
    cmocka_unit_test(threads_that_load_at_once_get_one_plugin),
};

TRAIL_TEST_MAIN(tests)
