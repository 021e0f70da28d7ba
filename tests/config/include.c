/* include.c -- which files make up a configuration, and in which order. */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/memory.h"

#define AGENT "/etc/trail/agent.json"

static void included_files_count_before_the_one_that_includes_them(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT,
          "{ \"include\": [ \"a.json\", \"sub/b.json\" ], \"state\": \"/agent\" }" },
        { "/etc/trail/a.json",
          "{ \"state\": \"/a\", \"app\": { \"name\": \"a\", \"version\": \"a\" } }" },
        { "/etc/trail/sub/b.json", "{ \"include\": [ \"c.json\" ],"
                                   " \"app\": { \"name\": \"b\" } }" },
        { "/etc/trail/sub/c.json",
          "{ \"app\": { \"name\": \"c\", \"version\": \"c\" } }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->state, "/agent");
    assert_string_equal(config->app_name, "b");
    assert_string_equal(config->app_version, "c");
    trail_config_destroy(config);
}

static void paths_in_a_file_start_from_its_own_directory(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"include\": [ \"sub/b.json\" ], \"state\": \"s\" }" },
        { "/etc/trail/sub/b.json", "{ \"app\": { \"name\": \"${dir}\" },"
                                   " \"plugins\": { \"path\": [ \"p\", \"${dir}/q\","
                                   " \"${env:NONE:-${dir}/r}\" ] } }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->state, "/etc/trail/s");
    assert_string_equal(config->app_name, "/etc/trail/sub");
    assert_string_equal(config->plugin_paths[0], "/etc/trail/sub/p");
    assert_string_equal(config->plugin_paths[1], "/etc/trail/sub/q");
    assert_string_equal(config->plugin_paths[2], "/etc/trail/sub/r");
    trail_config_destroy(config);
}

static void a_pattern_takes_files_in_order_of_name_and_none_is_fine(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"include\": [ \"sites/*.json\", \"none/*\", \"sites/x?\" ] }" },
        { "/etc/trail/sites/.hidden.json", "{ \"no\": 1 }" },
        { "/etc/trail/sites/1.json",
          "{ \"app\": { \"name\": \"1\", \"version\": \"1\" } }" },
        { "/etc/trail/sites/2.json", "{ \"app\": { \"name\": \"2\" } }" },
        { "/etc/trail/sites/3.json~", "{ \"no\": 1 }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->app_name, "2");
    assert_string_equal(config->app_version, "1");
    trail_config_destroy(config);
}

static void drop_ins_count_after_the_file_in_order_of_name(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"state\": \"/agent\", \"app\": { \"name\": \"agent\" } }" },
        { AGENT ".d/.swp.json", "{ \"no\": 1 }" },
        { AGENT ".d/1.json",
          "{ \"include\": [ \"../base.json\" ], \"state\": \"one\" }" },
        { AGENT ".d/2.json", "{ \"app\": { \"version\": \"two\" } }" },
        { AGENT ".d/3.conf", "{ \"no\": 1 }" },
        { "/etc/trail/agent.json.d/../base.json",
          "{ \"app\": { \"name\": \"base\", \"version\": \"base\" } }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_string_equal(config->state, "/etc/trail/agent.json.d/one");
    assert_string_equal(config->app_name, "base");
    assert_string_equal(config->app_version, "two");
    trail_config_destroy(config);
}

static void a_file_that_two_include_counts_once(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = {
        { AGENT, "{ \"include\": [ \"a.json\", \"b.json\", \"a.json\" ] }" },
        { "/etc/trail/a.json", "{ \"include\": [ \"c.json\" ] }" },
        { "/etc/trail/b.json", "{ \"include\": [ \"c.json\" ] }" },
        { "/etc/trail/c.json", "{ \"sinks\": [ { \"use\": \"stderr\" } ] }" },
        { NULL, NULL },
    };
    struct trail_config *config = memory_load_good(files);
    assert_int_equal(config->sink_count, 1);
    trail_config_destroy(config);
}

