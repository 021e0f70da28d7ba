/* target_process.c -- another process as a target. */
#include "core/capture/target.h"

#include <errno.h>
#include <stdlib.h>

#include "core/trace/elf.h"

struct filling {
    struct trail_target *target;
    bool failed; /* no memory, or too much */
};

static bool add_mapping(void *arg, const struct trail_os_mapping *mapping)
{
    struct filling *filling = arg;
    filling->failed =
        !trail_target_add_range(filling->target, mapping->start, mapping->end,
                                mapping->executable) ||
        !trail_target_add_mapping(filling->target, mapping->start, mapping->end,
                                  mapping->offset, mapping->path);
    return !filling->failed;
}

static enum trail_status add_thread(void *arg, const char *tid)
{
    struct filling *filling = arg;
    char *end = NULL;
    int64_t id = strtoll(tid, &end, 10);
    if (*end || id <= 0)
        return TRAIL_OK;
    if (trail_target_add_thread(filling->target, id, NULL))
        return TRAIL_OK;
    filling->failed = true;
    return TRAIL_NO_MEMORY;
}

/* The main thread is told first. */
static void sort_threads(struct trail_target *target)
{
    for (size_t i = 1; i < target->thread_count; i++)
        if (target->threads[i].id == target->pid) {
            target->threads[i].id = target->threads[0].id;
            target->threads[0].id = target->pid;
        }
}

/* All images of a process are of one architecture. */
const struct trail_machine *trail_target_find_machine(const struct trail_target *target)
{
    uint8_t head[TRAIL_TARGET_PAGE];
    struct trail_elf elf;
    for (size_t i = 0; i < target->image_count; i++)
        if (!trail_target_read(target, target->images[i].start, head, sizeof(head)) &&
            trail_elf_parse(head, sizeof(head), &elf))
            return trail_machine_of(trail_elf_arch(&elf));
    return NULL;
}

static enum trail_status fill(struct trail_target *target, struct trail_error *err)
{
    struct filling filling = { target, false };
    enum trail_status status =
        trail_os_mappings(target->pid, add_mapping, &filling, err);
    if (!status)
        status = trail_os_threads(target->pid, add_thread, &filling, err);
    if (filling.failed)
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory for its maps",
                          (long long)target->pid);
    if (status)
        return status;
    sort_threads(target);
    trail_target_sort(target);
    target->machine = trail_target_find_machine(target);
    if (!target->machine)
        return trail_fail(err, TRAIL_UNSUPPORTED,
                          "process %lld: its memory cannot be read, or is of an "
                          "architecture whose stacks cannot be unwound",
                          (long long)target->pid);
    return TRAIL_OK;
}

enum trail_status trail_target_process(int64_t pid, struct trail_target **target_ret,
                                       struct trail_error *err)
{
    int error = trail_os_thread_check(pid);
    if (error)
        return trail_fail(err, error == EPERM ? TRAIL_REFUSED : TRAIL_NOT_FOUND,
                          "process %lld: %s", (long long)pid,
                          error == EINVAL ? "a kernel thread has no user stack"
                          : error == EPERM
                              ? "may not be looked into; be its user or root"
                              : "there is none, or it has ended");
    struct trail_target *target = trail_target_create();
    if (!target)
        return trail_fail(err, TRAIL_NO_MEMORY, "process %lld: no memory",
                          (long long)pid);
    target->pid = pid;
    enum trail_status status = fill(target, err);
    if (status)
        trail_target_destroy(target);
    else
        *target_ret = target;
    return status;
}
