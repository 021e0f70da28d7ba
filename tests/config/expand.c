/* expand.c -- "${...}" and "~/": what they become, and how they go wrong. */
#define _POSIX_C_SOURCE 200809L

#include "tests/config/config_test.h"
#include "tests/config/scratch.h"

/* Parse with `text` as the name of the app, below `directory`. */
static enum trail_status parse_text(const char *text, const char *directory,
                                    struct trail_config **config_ret,
                                    struct trail_error *err)
{
    char json[1024];
    int size = snprintf(json, sizeof(json), "{ \"app\": { \"name\": \"%s\" } }", text);
    assert_in_range(size, 1, sizeof(json) - 1);
    return trail_config_parse(json, (size_t)size, "agent.json", directory, config_ret,
                              err);
}

static void assert_expands_in(const char *directory, const char *text,
                              const char *wanted)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_ok_err(parse_text(text, directory, &config, &err), err);
    assert_string_equal(config->app_name, wanted);
    trail_config_destroy(config);
}

static void assert_expands(const char *text, const char *wanted)
{
    assert_expands_in("/etc/trail", text, wanted);
}

/* The mistake is at the value, 1:20. */
static void assert_not_in(const char *directory, const char *text, const char *what)
{
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    char wanted[256];
    assert_int_equal(parse_text(text, directory, &config, &err), TRAIL_BAD_INPUT);
    assert_null(config);
    snprintf(wanted, sizeof(wanted), "agent.json:1:20: app.name: %s", what);
    assert_string_equal(err.text, wanted);
}

static void assert_not(const char *text, const char *what)
{
    assert_not_in("/etc/trail", text, what);
}

static void set_variables(void)
{
    assert_int_equal(setenv("TRAIL_A", "alpha", 1), 0);
    assert_int_equal(setenv("TRAIL_EMPTY", "", 1), 0);
    assert_int_equal(setenv("TRAIL_NESTED", "${dir}${env:TRAIL_A}", 1), 0);
    assert_int_equal(setenv("TRAIL_LATIN", "caf\xE9", 1), 0);
    assert_int_equal(unsetenv("TRAIL_NO"), 0);
}

static void text_without_expansions_stays_as_it_is(void **unused)
{
    (void)unused;
    assert_expands("", "");
    assert_expands("plain $HOME $ $$ {x} } $", "plain $HOME $ $$ {x} } $");
    assert_expands("~/x", "~/x"); /* a name is no path */
}

static void dir_is_the_configurations_directory(void **unused)
{
    (void)unused;
    assert_expands("${dir}", "/etc/trail");
    assert_expands("a${dir}b${dir}", "a/etc/trailb/etc/trail");
    assert_expands_in("", "${dir}", ".");
}

static void env_is_a_variable_or_its_default(void **unused)
{
    (void)unused;
    set_variables();
    assert_expands("${env:TRAIL_A}", "alpha");
    assert_expands("<${env:TRAIL_A}${env:TRAIL_A}>", "<alphaalpha>");
    assert_expands("${env:TRAIL_A:-x}", "alpha");
    assert_expands("${env:TRAIL_NO:-x:-y z}", "x:-y z");
    assert_expands("${env:TRAIL_NO:-}", "");
    assert_expands("${env:TRAIL_EMPTY}", "");
    assert_expands("${env:TRAIL_EMPTY:-x}", "x"); /* as in a shell */
}

static void a_default_may_be_an_expansion(void **unused)
{
    (void)unused;
    set_variables();
    assert_expands("${env:TRAIL_NO:-${dir}/x}", "/etc/trail/x");
    assert_expands("${env:TRAIL_NO:-${env:TRAIL_NO:-${env:TRAIL_A}}}!", "alpha!");
    assert_expands("${env:TRAIL_NO:-$${x}}", "${x}");
    assert_not("${env:N:-${env:N:-${env:N:-${env:N:-${env:N:-x}}}}}",
               "${...} nested deeper than 4 levels");
}

static void what_is_put_in_is_not_expanded_again(void **unused)
{
    (void)unused;
    set_variables();
    assert_expands("${env:TRAIL_NESTED}", "${dir}${env:TRAIL_A}");
}

static void a_doubled_dollar_keeps_a_brace_literal(void **unused)
{
    (void)unused;
    set_variables();
    assert_expands("$${dir}", "${dir}");
    assert_expands("$${env:TRAIL_NO} ${env:TRAIL_A}", "${env:TRAIL_NO} alpha");
    assert_expands("$$${dir}", "$${dir}");
}

static void a_mistake_in_an_expansion_is_told(void **unused)
{
    (void)unused;
    set_variables();
    assert_not("${env:TRAIL_NO}",
               "environment variable TRAIL_NO is not set; set it, or "
               "write ${env:TRAIL_NO:-default}");
    assert_not("${dir", "${ without its }; write $${ for ${ itself");
    assert_not("${env:A:-${dir}", "${ without its }; write $${ for ${ itself");
    assert_not("${HOME}", "${HOME} is not known; write ${dir}, ${env:NAME} or "
                          "${file:PATH}, or $${ for ${ itself");
    assert_not("${}", "${} is not known; write ${dir}, ${env:NAME} or ${file:PATH}, or "
                      "$${ for ${ itself");
    assert_not("${env:}",
               "${env:} names no variable; write ${env:NAME} or ${env:NAME:-default}");
    assert_not(
        "${env:A B}",
        "${env:A B} names no variable; write ${env:NAME} or ${env:NAME:-default}");
    assert_not(
        "${env:A-x}",
        "${env:A-x} names no variable; write ${env:NAME} or ${env:NAME:-default}");
    assert_not(
        "${env:A:x}",
        "${env:A:x} names no variable; write ${env:NAME} or ${env:NAME:-default}");
    assert_not("${env:TRAIL_LATIN}", "what TRAIL_LATIN holds is not UTF-8 text");
}

