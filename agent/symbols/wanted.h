/* wanted.h -- the modules that `symbols export` is asked for, each once. */
#ifndef TRAIL_AGENT_WANTED_H
#define TRAIL_AGENT_WANTED_H

#include "agent/module_file.h"
#include "agent/symbols/symbols.h"

struct wanted {
    char *path;     /* as users know it; "" if nobody does */
    char *opened;   /* the very file, on this machine; NULL: it was not found */
    uint8_t *bytes; /* of one that is in no file; or NULL */
    size_t bytes_size;
    uint8_t id[64];
    size_t id_size;       /* bytes; 0: it has none */
    uint32_t id_kind;     /* enum trail_id_kind */
    char hex[2 * 64 + 1]; /* the id */
    const char *reason;   /* why nothing more is to be had, as in a manifest; or NULL */
    char detail[400];     /* one line */
};

/* Zeroed is empty. */
struct wanted_list {
    struct wanted *at; /* in the order in which they were asked for */
    size_t count, room;
};

/* Add the modules of a subject, those that are not listed yet.
 *
 * Errors: TRAIL_NOT_FOUND, TRAIL_IO, TRAIL_BAD_INPUT: the subject itself cannot be
 * read; the text names it. */
enum trail_status wanted_add(struct wanted_list *list,
                             const struct symbols_subject *subject,
                             struct trail_error *err);
void wanted_deinit(struct wanted_list *list);

#endif
