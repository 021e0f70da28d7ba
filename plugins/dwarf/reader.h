/* reader.h -- an open module, and a worker that reads it: what all parts of the reader
 * share.
 *
 * Addresses inside the reader count from the first byte of executable code
 * ("relative"), in 32 bits; code more than 4 GiB behind that byte is not seen.
 */
#ifndef DWARF_READER_H
#define DWARF_READER_H

#include <stdatomic.h>

#include "dwarf.h"
#include "unit.h"

#define NO_UNIT UINT32_MAX

/* ---- what a unit yields ---------------------------------------------- */

struct relative_range {
    uint32_t start, end;
};

/* A function, or an inlined call, of the unit in hand. */
struct raw_scope {
    uint64_t call;        /* origin_location of an inlined one */
    uint64_t die;         /* that has its name */
    uint32_t start, size; /* of a function */
    uint32_t parent;      /* 0: a function itself */
    uint32_t kept;        /* its number among the results; 0: nothing refers to it */
};

/* Code of a scope. Later ones lie deeper. */
struct interval {
    uint32_t start, end, scope;
};

/* One range of one function, with the intervals that may lie in it. */
struct piece {
    uint32_t start, end;
    uint32_t interval, interval_count;
    uint32_t order;
};

/* A row of the line table. */
struct row {
    uint32_t address, discriminator;
    uint64_t location;
};

struct sequence {
    uint32_t start, end;
    uint32_t row, row_count;
};

/* A DIE with children that gives what lies in it a name: a namespace, a type, a
 * function. */
struct name_scope {
    uint64_t start, end; /* offsets in .debug_info; 0: its end was not reached */
    uint32_t parent;     /* index + 1; 0: the unit */
    uint32_t nested, nested_count; /* scopes found in it later: index, number */
    bool is_jumped;                /* the walk did not look into it */
};

/* See scopes.h. Zero it to start. */
struct name_scopes {
    VECTOR(struct name_scope) of; /* those of the walk, ascending; behind them others */
    uint32_t walked_count;
    bool are_read; /* else they are when a name is asked for */
};

/* A call site of the unit in hand. */
struct raw_call {
    uint32_t return_address; /* for a tail call perhaps only an address behind it */
    uint32_t scope;          /* innermost around it */
    uint64_t target;         /* DIE */
    bool is_tail;
};

/* A function of the unit in hand, for those who call it. */
struct function_place {
    uint64_t die, completed; /* its own, and that which it is an instance of */
    uint32_t start;
};

/* Code of one scope and location, up to the next segment of its run. */
struct segment {
    uint64_t location;
    uint32_t start, scope;
};

/* A stretch of code without a gap. */
struct run {
    uint32_t start, end;
    uint32_t segment, segment_count;
};

/* An address that is asked about. */
struct query {
    uint32_t address; /* relative */
    uint32_t index;   /* the caller's */
    uint32_t unit;
    uint32_t scope; /* of the unit in hand, then among worker->kept; 0: none */
    uint32_t discriminator;
    uint32_t sequence; /* start of the one that has its line */
    uint64_t location;
    bool has_line, has_function, has_line_table, is_incomplete;
};

/* Queries of one unit, ascending. `count` 0: all that the unit has. */
struct filter {
    struct query *queries;
    uint32_t count;
};

/* ---- results --------------------------------------------------------- */

struct function_entry {
    uint32_t name, linkage; /* texts */
    uint32_t start, size;   /* relative; size 0: inlined */
    uint32_t scope_size;    /* bytes in front of the name that are its scopes */
};

struct file_entry {
    uint32_t compilation, directory, name; /* texts; an absent part is 0 */
};

/* Numbers of equal entries, for finding them again: open addressing, a power of two. */
struct number_set {
    uint32_t *slots;
    uint32_t size, count;
};

/* ---- line tables ----------------------------------------------------- */

struct line_file {
    uint32_t directory; /* index; UINT32_MAX: none */
    uint32_t name;      /* text */
};

/* The header of a line number program (DWARF 5, 6.2.4). */
struct line_header {
    const uint8_t *program, *end, *operand_counts;
    VECTOR(uint32_t) directories; /* texts */
    VECTOR(struct line_file) files;
    VECTOR(uint32_t) numbers; /* of `files` among the results; 0: not asked for yet */
    uint8_t version, instruction_size, line_range, opcode_base;
    int8_t line_base;
    bool is_usable;
};

/* ---- the worker ------------------------------------------------------ */

/* Another unit that a reference led to. */
struct foreign_unit {
    struct unit_context context;
    struct abbrevs abbrevs;
    struct name_scopes scopes;
    uint64_t used;
};
#define FOREIGN_MAX 16

#define NAME_CACHE_BITS 14
struct cached_name {
    uint64_t die;      /* 0: free; no DIE is there */
    uint32_t function; /* 0: it has no name */
};

/* What reads one unit after the other. */
struct worker {
    struct dwarf *image;
    struct worker *next;           /* idle one */
    const struct trail_call *call; /* of the host, under way; may be NULL */
    int64_t work_left;             /* see worker_spend */
    int64_t work_until_poll;
    enum trail_status status; /* sticks: out of memory, or cancelled */
    bool gives_up_unit; /* `status` is TRAIL_BAD_INPUT for the unit in hand only */

