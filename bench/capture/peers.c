/* peers.c -- those who capture stacks, ours and others', in one form. */
#define _GNU_SOURCE
#include "peers.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stddef.h>
#include <unwind.h>

#include "backtrail/backtrail.h"

#define APART   __attribute__((noinline))
#define NO_JUMP __asm__ volatile("" ::: "memory") /* a frame is wanted, no tail call */

static const struct trail_control full = { .size = sizeof(full),
                                           .flags = TRAIL_FULL_WALK };
static const struct trail_control frame_pointers = { .size = sizeof(frame_pointers),
                                                     .flags = TRAIL_FRAME_POINTERS };

static int (*libunwind)(void **entries, int most);
static int (*abseil)(void **entries, int most, int skip);

APART static unsigned by_ours(uintptr_t *entries, unsigned most)
{
    unsigned count = trail_backtrace(entries, most, NULL, NULL);
    NO_JUMP;
    return count;
}

APART static unsigned by_ours_full(uintptr_t *entries, unsigned most)
{
    unsigned count = trail_backtrace(entries, most, &full, NULL);
    NO_JUMP;
    return count;
}

APART static unsigned by_ours_fp(uintptr_t *entries, unsigned most)
{
    unsigned count = trail_backtrace(entries, most, &frame_pointers, NULL);
    NO_JUMP;
    return count;
}

APART static unsigned by_nothing(uintptr_t *entries, unsigned most)
{
    entries[0] = 1;
    NO_JUMP;
    return most;
}

APART static unsigned by_unchecked(uintptr_t *entries, unsigned most)
{
    const uintptr_t *frame = __builtin_frame_address(0);
    unsigned count = 0;
    for (; count < most && frame; frame = (const uintptr_t *)frame[0])
        entries[count++] = frame[1];
    return count;
}

APART static unsigned by_glibc(uintptr_t *entries, unsigned most)
{
    int count = backtrace((void **)entries, (int)most);
    NO_JUMP;
    return (unsigned)count;
}

struct collected {
    uintptr_t *entries;
    unsigned count, most;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
    struct collected *collected = arg;
    collected->entries[collected->count++] = _Unwind_GetIP(context);
    return collected->count < collected->most ? _URC_NO_REASON : _URC_END_OF_STACK;
}

APART static unsigned by_libgcc(uintptr_t *entries, unsigned most)
{
    struct collected collected = { .entries = entries, .most = most };
    _Unwind_Backtrace(on_frame, &collected);
    return collected.count;
}

APART static unsigned by_libunwind(uintptr_t *entries, unsigned most)
{
    int count = libunwind((void **)entries, (int)most);
    NO_JUMP;
    return (unsigned)count;
}

APART static unsigned by_abseil(uintptr_t *entries, unsigned most)
{
    int count = abseil((void **)entries, (int)most, 0);
    NO_JUMP;
    return (unsigned)count;
}

struct peer peers[PEERS] = {
    [PEER_OURS] = { "backtrail", by_ours, NULL },
    [PEER_OURS_FULL] = { "backtrail full walk", by_ours_full, NULL },
    [PEER_OURS_FP] = { "backtrail frame pointers", by_ours_fp, NULL },
    [PEER_NOTHING] = { "nothing", by_nothing, NULL },
    [PEER_UNCHECKED] = { "unchecked frame pointers", by_unchecked, NULL },
    [PEER_GLIBC] = { "glibc backtrace", by_glibc, NULL },
    [PEER_LIBGCC] = { "_Unwind_Backtrace", by_libgcc, NULL },
    [PEER_LIBUNWIND] = { "unw_backtrace", by_libunwind, "libunwind.so.8" },
    [PEER_ABSEIL] = { "absl::GetStackTrace", by_abseil,
                      "libabsl_stacktrace.so.20220623" },
};

/* Loads `peer` and finds the first of `names` in it. */
static void *symbol_of(struct peer *peer, const char *const *names)
{
    void *library = dlopen(peer->library, RTLD_NOW | RTLD_LOCAL), *symbol = NULL;
    for (; library && !symbol && *names; names++)
        symbol = dlsym(library, *names);
    if (!symbol)
        peer->capture = NULL;
    return symbol;
}

void peers_load(void)
{
    static const char *const backtraces[] = { "unw_backtrace", NULL };
    /* Debian names its namespace after itself. */
    static const char *const traces[] = { "_ZN4absl7debian313GetStackTraceEPPvii",
                                          "_ZN4absl12lts_2022062313GetStackTraceEPPvii",
                                          NULL };
    *(void **)&libunwind = symbol_of(&peers[PEER_LIBUNWIND], backtraces);
    *(void **)&abseil = symbol_of(&peers[PEER_ABSEIL], traces);
}
