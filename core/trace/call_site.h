/* call_site.h -- what kind of call, if any, is the instruction before an address? */
#ifndef TRAIL_CALL_SITE_H
#define TRAIL_CALL_SITE_H

#include "backtrail/base.h"

#define TRAIL_CALL_SITE_SIZE 8 /* bytes before an address that hold any call */

enum trail_call_site {
    TRAIL_CALL_SITE_UNKNOWN, /* too little code, or an architecture that is not known */
    TRAIL_CALL_SITE_NONE,    /* whatever it is, it is no call */
    TRAIL_CALL_SITE_SYSTEM,  /* it may enter the kernel */
    TRAIL_CALL_SITE_INDIRECT, /* it may call through a register or memory */
    TRAIL_CALL_SITE_DIRECT,   /* it may call the function at *target_ret */
};

/* `code` are the `size` bytes that end at `address`; fewer than TRAIL_CALL_SITE_SIZE
 * only where code begins there. `arch`: enum trail_arch. *target_ret is written for
 * direct calls alone. Bytes do not tell where instructions begin, so that now and then
 * one is seen where none is; none is ever overlooked. Async-signal-safe. */
enum trail_call_site trail_call_site(uint32_t arch, uint64_t address,
                                     const uint8_t *code, size_t size,
                                     uint64_t *target_ret);

#endif
