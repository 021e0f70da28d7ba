/* interrupt.h -- being told to stop in the middle of writing files.
 *
 * A file is written beside its place and renamed in; who is stopped between the two
 * leaves rubbish behind. So a signal to stop is noted, what is being written is ended
 * or taken away, and then it is obeyed.
 */
#ifndef TRAIL_AGENT_INTERRUPT_H
#define TRAIL_AGENT_INTERRUPT_H

#include <stdbool.h>

/* From here on SIGINT, SIGTERM and SIGHUP are noted, each of them once: the same signal
 * again ends the program as it always does. */
void interrupt_watch(void);
/* Whether one came: stop soon. */
bool interrupt_came(void);
/* End the program by the signal that came, as if it had not been noted; if none did,
 * nothing. */
void interrupt_obey(void);

#endif