static void file_is_a_files_text_without_its_last_newline(void **state)
{
    static const struct {
        const char *held, *wanted;
    } rows[] = {
        { "secret\n", "secret" },
        { "secret", "secret" },
        { "secret\r\n", "secret" },
        { "a\nb\n\n", "a\nb\n" },
        { "", "" },
        { "\n", "" },
        { "secret\r", "secret\r" },
        { "${dir}\n", "${dir}" },
    };
    struct scratch *scratch = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        scratch_write(scratch, "token", rows[i].held, strlen(rows[i].held));
        assert_expands_in(scratch->directory, "${file:token}", rows[i].wanted);
        assert_expands_in(scratch->directory, "${file:${dir}/token}", rows[i].wanted);
    }
}

static void a_file_may_be_named_from_home_or_by_a_variable(void **state)
{
    struct scratch *scratch = *state;
    const char *path = scratch_write(scratch, "token", "secret\n", 7);
    assert_int_equal(setenv("HOME", scratch->directory, 1), 0);
    assert_int_equal(setenv("TRAIL_TOKEN", path, 1), 0);
    assert_expands("${file:~/token}", "secret");
    assert_expands("${file:${env:TRAIL_TOKEN}}", "secret");
}

static void a_file_of_64_kib_is_the_largest(void **state)
{
    struct scratch *scratch = *state;
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    size_t size = 64u << 10;
    char *bytes = malloc(size + 1);
    assert_non_null(bytes);
    memset(bytes, 's', size + 1);
    scratch_write(scratch, "token", bytes, size);
    assert_ok_err(parse_text("${file:token}", scratch->directory, &config, &err), err);
    assert_int_equal(strlen(config->app_name), size);
    trail_config_destroy(config);

    config = NULL;
    scratch_write(scratch, "token", bytes, size + 1);
    assert_int_equal(parse_text("${file:token}", scratch->directory, &config, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "token}: larger than 65536 bytes");

    /* One text takes in a bounded number of them. */
    char many[16 * 13 + 14 + 1] = "";
    scratch_write(scratch, "token", bytes, size);
    for (size_t i = 0; i < 17; i++)
        memcpy(many + i * 13, "${file:token}", 13);
    many[17 * 13] = 0;
    assert_not_in(scratch->directory, many, "expands to more than 1048576 bytes");
    free(bytes);
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
    struct scratch *scratch = *state;
    assert_not("${file:/nonexistent/x}",
               "${file:/nonexistent/x}: No such file or directory");
    assert_not("${file:token}", "${file:/etc/trail/token}: No such file or directory");
    assert_not("${file:/tmp}", "${file:/tmp}: is a directory");
    assert_not("${file:}", "an empty text is not a path");
    scratch_write(scratch, "token", "a\0b", 3);
    assert_int_equal(setenv("HOME", scratch->directory, 1), 0);
    struct trail_config *config = NULL;
    struct trail_error err = { "" };
    assert_int_equal(parse_text("${file:~/token}", ".", &config, &err),
                     TRAIL_BAD_INPUT);
    assert_contains(err.text, "/token holds is not UTF-8 text");
}

static void a_dash_in_a_file_expansion_is_not_standard_input(void **unused)
{
    (void)unused;
    assert_not_in(".", "${file:-}", "${file:./-}: No such file or directory");
}

static void only_paths_that_start_with_a_tilde_need_home(void **unused)
{
    (void)unused;
    struct trail_config *config = NULL;
    assert_int_equal(setenv("HOME", "/srv/ada/", 1), 0);
    config = parse_good(
        "{ \"plugins\": { \"path\": [ \"~/x\", \"~\", \"~x\", \"C:/x\" ] } }");
    assert_string_equal(config->plugin_paths[0], "/srv/ada/x");
    assert_string_equal(config->plugin_paths[1], "/srv/ada/");
    assert_string_equal(config->plugin_paths[2], "/etc/trail/~x");
    assert_string_equal(config->plugin_paths[3], "C:/x");
    trail_config_destroy(config);

    assert_int_equal(unsetenv("HOME"), 0);
    assert_refused(
        "{ \"state\": \"~/x\" }",
        "agent.json:1:12: state: ~ needs the environment variable HOME, which "
        "is not set");
    config = parse_good("{ \"state\": \"x\" }");
    trail_config_destroy(config);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(text_without_expansions_stays_as_it_is),
    cmocka_unit_test(dir_is_the_configurations_directory),
    cmocka_unit_test(env_is_a_variable_or_its_default),
    cmocka_unit_test(a_default_may_be_an_expansion),
    cmocka_unit_test(what_is_put_in_is_not_expanded_again),
    cmocka_unit_test(a_doubled_dollar_keeps_a_brace_literal),
    cmocka_unit_test(a_mistake_in_an_expansion_is_told),
    cmocka_unit_test_setup_teardown(file_is_a_files_text_without_its_last_newline,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(a_file_may_be_named_from_home_or_by_a_variable,
                                    scratch_make, scratch_remove),
    cmocka_unit_test_setup_teardown(a_file_of_64_kib_is_the_largest, scratch_make,
                                    scratch_remove),
    cmocka_unit_test_setup_teardown(a_file_that_cannot_be_read_is_named, scratch_make,
                                    scratch_remove),
    cmocka_unit_test(a_dash_in_a_file_expansion_is_not_standard_input),
    cmocka_unit_test(only_paths_that_start_with_a_tilde_need_home),
};
TRAIL_TEST_MAIN(tests)
