/* lines.c -- runs line number programs. */
#include "lines.h"

#include "constants.h"
#include "owners.h"
#include "walk.h"

#define NEVER    UINT64_MAX
#define ROWS_MAX (UINT32_C(1) << 24) /* of one unit */

/* What a special opcode adds, worked out once for all: a division each would be
 * slow. */
struct advance {
    uint16_t address;
    int16_t line;
};

/* The state of a program: its registers, and what becomes of its rows. */
struct machine {
    struct worker *worker;
    const struct filter *filter; /* NULL: rows are kept */
    const uint8_t *at, *end;
    uint64_t address, const_add;
    uint32_t file, line, column, discriminator;
    uint32_t file_number; /* of `file` among the results */
    bool is_file_known;   /* `file_number` holds */
    bool is_live;         /* the sequence lies in code */
    struct advance advance[256];
    /* keeping rows: */
    uint32_t first_row; /* of the sequence */
    /* answering: the row before this one, and the next query */
    uint64_t last_address, next_query;
    uint32_t last_file, last_line, last_column, last_discriminator;
    bool has_last;
    uint32_t query;
    uint32_t sequence; /* where the one in hand starts */
};

static uint64_t location_of(struct machine *machine)
{
    if (!machine->is_file_known) {
        machine->file_number = lines_file(machine->worker, machine->file);
        machine->is_file_known = true;
    }
    return origin_location(machine->file_number, machine->line, machine->column);
}

/* ---- keeping rows ---------------------------------------------------- */

/* Of rows at one address the last counts; a row like the one before says nothing. */
static inline bool keep_row(struct machine *machine)
{
    struct worker *worker = machine->worker;
    uint64_t location = location_of(machine);
    uint32_t address = (uint32_t)(machine->address - worker->image->low);
    if (worker->rows.count > machine->first_row) {
        struct row *last = &worker->rows.at[worker->rows.count - 1];
        if (last->address == address) {
            last->location = location;
            last->discriminator = machine->discriminator;
            return true;
        }
        if (last->location == location && last->discriminator == machine->discriminator)
            return true;
        if (UNLIKELY(last->address > address)) {
            machine->is_live = false;
            return true;
        }
    }
    if (UNLIKELY(machine->address >= worker->image->high)) {
        machine->is_live = false;
        return true;
    }
    if (worker->rows.count == ROWS_MAX)
        return worker_give_up_unit(worker);
    if (!vector_room(&worker->rows, 1))
        return worker_no_memory(worker);
    worker->rows.at[worker->rows.count++] =
        (struct row){ address, machine->discriminator, location };
    return true;
}

static bool keep_sequence(struct machine *machine)
{
    struct worker *worker = machine->worker;
    const struct dwarf *image = worker->image;
    uint32_t first = machine->first_row;
    bool is_kept = machine->is_live && worker->rows.count > first &&
                   machine->address <= image->high &&
                   machine->address > image->low + worker->rows.at[first].address;
    if (!is_kept) {
        worker->rows.count = first;
        return true;
    }
    if (!vector_room(&worker->sequences, 1))
        return worker_no_memory(worker);
    worker->sequences.at[worker->sequences.count++] =
        (struct sequence){ worker->rows.at[first].address,
                           (uint32_t)(machine->address - image->low), first,
                           worker->rows.count - first };
    machine->first_row = worker->rows.count;
    return true;
}

/* ---- answering ------------------------------------------------------- */

/* Queries before this row's address have the row before. */
static void answer_up_to(struct machine *machine)
{
    const struct filter *filter = machine->filter;
    uint64_t low = machine->worker->image->low;
    for (; machine->query < filter->count; machine->query++) {
        struct query *query = &filter->queries[machine->query];
        uint64_t address = low + query->address;
        if (address >= machine->address)
            break;
        if (!machine->has_last || address < machine->last_address)
            continue;
        if (query->has_line && query->sequence <= machine->sequence)
            continue; /* as flatten.c has it */
        query->has_line = true;
        query->sequence = machine->sequence;
        query->location = lines_location(machine->worker, machine->last_file,
                                         machine->last_line, machine->last_column);
        query->discriminator = machine->last_discriminator;
    }
    machine->next_query = machine->query < filter->count
                              ? low + filter->queries[machine->query].address
                              : NEVER;
}

static inline void compare_row(struct machine *machine)
{
    if (UNLIKELY(machine->address > machine->next_query))
        answer_up_to(machine);
    machine->last_address = machine->address;
    machine->last_file = machine->file; /* its number is asked for if it counts */
    machine->last_line = machine->line;
    machine->last_column = machine->column;
    if (UNLIKELY(!machine->has_last)) {
        machine->sequence = (uint32_t)(machine->address - machine->worker->image->low);
        machine->has_last = true;
    }
    machine->last_discriminator = machine->discriminator;
}

static void begin_answering(struct machine *machine)
{
    const struct filter *filter = machine->filter;
    uint64_t low = machine->worker->image->low;
    machine->query = filter_first(filter, (uint32_t)(machine->address - low));
    machine->next_query = machine->query < filter->count
                              ? low + filter->queries[machine->query].address
                              : NEVER;
    machine->last_address = machine->address;
    machine->has_last = false;
}

/* ---- the program ----------------------------------------------------- */

static void start_sequence(struct machine *machine)
{
    machine->address = 0;
    machine->file = machine->line = 1;
    machine->column = machine->discriminator = 0;
    machine->is_file_known = machine->is_live = false;
    machine->next_query = NEVER;
}

static bool end_sequence(struct machine *machine)
{
    bool is_kept = true;
    if (!machine->filter)
        is_kept = keep_sequence(machine);
    else if (machine->is_live && machine->address > machine->next_query)
        answer_up_to(machine);
    start_sequence(machine);
    return is_kept;
}

