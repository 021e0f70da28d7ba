/* call_before.h -- does the instruction before an address make a call? */
#ifndef TRAIL_CALL_BEFORE_H
#define TRAIL_CALL_BEFORE_H

#include "backtrail/base.h"

#define TRAIL_CALL_SIZE 8 /* bytes before an address that hold any call */

enum trail_before {
    TRAIL_BEFORE_UNKNOWN, /* too little code, or an architecture that is not known */
    TRAIL_BEFORE_CALL,    /* it may be a call, as far as the bytes tell */
    TRAIL_BEFORE_OTHER,   /* whatever it is, it is no call */
};

/* `code` are the bytes that end where the address is, `size` of them; fewer than
 * TRAIL_CALL_SIZE only where code begins there. `arch`: enum trail_arch. Where there is
 * doubt it is a call: system calls count as such. */
enum trail_before trail_call_before(uint32_t arch, const uint8_t *code, size_t size);

#endif
