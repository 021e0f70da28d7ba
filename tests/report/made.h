/* made.h -- resolved traces made by hand, without symbolizers. */
#ifndef TRAIL_TEST_MADE_H
#define TRAIL_TEST_MADE_H

#include "core/report/report.h"
#include "test.h"

#define MADE_FRAMES 32

/* Two modules, /srv/app/orders (main, id aa11) and /lib/libc.so.6 (id bb22), and one
 * thread. Frames are added one after another, innermost first. */
struct made {
    struct trail_trace *trace;
    struct trail_resolved resolved;
    struct trail_resolved_thread thread;
    struct trail_resolved_frame frames[MADE_FRAMES];
    struct trail_plugin plugin;
    struct trail_resolved_answer answer;
    struct trail_resolved_gap gap;
};

/* `members` go into the trace's object after its header: "\"message\":\"m\",". `bias`
 * is that of the main program. */
void made_init(struct made *made, const char *members, uint64_t bias);
void made_deinit(struct made *made);
/* The next frame, in the main program at link-time `offset`, with index `index`. */
struct trail_frame *made_add(struct made *made, uint32_t index, uint64_t offset,
                             const char *function);
/* The worked example: three calls inlined at one address, then two more, then libc. */
void made_example(struct made *made);

#endif
