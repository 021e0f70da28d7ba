/* live.c -- modules of processes that run: deleted, replaced, without a name, and in a
 * mount namespace of their own.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/trace/elf.h"
#include "fake.h"
#include "tree.h"

#define OTHER "x64-cpp-gcc"

/* A file of the tree mapped as a loader does: at its first byte, executable. */
static struct trail_live map_file(int fd)
{
    struct stat st;
    assert_int_equal(fstat(fd, &st), 0);
    void *at =
        mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(at, MAP_FAILED);
    close(fd);
    uint64_t start = (uint64_t)(uintptr_t)at;
    return (struct trail_live){ .pid = getpid(),
                                .start = start,
                                .end =
                                    start + (((uint64_t)st.st_size + 4095) & ~4095u) };
}

static void unmap(struct trail_live live)
{
    munmap((void *)(uintptr_t)live.start, (size_t)(live.end - live.start));
}

static struct trail_target target_of(struct tree *tree, struct trail_live live,
                                     const char *path)
{
    struct trail_target target = fake_target(path);
    target.given = false;
    target.module.id = tree->key;
    target.live = live;
    return target;
}

/* True if the very bytes of the fixture were found, false if only its memory was. */
static bool is_found(struct tree *tree, const struct trail_target *target)
{
    struct trail_text id;
    tree->search = (struct trail_search){ .mismatch = false };
    assert_ok(trail_routes_image(target, &tree->search, &tree->file));
    const struct trail_source *source = &tree->file->source;
    assert_true(trail_symbol_file_id(source->bytes, (size_t)source->bytes_size, &id));
    assert_int_equal(id.size, tree->key.size);
    assert_memory_equal(id.data, tree->key.data, id.size);
    bool file = source->route == TRAIL_ROUTE_EMBEDDED;
    assert_true(file || source->route == TRAIL_ROUTE_MEMORY);
    assert_false(tree->search.mismatch);
    trail_symbol_file_close(tree->file);
    tree->file = NULL;
    return file;
}

static void a_file_that_was_deleted_is_found_through_its_mapping(void **state)
{
    struct tree *tree = *state;
    struct trail_live live = map_file(open(tree->path, O_RDONLY | O_CLOEXEC));
    unlink(tree->path);
    struct trail_target target = target_of(tree, live, tree->path);
    is_found(tree, &target);
    unmap(live);
}

static void a_file_that_was_replaced_is_found_through_its_mapping(void **state)
{
    struct tree *tree = *state;
    struct trail_live live = map_file(open(tree->path, O_RDONLY | O_CLOEXEC));
    unlink(tree->path);
    tree_put(tree, OTHER, "app/prog");
    struct trail_target target = target_of(tree, live, tree->path);
    is_found(tree, &target);

    /* Without an id nothing but the very file, or its memory, will do. */
    target.module.id = (struct trail_text){ NULL, 0 };
    is_found(tree, &target);
    unmap(live);
}

static void a_file_that_never_had_a_name_is_found_through_its_mapping(void **state)
{
    struct tree *tree = *state;
    char bytes[32768];
    FILE *from = fopen(tree->path, "rb");
    assert_non_null(from);
    size_t size = fread(bytes, 1, sizeof(bytes), from);
    fclose(from);
    int fd = memfd_create("trail-test", MFD_CLOEXEC);
    if (fd < 0)
        skip();
    assert_int_equal(write(fd, bytes, size), size);
    struct trail_live live = map_file(fd);
    struct trail_target target = target_of(tree, live, "/memfd:trail-test (deleted)");
    is_found(tree, &target);
    unmap(live);
}

static void what_is_in_memory_of_another_id_is_no_answer(void **state)
{
    struct tree *tree = *state;
    struct trail_live live = map_file(open(tree->path, O_RDONLY | O_CLOEXEC));
    struct trail_target target = target_of(tree, live, "/nonexistent");
    tree->id[0] ^= 1;
    assert_int_not_equal(trail_routes_image(&target, &tree->search, &tree->file),
                         TRAIL_OK);
    assert_true(tree->search.mismatch);
    assert_contains(tree->search.detail, "wanted");
    unmap(live);
}

/* ---- memory alone ------------------------------------------------------- */

