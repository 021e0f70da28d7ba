/* Where modules lie is learned from a log and from the command line. */
#include "log/log_test.h"

/* Resolved if the map in the line before was understood. */
static void assert_learned(const char *map, uint64_t address, const char *resolution)
{
    char in[256], out[256];
    snprintf(in, sizeof(in), "#0  0x%016llx in ?? ()\n", (unsigned long long)address);
    snprintf(out, sizeof(out), "#0  0x%016llx in %s\n", (unsigned long long)address,
             resolution ? resolution : "?? ()");
    assert_comes_out(NO_OPTIONS, map, in, out);
}

#define MAIN "main at /src/a.c:17:5 [?? ()]"

static void lines_of_proc_maps_are_learned(void **unused)
{
    (void)unused;
    assert_learned("55d0c1a01000-55d0c1a05000 r-xp 00001000 08:01 7    /srv/app\n",
                   0x55d0c1a01110, MAIN);
    assert_learned("map: 55d0c1a01000-55d0c1a05000 r-xp 00001000 fd:01 7  /srv/a b\r\n",
                   0x55d0c1a01110, MAIN);
    assert_learned("55d0c1a02000-55d0c1a05000 r-xp 00002000 08:01 7    /srv/app\n",
                   0x55d0c1a01110, NULL); /* before it */
    assert_learned("401000-405000 r-xp 00001000 08:01 7  /srv/fixed (deleted)\n",
                   0x401110, MAIN);
}

static void the_file_of_a_deleted_mapping_is_sought_by_its_path(void **unused)
{
    (void)unused;
    static const char map[] =
        "401000-405000 r-xp 00001000 08:01 7  /srv/fixed (deleted)\n";
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    assert_non_null(log);
    fake_log_feed(log, map, sizeof(map) - 1, 0);
    assert_int_equal(log->filter.modules.count, 1);
    assert_string_equal(log->filter.modules.modules[0]->name, "/srv/fixed");
    fake_log_destroy(log);
}

static void maps_of_anything_but_code_are_not_learned(void **unused)
{
    (void)unused;
    static const char *const maps[] = {
        "55d0c1a01000-55d0c1a05000 r--p 00001000 08:01 7    /srv/app\n",
        "55d0c1a01000-55d0c1a05000 r-xp 00001000 08:01 7    [vdso]\n",
        "55d0c1a01000-55d0c1a05000 r-xp 00001000 08:01 7\n",
        "55d0c1a01000-55d0c1a05000 r-xp 00001000 0801 7    /srv/app\n",
        "55d0c1a05000-55d0c1a01000 r-xp 00001000 08:01 7    /srv/app\n",
        "55d0c1a01000 55d0c1a05000 r-xp 00001000 08:01 7    /srv/app\n",
        "55d0c1a01000-55d0c1a05000 r-xp 00001000 08:01 7    /srv/missing\n",
        "55d0c1a01000-55d0c1a01000 r-xp 00001000 08:01 7    /srv/app\n",
        "-xp r-xp -xp \n",
    };
    for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
        assert_learned(maps[i], 0x55d0c1a01110, NULL);
}

static void mappings_and_libraries_of_gdb_are_learned(void **unused)
{
    (void)unused;
    assert_learned("      0x555555555000     0x555555559000     0x4000     0x1000  "
                   "r-xp   /srv/app\n",
                   0x555555555110, MAIN);
    assert_learned("      0x555555555000     0x555555559000     0x4000     0x1000  "
                   "r--p   /srv/app\n",
                   0x555555555110, NULL);
    assert_learned("      0x555555555000     0x555555559000     0x4000     0x1000  "
                   "/srv/app\n",
                   0x555555555110, MAIN);
    assert_learned("      0x555555555000     0x555555559000     0x5000     0x1000  "
                   "r-xp   /srv/app\n",
                   0x555555555110, NULL); /* the size is another */
    assert_learned("0x00007ffff7dc8000  0x00007ffff7f3e0fd  Yes (*)     /lib/libx.so\n",
                   0x7ffff7dc8110, MAIN);
    assert_learned("0x00007ffff7dc8000  0x00007ffff7f3e0fd  Yes         /lib/libx.so\n",
                   0x7ffff7dc8110, MAIN);
    assert_learned("0x00007ffff7dc8000  0x00007ffff7f3e0fd  Maybe       /lib/libx.so\n",
                   0x7ffff7dc8110, NULL);
}