    struct unit_context unit; /* in hand */
    uint32_t unit_index;      /* of it, or of its skeleton */
    struct abbrevs abbrevs, root_abbrevs;
    struct line_header line;
    struct foreign_unit *foreign;
    uint64_t foreign_clock;

    VECTOR(struct raw_scope) scopes;
    VECTOR(struct interval) intervals;
    VECTOR(struct piece) pieces;
    VECTOR(struct row) rows;
    VECTOR(struct sequence) sequences;
    VECTOR(struct relative_range) ranges;
    VECTOR(struct raw_call) calls;
    VECTOR(struct function_place) function_places;
    struct name_scopes name_scopes;
    VECTOR(uint32_t) paint; /* scopes by byte; see flatten.c. `count` is not used */
    struct walk_level *levels;

    VECTOR(struct segment) segments;
    VECTOR(struct run) runs;
    VECTOR(struct origin_scope) kept; /* scopes that something refers to; 0: none */
    VECTOR(struct function_entry) functions;
    VECTOR(struct file_entry) files;
    struct number_set function_set, file_set;
    struct cached_name *name_cache;
    struct texts texts;
};

/* Give the caller another unit of work: reset what is left of it. */
void worker_begin(struct worker *worker, const struct trail_call *call);

/* Count bytes of work (about one each nanosecond). False: there was too much for one
 * call, or the host wants it to end; `status` says so. What a sound file needs is far
 * less than the limit, which grows with the size of the sections. */
bool worker_spend_slowly(struct worker *worker);
static inline bool worker_spend(struct worker *worker, uint64_t bytes)
{
    worker->work_until_poll -= (int64_t)bytes;
    return LIKELY(worker->work_until_poll > 0) || worker_spend_slowly(worker);
}

/* End reading the unit in hand: it has more than a sound one. Always false. */
static inline bool worker_give_up_unit(struct worker *worker)
{
    worker->status = TRAIL_BAD_INPUT;
    worker->gives_up_unit = true;
    return false;
}

/* Whether that was why reading it ended; then go on to the others. */
static inline bool worker_gave_up_unit(struct worker *worker)
{
    bool gave_up = worker->gives_up_unit && worker->status == TRAIL_BAD_INPUT;
    worker->gives_up_unit = false;
    if (gave_up)
        worker->status = TRAIL_OK;
    return gave_up;
}

static inline bool worker_no_memory(struct worker *worker)
{
    worker->status = TRAIL_NO_MEMORY;
    return false;
}

struct worker *worker_create(struct dwarf *image);
/* Forget all results, so that numbers start anew. */
void worker_clear(struct worker *worker);
void worker_destroy(struct worker *worker); /* NULL is fine */

/* ---- the module ------------------------------------------------------ */

/* Code that a unit owns. */
struct claim {
    uint32_t start, end;
    uint32_t unit; /* index in the list of units of the main file */
};

/* How a skeleton's other half was found. */
struct split_half {
    enum { SPLIT_UNKNOWN, SPLIT_NONE, SPLIT_FOUND, SPLIT_MISSING } state;
    const struct dwarf_set *set;
    struct unit unit;
    struct dwarf_bytes abbrevs, str_offsets, rnglists; /* of a package: its part */
};

struct warm; /* warm.h */

struct dwarf {
    struct dwarf_input input;
    struct dwarf_range *code;
    uint64_t low;           /* of the first byte of code */
    uint64_t high;          /* the end of what is seen */
    uint64_t section_bytes; /* in all */
    struct text_stretches stretches;
    struct dwarf_set main, alt, package;
    VECTOR(struct dwarf_set *) split_sets;
    struct split_half *halves;   /* by unit; NULL: not asked for yet */
    VECTOR(struct claim) owners; /* disjoint, ascending */
    enum {
        OWNERS_UNREAD,
        OWNERS_OF_HINT,
        OWNERS_COMPLETE,
    } owners_state;
    struct worker *worker; /* of dwarf_resolve, dwarf_lookup, dwarf_calls */
    struct warm *warm;     /* NULL: no unit has been read whole yet */
    uint8_t *visits;       /* by unit; see resolve.c */
    unsigned small_batches;
    /* For parts of an enumeration side by side: */
    atomic_flag lock;
    bool is_prepared;
    struct worker *idle; /* workers that wait for a part */
};

/* Register the texts of a file's sections. False: out of memory. */
bool dwarf_set_init(struct dwarf *image, struct dwarf_set *set, uint32_t number,
                    const struct dwarf_file *file);

/* List the units of all files, unless it was done. False: out of memory. */
bool dwarf_list_units(struct dwarf *image);

/* The worker of the calls that come one at a time, begun. NULL: out of memory. */
struct worker *dwarf_begin(struct dwarf *image, const struct trail_call *call);

/* Whether code lies at `address`. */
bool dwarf_is_code(const struct dwarf *image, uint64_t address);
static inline bool dwarf_is_live(const struct dwarf *image, uint64_t start,
                                 uint64_t end)
{
    return start >= image->low && start < end && end <= image->high &&
           dwarf_is_code(image, start);
}

#endif
