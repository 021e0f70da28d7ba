/* answers.h -- what has been resolved, kept: a log says the same again and again. */
#ifndef TRAIL_AGENT_LOG_ANSWERS_H
#define TRAIL_AGENT_LOG_ANSWERS_H

#include "agent/log/modules.h"

#define LOG_ANSWER_SLOTS 16384
#define LOG_ANSWER_BYTES ((size_t)32 << 20) /* kept at most; then all are dropped */
#define LOG_CHAIN_LIMIT  256                /* calls of one address */
#define LOG_NAME_LIMIT   4096               /* bytes of one name or path */

/* One call; texts are "" if unknown, and hold no control characters. */
struct log_call {
    const char *function, *file;
    uint32_t line, column;
};

/* Calls at one address, innermost first; 0: nothing is known. */
struct log_answer {
    const struct log_module *module;
    uint64_t address;
    size_t bytes, call_count;
    struct log_call calls[];
};

struct log_answers {
    struct log_answer *slots[LOG_ANSWER_SLOTS];
    size_t bytes;
};

/* What is at a link-time address of a module. Lent until the next call; NULL: no
 * memory. */
const struct log_answer *log_answers_get(struct log_answers *answers,
                                         const struct log_backend *backend,
                                         struct log_module *module, uint64_t address);
void log_answers_clear(struct log_answers *answers);

#endif