struct row {
    const char *text, *message;
};

static void what_cannot_be_included_is_told_where_it_is_asked_for(void **unused)
{
    (void)unused;
    static const struct row rows[] = {
        { "{ \"include\": [ \"none.json\" ] }",
          "trail/agent.json:1:16: include[0]: trail/none.json: No such file or "
          "directory" },
        { "{\n \"include\": [ \"a.json\",\n  \"/none.json\" ] }",
          "trail/agent.json:3:3: include[1]: /none.json: No such file or directory" },
        { "{ \"include\": \"a.json\" }", "trail/agent.json:1:14: include: expected a "
                                         "list, found text; write [ ... ]" },
        { "{ \"include\": [ 5 ] }",
          "trail/agent.json:1:16: include[0]: expected a path, found a number" },
        { "{ \"include\": [ \"\" ] }",
          "trail/agent.json:1:16: include[0]: an empty text is not a path" },
        { "{ \"include\": [ \"${env:TRAIL_NONE}\" ] }",
          "trail/agent.json:1:16: include[0]: environment variable TRAIL_NONE is not "
          "set; set it, or write ${env:TRAIL_NONE:-default}" },
        { "{ \"include\": [ \"*/a.json\" ] }",
          "trail/agent.json:1:16: include[0]: trail/*/a.json: only the last part of a "
          "path may have *, ? or [" },
        { "{ \"include\": [ \"agent.json\" ] }",
          "trail/agent.json:1:16: include[0]: trail/agent.json: includes itself: "
          "included by trail/agent.json" },
        { "{ \"include\": [ \"loop.json\" ] }",
          "trail/loop.json:1:16: include[0]: trail/agent.json: includes itself: "
          "included by trail/loop.json, included by trail/agent.json" },
        { "{ \"include\": [ \"bad.json\" ] }",
          "trail/bad.json:2:1: stat: unknown key; did you mean \"state\"?" },
        { "{ \"include\": [ \"a.json/*\" ] }",
          "trail/agent.json:1:16: include[0]: trail/a.json/: is a file, not a folder" },
        { "{ \"include\": [ \"sub/*\" ] }",
          "trail/sub/x.json:1:3: appp: unknown key; did you mean \"app\"?" },
    };
    assert_int_equal(unsetenv("TRAIL_NONE"), 0);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct memory_file files[] = {
            { AGENT, rows[i].text },
            { "/etc/trail/a.json", "{}" },
            { "/etc/trail/bad.json", "{\n\"stat\": 1 }" },
            { "/etc/trail/loop.json", "{ \"include\": [ \"agent.json\" ] }" },
            { "/etc/trail/sub/x.json", "{ \"appp\": 1 }" },
            { NULL, NULL },
        };
        assert_memory_refused(files, rows[i].message);
    }
}

/* A message holds 255 bytes: some length of path leaves no room for each part of
 * ": No such file or directory". */
static void a_path_that_leaves_no_room_for_a_reason_is_told(void **unused)
{
    (void)unused;
    char path[320], text[400];
    for (size_t size = 200; size < sizeof(path) - 1; size++) {
        snprintf(path, sizeof(path), "/%0*d", (int)size - 1, 0);
        snprintf(text, sizeof(text), "{ \"include\": [ \"%s\" ] }", path);
        const struct memory_file files[] = { { AGENT, text }, { NULL, NULL } };
        struct trail_config_mistakes mistakes = { .told = NULL };
        assert_null(memory_load(files, NULL, 0, &mistakes));
        const char *reason = strrchr(mistakes.first.text, ':');
        assert_true(strcmp(reason, ": cannot be read") == 0 ||
                    strncmp(reason, ": No such file or directory", strlen(reason)) ==
                        0);
    }
}

static void a_file_where_drop_ins_would_be_is_told(void **unused)
{
    (void)unused;
    static const struct memory_file files[] = { { AGENT, "{}" },
                                                { AGENT ".d", "a = 1" },
                                                { NULL, NULL } };
    assert_memory_refused(files,
                          "/etc/trail/agent.json.d/: is a file; make it a folder "
                          "of drop-ins, or rename it");
}

