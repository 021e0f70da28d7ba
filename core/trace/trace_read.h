/* trace_read.h -- a raw trace read from JSON (docs/wire.md).
 *
 * Input is untrusted: at most trail_trace_size_limit bytes, 4,096 threads, 65,536
 * program counters a thread, 8,192 modules. Members that are not known are kept in
 * `raw`.
 */
#ifndef TRAIL_TRACE_READ_H
#define TRAIL_TRACE_READ_H

#include <stdbool.h>
#include <jansson.h>
#include "backtrail/base.h"
#include "core/trace/text_hash.h"

struct trail_range {
    uint64_t start, end; /* absolute addresses; end is outside */
};

struct trail_image {
    const char *path;
    uint32_t format, arch, id_kind; /* enums of symbolizer.h */
    bool vdso, main_program;
    uint8_t *id;
    size_t id_size;                          /* bytes */
    uint8_t text_hash[TRAIL_TEXT_HASH_SIZE]; /* where there is no id */
    bool has_text_hash;
    uint64_t bias;
    struct trail_range *ranges;
    size_t range_count;
    uint64_t first, last; /* epochs; last UINT64_MAX: mapped when the trace was taken */
};

struct trail_thread {
    int64_t tid;
    const char *name;
    bool crashed, truncated;
    const char *end; /* "base", "full" ... */
    uint64_t epoch;
    uint64_t *pcs;
    char *kinds, *trust; /* pc_count letters each */
    size_t pc_count;
    struct trail_range *own; /* code of the capture library */
    size_t own_count;
};

struct trail_trace {
    json_t *raw; /* the whole object; texts below are borrowed from it */
    const char *id, *why, *channel, *severity, *message; /* "" if absent */
    const char *app_name, *app_version, *exe;
    int64_t pid;
    const char *start; /* of the process, as in "process" */
    uint64_t time_ns;
    int64_t revision; /* of the report it was read from; 0: it was a raw trace */
    json_t *report;   /* that report, for members that are not known; or NULL */
    struct trail_thread *threads;
    size_t thread_count;
    struct trail_image *images;
    size_t image_count;
};

/* A report holds a trace and every frame of it. */
#define TRAIL_REPORT_SIZE_LIMIT (64u << 20)

/* How many bytes a line that begins with these may have: TRAIL_REPORT_SIZE_LIMIT if it
 * begins as a report does, else TRAIL_TRACE_SIZE_LIMIT. */
size_t trail_trace_size_limit(const char *text, size_t size);

/* Read one line. A report is read as the raw trace inside it. TRAIL_BAD_INPUT names the
 * member at fault. */
enum trail_status trail_trace_read(const char *text, size_t size,
                                   struct trail_trace **trace_ret,
                                   struct trail_error *err);
void trail_trace_destroy(struct trail_trace *trace); /* NULL is fine */

/* A number written as text, "0x..." or decimal, or as a JSON integer that is not
 * negative; false: `value`, which may be NULL, is none. */
bool trail_json_number_of(const json_t *value, uint64_t *number_ret);

/* The image that `pc` lay in at the thread's epoch, or NULL. If it is NULL but an image
 * was there in another epoch, that one is given in `gone_ret`, else NULL. */
const struct trail_image *trail_trace_image(const struct trail_trace *trace,
                                            uint64_t epoch, uint64_t pc,
                                            const struct trail_image **gone_ret);

#endif
