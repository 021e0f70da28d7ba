/* scopes.h -- the namespaces, types and functions of a unit that give what lies in them
 * a name. A walk notes them as it passes; what it jumped over is looked into when a
 * name is asked for.
 */
#ifndef DWARF_SCOPES_H
#define DWARF_SCOPES_H

#include "reader.h"

/* Note a scope whose DIE is at `offset`. `end` 0: told later. Returns its index + 1; 0:
 * out of memory. */
static inline uint32_t scopes_note(struct name_scopes *scopes, uint64_t offset,
                                   uint64_t end, uint32_t parent, bool is_jumped)
{
    if (!vector_room(&scopes->of, 1))
        return 0;
    scopes->of.at[scopes->of.count++] = (struct name_scope){
        .start = offset, .end = end, .parent = parent, .is_jumped = is_jumped
    };
    return scopes->of.count;
}

/* Read those of a whole unit. False: out of memory or of work. */
bool scopes_read(struct worker *worker, const struct unit_context *context,
                 struct name_scopes *scopes);

/* The innermost scope around the DIE at `offset`, as index + 1; 0: none. */
uint32_t scopes_find(struct worker *worker, const struct unit_context *context,
                     struct name_scopes *scopes, uint64_t offset);

#endif