static void a_newer_map_takes_the_place_of_what_it_overlaps(void **unused)
{
    (void)unused;
    static const char maps[] =
        "55d0c1a02000-55d0c1a05000 r-xp 00000000 08:01 7    /srv/app\n"
        "55d0c1a09000-55d0c1a0a000 r-xp 00001000 08:01 7    /srv/app\n"
        "55d0c1a01000-55d0c1a03000 r-xp 00001000 08:01 7    /srv/other\n";
    assert_learned(maps, 0x55d0c1a01110, MAIN);
    assert_learned(maps, 0x55d0c1a03110, NULL); /* was of the first */
    assert_learned(maps, 0x55d0c1a09110, MAIN);
}

static void the_file_on_the_command_line_gives_its_addresses(void **unused)
{
    (void)unused;
    struct log_filter_options options = { .given = "/srv/app" };
    static const char in[] = "#0  0x0000555555555110 in ?? ()\n";
    static const char out[] = "#0  0x0000555555555110 in " MAIN "\n";
    assert_comes_out(options, "", in, out);
    options.has_base = true;
    options.base = 0x55d0c1a00000;
    assert_comes_out(options, "", in, NULL);
    assert_comes_out(options, "", "#0  0x000055d0c1a01110 in ?? ()\n",
                     "#0  0x000055d0c1a01110 in " MAIN "\n");
    options = (struct log_filter_options){ .given = "/srv/fixed" };
    assert_comes_out(options, "", "#0  0x0000000000401110 in ?? ()\n",
                     "#0  0x0000000000401110 in " MAIN "\n");
    options.given = "/srv/missing";
    assert_comes_out(options, "", "#0  0x0000000000401110 in ?? ()\n", NULL);
}

static void the_file_on_the_command_line_stands_for_modules_of_its_name(void **unused)
{
    (void)unused;
    struct log_filter_options options = { .given = "/srv/fixed/../app" };
    static const char in[] = "#0 0x401110  (/missing/app+0x401110)\n";
    assert_comes_out(NO_OPTIONS, "", in, NULL);
    assert_comes_out(options, "", in,
                     "#0 0x401110  main at /src/a.c:17:5 [/missing/app+0x401110]\n");
    assert_comes_out(options, "",
                     "#0 0x401110  (/missing/app+0x401110) (BuildId: abcd)\n", NULL);
}

static void there_is_an_end_to_modules_and_ranges(void **unused)
{
    (void)unused;
    char line[128];
    struct fake_log *log = fake_log_create(NO_OPTIONS);
    assert_non_null(log);
    for (unsigned i = 0; i < LOG_RANGE_LIMIT + 1100; i++) {
        int size =
            snprintf(line, sizeof(line),
                     "%08x000-%08x000 r-xp 00001000 08:01 7    /srv/app%u\n", 2 * i + 1,
                     2 * i + 2, i < LOG_RANGE_LIMIT + 10 ? i % 1000 : i);
        fake_log_feed(log, line, (size_t)size, 0);
    }
    fake_log_end(log);
    assert_int_equal(log->filter.modules.count, LOG_MODULE_LIMIT);
    assert_int_equal(log->filter.modules.range_count, LOG_RANGE_LIMIT);
    assert_string_equal(log->notes,
                        "too many modules in one log; those after the first "
                        "1024 are left as they are\n");
    fake_log_destroy(log);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(lines_of_proc_maps_are_learned),
    cmocka_unit_test(the_file_of_a_deleted_mapping_is_sought_by_its_path),
    cmocka_unit_test(maps_of_anything_but_code_are_not_learned),
    cmocka_unit_test(mappings_and_libraries_of_gdb_are_learned),
    cmocka_unit_test(a_newer_map_takes_the_place_of_what_it_overlaps),
    cmocka_unit_test(the_file_on_the_command_line_gives_its_addresses),
    cmocka_unit_test(the_file_on_the_command_line_stands_for_modules_of_its_name),
    cmocka_unit_test(there_is_an_end_to_modules_and_ranges),
};
TRAIL_TEST_MAIN(tests)
