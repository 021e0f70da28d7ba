/* client_lines.h -- what one client has sent and not been answered yet: bytes that
 * become lines.
 */
#ifndef TRAIL_AGENT_CLIENT_LINES_H
#define TRAIL_AGENT_CLIENT_LINES_H

#include "agent/daemon/intake.h"

struct client_lines {
    int fd;
    uint32_t uid;
    enum intake_source source;
    bool answers; /* it gets a line for each of its own */
    bool mute;    /* it has not read them: it gets none any more */
    bool waits;   /* the record took nothing of it: it is asked again */
    bool ended;   /* it will send no more: what is there is the last line */
    char *bytes;
    size_t size, room;
};

/* Read what there is, without waiting, up to one line or 1 MiB more than is there.
 * Returns what is wrong with what it sent, NULL if nothing is. */
const char *client_lines_read(struct client_lines *client);
/* Its whole lines as items, which lend its bytes until client_lines_used. */
size_t client_lines_items(const struct client_lines *client, struct intake_item *items,
                          size_t limit, size_t *used_ret);
void client_lines_answer(struct client_lines *client, const struct intake_item *items,
                         size_t count);
void client_lines_used(struct client_lines *client, size_t size);
/* Standard input is left open, for nothing else to get its number. */
void client_lines_close(struct client_lines *client);

#endif
