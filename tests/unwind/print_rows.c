/* print_rows.c -- prints every row of the unwind tables of a file, for rows.sh.
 *
 *   print_rows FILE SECTION [noindex]
 *
 * A row is "ADDRESS CFA REGISTER=RULE ..." as `readelf --debug-dump=frames-interp` has
 * them, undefined registers left out. Each is asked for at its first and its last byte.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "backtrail/symbolizer.h"
#include "core/os/os.h"
#include "tests/unwind/file.h"

static const char *const x86_64[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                      "r12", "r13", "r14", "r15", "rip" };
static const char *const i386[] = { "eax", "ecx", "edx", "ebx", "esp",
                                    "ebp", "esi", "edi", "eip" };
static const char *const riscv[] = {
    "zero", "ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0",
    "a1",   "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5",
    "s6",   "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"
};

static const char *name_of(const struct trail_machine *machine, unsigned number)
{
    static char name[16];
    switch (machine->arch) {
    case TRAIL_ARCH_X86_64:
        return x86_64[number];
    case TRAIL_ARCH_X86:
        return i386[number];
    case TRAIL_ARCH_RISCV64:
        return riscv[number];
    case TRAIL_ARCH_AARCH64:
        if (number == machine->sp)
            return "sp";
        snprintf(name, sizeof(name), "x%u", number);
        return name;
    default:
        snprintf(name, sizeof(name), "r%u", number);
        return name;
    }
}

static void print_rule(uint8_t kind, int32_t value)
{
    switch ((enum trail_row_kind)kind) {
    case TRAIL_ROW_OFFSET:
        printf("c%+" PRId32, value);
        break;
    case TRAIL_ROW_VAL_OFFSET:
        printf("v%+" PRId32, value);
        break;
    case TRAIL_ROW_EXPRESSION:
        printf("exp");
        break;
    case TRAIL_ROW_VAL_EXPRESSION:
        printf("vexp");
        break;
    case TRAIL_ROW_REGISTER:
        printf("r%" PRId32, value);
        break;
    case TRAIL_ROW_SAME:
        printf("s");
        break;
    case TRAIL_ROW_DEFAULT:
    case TRAIL_ROW_UNDEFINED:
        break;
    }
}

static void print_row(const struct trail_machine *machine,
                      const struct trail_cfi_row *row)
{
    printf("%0*" PRIx64 " ", machine->address_size * 2, row->start);
    if (row->cfa_kind == TRAIL_ROW_VAL_EXPRESSION)
        printf("exp");
    else
        printf("%s%+" PRId32, name_of(machine, row->cfa_register), row->cfa_value);
    for (unsigned i = 0; i < machine->cfi_count; i++) {
        if (row->kind[i] == TRAIL_ROW_DEFAULT || row->kind[i] == TRAIL_ROW_UNDEFINED)
            continue;
        printf(" %s=", i == row->return_column ? "ra" : name_of(machine, i));
        print_rule(row->kind[i], row->value[i]);
    }
    printf("\n");
}

/* Rows of one entry; false: one is missing, or its ends disagree. */
static bool print_entry(const struct trail_cfi_table *table,
                        const struct trail_fde *fde)
{
    uint64_t pc = fde->start;
    while (pc - fde->start < fde->size) {
        struct trail_cfi_row row, last;
        if (!trail_cfi_find(table, pc, &row)) {
            printf("%" PRIx64 " has no row\n", pc);
            return false;
        }
        if (row.start != pc || row.end <= pc ||
            !trail_cfi_find(table, row.end - 1, &last) ||
            memcmp(&row, &last, sizeof(row)) != 0) {
            printf("%" PRIx64 " has another row at its end\n", pc);
            return false;
        }
        print_row(table->machine, &row);
        pc = row.end;
    }
    return true;
}

int main(int argc, char **argv)
{
    struct trail_os_file file;
    struct trail_elf elf;
    struct trail_cfi_table table;
    struct trail_error err;
    if (argc < 3 || trail_os_file_map(argv[1], (size_t)1 << 30, &file, &err) ||
        !trail_elf_parse(file.bytes, file.size, &elf) ||
        !unwind_table_of(&elf, argv[2], argc == 3, &table))
        return 2;
    uint64_t offset = 0;
    bool good = true;
    struct trail_fde fde;
    enum trail_cfi_found found;
    while ((found = trail_cfi_next(&table.cfi, &offset, &fde)) != TRAIL_CFI_END)
        if (found == TRAIL_CFI_DAMAGED)
            good = false;
        else if (found == TRAIL_CFI_FDE)
            good = print_entry(&table, &fde) && good;
    trail_os_file_close(&file);
    return good ? 0 : 1;
}
