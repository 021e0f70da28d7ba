/* pace.h -- notices, now and then, that the host wants the call to end. */
#ifndef ELF_PACE_H
#define ELF_PACE_H

#include <stdbool.h>

struct trail_call;

/* True: return TRAIL_CANCELLED soon. Asks the host and the clock each time. */
bool pace_is_over(const struct trail_call *call);

#endif
