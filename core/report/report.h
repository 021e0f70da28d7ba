/* report.h -- a resolved trace as a report: JSON for machines, text for people. */
#ifndef TRAIL_REPORT_H
#define TRAIL_REPORT_H

#include "core/resolve/resolved.h"

/* The report as docs/wire.md has it: the raw trace whole, frames with hidden ones
 * tagged, answers, gaps, fingerprints. One line without newline, terminated; the caller
 * frees it. */
enum trail_status trail_report_json(const struct trail_resolved *resolved,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err);

/* Source files whose path begins with `from` are looked for below `to`. */
struct trail_source_root {
    struct trail_text from, to;
};

/* How a report for people looks. Zero-initialised it is plain, as files and sinks have
 * it; the rest is for terminals. */
struct trail_text_style {
    unsigned flags; /* TRAIL_FULL, TRAIL_STYLE_INLINE_INDEX */
    /* Leave out library frames and repeated calls in the middle of a stack, and say how
     * many; not with TRAIL_FULL. */
    bool fold;
    bool color;
    unsigned width; /* columns that names are shortened for; 0: as long as they are */
    bool source;    /* show source around frames of the program's own */
    uint32_t source_lines; /* above and below each line */
    const struct trail_source_root *roots;
    size_t root_count;
};

/* The report for people: what happened, then for each thread "backtrace:" and its
 * frames. */
enum trail_status trail_report_text(const struct trail_resolved *resolved,
                                    const struct trail_text_style *style,
                                    char **text_ret, size_t *size_ret,
                                    struct trail_error *err);

/* The frames of one thread alone, a line each, and the mark of a truncated one. "" for
 * none. The caller frees it; NULL: out of memory. */
char *trail_frames_text(const struct trail_resolved_thread *thread, unsigned flags);

/* The same of some frames, whole and without numbers: all that is told of one address.
 */
char *trail_frames_plain(const struct trail_resolved_frame *frames, size_t count);

/* What `is` says of a trace otherwise than `was`, an earlier report of it: for people,
 * address by address, or that nothing has changed. `was` NULL: there was none. The
 * caller frees it; NULL: out of memory. */
char *trail_report_difference(const struct trail_resolved *was,
                              const struct trail_resolved *is);

/* 16 hex digits and a terminator each. `exact` needs no symbols: module ids and offsets
 * of the addresses, so that equal crashes of one build are equal. `group` survives a
 * rebuild: module name and undecorated names of the program's own functions, or, where
 * it has none, `exact` again. */
void trail_fingerprints(const struct trail_resolved *resolved, char exact_ret[17],
                        char group_ret[17]);
/* "Orders::total(int)" without its arguments and clone suffix, for grouping. A return
 * type, which templates have, stays. */
size_t trail_name_undecorated(const char *function, char *name_ret, size_t size);

/* The thread that a report is about: the one that crashed, else the first; NULL: none.
 */
const struct trail_resolved_thread *trail_report_subject(
    const struct trail_resolved *resolved);

#endif
