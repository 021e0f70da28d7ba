/* event.h -- a record as other formats see it: what happened, how bad it is, where. */
#ifndef HTTP_EVENT_H
#define HTTP_EVENT_H

#include "json.h"

enum severity {
    SEVERITY_INFO,
    SEVERITY_DEBUG,
    SEVERITY_WARNING,
    SEVERITY_ERROR,
    SEVERITY_FATAL,
};

/* One record, parsed. */
struct event {
    const struct trail_record *record;
    json_t *whole;
    const json_t *trace;      /* member "trace", or the whole if it is a raw trace */
    const json_t *raw_thread; /* that it is about, of the trace; NULL: none */
    const char *channel;
    bool about_records; /* what was dropped or counted: there is no stack */
};

/* Errors: TRAIL_BAD_INPUT: it is no JSON object; TRAIL_NO_MEMORY. */
enum trail_status event_init(struct event *event, const struct trail_record *record,
                             struct trail_error *err);
void event_deinit(struct event *event);

enum severity event_severity(const struct event *event);
/* In one line: the program's own words, or the signal's. */
void event_message(const struct event *event, char *text_ret, size_t size);
/* What it is called: "SIGSEGV", or its channel. */
const char *event_type(const struct event *event);
/* Member "host" of the process, or of who resolved it; "" if neither says. */
const char *event_host(const struct event *event);

#endif
