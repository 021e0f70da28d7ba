/* native.h -- part of os.h: what the hot path of a capture has to know of the processor
 * and the C library it runs on, readable with plain loads.
 *
 * The facts are found out once, by trail_os_facts_init, and are constant afterwards.
 * Nothing is taken from a version: each is found by changing it and watching which word
 * follows, so that another layout is noticed and switched off, not misread.
 *
 * Signals: everything but trail_os_facts_init is async-signal-safe.
 */
#ifndef TRAIL_NATIVE_H
#define TRAIL_NATIVE_H

#include "core/os/os.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Functions that look at words of a stack that other frames own. */
#define TRAIL_READS_STACK __attribute__((no_sanitize("address", "thread", "undefined")))

/* A word of a stack, wherever it lies. */
struct trail_word {
    uintptr_t value;
} __attribute__((packed, may_alias));

TRAIL_READS_STACK static inline uintptr_t trail_word_at(uintptr_t address)
{
    return ((const struct trail_word *)address)->value;
}

/* ---- processor ---------------------------------------------------------- */

/* TRAIL_PC_LIMIT   user code lies below it
 * TRAIL_KEY_SHIFT  bits by which a key is shifted left to be an offset of a rule
 * TRAIL_TAG_SHIFT, TRAIL_TAG_MASK  the bits of a key that its slot does not imply, and
 *                  where they stand in a rule (core/capture/rule.h)
 */
#if defined(__aarch64__)
#define TRAIL_PC_LIMIT      ((uintptr_t)1 << 48)
#define TRAIL_KEY_SHIFT     1
#define TRAIL_TAG_SHIFT     16
#define TRAIL_TAG_MASK      (~(uint64_t)0 << 32 | (uint64_t)5 << 16)
#define TRAIL_RETURN_PUSHED false
#else
#define TRAIL_PC_LIMIT      ((uintptr_t)1 << (sizeof(uintptr_t) == 8 ? 47 : 31))
#define TRAIL_KEY_SHIFT     0
#define TRAIL_TAG_SHIFT     17
#define TRAIL_TAG_MASK      (~(uint64_t)0 << 34 | (uint64_t)15 << 17)
#define TRAIL_RETURN_PUSHED true /* by the call: it lies right below the CFA */
#endif

/* A saved return address without its signature (AArch64 pointer authentication). */
static inline uintptr_t trail_native_return(uintptr_t saved)
{
    return TRAIL_RETURN_PUSHED ? saved : saved & (TRAIL_PC_LIMIT - 1);
}

/* What every capture runs and looks at lies together: a capture among cold caches waits
 * for each page and line of it. */
#define TRAIL_HOT      __attribute__((hot, section("trail_text")))
#define TRAIL_HOT_DATA __attribute__((section(".data.trail_hot")))

/* Whether the words at `base` + at[0..8) are those of `kept`. `to` gets them, as return
 * addresses, if it is not NULL. No branch, and no load that waits for another. */
#if defined(__SSE2__)
TRAIL_READS_STACK static inline bool trail_native_same(uintptr_t base,
                                                       const uint32_t *at,
                                                       const uintptr_t *kept,
                                                       uintptr_t *to)
{
    __m128i differs = _mm_setzero_si128();
    for (unsigned i = 0; i < 8; i += 2) {
        __m128d low = _mm_load_sd((const double *)(base + at[i]));
        __m128i two =
            _mm_castpd_si128(_mm_loadh_pd(low, (const double *)(base + at[i + 1])));
        if (to)
            _mm_storeu_si128((__m128i *)(void *)(to + i), two);
        __m128i was = _mm_loadu_si128((const __m128i *)(const void *)(kept + i));
        differs = _mm_or_si128(differs, _mm_xor_si128(two, was));
    }
    __m128i same = _mm_cmpeq_epi8(differs, _mm_setzero_si128());
    return _mm_movemask_epi8(same) == 0xffff;
}

