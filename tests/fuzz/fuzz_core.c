/* fuzz_core.c -- a core file from anywhere, its threads walked beside a file of
 * ours. */
#define _GNU_SOURCE

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backtrail/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* The bytes are its program, too: what is damaged there is met as well. */
static void walk_all(struct trail_target *target, const uint8_t *bytes, size_t size)
{
    uint64_t pcs[64];
    const struct trail_target_module module = { 0, bytes, size };
    trail_target_add_module(target, &module, NULL);
    for (size_t i = 0; i < trail_target_thread_count(target) && i < 8; i++)
        for (unsigned flags = 0; flags <= TRAIL_FRAME_POINTERS;
             flags += TRAIL_FRAME_POINTERS) {
            const struct trail_control control = { .size = sizeof(control),
                                                   .flags = flags,
                                                   .thread =
                                                       trail_target_thread(target, i) };
            struct trail_info info = { .size = sizeof(info) };
            if (trail_backtrace_target(target, pcs, 64, &control, &info) > 64)
                abort();
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char path[64];
    struct trail_target *target = NULL;
    int fd = memfd_create("core", MFD_CLOEXEC);
    if (fd < 0)
        return 0;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (write(fd, bytes, size) == (ssize_t)size &&
        trail_target_core(path, &target, NULL) == TRAIL_OK)
        walk_all(target, bytes, size);
    trail_target_destroy(target);
    close(fd);
    return 0;
}
