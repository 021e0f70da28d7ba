/* program.c -- the line number state machine of DWARF 2 to 5. */
#include "program.h"

#include <dwarf.h>

/* Reads within bounds; what lies outside reads as 0 and sets `failed` for good. */
struct cursor {
    const uint8_t *at, *end;
    bool is_big_endian, failed;
};

struct header {
    uint8_t instruction_size, operations, line_range, opcode_base;
    int8_t line_base;
    uint8_t operands[256]; /* LEB128 operands of each standard opcode */
};

struct machine {
    struct header header;
    struct row row; /* the registers */
    uint64_t operation;
    const struct code *code;
    struct rows *rows;
    size_t sequence; /* index of its first row */
};

static uint64_t read_number(struct cursor *cursor, size_t size)
{
    uint64_t number = 0;
    if (cursor->failed || size > 8 || (size_t)(cursor->end - cursor->at) < size) {
        cursor->failed = true;
        return 0;
    }
    for (size_t i = 0; i < size; i++) {
        uint64_t byte = cursor->at[cursor->is_big_endian ? i : size - 1 - i];
        number = number << 8 | byte;
    }
    cursor->at += size;
    return number;
}

static uint8_t read_byte(struct cursor *cursor)
{
    return (uint8_t)read_number(cursor, 1);
}

/* LEB128; of more than 64 bits the lower ones. `is_signed`: extend the sign. */
static uint64_t read_leb(struct cursor *cursor, bool is_signed)
{
    uint64_t number = 0;
    unsigned int shift = 0;
    uint8_t byte;
    do {
        byte = read_byte(cursor);
        if (shift < 64)
            number |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : shift;
    } while ((byte & 0x80) && !cursor->failed);
    if (is_signed && (byte & 0x40) && shift < 64)
        number |= ~(uint64_t)0 << shift;
    return number;
}

static void skip(struct cursor *cursor, uint64_t size)
{
    if (cursor->failed || size > (size_t)(cursor->end - cursor->at))
        cursor->failed = true;
    else
        cursor->at += size;
}

/* Narrow the cursor to what follows, `size` bytes of it. */
static void narrow(struct cursor *cursor, uint64_t size)
{
    if (size > (size_t)(cursor->end - cursor->at))
        cursor->failed = true;
    else
        cursor->end = cursor->at + size;
}

/* Leaves the cursor at the first opcode. The tables of directories and files are
 * skipped by the length that the header gives; libdw has read them. */
static bool read_header(struct cursor *cursor, struct header *header)
{
    size_t offset_size = 4;
    uint64_t length = read_number(cursor, 4);
    if (length == 0xffffffff) {
        offset_size = 8;
        length = read_number(cursor, 8);
    }
    narrow(cursor, length);
    uint64_t version = read_number(cursor, 2);
    if (version >= 5)
        skip(cursor, 2); /* sizes of an address and of a segment selector */
    uint64_t rest_size = read_number(cursor, offset_size);
    struct cursor rest = *cursor;
    skip(cursor, rest_size);
    header->instruction_size = read_byte(&rest);
    header->operations = version >= 4 ? read_byte(&rest) : 1;
    skip(&rest, 1); /* default_is_stmt */
    header->line_base = (int8_t)read_byte(&rest);
    header->line_range = read_byte(&rest);
    header->opcode_base = read_byte(&rest);
    for (unsigned int i = 1; i < header->opcode_base; i++)
        header->operands[i] = read_byte(&rest);
    return !cursor->failed && !rest.failed && version >= 2 && version <= 5 &&
           header->line_range && header->operations && header->opcode_base;
}

static void reset(struct machine *machine)
{
    machine->row = (struct row){ .file = 1, .line = 1 };
    machine->operation = 0;
    machine->sequence = machine->rows->count;
}

static void advance(struct machine *machine, uint64_t steps)
{
    const struct header *header = &machine->header;
    uint64_t operation = machine->operation + steps;
    machine->row.address += header->instruction_size * (operation / header->operations);
    machine->operation = operation % header->operations;
}

