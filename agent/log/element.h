/* element.h -- one element of symbolizer markup, {{{tag:field:...}}}.
 *
 * Source: LLVM's "Symbolizer Markup Format".
 */
#ifndef TRAIL_AGENT_LOG_ELEMENT_H
#define TRAIL_AGENT_LOG_ELEMENT_H

#include "agent/log/cursor.h"

#define LOG_ELEMENT_FIELDS 8

enum log_tag {
    LOG_TAG_RESET = 1, /* the first three tell the context of the others */
    LOG_TAG_MODULE,
    LOG_TAG_MMAP,
    LOG_TAG_BT,
    LOG_TAG_PC,
    LOG_TAG_SYMBOL,
    LOG_TAG_DATA,
};

struct log_element {
    enum log_tag tag;
    size_t start, end; /* in the text, braces and all */
    struct trail_text tag_text, fields[LOG_ELEMENT_FIELDS];
    size_t field_count;
    /* By tag, the fields as values: */
    uint64_t number;        /* of a module, or of a frame */
    uint64_t address;       /* mmap, bt, pc, data */
    uint64_t size, link;    /* mmap */
    char mode[4];           /* mmap: "rwx" or part of it */
    bool returns;           /* bt, pc: the address follows a call */
    struct trail_text text; /* module: name; symbol: name */
    uint8_t id[64];         /* module */
    size_t id_size;
};

/* The first element at or after `from` that is known and well formed; false: none. */
bool log_element_next(struct trail_text text, size_t from,
                      struct log_element *element_ret);

#endif