/* Files 0.json, 1.json, ... of which each includes the next. */
static void make_chain(struct memory_file *files, size_t count, char (*paths)[48],
                       char (*texts)[64])
{
    files[0] = (struct memory_file){ AGENT, "{ \"include\": [ \"1.json\" ] }" };
    for (size_t i = 1; i <= count; i++) {
        snprintf(paths[i], sizeof(paths[i]), "/etc/trail/%zu.json", i);
        snprintf(texts[i], sizeof(texts[i]), "{ \"include\": [ \"%zu.json\" ] }",
                 i + 1);
        files[i] = (struct memory_file){ paths[i], i < count ? texts[i] : "{}" };
    }
    files[count + 1] = (struct memory_file){ NULL, NULL };
}

static void includes_nest_eight_deep_and_no_deeper(void **unused)
{
    (void)unused;
    struct memory_file files[12];
    char paths[12][48], texts[12][64];
    make_chain(files, 8, paths, texts);
    trail_config_destroy(memory_load_good(files));
    make_chain(files, 9, paths, texts);
    assert_memory_refused(files,
                          "trail/8.json:1:16: include[0]: trail/9.json: includes "
                          "nested deeper than 8 levels");
}

static void sixty_four_files_are_the_most(void **unused)
{
    (void)unused;
    static char paths[65][48];
    struct memory_file files[67];
    files[0] = (struct memory_file){ AGENT, "{ \"include\": [ \"d/*\" ] }" };
    for (size_t i = 1; i <= 64; i++) {
        snprintf(paths[i], sizeof(paths[i]), "/etc/trail/d/%02zu.json", i);
        files[i] = (struct memory_file){ paths[i], "{}" };
    }
    files[65] = (struct memory_file){ NULL, NULL };
    assert_memory_refused(files, "trail/agent.json:1:16: include[0]: trail/d/64.json: "
                                 "more than 64 files in one configuration");
    files[64] = (struct memory_file){ NULL, NULL };
    trail_config_destroy(memory_load_good(files));
}

static void the_bytes_of_all_files_together_are_bounded(void **unused)
{
    (void)unused;
    size_t size = TRAIL_CONFIG_SIZE_LIMIT;
    char *text = malloc(size + 1);
    assert_non_null(text);
    memset(text, ' ', size);
    memcpy(text, "{}", 2);
    text[size] = 0;
    const struct memory_file files[] = {
        { AGENT, "{ \"include\": [ \"d/*\" ] }" }, { "/etc/trail/d/1.json", text },
        { "/etc/trail/d/2.json", text },           { "/etc/trail/d/3.json", text },
        { "/etc/trail/d/4.json", text },           { NULL, NULL },
    };
    assert_memory_refused(files, "trail/agent.json:1:16: include[0]: trail/d/4.json: "
                                 "all files together are larger than 16 MiB");
    free(text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(included_files_count_before_the_one_that_includes_them),
    cmocka_unit_test(paths_in_a_file_start_from_its_own_directory),
    cmocka_unit_test(a_pattern_takes_files_in_order_of_name_and_none_is_fine),
    cmocka_unit_test(drop_ins_count_after_the_file_in_order_of_name),
    cmocka_unit_test(a_file_that_two_include_counts_once),
    cmocka_unit_test(what_cannot_be_included_is_told_where_it_is_asked_for),
    cmocka_unit_test(a_path_that_leaves_no_room_for_a_reason_is_told),
    cmocka_unit_test(a_file_where_drop_ins_would_be_is_told),
    cmocka_unit_test(includes_nest_eight_deep_and_no_deeper),
    cmocka_unit_test(sixty_four_files_are_the_most),
    cmocka_unit_test(the_bytes_of_all_files_together_are_bounded),
};
TRAIL_TEST_MAIN(tests)
