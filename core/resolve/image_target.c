/* image_target.c -- a module of a trace, as something to look addresses up in. */
#include "core/resolve/image_target.h"

static void extent_of(const struct trail_image *image, uint64_t *start_ret,
                      uint64_t *end_ret)
{
    uint64_t start = UINT64_MAX, end = 0;
    for (size_t i = 0; i < image->range_count; i++) {
        start = image->ranges[i].start < start ? image->ranges[i].start : start;
        end = image->ranges[i].end > end ? image->ranges[i].end : end;
    }
    *start_ret = image->range_count ? start : 0;
    *end_ret = image->range_count ? end : 0;
}

struct trail_target trail_image_target(const struct trail_image *image, int64_t live)
{
    uint64_t start, end;
    extent_of(image, &start, &end);
    if (start >= end || image->last != UINT64_MAX)
        live = 0;
    struct trail_target target = {
        .module = {
            .size = sizeof(target.module),
            .format = image->format,
            .arch = image->arch,
            .id_kind = image->id_kind,
            .path = trail_text_of(image->path),
            .id = { (const char *)image->id, image->id_size },
            .link_start = start - image->bias,
            .link_end = end - image->bias,
        },
        .path = image->path,
    };
    if (image->id_size == 0)
        target.module.flags |= TRAIL_MODULE_ID_UNVERIFIED;
    if (image->id_size == 0 && image->has_text_hash) {
        target.module.id_kind = TRAIL_ID_TEXT_HASH;
        target.module.id = (struct trail_text){ (const char *)image->text_hash,
                                                sizeof(image->text_hash) };
    }
    if (image->vdso) {
        target.module.flags |= TRAIL_MODULE_VDSO | TRAIL_MODULE_FROM_MEMORY;
        target.path = "";
    }
    if (live == trail_os_pid()) {
        target.memory = (const uint8_t *)(uintptr_t)start;
        target.memory_size = (size_t)(end - start);
    }
    if (live)
        target.live = (struct trail_live){
            .pid = live, .start = start, .end = end, .main_program = image->main_program
        };
    return target;
}
