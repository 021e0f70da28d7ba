/* companions.h -- asks the host for the files that a module's own file mentions. */
#ifndef ELF_COMPANIONS_H
#define ELF_COMPANIONS_H

#include "plugins/elf/binary.h"

/* The separate debug file of `image`: by its debug link, then by its build-id.
 *
 * Errors: TRAIL_NOT_FOUND: none, or the host has none that fits.
 */
enum trail_status companions_find_debug(const struct trail_call *call,
                                        const struct trail_module *module,
                                        const struct binary *image,
                                        struct binary *debug_ret);

/* The file that dwz moved shared parts of `main` to. Keep it open until `main` is
 * closed. Errors: as above. */
enum trail_status companions_find_alt(const struct trail_call *call,
                                      const struct binary *main,
                                      struct binary *alt_ret);

/* A companion called `name`, of a role that has neither id nor CRC to go by: the caller
 * compares what is in it. Errors: as above. */
enum trail_status companions_find_named(const struct trail_call *call, uint32_t role,
                                        struct trail_text name,
                                        const struct binary *from,
                                        struct binary *found_ret);

#endif
