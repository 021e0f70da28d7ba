/* raw_first.c -- the captured addresses beside the visible frames. */
#define _GNU_SOURCE

#include "show.h"

#include <dlfcn.h>

static bool in_library(uintptr_t address)
{
    Dl_info info;
    return dladdr((void *)(address - 1), &info) &&
           strstr(info.dli_fname, "libbacktrail");
}

/* Visible frames are captured addresses, in the order of capture. */
static bool among(const struct trail_backtrace *backtrace,
                  const struct trail_frames *frames)
{
    uint32_t at = 0;
    for (size_t i = 0; i < frames->count; i++) {
        while (at < backtrace->count &&
               backtrace->addresses[at] != frames->at[i].address)
            at++;
        if (at == backtrace->count)
            return false;
    }
    return frames->count > 0;
}

int main(void)
{
    struct trail_backtrace backtrace = { 0 };
    struct trail_frames *frames = NULL;
    trail_capture(&backtrace);
    if (trail_resolve(&backtrace, 0, &frames, NULL))
        return 1;
    printf("captured begins in the library: %s\n",
           yes_no(in_library(backtrace.addresses[0])));
    printf("first visible is in the library: %s\n",
           yes_no(in_library((uintptr_t)frames->at[0].address)));
    printf("visible among captured: %s\n", yes_no(among(&backtrace, frames)));
    printf("fewer: %s\n", yes_no(frames->count < backtrace.count));
    trail_frames_destroy(frames);
    return 0;
}
