/* places.h -- where an agent keeps what it has: all below its state directory, unless
 * the config says otherwise. docs/operations.md has the table.
 */
#ifndef TRAIL_AGENT_PLACES_H
#define TRAIL_AGENT_PLACES_H

#include <stdbool.h>

#include "config/config.h"

#define PLACE_SIZE 1024

struct places {
    char state[PLACE_SIZE];
    char inbox[PLACE_SIZE], socket[PLACE_SIZE];    /* or as configured */
    char record[PLACE_SIZE], rejected[PLACE_SIZE]; /* directories */
    char control[PLACE_SIZE], lock[PLACE_SIZE];    /* control.sock, agent.lock */
    char channels[PLACE_SIZE], resolving[PLACE_SIZE];
};

enum trail_status places_of(const struct trail_config *config,
                            struct places *places_ret, struct trail_error *err);

/* Make the directories that are missing, and refuse an inbox in which others could put
 * or take away what is not theirs. */
enum trail_status places_prepare(const struct places *places, struct trail_error *err);

/* Be the one agent of this state directory until the descriptor is closed.
 *
 * Errors: TRAIL_REFUSED: there is one; `err` says which. */
enum trail_status places_lock(const struct places *places, int *fd_ret,
                              struct trail_error *err);

#endif
