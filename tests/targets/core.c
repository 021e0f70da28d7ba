/* core.c -- stacks in core files: made by the kernel, by gcore, and on other
 * machines. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/os/os.h"
#include "gdb.h"
#include "test.h"
#include "walked.h"

#define CAPACITY WALKED_CAPACITY
#define FRAMES   21 /* of one function, in each thread of the program */
#define THREADS  3

/* ---- a directory for each test ---------------------------------------------- */

static char directory[64];

static int setup(void **state)
{
    (void)state;
    strncpy(directory, "/tmp/backtrail-core-XXXXXX", sizeof(directory) - 1);
    return mkdtemp(directory) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    DIR *files = opendir(directory);
    struct dirent *file;
    while (files && (file = readdir(files)))
        if (file->d_name[0] != '.')
            unlinkat(dirfd(files), file->d_name, 0);
    closedir(files);
    return rmdir(directory);
}

static const char *in_directory(char *path_ret, size_t size, const char *name)
{
    snprintf(path_ret, size, "%s/%s", directory, name);
    return path_ret;
}

static void copy_file(const char *from, const char *to)
{
    struct trail_error err;
    struct trail_os_file file;
    assert_ok_err(trail_os_file_map(from, SIZE_MAX / 2, &file, &err), err);
    assert_ok_err(trail_os_file_write(to, file.bytes, file.size, 0755, &err), err);
    trail_os_file_close(&file);
}

static struct trail_target *target_of(const char *path)
{
    struct trail_error err;
    struct trail_target *target = NULL;
    assert_ok_err(trail_target_core(path, &target, &err), err);
    return target;
}

static unsigned kinds_of(const struct walked *walked, enum trail_pc_kind kind)
{
    unsigned count = 0;
    for (unsigned i = 0; i < walked->count; i++)
        count += walked->kinds[i] == kind;
    return count;
}

/* ---- the kernel's ------------------------------------------------------------ */

static bool kernel_writes_cores_here(void)
{
    char pattern[256] = "";
    FILE *file = fopen("/proc/sys/kernel/core_pattern", "re");
    if (file && !fgets(pattern, sizeof(pattern), file))
        pattern[0] = 0;
    if (file)
        fclose(file);
    return strcmp(pattern, "core\n") == 0;
}

/* Runs a copy of the program that crashes; the path of its core in `core_ret`. Skips
 * the test where the kernel sends cores elsewhere. */
