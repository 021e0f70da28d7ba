/* core_file.c -- a core file as a raw trace. */
#include "agent/outside/core_file.h"

#include "agent/outside/core_facts.h"
#include "core/capture/target.h"

enum trail_status outside_core_text(const char *path,
                                    const struct outside_places *places,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err)
{
    struct trail_target *target = NULL;
    struct outside_core core = { .threads = NULL };
    struct trail_os_stat stat;
    struct trail_elf elf;
    enum trail_status status = trail_target_core(path, &target, err);
    if (status)
        return status;
    status = outside_core_images(target, places, err);
    if (status)
        goto out;
    trail_elf_parse(target->core.bytes, target->core.size, &elf); /* as it was before */
    status = outside_core_fill(target, &elf, path, &core, err);
    if (status)
        goto out;
    outside_core_cut(&elf, &core);
    if (trail_os_stat_path(path, &stat, NULL) == TRAIL_OK)
        core.facts.time_ns = stat.modified_ns;
    status = outside_trace_text(target, &core.facts, text_ret, size_ret, err);
out:
    outside_core_deinit(&core);
    trail_target_destroy(target);
    return status;
}
