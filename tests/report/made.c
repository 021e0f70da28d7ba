/* made.c -- resolved traces made by hand, without symbolizers. */
#include "made.h"

void made_init(struct made *made, const char *members, uint64_t bias)
{
    char text[2048];
    struct trail_error err = { "" };
    *made = (struct made){ .trace = NULL };
    snprintf(
        text, sizeof(text),
        "{\"backtrail\":1,\"kind\":\"trace\",\"id\":\"5f0c\",\"why\":\"request\","
        "\"channel\":\"report\",%s\"process\":{\"pid\":42,\"exe\":\"/srv/app/orders\"},"
        "\"threads\":[{\"tid\":42,\"name\":\"orders\",\"pcs\":[],\"end\":\"base\"}],"
        "\"modules\":[{\"path\":\"/srv/app/orders\",\"id\":\"aa11\",\"main\":true,"
        "\"bias\":\"0x%llx\"},{\"path\":\"/lib/libc.so.6\",\"id\":\"bb22\"}],"
        "\"future\":{\"kept\":[1,2,{\"deep\":null}]}}",
        members, (unsigned long long)bias);
    assert_ok_err(trail_trace_read(text, strlen(text), &made->trace, &err), err);
    snprintf(made->plugin.name, sizeof(made->plugin.name), "elfdwarf");
    snprintf(made->plugin.release, sizeof(made->plugin.release), "1.2.3");
    memset(made->plugin.hash, 'c', 64);
    made->answer = (struct trail_resolved_answer){ .plugin = &made->plugin,
                                                   .route = TRAIL_ROUTE_DEBUG_LINK,
                                                   .source = "/srv/app/orders.debug",
                                                   .rank = 3 };
    made->gap =
        (struct trail_resolved_gap){ .image = 1,
                                     .gap = { "no_symbol", "no symbol covers it",
                                              "give the debug file", "bb22" } };
    made->thread = (struct trail_resolved_thread){ .thread = &made->trace->threads[0],
                                                   .frames = made->frames };
    made->resolved = (struct trail_resolved){ .trace = made->trace,
                                              .threads = &made->thread,
                                              .thread_count = 1,
                                              .answers = &made->answer,
                                              .answer_count = 1,
                                              .gaps = &made->gap,
                                              .gap_count = 1 };
}

void made_deinit(struct made *made)
{
    trail_trace_destroy(made->trace);
}

struct trail_frame *made_add(struct made *made, uint32_t index, uint64_t offset,
                             const char *function)
{
    assert_true(made->thread.frame_count < MADE_FRAMES);
    struct trail_resolved_frame *added = &made->frames[made->thread.frame_count++];
    *added = (struct trail_resolved_frame){ .answer = function[0] ? 0 : TRAIL_NO_INDEX,
                                            .gap = TRAIL_NO_INDEX };
    trail_frame_init(&added->frame, made->trace->images[0].bias + offset);
    added->frame.index = index;
    added->frame.offset = offset;
    added->frame.function = function;
    added->frame.kind = index ? TRAIL_PC_RETURN : TRAIL_PC_CURRENT;
    added->frame.trust = index ? TRAIL_TRUST_CFI : TRAIL_TRUST_CONTEXT;
    added->frame.module = made->trace->images[0].path;
    added->frame.module_id = "aa11";
    added->frame.in_app = true;
    return &added->frame;
}

static void place(struct trail_frame *frame, const char *file, uint32_t line,
                  uint32_t column)
{
    frame->file = file;
    frame->line = line;
    frame->column = column;
}

void made_example(struct made *made)
{
    static const char *const names[] = { "Square", "Distance", "CanReach" };
    struct trail_frame *frame;
    for (uint32_t i = 0; i < 3; i++) {
        frame = made_add(made, 0, 0x11c9, names[i]);
        frame->inlined = i < 2;
        frame->inline_index = i;
        place(frame, "reach.cpp", 3 + i, i);
    }
    place(made_add(made, 1, 0x1240, "ItemsLoop"), "loop.cpp", 12, 5);
    made_add(made, 2, 0x1300, "main");
    frame = made_add(made, 3, 0x29d90, "");
    frame->hidden = "below-main";
    frame->in_app = false;
    frame->module = "/lib/libc.so.6";
    frame->module_id = "bb22";
    frame->gap = "no_symbol";
    made->frames[5].image = 1;
    made->frames[5].gap = 0;
}