static void an_image_in_memory_becomes_a_file_that_can_be_read(void **state)
{
    struct tree *tree = *state;
    struct trail_elf elf;
    const struct trail_wanted any = { .role = TRAIL_ROLE_IMAGE };
    struct link_map *map = NULL;
    Dl_info info;
    void *self = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!self || dlinfo(self, RTLD_DI_LINKMAP, &map) ||
        !dladdr(dlsym(self, "crc32"), &info))
        skip();
    uint64_t start = (uint64_t)(uintptr_t)info.dli_fbase;
    const struct trail_live live = { .pid = getpid(),
                                     .start = start,
                                     .end = start + (1u << 20) };
    assert_ok(trail_live_memory(&live, &any, &tree->search, &tree->file));
    assert_int_equal(tree->file->source.route, TRAIL_ROUTE_MEMORY);
    assert_true(trail_elf_parse(tree->file->source.bytes,
                                (size_t)tree->file->source.bytes_size, &elf));
    uint64_t address, size;
    assert_true(trail_elf_exported(&elf, "crc32", &address, &size));
    assert_int_equal(address, (uint64_t)(uintptr_t)info.dli_saddr - start);
    dlclose(self);
}

static void memory_that_is_no_image_is_refused(void **state)
{
    struct tree *tree = *state;
    static char nothing[8192];
    const struct trail_wanted any = { .role = TRAIL_ROLE_IMAGE };
    const uint64_t at = (uint64_t)(uintptr_t)nothing;
    const struct trail_live lives[] = { { getpid(), at, at + sizeof(nothing), false },
                                        { getpid(), 16, 1u << 20, false },
                                        { getpid(), at, at, false },
                                        { getpid(), at, at - 1, false } };
    for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++)
        assert_int_not_equal(
            trail_live_memory(&lives[i], &any, &tree->search, &tree->file), TRAIL_OK);
}

/* ---- another process ---------------------------------------------------- */

struct child {
    pid_t pid;
    int hold; /* it ends when this is closed */
    struct trail_live live;
    bool refused;
};

/* Maps the tree's file where no other process sees it, and waits. */
static void child_run(struct tree *tree, int hold, int told)
{
    struct trail_live live = { 0 };
    char byte;
    bool apart = unshare(CLONE_NEWNS) == 0 &&
                 mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
                 mount("none", tree_path(tree, "app"), "tmpfs", 0, NULL) == 0;
    if (apart) {
        tree_put(tree, TREE_LINKED, "app/prog");
        live = map_file(open(tree->path, O_RDONLY | O_CLOEXEC));
    }
    if (write(told, &live, sizeof(live)) == sizeof(live))
        while (read(hold, &byte, 1) > 0) {
        }
    _exit(0);
}

static struct child child_start(struct tree *tree)
{
    int hold[2], told[2];
    struct child child = { .pid = -1 };
    assert_int_equal(pipe(hold), 0);
    assert_int_equal(pipe(told), 0);
    child.pid = fork();
    if (child.pid == 0) {
        close(hold[1]);
        child_run(tree, hold[0], told[1]);
    }
    close(hold[0]);
    close(told[1]);
    child.hold = hold[1];
    child.refused =
        read(told[0], &child.live, sizeof(child.live)) != sizeof(child.live) ||
        child.live.pid == 0;
    child.live.pid = child.pid;
    close(told[0]);
    return child;
}

static void child_end(struct child *child)
{
    close(child->hold);
    waitpid(child->pid, NULL, 0);
}

static void a_file_of_another_mount_namespace_is_found(void **state)
{
    struct tree *tree = *state;
    struct child child = child_start(tree);
    if (child.refused) {
        child_end(&child);
        skip();
    }
    unlink(tree->path); /* what this process has there */
    tree_put(tree, OTHER, "app/prog");
    struct trail_target target = target_of(tree, child.live, tree->path);
    bool file = is_found(tree, &target);
    child_end(&child);
    assert_true(file);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(
        a_file_that_was_deleted_is_found_through_its_mapping, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_file_that_was_replaced_is_found_through_its_mapping, tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(
        a_file_that_never_had_a_name_is_found_through_its_mapping, tree_make,
        tree_remove),
    cmocka_unit_test_setup_teardown(what_is_in_memory_of_another_id_is_no_answer,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(an_image_in_memory_becomes_a_file_that_can_be_read,
                                    tree_make, tree_remove),
    cmocka_unit_test_setup_teardown(memory_that_is_no_image_is_refused, tree_make,
                                    tree_remove),
    cmocka_unit_test_setup_teardown(a_file_of_another_mount_namespace_is_found,
                                    tree_make, tree_remove),
};
TRAIL_TEST_MAIN(tests)