static void crash(char *program_ret, char *core_ret, size_t size)
{
    int status = 0;
    if (TEST_EMULATED || !kernel_writes_cores_here())
        skip();
    copy_file(TEST_CRASH, in_directory(program_ret, size, "crash"));
    pid_t child = fork();
    if (child == 0) {
        if (chdir(directory) == 0)
            execl(program_ret, program_ret, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    if (!WCOREDUMP(status))
        skip();
    in_directory(core_ret, size, "core");
    char numbered[128], name[32];
    snprintf(name, sizeof(name), "core.%d", (int)child);
    in_directory(numbered, sizeof(numbered), name);
    if (access(core_ret, R_OK)) /* kernel.core_uses_pid */
        snprintf(core_ret, size, "%s", numbered);
}

static void a_core_of_the_kernel_is_walked_through_the_signal(void **state)
{
    (void)state;
    char program[128], core[128];
    uint64_t pcs[CAPACITY];
    crash(program, core, sizeof(core));
    struct trail_target *target = target_of(core);
    assert_int_equal(trail_target_thread_count(target), 1);
    struct walked walked = walk_thread(target, trail_target_thread(target, 0));
    assert_int_equal(walked.info.error, 0);
    assert_int_equal(walked.info.end, TRAIL_END_BASE);
    assert_int_equal(kinds_of(&walked, TRAIL_PC_CURRENT), 2);
    assert_int_equal(kinds_of(&walked, TRAIL_PC_TRAMPOLINE), 1);
    assert_true(walked.count > 2 + 1 + FRAMES);

    unsigned count = gdb_pcs(program, core, pcs, CAPACITY);
    assert_int_equal(walked.count, count);
    assert_memory_equal(walked.pcs, pcs, count * sizeof(pcs[0]));
    trail_target_destroy(target);
}

/* Its tables would be wrong ones. */
static void a_file_that_has_changed_since_is_not_used(void **state)
{
    (void)state;
    char program[128], core[128];
    crash(program, core, sizeof(core));
    struct trail_target *target = target_of(core);
    struct walked whole = walk_thread(target, 0);
    trail_target_destroy(target);
    assert_int_equal(whole.info.end, TRAIL_END_BASE);

    FILE *file_there = fopen(program, "r+");
    assert_non_null(file_there);
    assert_int_equal(fseek(file_there, 48, SEEK_SET), 0); /* e_flags */
    assert_int_equal(fputc(1, file_there), 1);
    fclose(file_there);
    target = target_of(core);
    struct walked walked = walk_thread(target, 0);
    unsigned by_tables = 0;
    for (unsigned i = 0; i < walked.count; i++)
        by_tables += walked.trust[i] == TRAIL_TRUST_CFI;
    assert_true(by_tables + 10 < whole.count);
    trail_target_destroy(target);

    /* Whoever has it can say so. */
    struct trail_error err;
    struct trail_os_file file;
    target = target_of(core);
    assert_int_equal(unlink(program), 0);
    assert_ok_err(trail_os_file_map(TEST_CRASH, SIZE_MAX / 2, &file, &err), err);
    const struct trail_target_module module = { whole.pcs[whole.count - 1] & ~0xfffu,
                                                file.bytes, 16 };
    assert_int_equal(trail_target_add_module(target, &module, &err), TRAIL_BAD_INPUT);
    trail_os_file_close(&file);
    trail_target_destroy(target);
}

/* ---- gcore's ------------------------------------------------------------------ */

static void gcore(pid_t pid, char *core_ret, size_t size)
{
    char prefix[128], number[24];
    int status = 0, null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    snprintf(number, sizeof(number), "%d", (int)pid);
    in_directory(prefix, sizeof(prefix), "gcore");
    pid_t child = fork();
    if (child == 0) {
        dup2(null, 1);
        dup2(null, 2);
        execlp("gcore", "gcore", "-o", prefix, number, (char *)NULL);
        _exit(127);
    }
    close(null);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        skip(); /* no gdb is installed */
    assert_int_equal(status, 0);
    snprintf(core_ret, size, "%s.%s", prefix, number);
}

/* The program, waiting in all its threads; the end of `input_ret` ends it. */
static pid_t start_waiting(int *input_ret)
{
    int input[2], output[2];
    char byte;
    if (TEST_EMULATED)
        skip(); /* the core would be the emulator's */
    assert_int_equal(pipe2(input, O_CLOEXEC), 0);
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(input[0], 0);
        dup2(output[1], 1);
        execl(TEST_CRASH, TEST_CRASH, "wait", (char *)NULL);
        _exit(127);
    }
    close(input[0]);
    close(output[1]);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(read(output[0], &byte, 1), 1);
    close(output[0]);
    *input_ret = input[1];
    return child;
}

/* How often the return address comes that comes most often at a stretch. */
static unsigned longest_run(const struct walked *walked)
{
    unsigned longest = 0, run = 0;
    for (unsigned i = 1; i < walked->count; i++) {
        run = walked->pcs[i] == walked->pcs[i - 1] ? run + 1 : 1;
        longest = run > longest ? run : longest;
    }
    return longest;
}

static void all_threads_of_a_core_are_walked(void **state)
{
    (void)state;
    char core[160];
    uint64_t pcs[CAPACITY];
    int input = -1;
    pid_t child = start_waiting(&input);
    gcore(child, core, sizeof(core));
    close(input);
    assert_int_equal(waitpid(child, NULL, 0), child);

    struct trail_target *target = target_of(core);
    assert_int_equal(trail_target_thread_count(target), THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        struct walked walked = walk_thread(target, trail_target_thread(target, i));
        assert_int_equal(walked.info.error, 0);
        assert_int_equal(walked.info.end, TRAIL_END_BASE);
        assert_int_equal(longest_run(&walked), FRAMES - 1);
    }
    assert_int_equal(walk_thread(target, 1).info.error, ESRCH);
    unsigned count = gdb_pcs(TEST_CRASH, core, pcs, CAPACITY);
    struct walked walked = walk_thread(target, 0);
    assert_int_equal(walked.count, count);
    assert_memory_equal(walked.pcs, pcs, count * sizeof(pcs[0]));
    trail_target_destroy(target);
}

/* ---- of other machines ---------------------------------------------------------- */

static unsigned expected(const char *name, uint64_t *pcs)
{
    char path[256], line[64];
    unsigned count = 0;
    snprintf(path, sizeof(path), "%s/tests/fixtures/cores/%s.expect", TEST_SOURCE_DIR,
             name);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    while (fgets(line, sizeof(line), file) && count < CAPACITY)
        pcs[count++] = strtoull(line, NULL, 16);
    fclose(file);
    return count;
}

static void assert_core_of(const char *arch, bool is64)
{
    char path[256];
    uint64_t pcs[CAPACITY];
    struct trail_error err;
    struct trail_os_file file;
    snprintf(path, sizeof(path), "%s/tests/fixtures/cores/%s.core", TEST_SOURCE_DIR,
             arch);
    struct trail_target *target = target_of(path);
    assert_string_equal(trail_target_arch(target), arch);
    *strrchr(path, '.') = 0;
    assert_ok_err(trail_os_file_map(path, SIZE_MAX / 2, &file, &err), err);
    const struct trail_target_module module = { 0, file.bytes, file.size };
    assert_ok_err(trail_target_add_module(target, &module, &err), err);

    unsigned count = expected(arch, pcs);
    struct walked walked = walk_thread(target, 0);
    assert_int_equal(walked.info.flags, is64 ? TRAIL_INFO_64_BIT : 0);
    assert_int_equal(walked.count, count);
    assert_memory_equal(walked.pcs, pcs, count * sizeof(pcs[0]));
    assert_int_equal(walked.info.end, TRAIL_END_BASE);
    for (unsigned i = 1; i < walked.count; i++)
        assert_int_equal(walked.trust[i], TRAIL_TRUST_CFI);
    trail_target_destroy(target);
    trail_os_file_close(&file);
}

static void a_core_of_aarch64_is_walked(void **state)
{
    (void)state;
    assert_core_of("aarch64", true);
}

static void a_core_of_riscv64_is_walked(void **state)
{
    (void)state;
    assert_core_of("riscv64", true);
}

static void a_core_of_i386_is_walked_and_told_as_one_of_32_bits(void **state)
{
    (void)state;
    assert_core_of("i386", false);
}

static void a_core_of_arm_is_walked_by_debug_frame(void **state)
{
    (void)state;
    assert_core_of("arm", false);
}

/* ---- damage
 * ------------------------------------------------------------------------ */

static void what_is_no_core_is_told_by_name(void **state)
{
    (void)state;
    struct trail_error err;
    struct trail_target *target = NULL;
    assert_int_equal(trail_target_core("/nowhere/core", &target, &err),
                     TRAIL_NOT_FOUND);
    assert_contains(err.text, "/nowhere/core");
    assert_int_equal(trail_target_core(TEST_CRASH, &target, &err), TRAIL_BAD_INPUT);
    assert_contains(err.text, ": not a core file");
    assert_null(target);
}

/* Cut anywhere, it gives fewer frames or none, and nothing worse. */
static void a_core_that_is_cut_gives_what_is_left(void **state)
{
    (void)state;
    char path[256], cut[128];
    struct trail_error err;
    struct trail_os_file file;
    snprintf(path, sizeof(path), "%s/tests/fixtures/cores/riscv64.core",
             TEST_SOURCE_DIR);
    in_directory(cut, sizeof(cut), "cut");
    assert_ok_err(trail_os_file_map(path, SIZE_MAX / 2, &file, &err), err);
    for (size_t size = 0; size < file.size; size += 61) {
        struct trail_target *target = NULL;
        assert_ok_err(trail_os_file_write(cut, file.bytes, size, 0644, &err), err);
        if (trail_target_core(cut, &target, &err))
            continue;
        struct walked walked = walk_thread(target, 0);
        assert_in_range(walked.count, 1, 10);
        trail_target_destroy(target);
    }
    trail_os_file_close(&file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(a_core_of_the_kernel_is_walked_through_the_signal,
                                    setup, teardown),
    cmocka_unit_test_setup_teardown(a_file_that_has_changed_since_is_not_used, setup,
                                    teardown),
    cmocka_unit_test_setup_teardown(all_threads_of_a_core_are_walked, setup, teardown),
    cmocka_unit_test(a_core_of_aarch64_is_walked),
    cmocka_unit_test(a_core_of_riscv64_is_walked),
    cmocka_unit_test(a_core_of_i386_is_walked_and_told_as_one_of_32_bits),
    cmocka_unit_test(a_core_of_arm_is_walked_by_debug_frame),
    cmocka_unit_test(what_is_no_core_is_told_by_name),
    cmocka_unit_test_setup_teardown(a_core_that_is_cut_gives_what_is_left, setup,
                                    teardown),
};
TRAIL_TEST_MAIN(tests)
