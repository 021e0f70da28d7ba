/* Lines of /proc/PID/maps, and skeletons of split debug information. */
#include "fixture.h"
#include "agent/doctor/doctor.h"
#include "agent/process.h"

static void a_mapping_is_read_with_any_path(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *path;
        uint64_t start, end, offset, inode;
        unsigned major, minor;
        bool executable;
    } rows[] = {
        { "55d0c1a00000-55d0c1a02000 r-xp 00001000 fd:01 1234                       "
          "/usr/bin/sleep",
          "/usr/bin/sleep", 0x55d0c1a00000, 0x55d0c1a02000, 0x1000, 1234, 0xfd, 1,
          true },
        { "7f0000000000-7f0000001000 r--p 00000000 08:10 7 /a b\\012c (deleted)",
          "/a b\nc (deleted)", 0x7f0000000000, 0x7f0000001000, 0, 7, 8, 0x10, false },
        { "7ffd1000-7ffd2000 r-xp 00000000 00:00 0                          [vdso]",
          "[vdso]", 0x7ffd1000, 0x7ffd2000, 0, 0, 0, 0, true },
        { "7f00-7f01 rwxp 00000000 00:00 0 ", "", 0x7f00, 0x7f01, 0, 0, 0, 0, true },
        { "7f00-7f01 rwxp 00000000 00:00 0", "", 0x7f00, 0x7f01, 0, 0, 0, 0, true },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char line[256];
        struct process_mapping mapping;
        snprintf(line, sizeof(line), "%s", rows[i].line);
        assert_true(process_mapping_parse(line, &mapping));
        assert_int_equal(mapping.start, rows[i].start);
        assert_int_equal(mapping.end, rows[i].end);
        assert_int_equal(mapping.offset, rows[i].offset);
        assert_int_equal(mapping.inode, rows[i].inode);
        assert_int_equal(mapping.major, rows[i].major);
        assert_int_equal(mapping.minor, rows[i].minor);
        assert_int_equal(mapping.executable, rows[i].executable);
        assert_string_equal(mapping.path, rows[i].path);
    }
}

static void what_is_no_mapping_is_refused_however_it_is_cut(void **unused)
{
    (void)unused;
    static const char whole[] = "7f00-7f01 r-xp 00000000 08:01 12";
    static const char *const wrong[] = { "7f01-7f00 r-xp 00000000 08:01 12 /x",
                                         "-7f01 r-xp 00000000 08:01 12 /x",
                                         "7f00-7f01 r-xp 00000000 08-01 12 /x",
                                         "+7f00-7f01 r-xp 0 08:01 12 /x",
                                         "7f00-7f01 r-xp 00000000 08:01 12x /x" };
    struct process_mapping mapping;
    char line[128];
    for (size_t cut = 0; cut + 2 < sizeof(whole); cut++) {
        snprintf(line, sizeof(line), "%.*s", (int)cut, whole);
        if (cut < sizeof(whole) - 3)
            assert_false(process_mapping_parse(line, &mapping));
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        snprintf(line, sizeof(line), "%s", wrong[i]);
        assert_false(process_mapping_parse(line, &mapping));
    }
}

static void skeletons_name_their_dwo_files(void **unused)
{
    (void)unused;
    static const char *const files[] = { "x64-split-gcc-dw4", "x64-split-gcc-dw5",
                                         "x64-split-clang-19-dw5" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        char name[128], beside[1024];
        struct doctor_split split;
        snprintf(name, sizeof(name), "%s/prog", files[i]);
        snprintf(beside, sizeof(beside), "%s/tests/fixtures/elf/%s", TEST_SOURCE_DIR,
                 files[i]);
        struct fixture_file file = fixture_read(name);
        assert_true(doctor_split_read(&file.elf, beside, &split));
        assert_int_equal(split.count, 2);
        assert_int_equal(split.missing, 0);
        assert_true(doctor_split_read(&file.elf, "/nonexistent", &split));
        assert_int_equal(split.count, 2);
        assert_int_equal(split.missing, 2);
        assert_contains(split.example, "deep.dwo");
        free(file.bytes);
    }
}

static void debug_information_that_is_whole_has_no_skeletons(void **unused)
{
    (void)unused;
    static const char *const files[] = { "x64-gcc-dw4-O2",     "x64-gcc-dw5-O2",
                                         "x64-clang19-dw5-O2", "x64-zlib",
                                         "s390x-gcc-dw5-O2",   "x64-stripped" };
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct doctor_split split;
        struct fixture_file file = fixture_read(files[i]);
        assert_false(doctor_split_read(&file.elf, ".", &split));
        free(file.bytes);
    }
}

/* No length, offset or form in .debug_info leads anywhere else. */
static void every_changed_byte_of_a_skeleton_is_survived(void **unused)
{
    (void)unused;
    static const char *const sections[] = { ".debug_info", ".debug_abbrev" };
    struct fixture_file file = fixture_read("x64-split-clang-19-dw5/prog");
    for (size_t i = 0; i < 2; i++) {
        struct trail_text bytes;
        assert_true(trail_elf_section(&file.elf, sections[i], &bytes));
        size_t start = (size_t)((const uint8_t *)bytes.data - file.bytes);
        for (size_t at = start; at < start + bytes.size; at++) {
            struct doctor_split split;
            file.bytes[at] ^= 0xff;
            doctor_split_read(&file.elf, "/nonexistent", &split);
            file.bytes[at] ^= 0xff;
        }
    }
    free(file.bytes);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_mapping_is_read_with_any_path),
    cmocka_unit_test(what_is_no_mapping_is_refused_however_it_is_cut),
    cmocka_unit_test(skeletons_name_their_dwo_files),
    cmocka_unit_test(debug_information_that_is_whole_has_no_skeletons),
    cmocka_unit_test(every_changed_byte_of_a_skeleton_is_survived),
};
TRAIL_TEST_MAIN(tests)
