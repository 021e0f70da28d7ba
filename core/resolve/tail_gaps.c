/* tail_gaps.c -- functions that left no frame because they ended in a tail call. */
#include "core/resolve/tail_gaps.h"

#include <stdlib.h>

#define EDGE_LIMIT 4096

struct node {
    struct trail_place place;
    uint32_t depth;
    bool wild;    /* it may call what is not known here */
    bool reached; /* from the function that was called, not by way of what runs */
    bool leads;   /* to the function that runs */
};

struct edge {
    uint32_t from, to;
    uint64_t return_address; /* 0: there are several calls */
};

struct search {
    struct node nodes[TRAIL_TAIL_NODES]; /* [0] was called, [1] runs */
    struct edge edges[EDGE_LIMIT];
    uint32_t node_count, edge_count;
};

enum { CALLED, RUNS };

bool trail_place_is(struct trail_place a, struct trail_place b)
{
    return a.image == b.image && a.start == b.start;
}

/* ---- the calls that can be reached -------------------------------------- */

/* TRAIL_TAIL_NODES: there is no room for it. */
static uint32_t node_of(struct search *search, struct trail_place place, uint32_t depth)
{
    for (uint32_t i = 0; i < search->node_count; i++)
        if (trail_place_is(search->nodes[i].place, place))
            return i;
    if (search->node_count == TRAIL_TAIL_NODES)
        return TRAIL_TAIL_NODES;
    search->nodes[search->node_count] = (struct node){ .place = place, .depth = depth };
    return search->node_count++;
}

/* False: a limit was reached. */
static bool add_edge(struct search *search, uint32_t from,
                     const struct trail_tail *tail)
{
    uint32_t to = node_of(search, tail->target, search->nodes[from].depth + 1);
    if (to == TRAIL_TAIL_NODES)
        return false;
    for (uint32_t i = search->edge_count; i-- > 0 && search->edges[i].from == from;)
        if (search->edges[i].to == to) {
            search->edges[i].return_address = 0;
            return true;
        }
    if (search->edge_count == EDGE_LIMIT)
        return false;
    search->edges[search->edge_count++] =
        (struct edge){ from, to, tail->return_address };
    return true;
}

/* Breadth first: nodes are added behind those that are looked at. */
static enum trail_status explore(struct search *search, trail_tails_fn *tails,
                                 void *arg)
{
    for (uint32_t at = 0; at < search->node_count; at++) {
        struct trail_tails made = { NULL, 0, false };
        struct node *node = &search->nodes[at];
        node->wild = node->depth >= TRAIL_TAIL_DEPTH;
        if (node->wild)
            continue;
        enum trail_status status = tails(arg, node->place, &made);
        if (status)
            return status;
        node->wild = made.open;
        for (size_t i = 0; i < made.count; i++)
            node->wild = !add_edge(search, at, &made.at[i]) || node->wild;
    }
    return TRAIL_OK;
}

/* Once what runs has been reached it does not matter where it could go from there,
 * unless it is known to come back. */
static void mark_reached(struct search *search)
{
    bool more = true;
    search->nodes[CALLED].reached = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < search->edge_count; i++) {
            const struct edge *edge = &search->edges[i];
            struct node *to = &search->nodes[edge->to];
            if (edge->from == RUNS || to->reached || !search->nodes[edge->from].reached)
                continue;
            to->reached = more = true;
        }
    }
}

/* ---- the chain ---------------------------------------------------------- */

static void mark_leading(struct search *search)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < search->edge_count; i++) {
            const struct edge *edge = &search->edges[i];
            struct node *from = &search->nodes[edge->from];
            if (from->leads || (edge->to != RUNS && !search->nodes[edge->to].leads))
                continue;
            from->leads = more = true;
        }
    }
}

/* The only call of `from` that leads to what runs; NULL: there are several. */
static const struct edge *only_way(const struct search *search, uint32_t from)
{
    const struct edge *way = NULL;
    for (uint32_t i = 0; i < search->edge_count; i++) {
        const struct edge *edge = &search->edges[i];
        if (edge->from != from || (edge->to != RUNS && !search->nodes[edge->to].leads))
            continue;
        if (way)
            return NULL;
        way = edge;
    }
    return way;
}

static bool is_certain(const struct search *search)
{
    for (uint32_t i = 0; i < search->node_count; i++)
        if (i != RUNS && search->nodes[i].reached && search->nodes[i].wild)
            return false;
    return !search->nodes[RUNS].leads;
}

/* A cycle needs no look of its own: a function on it has a way into it and one out. */
static size_t follow(const struct search *search,
                     struct trail_tail_step steps[TRAIL_TAIL_DEPTH])
{
    size_t count = 0;
    for (uint32_t at = CALLED; at != RUNS;) {
        const struct edge *way = only_way(search, at);
        if (!way || count == TRAIL_TAIL_DEPTH)
            return 0;
        steps[count++] =
            (struct trail_tail_step){ search->nodes[at].place, way->return_address };
        at = way->to;
    }
    return count;
}

enum trail_status trail_tail_chain(struct trail_place from, struct trail_place to,
                                   trail_tails_fn *tails, void *arg,
                                   struct trail_tail_step steps_ret[TRAIL_TAIL_DEPTH],
                                   size_t *count_ret)
{
    struct search *search = calloc(1, sizeof(*search));
    if (!search)
        return TRAIL_NO_MEMORY;
    node_of(search, from, 0);
    node_of(search, to, 0);
    enum trail_status status = explore(search, tails, arg);
    if (!status) {
        mark_reached(search);
        mark_leading(search);
        *count_ret = is_certain(search) ? follow(search, steps_ret) : 0;
    }
    free(search);
    return status;
}
