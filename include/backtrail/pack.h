/* pack.h -- captured stacks in few bytes, to be kept by the thousand and unpacked
 * later, here or on another machine. docs/capture.md has the format byte by byte.
 *
 * Everything here is in libbacktrail-capture and libbacktrail. [capture]
 */
#ifndef BACKTRAIL_PACK_H
#define BACKTRAIL_PACK_H

#include "backtrail/backtrail.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the format; every packed stack and every piece of a table says it. */
#define TRAIL_PACK_VERSION 1

enum trail_pack_scheme {
    TRAIL_PACK_ABS = 1, /* each address by itself: nothing else is needed to read it */
    /* What differs from one frame's place in the modules' code to the next one's, and
     * what recurs. Read with the table of modules. */
    TRAIL_PACK_DELTA = 2,
};

/* What was packed in a stream before, for the next stack to share: with a stream, outer
 * frames that are those of the previous stack cost nothing, and runs of frames that
 * came up lately two bytes. Zero-initialised it is fresh, and so the next stack is
 * packed in full. Each end has one: what a packed stack needs is that its reader has
 * unpacked those before it, from one that was packed fresh on. Not for two users at
 * once: a thread has its own, and so does a signal handler. */
struct trail_pack_stream {
    uint64_t opaque[420];
};

/* Pack `count` addresses, innermost first, into `size` bytes at most: whole entries
 * only, and as many of the innermost as there is room for.
 *
 * `info` may be NULL: the first entry is then a current pc and all others return
 * addresses. Else info->kinds tells (or, if it is NULL, the same goes), and is packed
 * too; TRAIL_INFO_TRUNCATED is kept. Where not all entries fit, that flag is set in
 * info->flags, and info->end is TRAIL_END_FULL.
 *
 * Returns:  how many bytes were used; 0: not even the head fits, and the stream is as
 *           it was.
 * Owns:     nothing. `stream` may be NULL; TRAIL_PACK_ABS leaves it as it is.
 * Threads:  safe; all share one table of modules, without a lock.
 * Signals:  async-signal-safe: no allocation, no lock, no system call. Needs about
 *           3.5 KiB of stack. The modules must still be mapped: of one that is not, the
 *           address alone is kept.
 */
TRAIL_EXPORT size_t trail_pack(void *bytes, size_t size, enum trail_pack_scheme scheme,
                               struct trail_pack_stream *stream,
                               const uintptr_t *addresses, unsigned count,
                               struct trail_info *info);

/* trail_backtrace, packed; at most TRAIL_MAX_FRAMES entries. `control` and `info` are
 * as there, info->next_frame_addr and info->cursor telling where the entries go on that
 * there was no room for; info->kinds and info->trust are not filled.
 *
 * Returns:  how many bytes were used, as trail_pack.
 * Signals:  as trail_backtrace and trail_pack; needs about 5 KiB of stack. */
TRAIL_EXPORT size_t trail_backtrace_packed(void *bytes, size_t size,
                                           enum trail_pack_scheme scheme,
                                           struct trail_pack_stream *stream,
                                           const struct trail_control *control,
                                           struct trail_info *info);

/* ---- the table of modules ------------------------------------------------ */

/* A piece of code that packed stacks lie in: an executable segment of a module. */
struct trail_pack_module {
    uint32_t size;       /* of this struct, as the caller knows it */
    uint32_t number;     /* counts from 0 in the order in which they were met */
    uint64_t start, end; /* where it was mapped */
    uint64_t bias;       /* run-time address minus link-time address */
    uint8_t id[64];
    uint8_t id_size;
    bool
        id_is_hash; /* the module has no id; this is a hash (docs/wire.md, text_hash) */
    char path[128]; /* its last 127 bytes; "" unknown */
};

struct trail_pack_table;

/* Write the modules that packing has met in this process, from number `first` on, whole
 * ones only, for trail_pack_table_read. Stacks that were packed before this call lie in
 * them and in those before. *next_ret is the number to go on from: call again while it
 * grows. A module is told again where that is needed, which does no harm.
 *
 * Returns:  how many bytes were used; 0: there is nothing more, or no room for one.
 * Signals:  async-signal-safe, as trail_pack. */
TRAIL_EXPORT size_t trail_pack_table_write(void *bytes, size_t size, uint32_t first,
                                           uint32_t *next_ret);

/* A reader's table, at first an empty one. NULL: no memory. */
TRAIL_EXPORT struct trail_pack_table *trail_pack_table_create(void);
TRAIL_EXPORT void trail_pack_table_destroy(
    struct trail_pack_table *table); /* or NULL */
/* Add what one call of trail_pack_table_write wrote. Of malformed bytes nothing after
 * the mistake is added. */
TRAIL_EXPORT enum trail_status trail_pack_table_read(struct trail_pack_table *table,
                                                     const void *bytes, size_t size,
                                                     struct trail_error *err);
/* The module of that number; false: the table has none. `table` NULL: this process's.
 * module_ret->size is set by the caller. */
TRAIL_EXPORT bool trail_pack_table_at(const struct trail_pack_table *table,
                                      uint32_t number,
                                      struct trail_pack_module *module_ret);

/* ---- unpacking ----------------------------------------------------------- */

/* The caller sets `size`, `capacity`, and the arrays, of which each may be NULL. */
struct trail_unpacked {
    uint32_t size, capacity; /* entries that each array has room for */
    uint64_t *addresses;     /* as they were in the process that was captured */
    uint8_t *kinds;          /* enum trail_pc_kind */
    uint32_t *modules;       /* number of each one's module; UINT32_MAX: in none */
    uint32_t count;          /* entries written */
    uint32_t packed_count;   /* entries that there were */
    uint32_t flags;          /* enum trail_info_flags, as when it was packed */
};

/* The inverse of trail_pack. `size` is the very number of bytes that it used. `table`
 * NULL: this process's. A zero address follows the last one if there is room.
 *
 * Errors:  TRAIL_BAD_INPUT: not a packed stack; TRAIL_NOT_FOUND: it lies in a module
 *          that the table lacks, or shares frames with a stack that this stream has not
 *          unpacked; TRAIL_UNSUPPORTED: of a version to come. What was unpacked before
 *          is kept; the stream is then fresh. */
TRAIL_EXPORT enum trail_status trail_unpack(const void *bytes, size_t size,
                                            const struct trail_pack_table *table,
                                            struct trail_pack_stream *stream,
                                            struct trail_unpacked *unpacked,
                                            struct trail_error *err);

#ifdef __cplusplus
}
#endif

#endif