static bool emit(struct machine *machine)
{
    struct row row = machine->row;
    if (row.line > INT32_MAX)
        row.line = 0; /* the table counted below zero */
    if (!rows_add(machine->rows, &row))
        return false;
    machine->row.discriminator = 0;
    return true;
}

static bool end_sequence(struct machine *machine)
{
    struct rows *rows = machine->rows;
    machine->row.ends = true;
    if (!emit(machine))
        return false;
    if (!code_holds(machine->code, rows->at[machine->sequence].address))
        rows->count = machine->sequence;
    reset(machine);
    return true;
}

static bool run_extended(struct machine *machine, struct cursor *cursor)
{
    uint64_t size = read_leb(cursor, false);
    struct cursor own = *cursor;
    skip(cursor, size);
    if (cursor->failed || !size)
        return !cursor->failed;
    narrow(&own, size);
    switch (read_byte(&own)) {
    case DW_LNE_end_sequence:
        return end_sequence(machine);
    case DW_LNE_set_address:
        machine->row.address = read_number(&own, (size_t)(own.end - own.at));
        machine->operation = 0;
        break;
    case DW_LNE_set_discriminator:
        machine->row.discriminator = (uint32_t)read_leb(&own, false);
        break;
    default:
        break;
    }
    return !own.failed;
}

static bool run_special(struct machine *machine, uint8_t opcode)
{
    const struct header *header = &machine->header;
    unsigned int adjusted = (unsigned int)opcode - header->opcode_base;
    advance(machine, adjusted / header->line_range);
    machine->row.line +=
        (uint32_t)(header->line_base + (int)(adjusted % header->line_range));
    return emit(machine);
}

static bool run_standard(struct machine *machine, uint8_t opcode, struct cursor *cursor)
{
    struct row *row = &machine->row;
    switch (opcode) {
    case DW_LNS_copy:
        return emit(machine);
    case DW_LNS_advance_pc:
        advance(machine, read_leb(cursor, false));
        return true;
    case DW_LNS_advance_line:
        row->line += (uint32_t)read_leb(cursor, true);
        return true;
    case DW_LNS_set_file:
        row->file = (uint32_t)read_leb(cursor, false);
        return true;
    case DW_LNS_set_column:
        row->column = (uint32_t)read_leb(cursor, false);
        return true;
    case DW_LNS_const_add_pc:
        advance(machine,
                (255u - machine->header.opcode_base) / machine->header.line_range);
        return true;
    case DW_LNS_fixed_advance_pc:
        row->address += read_number(cursor, 2);
        machine->operation = 0;
        return true;
    default:
        for (uint8_t i = 0; i < machine->header.operands[opcode]; i++)
            read_leb(cursor, false);
        return true;
    }
}

static bool run_opcode(struct machine *machine, struct cursor *cursor)
{
    uint8_t opcode = read_byte(cursor);
    if (opcode >= machine->header.opcode_base)
        return run_special(machine, opcode);
    if (opcode == 0)
        return run_extended(machine, cursor);
    return run_standard(machine, opcode, cursor);
}

bool program_run(const struct program *program, const struct code *code,
                 struct rows *rows)
{
    size_t before = rows->count;
    struct machine machine = { .code = code, .rows = rows };
    struct cursor cursor = { program->bytes, program->bytes + program->size,
                             program->is_big_endian, false };

    skip(&cursor, program->offset);
    if (!read_header(&cursor, &machine.header))
        return false;
    reset(&machine);
    while (!cursor.failed && cursor.at < cursor.end) {
        if (!run_opcode(&machine, &cursor))
            cursor.failed = true;
    }
    if (cursor.failed) {
        rows->count = before;
        return false;
    }
    rows->count = machine.sequence; /* a sequence without an end is no sequence */
    rows_sort(rows);
    return true;
}