/* The same of frames whose fp lies just below their return address: both at once. */
TRAIL_READS_STACK static inline bool trail_native_same_pairs(uintptr_t base,
                                                             const uint32_t *fp_at,
                                                             const uintptr_t *fp,
                                                             const uintptr_t *pc,
                                                             uintptr_t *to)
{
    __m128i differs = _mm_setzero_si128();
    for (unsigned i = 0; i < 8; i += 2) {
        __m128i one = _mm_loadu_si128((const __m128i *)(base + fp_at[i]));
        __m128i two = _mm_loadu_si128((const __m128i *)(base + fp_at[i + 1]));
        __m128i fps = _mm_unpacklo_epi64(one, two), pcs = _mm_unpackhi_epi64(one, two);
        __m128i fps_were = _mm_loadu_si128((const __m128i *)(const void *)(fp + i));
        __m128i pcs_were = _mm_loadu_si128((const __m128i *)(const void *)(pc + i));
        _mm_storeu_si128((__m128i *)(void *)(to + i), pcs);
        differs = _mm_or_si128(differs, _mm_xor_si128(fps, fps_were));
        differs = _mm_or_si128(differs, _mm_xor_si128(pcs, pcs_were));
    }
    __m128i same = _mm_cmpeq_epi8(differs, _mm_setzero_si128());
    return _mm_movemask_epi8(same) == 0xffff;
}
#else
TRAIL_READS_STACK static inline bool trail_native_same(uintptr_t base,
                                                       const uint32_t *at,
                                                       const uintptr_t *kept,
                                                       uintptr_t *to)
{
    uintptr_t differs = 0;
    for (unsigned i = 0; i < 8; i++) {
        uintptr_t word = trail_word_at(base + at[i]);
        if (to)
            to[i] = word = trail_native_return(word);
        differs |= word ^ kept[i];
    }
    return differs == 0;
}

TRAIL_READS_STACK static inline bool trail_native_same_pairs(uintptr_t base,
                                                             const uint32_t *fp_at,
                                                             const uintptr_t *fp,
                                                             const uintptr_t *pc,
                                                             uintptr_t *to)
{
    uintptr_t differs = 0;
    for (unsigned i = 0; i < 8; i++) {
        uintptr_t at = base + fp_at[i];
        to[i] = trail_native_return(trail_word_at(at + sizeof(at)));
        differs |= (to[i] ^ pc[i]) | (trail_word_at(at) ^ fp[i]);
    }
    return differs == 0;
}
#endif

/* ---- stacks ------------------------------------------------------------- */

struct trail_os_stacks {
    bool known;
    int32_t start_at, size_at;     /* bytes from the thread pointer to where it says */
    uintptr_t main_end, main_size; /* of the initial thread */
};
extern struct trail_os_stacks trail_os_stacks;

/* Upper end of the calling thread's own stack, if `sp` is on it and that can be told;
 * else 0. Two loads and a compare. */
TRAIL_READS_STACK static inline uintptr_t trail_os_stack_end(uintptr_t sp)
{
    const struct trail_os_stacks *stacks = &trail_os_stacks;
    if (!stacks->known)
        return 0;
    uintptr_t thread = (uintptr_t)__builtin_thread_pointer();
    uintptr_t start = trail_word_at(thread + (uintptr_t)(intptr_t)stacks->start_at);
    uintptr_t size = trail_word_at(thread + (uintptr_t)(intptr_t)stacks->size_at);
    if (start == 0)
        return stacks->main_end - sp <= stacks->main_size ? stacks->main_end : 0;
    return sp - start < size ? start + size : 0;
}

/* The same where the layout is not known, from the C library's own interface; 0 where
 * that is no way to ask in a signal handler. Slow. */
uintptr_t trail_os_stack_end_slow(uintptr_t sp);

/* End of the memory that can be read from `address` on, looked at for `pages` pages (of
 * 4 KiB) at most; 0: not even there. One system call; errno stays. */
uintptr_t trail_os_readable_end(uintptr_t address, unsigned pages);

/* ---- loader ------------------------------------------------------------- */

struct trail_os_loader {
    bool known;
    const volatile uint64_t *adds;   /* objects ever added */
    const volatile uint32_t *loaded; /* objects there now */
};
extern struct trail_os_loader trail_os_loader;

/* Changes with every load (adds + 1, loaded + 1) and unload (loaded - 1), and never
 * goes back to what it was. 0 where the counters are not known. Two loads. */
TRAIL_READS_STACK static inline uint64_t trail_os_loader_generation(void)
{
    return 2 * *trail_os_loader.adds - *trail_os_loader.loaded;
}

/* The unwind table of one image, in memory. */
struct trail_os_unwind {
    const uint8_t *index;   /* .eh_frame_hdr */
    const uint8_t *segment; /* readable, holds it and .eh_frame */
    size_t segment_size;
    uintptr_t start, end; /* of the image */
};

/* Of the image around `pc`; false: there is none, or it has no such table. No lock. */
bool trail_os_unwind_at(uintptr_t pc, struct trail_os_unwind *unwind_ret);

/* Whether `pc` lies in code of an image. No lock. */
bool trail_os_is_code(uintptr_t pc);

/* ---- setting up --------------------------------------------------------- */

/* Find out the facts above, and touch every image's unwind table, so that the first
 * capture finds it in memory. Not for signal handlers; again is fine, and takes account
 * of images that were loaded since. */
void trail_os_facts_init(void);

/* Zeroed memory that takes up room only where it is written to; NULL: there is none. It
 * stays. */
void *trail_os_reserve(size_t size);

/* As trail_os_copy (os.h), by other system calls. Async-signal-safe. */
int trail_os_copy_by_pipe(uint64_t address, void *to, size_t size);

#endif
