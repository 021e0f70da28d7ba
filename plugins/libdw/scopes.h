/* scopes.h -- the functions and inlined calls of one unit of debug information, by
 * address and with their nesting.
 *
 * The chain of an address follows how DIEs are nested, from the innermost one that has
 * the address, and does not ask whether those around it have it too: gcc gives some
 * inlined calls a list of ranges that reads as empty although their children hold code.
 */
#ifndef LIBDW_SCOPES_H
#define LIBDW_SCOPES_H

#include <elfutils/libdw.h>

#include "backtrail/base.h"
#include "plugins/elf/spans.h"

struct code;
struct trail_call;

#define SCOPE_NONE UINT32_MAX

struct scope {
    void *die;       /* where it lies; see scopes_die() */
    uint32_t parent; /* the call it was inlined into; SCOPE_NONE: a function itself */
};

/* Zero it to start. */
struct scopes {
    Dwarf_CU *cu;
    struct scope *at;
    size_t count, capacity;
    struct spans spans; /* value: index into `at` */
    size_t ranges_left; /* that the walk will still look at */
};

/* Walk over all of the unit of `unit_die` once.
 *
 * Errors: TRAIL_NO_MEMORY, TRAIL_CANCELLED. Where a unit is damaged the scopes up to
 *         there are kept, and that is TRAIL_OK.
 */
enum trail_status scopes_build(Dwarf_Die *unit_die, const struct code *code,
                               const struct trail_call *call, struct scopes *scopes);
void scopes_deinit(struct scopes *scopes);

/* Index of the innermost scope that has `address`, or SCOPE_NONE. */
uint32_t scopes_find(const struct scopes *scopes, uint64_t address);

Dwarf_Die scopes_die(const struct scopes *scopes, uint32_t index);

/* Call `each` for every range of a function, a call or a unit that begins in
 * executable code. False: `each` said so, or the list has no end. */
typedef bool scope_range_fn(void *arg, uint64_t start, uint64_t end);
bool scopes_ranges(Dwarf_Die *die, const struct code *code, scope_range_fn *each,
                   void *arg);

#endif
