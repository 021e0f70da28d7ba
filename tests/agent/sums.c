/* SHA256SUMS is read back as it was written, and nothing else is taken for one. */
#define _POSIX_C_SOURCE 200809L

#include "test.h"

#include <unistd.h>

#include "agent/symbols/sums.h"
#include "core/os/os.h"

#define HEX_A "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb" /* a */
#define HEX_B "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d" /* b */

static char directory[] = "/tmp/trail-sums.XXXXXX";
static char path[64];

static int set_up(void **unused)
{
    (void)unused;
    if (!mkdtemp(directory))
        return -1;
    snprintf(path, sizeof(path), "%s/%s", directory, SUMS_NAME);
    return 0;
}

static int tear_down(void **unused)
{
    (void)unused;
    unlink(path);
    return rmdir(directory);
}

static void write_sums(const char *text, size_t size)
{
    assert_ok(trail_os_file_write(path, text, size, 0644, NULL));
}

static void what_is_written_is_read_in_order_of_name(void **unused)
{
    (void)unused;
    struct trail_error err = { "" };
    struct sums sums = { .count = 0 };
    assert_ok(sums_set(&sums, "b", HEX_B, &err));
    assert_ok(sums_set(&sums, "a a", HEX_B, &err));
    assert_ok(sums_set(&sums, "a a", HEX_A, &err));
    assert_ok_err(sums_write(directory, &sums, &err), err);
    sums_deinit(&sums);
    assert_ok_err(sums_read(directory, &sums, &err), err);
    assert_int_equal(sums.count, 2);
    assert_string_equal(sums.at[0].name, "a a");
    assert_string_equal(sums_find(&sums, "a a")->hex, HEX_A);
    assert_string_equal(sums_find(&sums, "b")->hex, HEX_B);
    assert_null(sums_find(&sums, "a"));
    sums_deinit(&sums);
}

static void a_checksum_is_that_of_the_standard(void **unused)
{
    (void)unused;
    char hex[SUMS_HEX_SIZE];
    write_sums("a", 1);
    sums_hash_bytes((const uint8_t *)"a", 1, hex);
    assert_string_equal(hex, HEX_A);
    assert_ok(sums_hash_file(path, hex, NULL));
    assert_string_equal(hex, HEX_A);
}

static void what_sha256sum_writes_is_taken(void **unused)
{
    (void)unused;
    static const char text[] = HEX_B " *z\n" HEX_A "  a"; /* no order, no last line */
    struct sums sums;
    write_sums(text, sizeof(text) - 1);
    assert_ok(sums_read(directory, &sums, NULL));
    assert_int_equal(sums.count, 2);
    assert_string_equal(sums_find(&sums, "z")->hex, HEX_B);
    sums_deinit(&sums);
}

static void no_cut_of_it_is_taken_for_more_than_its_whole_lines(void **unused)
{
    (void)unused;
    static const char text[] = HEX_A "  first\n" HEX_B "  second\n";
    const size_t line = sizeof(HEX_A "  first\n") - 1;
    for (size_t size = 0; size < sizeof(text); size++) {
        struct sums sums;
        write_sums(text, size);
        if (sums_read(directory, &sums, NULL))
            continue;
        const struct sum *first = sums_find(&sums, "first");
        assert_true(size < line - 1 || first);
        assert_true(size >= line - 1 || !first);
        sums_deinit(&sums);
    }
}

static void what_is_no_list_of_files_in_this_folder_is_refused(void **unused)
{
    (void)unused;
    static const struct {
        const char *text;
        size_t size;
    } wrong[] = {
        { HEX_A "  ../x\n", 0 }, { HEX_A "  /etc/passwd\n", 0 },
        { HEX_A "  ..\n", 0 },   { HEX_A "  .\n", 0 },
        { HEX_A "  \n", 0 },     { HEX_A " x\n", 0 },
        { HEX_A "\n", 0 },       { "\n", 0 },
        { "CA97  x\n", 0 },      { HEX_A "  x\n" HEX_B "  x\n", 0 },
        { "no list\n", 0 },      { HEX_A "  x\0y\n", 70 },
        { HEX_A "0  x\n", 0 },
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct trail_error err = { "" };
        struct sums sums;
        write_sums(wrong[i].text,
                   wrong[i].size ? wrong[i].size : strlen(wrong[i].text));
        assert_int_equal(sums_read(directory, &sums, &err), TRAIL_BAD_INPUT);
        assert_contains(err.text, SUMS_NAME);
        assert_int_equal(sums.count, 0);
    }
}

static void no_list_is_not_found(void **unused)
{
    (void)unused;
    struct sums sums;
    unlink(path);
    assert_int_equal(sums_read(directory, &sums, NULL), TRAIL_NOT_FOUND);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_written_is_read_in_order_of_name),
    cmocka_unit_test(a_checksum_is_that_of_the_standard),
    cmocka_unit_test(what_sha256sum_writes_is_taken),
    cmocka_unit_test(no_cut_of_it_is_taken_for_more_than_its_whole_lines),
    cmocka_unit_test(what_is_no_list_of_files_in_this_folder_is_refused),
    cmocka_unit_test(no_list_is_not_found),
};

int main(int argc, char **argv)
{
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
