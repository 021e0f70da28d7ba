/* answers.h -- what is asked of a record, and of the agent that has it open: each
 * request is a JSON object with "ask", each answer lines of JSON.
 *
 * The last line is {"end":true} or {"end":true,"error":"..."}, with "usage":true where
 * the request itself was wrong. The same serves the control socket and, for what needs
 * no agent, a verb that has the record open while none runs.
 *
 *     {"ask":"info"} {"ask":"status"} {"ask":"reload"}
 *     {"ask":"channel","channel":"crash","sink":"hq","on":false}
 *     {"ask":"log","channel":"crash","since_ns":"17...","follow":true,"raw":false}
 *     {"ask":"why","id":"5f0c"}
 *     {"ask":"queue","do":"ls","sink":"hq","dead":true}     ls, retry, drop, export
 */
#ifndef TRAIL_AGENT_ANSWERS_H
#define TRAIL_AGENT_ANSWERS_H

#include <stdbool.h>

#include <jansson.h>

#include "core/journal/journal.h"

struct daemon;

struct answering {
    struct trail_journal *journal;
    struct daemon *daemon; /* NULL: no agent runs */
    bool is_owner;         /* may ask for everything */
    /* Send one line; false: who asked is gone. */
    bool (*line)(void *arg, const json_t *line);
    bool (*is_gone)(void *arg);
    void *arg;
};

/* Answer, the last line included. `request` NULL: what came was no JSON. */
void answer(const struct answering *answering, const json_t *request);

/* One kind of request: sends lines, but for the last. */
typedef enum trail_status answer_fn(const struct answering *answering,
                                    const json_t *request, struct trail_error *err);
answer_fn answer_info, answer_status, answer_log, answer_why, answer_queue,
    answer_channel;

/* For what they have in common: an entry without its text; and with it. */
json_t *answer_entry(const struct trail_journal_entry *entry, bool with_text);
/* Send a line, which is taken over; TRAIL_RETRY: who asked is gone. */
enum trail_status answer_line(const struct answering *answering, json_t *line);
/* A member that is text; `otherwise` if it is not there. */
const char *answer_text(const json_t *request, const char *key, const char *otherwise);
/* Whether there is a sink of this name; the error says which there are. */
enum trail_status answer_check_sink(const struct answering *answering, const char *name,
                                    struct trail_error *err);

#endif
