/* units.h -- which unit of debug information an address belongs to. The map is our own:
 * .debug_aranges is left out by clang, and libdw finds nothing without it.
 */
#ifndef LIBDW_UNITS_H
#define LIBDW_UNITS_H

#include "lines.h"
#include "scopes.h"

struct unit {
    Dwarf_Die die;      /* of the unit, or of its skeleton if it is split */
    bool is_ranged;     /* it says itself which addresses it has */
    bool is_read;       /* the members below are filled */
    bool is_incomplete; /* split, and its .dwo file was not found: only lines */
    struct lines lines;
    struct scopes scopes;
    struct trail_text directory; /* compilation directory */
};

/* Zero it to start. */
struct units {
    struct unit *at;
    size_t count, capacity;
    struct spans spans;    /* value: index into `at` */
    bool are_all_searched; /* those that do not say which addresses they have too */
};

/* List the units of `dwarf`, which must stay open until units_deinit().
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED. Where the file is damaged the units up to
 *         there are kept, and that is TRAIL_OK.
 */
enum trail_status units_list(Dwarf *dwarf, const struct code *code,
                             const struct trail_call *call, struct units *units);
void units_deinit(struct units *units);

/* The unit of `address`, read so that its lines and scopes can be asked; NULL: none.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED.
 */
enum trail_status units_find(struct units *units, const struct code *code,
                             const struct trail_call *call, uint64_t address,
                             struct unit **unit_ret);

#endif