static void set_address(struct machine *machine, uint64_t address)
{
    struct worker *worker = machine->worker;
    const struct dwarf *image = worker->image;
    bool was_live = machine->is_live;
    machine->address = address;
    machine->is_live = dwarf_is_live(image, address, address + 1);
    if (!machine->is_live || was_live)
        return;
    if (machine->filter) {
        begin_answering(machine);
        return;
    }
    uint32_t owner = owners_find(image, (uint32_t)(address - image->low));
    machine->is_live = owner == NO_UNIT || owner == worker->unit_index;
    machine->first_row = worker->rows.count;
}

/* `at` is behind the zero. False: the program is damaged, or out of memory. */
static bool run_extended(struct machine *machine)
{
    uint64_t size = bytes_uleb(&machine->at, machine->end);
    if (!size || size > bytes_left(machine->at, machine->end))
        return false;
    const uint8_t *at = machine->at, *next = at + size;
    bool is_big = machine->worker->unit.is_big_endian;
    machine->at = next;
    switch (*at++) {
    case DW_LNE_end_sequence:
        return end_sequence(machine);
    case DW_LNE_set_address:
        if (size == 9 || size == 5)
            set_address(machine, bytes_number(at, (unsigned)size - 1, is_big));
        return true;
    case DW_LNE_set_discriminator:
        machine->discriminator = (uint32_t)bytes_uleb(&at, next);
        return true;
    default:
        return true;
    }
}

/* The opcodes that are rare, and those that nobody knows. */
static bool run_rare(struct machine *machine, unsigned op)
{
    const struct line_header *line = &machine->worker->line;
    switch (op) {
    case DW_LNS_fixed_advance_pc:
        if (bytes_left(machine->at, machine->end) < 2)
            return false;
        machine->address += bytes_u16(machine->at, machine->worker->unit.is_big_endian);
        machine->at += 2;
        return true;
    case DW_LNS_set_basic_block:
    case DW_LNS_set_prologue_end:
    case DW_LNS_set_epilogue_begin:
        return true;
    default:
        for (unsigned i = line->operand_counts[op - 1]; i; i--)
            machine->at = bytes_skip_leb(machine->at, machine->end);
        return true;
    }
}

/* All but special opcodes, DW_LNS_copy and the extended ones. */
static inline __attribute__((always_inline)) bool run_standard(struct machine *machine,
                                                               unsigned op)
{
    const uint8_t *end = machine->end;
    switch (op) {
    case DW_LNS_advance_pc:
        machine->address +=
            bytes_uleb(&machine->at, end) * machine->worker->line.instruction_size;
        return true;
    case DW_LNS_advance_line:
        machine->line += (uint32_t)bytes_sleb(&machine->at, end);
        return true;
    case DW_LNS_set_file:
        machine->file = (uint32_t)bytes_uleb(&machine->at, end);
        machine->is_file_known = false;
        return true;
    case DW_LNS_set_column:
        machine->column = (uint32_t)bytes_uleb(&machine->at, end);
        return true;
    case DW_LNS_negate_stmt:
        return true;
    case DW_LNS_const_add_pc:
        machine->address += machine->const_add;
        return true;
    default:
        return run_rare(machine, op);
    }
}

static inline __attribute__((always_inline)) bool end_row(struct machine *machine,
                                                          const bool keeps)
{
    bool is_kept = true;
    if (machine->is_live) {
        if (!keeps)
            compare_row(machine);
        else
            is_kept = keep_row(machine);
    }
    machine->discriminator = 0;
    return is_kept;
}

/* Compiled once for each of the two uses. */
static inline __attribute__((always_inline)) bool run(struct machine *machine,
                                                      const bool keeps)
{
    const unsigned opcode_base = machine->worker->line.opcode_base;
    while (machine->at < machine->end) {
        unsigned op = *machine->at++;
        bool goes_on = true;
        if (LIKELY(op >= opcode_base)) {
            const struct advance *advance = &machine->advance[op - opcode_base];
            machine->address += advance->address;
            machine->line = (uint32_t)((int32_t)machine->line + advance->line);
            goes_on = end_row(machine, keeps);
        } else if (op == DW_LNS_copy) {
            goes_on = end_row(machine, keeps);
        } else if (op == DW_LNS_extended) {
            goes_on = run_extended(machine);
        } else {
            goes_on = run_standard(machine, op);
        }
        if (UNLIKELY(!goes_on))
            return !machine->worker->status;
    }
    return true;
}

static bool prepare(struct worker *worker, struct machine *machine)
{
    const struct line_header *line = &worker->line;
    machine->worker = worker;
    machine->at = line->program;
    machine->end = line->end;
    for (int i = 0; i < 256 - line->opcode_base; i++)
        machine->advance[i] =
            (struct advance){ (uint16_t)(i / line->line_range * line->instruction_size),
                              (int16_t)(line->line_base + i % line->line_range) };
    machine->const_add = (uint64_t)((255 - line->opcode_base) / line->line_range) *
                         line->instruction_size;
    start_sequence(machine);
    return worker_spend(worker, 2 * bytes_left(machine->at, machine->end));
}

bool lines_read_rows(struct worker *worker)
{
    struct machine machine = { .filter = NULL };
    worker->rows.count = worker->sequences.count = 0;
    if (!worker->line.is_usable)
        return true;
    if (!prepare(worker, &machine) || !run(&machine, true))
        return false;
    worker->rows.count = machine.first_row; /* of a sequence that did not end */
    return !worker->status;
}

bool lines_answer(struct worker *worker, const struct filter *filter)
{
    struct machine machine = { .filter = filter };
    if (!worker->line.is_usable)
        return true;
    return prepare(worker, &machine) && run(&machine, false) && !worker->status;
}
