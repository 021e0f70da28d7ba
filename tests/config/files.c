/* files.c -- the file itself: missing, odd, too big, and what it is relative to. */
#define _POSIX_C_SOURCE 200809L

#include "core/os/os.h"
#include "tests/config/config_test.h"
#include "tests/config/scratch.h"

/* Fails unless loading `path` fails with `status` and "path: reason" or "path:reason".
 */
static void assert_load_fails(const char *path, enum trail_status status,
                              const char *reason)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    char wanted[512];
    snprintf(wanted, sizeof(wanted), "%s:%s", path, reason);
    assert_int_equal(trail_config_load(path, &config, &err), status);
    assert_null(config);
    assert_string_equal(err.text, wanted);
}

static void a_missing_file_is_named(void **unused)
{
    (void)unused;
    assert_load_fails("/nonexistent/agent.json", TRAIL_NOT_FOUND,
                      " No such file or directory");
}

static void a_directory_is_not_a_configuration(void **state)
{
    const struct scratch *scratch = *state;
    assert_load_fails(scratch->directory, TRAIL_BAD_INPUT, " is a directory");
}

static void an_empty_file_is_told(void **state)
{
    const char *path = scratch_write(*state, "agent.json", "", 0);
    assert_load_fails(path, TRAIL_BAD_INPUT, " the file is empty; write at least {}");
}

static void ten_megabytes_of_brackets_are_refused_by_size(void **state)
{
    size_t size = 10u << 20;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, '[', size);
    const char *path = scratch_write(*state, "agent.json", bytes, size);
    assert_load_fails(path, TRAIL_BAD_INPUT, " larger than 4194304 bytes");

    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_int_equal(parse_sized(bytes, size, &config, &err), TRAIL_BAD_INPUT);
    assert_string_equal(err.text, "agent.json: larger than 4 MiB");
    free(bytes);
}

static void four_megabytes_of_brackets_are_too_deep(void **state)
{
    size_t size = TRAIL_CONFIG_SIZE_LIMIT;
    char *bytes = malloc(size);
    assert_non_null(bytes);
    memset(bytes, '[', size);
    memcpy(bytes, "{\"x\":", 5);
    const char *path = scratch_write(*state, "agent.json", bytes, size);
    assert_load_fails(path, TRAIL_BAD_INPUT, "1:37: nested deeper than 32 levels");
    free(bytes);
}

static void odd_bytes_are_told_with_their_position(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *reason;
    } rows[] = {
        { "{}\0", 3, "1:3: a NUL byte; a configuration is text" },
        { "\0\0\0\0", 4, "1:1: a NUL byte; a configuration is text" },
        { "{ \"a\": \"\xC3(\" }", 13,
          "1:9: this is not UTF-8; save the file as UTF-8" },
        { "\x7f\x45LF\x02\x01\x01", 7,
          "1:1: expected \"{\" at the start, found \"\\u007f\"" },
        { "{ \"sinks\": [ 9223372036854775808 ] }", 36,
          "1:14: sinks[0]: 9223372036854775808 is out of range; whole numbers go up to "
          "9223372036854775807" },
        { "[ {} ]", 6,
          "1:1: a list at the top; a configuration is an object: { ... }" },
        { "{}\n\n garbage", 12, "3:2: text after the end of the configuration" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *path =
            scratch_write(*state, "agent.json", rows[i].bytes, rows[i].size);
        assert_load_fails(path, TRAIL_BAD_INPUT, rows[i].reason);
    }
}

static void paths_are_relative_to_the_files_directory(void **state)
{
    static const char text[] = "{ \"state\": \"a/b\", \"plugins\": { \"path\": [ \"p\","
                               " \"${dir}/q\", \"/r\", \"~/s\" ] } }";
    struct scratch *scratch = *state;
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    char wanted[128];
    const char *path = scratch_write(scratch, "agent.json", text, strlen(text));

    assert_int_equal(setenv("HOME", "/srv/ada", 1), 0);
    assert_ok_err(trail_config_load(path, &config, &err), err);
    assert_string_equal(config->file, path);
    snprintf(wanted, sizeof(wanted), "%s/a/b", scratch->directory);
    assert_string_equal(config->state, wanted);
    snprintf(wanted, sizeof(wanted), "%s/p", scratch->directory);
    assert_string_equal(config->plugin_paths[0], wanted);
    snprintf(wanted, sizeof(wanted), "%s/q", scratch->directory);
    assert_string_equal(config->plugin_paths[1], wanted);
    assert_string_equal(config->plugin_paths[2], "/r");
    assert_string_equal(config->plugin_paths[3], "/srv/ada/s");
    trail_config_destroy(config);
}

/* Put `path` in the place of standard input, load "-", and put it back. */
static enum trail_status load_standard_input(const char *path,
                                             struct trail_config **config_ret,
                                             struct trail_error *err)
{
    int kept = dup(STDIN_FILENO);
    assert_non_null(freopen(path, "r", stdin));
    enum trail_status status = trail_config_load("-", config_ret, err);
    assert_true(dup2(kept, STDIN_FILENO) >= 0);
    close(kept);
    return status;
}

static void a_dash_is_standard_input(void **state)
{
    static const char good[] =
        "{ \"state\": \"here\", \"app\": { \"name\": \"${dir}\" } }";
    static const char bad[] = "{\n \"stat\": 1 }";
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    const char *path = scratch_write(*state, "good.json", good, strlen(good));
    assert_ok_err(load_standard_input(path, &config, &err), err);
    char here[4096];
    assert_true(trail_os_path_real(".", here, sizeof(here)));
    assert_string_equal(config->app_name, here); /* it means the same after a chdir */
    assert_contains(config->state, here);
    assert_contains(config->state, "/here");
    trail_config_destroy(config);

    config = NULL;
    path = scratch_write(*state, "bad.json", bad, strlen(bad));
    assert_int_equal(load_standard_input(path, &config, &err), TRAIL_BAD_INPUT);
    assert_string_equal(
        err.text, "standard input:2:2: stat: unknown key; did you mean \"state\"?");
}

static void the_example_in_the_repository_loads(void **unused)
{
    (void)unused;
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_int_equal(setenv("HOME", "/srv/ada", 1), 0);
    assert_ok_err(
        trail_config_load(TEST_SOURCE_DIR "/config/example.json", &config, &err), err);
    assert_string_equal(config->app_name, "orders");
    assert_non_null(config->state);
    assert_non_null(config->plugin_paths[0]);
    assert_non_null(config->symbol_directories[0]);
    assert_non_null(config->in_app_include[0]);
    assert_non_null(config->in_app_exclude[0]);
    assert_true(config->symbolizer_count >= 2);
    assert_int_equal(config->sink_count, 3);
    trail_config_destroy(config);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_missing_file_is_named),
    cmocka_unit_test_setup_teardown(a_directory_is_not_a_configuration, scratch_make,
                                    scratch_remove),
    cmocka_unit_test_setup_teardown(an_empty_file_is_told, scratch_make,
                                    scratch_remove),
    cmocka_unit_test_setup_teardown(ten_megabytes_of_brackets_are_refused_by_size,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(four_megabytes_of_brackets_are_too_deep,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(odd_bytes_are_told_with_their_position,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(paths_are_relative_to_the_files_directory,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(a_dash_is_standard_input, scratch_make,
                                    scratch_remove),
    cmocka_unit_test(the_example_in_the_repository_loads),
};
TRAIL_TEST_MAIN(tests)
