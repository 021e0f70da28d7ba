/* resolved.h -- a trace whose addresses have been named: frames, answers, gaps. */
#ifndef TRAIL_RESOLVED_H
#define TRAIL_RESOLVED_H

#include "backtrail/backtrail.h"
#include "core/resolve/resolver.h"
#include "core/trace/trace_read.h"

#define TRAIL_NO_INDEX SIZE_MAX

/* One call. `image`, `answer` and `gap` are indexes, or TRAIL_NO_INDEX. A frame that is
 * reconstructed has no address; it stands behind the frame whose index it has. */
struct trail_resolved_frame {
    struct trail_frame frame; /* hidden and in_app are set by trimming */
    size_t image, answer, gap;
    uint64_t symbol_size;
};

struct trail_resolved_thread {
    const struct trail_thread *thread;
    struct trail_resolved_frame *frames;
    size_t frame_count;
};

/* Who answered for a module, said once. */
struct trail_resolved_answer {
    const struct trail_plugin *plugin;
    size_t image;
    uint32_t route; /* enum trail_route */
    const char *source;
    uint32_t rank; /* as in struct trail_answer */
};

struct trail_resolved_gap {
    size_t image; /* TRAIL_NO_INDEX: the address lay in no module */
    struct trail_gap gap;
};

/* Everything lies in the arena; the trace must outlive it. */
struct trail_resolved {
    struct trail_arena arena;
    const struct trail_trace *trace;
    struct trail_resolved_thread *threads;
    size_t thread_count;
    struct trail_resolved_answer *answers;
    size_t answer_count;
    struct trail_resolved_gap *gaps;
    size_t gap_count;
};

/* What call `at` of an answer tells of a frame. */
void trail_resolved_name(struct trail_resolved_frame *frame,
                         const struct trail_answer *answer, uint32_t at);

/* What counts as the program's own code. */
struct trail_policy {
    char *const *in_app_include; /* globs over module paths; NULL-terminated or NULL */
    char *const *in_app_exclude;
};

/* Name every address of the trace. `flags`: enum trail_lookup_flags. */
enum trail_status trail_resolve_trace(struct trail_resolver *resolver,
                                      const struct trail_trace *trace,
                                      const struct trail_policy *policy, unsigned flags,
                                      struct trail_resolved **resolved_ret,
                                      struct trail_error *err);
void trail_resolved_destroy(struct trail_resolved *resolved); /* NULL is fine */

#endif
