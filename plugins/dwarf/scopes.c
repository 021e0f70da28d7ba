/* scopes.c -- namespaces, types and functions that give what lies in them a name. */
#include "scopes.h"

#define DEPTH_MAX 512 /* of scopes in each other */

static bool is_naming(const struct abbrev *abbrev)
{
    return abbrev->has_children &&
           (abbrev->class == DIE_SCOPE || abbrev->class == DIE_TYPE ||
            abbrev->class == DIE_FUNCTION);
}

/* A walk over the DIEs behind `at`, up to the end of the list that it starts in. */
struct scope_walk {
    struct worker *worker;
    const struct unit_context *context;
    struct name_scopes *scopes;
    const uint8_t *at, *end;
    bool is_deep; /* look into types and functions, too */
    uint32_t
        scope[DEPTH_MAX + 1]; /* by depth; that of the parent if it names nothing */
    unsigned depth;
};

/* One DIE with children; `walk->at` is behind its code. */
static bool pass_parent(struct scope_walk *walk, const struct abbrev *abbrev,
                        uint64_t offset)
{
    const struct unit_context *context = walk->context;
    const uint8_t *info = context->sections[DWARF_INFO].at;
    bool is_named = is_naming(abbrev);
    bool is_entered = walk->is_deep || abbrev->class == DIE_SCOPE;
    const uint8_t *next = die_sibling(context, abbrev, walk->at, walk->end);
    if (is_entered || !next)
        walk->at = die_skip(context, abbrev, walk->at, walk->end);
    if (!walk->at)
        return false;
    if (!is_entered) {
        walk->at = next ? next : die_skip_children(context, walk->at, walk->end);
        if (!walk->at || !is_named)
            return walk->at;
        return scopes_note(walk->scopes, offset, (uint64_t)(walk->at - info),
                           walk->scope[walk->depth], true) ||
               worker_no_memory(walk->worker);
    }
    if (walk->depth == DEPTH_MAX)
        return false;
    uint32_t scope = walk->scope[walk->depth];
    if (is_named) {
        scope = scopes_note(walk->scopes, offset, 0, scope, false);
        if (!scope)
            return worker_no_memory(walk->worker);
    }
    walk->scope[++walk->depth] = scope;
    return true;
}

/* The end of a list of children. False: of the first one. */
static bool pass_end(struct scope_walk *walk)
{
    const uint8_t *info = walk->context->sections[DWARF_INFO].at;
    if (!walk->depth)
        return false;
    uint32_t scope = walk->scope[walk->depth--];
    if (scope != walk->scope[walk->depth])
        walk->scopes->of.at[scope - 1].end = (uint64_t)(walk->at - info);
    return true;
}

static void walk_scopes(struct scope_walk *walk)
{
    const struct unit_context *context = walk->context;
    const uint8_t *info = context->sections[DWARF_INFO].at;
    while (walk->at && walk->at < walk->end) {
        const uint8_t *die = walk->at;
        uint64_t code = bytes_uleb(&walk->at, walk->end);
        if (!code) {
            if (!pass_end(walk))
                return;
            continue;
        }
        const struct abbrev *abbrev = abbrevs_find(context->abbrevs, code);
        if (!abbrev || abbrev->class == DIE_BAD)
            return;
        if (!abbrev->has_children)
            walk->at = die_skip(context, abbrev, walk->at, walk->end);
        else if (!pass_parent(walk, abbrev, (uint64_t)(die - info)))
            return;
    }
}

bool scopes_read(struct worker *worker, const struct unit_context *context,
                 struct name_scopes *scopes)
{
    const uint8_t *info = context->sections[DWARF_INFO].at;
    struct scope_walk walk = {
        .worker = worker,
        .context = context,
        .scopes = scopes,
        .at = info + context->unit.die,
        .end = info + context->unit.end,
    };
    uint64_t code = bytes_uleb(&walk.at, walk.end);
    const struct abbrev *root = abbrevs_find(context->abbrevs, code);
    scopes->of.count = scopes->walked_count = 0;
    scopes->are_read = true;
    if (!worker_spend(worker, context->unit.end - context->unit.offset))
        return false;
    if (!code || !root || root->class == DIE_BAD || !root->has_children)
        return true;
    walk.at = die_skip(context, root, walk.at, walk.end);
    walk_scopes(&walk);
    scopes->walked_count = scopes->of.count;
    return !worker->status;
}

/* ---- finding --------------------------------------------------------- */

/* Of `count` scopes from `first` on, the innermost that has `offset`, going no further
 * out than `outermost`. */
static uint32_t search(const struct name_scopes *scopes, uint32_t first, uint32_t count,
                       uint32_t outermost, uint64_t offset)
{
    uint32_t low = first, high = first + count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (scopes->of.at[middle].start < offset)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t scope = low > first ? low : outermost;
    while (scope != outermost && scopes->of.at[scope - 1].end &&
           scopes->of.at[scope - 1].end <= offset)
        scope = scopes->of.at[scope - 1].parent;
    return scope;
}

/* Look into a scope that the walk jumped over. */
static void expand(struct worker *worker, const struct unit_context *context,
                   struct name_scopes *scopes, uint32_t scope)
{
    struct name_scope *jumped = &scopes->of.at[scope - 1];
    const uint8_t *info = context->sections[DWARF_INFO].at;
    struct scope_walk walk = {
        .worker = worker,
        .context = context,
        .scopes = scopes,
        .at = info + jumped->start,
        .end = info + context->unit.end,
        .is_deep = true,
        .scope = { scope },
    };
    uint32_t first = scopes->of.count;
    jumped->is_jumped = false;
    if (!worker_spend(worker, jumped->end - jumped->start))
        return;
    uint64_t code = bytes_uleb(&walk.at, walk.end);
    const struct abbrev *abbrev = abbrevs_find(context->abbrevs, code);
    walk.at = die_skip(context, abbrev, walk.at, walk.end);
    walk_scopes(&walk);
    jumped = &scopes->of.at[scope - 1];
    jumped->nested = first;
    jumped->nested_count = scopes->of.count - first;
}

uint32_t scopes_find(struct worker *worker, const struct unit_context *context,
                     struct name_scopes *scopes, uint64_t offset)
{
    uint32_t scope = search(scopes, 0, scopes->walked_count, 0, offset);
    if (!scope)
        return 0;
    if (scopes->of.at[scope - 1].is_jumped)
        expand(worker, context, scopes, scope);
    const struct name_scope *found = &scopes->of.at[scope - 1];
    return found->nested_count
               ? search(scopes, found->nested, found->nested_count, scope, offset)
               : scope;
}
