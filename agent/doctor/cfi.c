/* cfi.c -- how the code of an ELF file can be unwound. */
#include "agent/doctor/cfi.h"

#include <stdlib.h>

#include "backtrail/symbolizer.h"

#define STUB_LIMIT  8  /* sections of linker-made stubs */
#define STACK_LIMIT 64 /* remembered states; compilers nest one */
/* What one entry may cost, however many others share its bytes. */
#define PROGRAM_LIMIT 4096u /* bytes of instructions of a CIE */
#define CODE_LIMIT    4096u /* bytes of code looked at */

/* DWARF numbers of the register that frame pointers are kept in; ABI supplements. */
static const struct chain_rule {
    uint32_t arch;
    enum frame_chain chain;
    uint64_t registers[2]; /* equal if there is only one */
} chain_rules[] = {
    { TRAIL_ARCH_X86_64, CHAIN_POINTER, { 6, 6 } },   /* rbp */
    { TRAIL_ARCH_X86, CHAIN_POINTER, { 5, 5 } },      /* ebp */
    { TRAIL_ARCH_AARCH64, CHAIN_RECORD, { 29, 29 } }, /* x29 */
    { TRAIL_ARCH_ARM, CHAIN_POINTER, { 11, 7 } },     /* r11; r7 in Thumb code */
    { TRAIL_ARCH_RISCV64, CHAIN_POINTER, { 8, 8 } },  /* s0 */
    { TRAIL_ARCH_PPC, CHAIN_BACK, { 1, 1 } },
    { TRAIL_ARCH_PPC64, CHAIN_BACK, { 1, 1 } },
    { TRAIL_ARCH_S390X, CHAIN_OPTION, { 15, 15 } },
};

static const struct chain_rule *chain_rule_of(const struct trail_elf *elf)
{
    static const struct chain_rule none = { .chain = CHAIN_UNKNOWN };
    uint32_t arch = trail_elf_arch(elf);
    for (size_t i = 0; i < sizeof(chain_rules) / sizeof(chain_rules[0]); i++)
        if (chain_rules[i].arch == arch)
            return &chain_rules[i];
    return &none;
}

/* ---- where the information is ------------------------------------------- */

static struct trail_cfi cfi_in(const struct trail_elf *elf, struct trail_text bytes,
                               uint64_t address)
{
    return (struct trail_cfi){ .bytes = (const uint8_t *)bytes.data,
                               .size = bytes.size,
                               .address = address,
                               .address_size = elf->is64 ? 8 : 4,
                               .little = elf->little };
}

/* .eh_frame_hdr says where .eh_frame begins; nothing says where it ends but the
 * terminator, and the segment. LSB Core 5.0, 10.6.2. */
static bool by_header(const struct trail_elf *elf, struct trail_cfi *cfi_ret)
{
    struct trail_elf_segment header, load;
    struct trail_text bytes;
    uint64_t address;
    size_t at = 4;
    if (!trail_elf_segment_of(elf, TRAIL_ELF_EH_FRAME, &header) ||
        header.file_size > SIZE_MAX ||
        !trail_elf_at(elf, header.address, (size_t)header.file_size, &bytes) ||
        bytes.size < 4 || bytes.data[0] != 1)
        return false;
    struct trail_cfi table = cfi_in(elf, bytes, header.address);
    if (!trail_cfi_pointer(&table, (uint8_t)bytes.data[1], 0, &at, &address))
        return false;
    for (uint32_t i = 0; i < elf->phnum; i++) {
        load = trail_elf_segment_at(elf, i);
        if (load.type != TRAIL_ELF_LOAD || address < load.address ||
            address - load.address >= load.file_size)
            continue;
        uint64_t size = load.file_size - (address - load.address);
        if (!trail_elf_at(elf, address, (size_t)size, &bytes))
            return false;
        *cfi_ret = cfi_in(elf, bytes, address);
        return true;
    }
    return false;
}

static bool by_section(const struct trail_elf *elf, const char *name,
                       struct trail_cfi *cfi_ret)
{
    struct trail_elf_section section, base;
    struct trail_text bytes;
    if (!trail_elf_section_named(elf, name, &section) ||
        section.flags & TRAIL_ELF_COMPRESSED ||
        !trail_elf_contents(elf, &section, &bytes) || bytes.size == 0)
        return false;
    *cfi_ret = cfi_in(elf, bytes, section.address);
    if (trail_elf_section_named(elf, ".text", &base))
        cfi_ret->text = base.address;
    if (trail_elf_section_named(elf, ".got", &base))
        cfi_ret->data = base.address;
    return true;
}

bool cfi_of_eh_frame(const struct trail_elf *elf, struct trail_cfi *cfi_ret)
{
    return by_section(elf, ".eh_frame", cfi_ret) ||
           (elf->shnum == 0 && by_header(elf, cfi_ret));
}

bool cfi_of_debug_frame(const struct trail_elf *elf, struct trail_cfi *cfi_ret)
{
    if (!by_section(elf, ".debug_frame", cfi_ret))
        return false;
    cfi_ret->debug_frame = true;
    return true;
}

/* ---- what one entry does ------------------------------------------------ */

struct cfa {
    uint64_t register_;
    int64_t offset;
    bool by_expression;
};

/* The code of .text; empty if it is not in this file. */
struct text_section {
    uint64_t start;
    struct trail_text code;
};

/* One entry being run through. */
struct skim {
    const struct trail_cfi *cfi;
    const struct trail_fde *fde;
    const struct chain_rule *rule;
    struct cfa cfa, initial, stack[STACK_LIMIT];
    size_t depth;
    int64_t pointer_at, return_at; /* where they are saved, from the CFA */
    bool saves_pointer, saves_return, saves_any;
    bool moves, by_pointer, outermost, damaged;
};

static bool is_pointer(const struct skim *skim, uint64_t register_)
{
    return register_ == skim->rule->registers[0] ||
           register_ == skim->rule->registers[1];
}

/* An expression that starts from the frame pointer: DW_OP_breg0 + number. gcc writes
 * one where it aligns the stack anew. */
static bool is_by_pointer(const struct skim *skim, struct trail_text expression)
{
    uint8_t first = expression.size ? (uint8_t)expression.data[0] : 0;
    return first >= 0x70 && first <= 0x8f && is_pointer(skim, first - 0x70u);
}

static void note_cfa(struct skim *skim)
{
    const struct cfa *cfa = &skim->cfa, *initial = &skim->initial;
    if (cfa->by_expression || cfa->register_ != initial->register_ ||
        cfa->offset != initial->offset)
        skim->moves = true;
    if (!cfa->by_expression && is_pointer(skim, cfa->register_))
        skim->by_pointer = true;
}

static void note_saved(struct skim *skim, const struct trail_cfi_step *step)
{
    skim->saves_any = true;
    if (is_pointer(skim, step->register_)) {
        skim->saves_pointer = true;
        skim->pointer_at = step->offset;
    }
    if (step->register_ == skim->fde->cie.return_register) {
        skim->saves_return = true;
        skim->return_at = step->offset;
    }
}

static void recall(struct skim *skim)
{
    if (skim->depth == 0)
        skim->damaged = true;
    else
        skim->cfa = skim->stack[--skim->depth];
}

static void remember(struct skim *skim)
{
    if (skim->depth == STACK_LIMIT)
        skim->damaged = true;
    else
        skim->stack[skim->depth++] = skim->cfa;
}

static void take_cfa(struct skim *skim, const struct trail_cfi_step *step)
{
    if (step->kind != TRAIL_CFI_CFA_OFFSET)
        skim->cfa.register_ = step->register_;
    if (step->kind != TRAIL_CFI_CFA_REGISTER)
        skim->cfa.offset = step->offset;
    skim->cfa.by_expression = false;
}

static void take_step(struct skim *skim, const struct trail_cfi_step *step)
{
    switch (step->kind) {
    case TRAIL_CFI_CFA:
    case TRAIL_CFI_CFA_REGISTER:
    case TRAIL_CFI_CFA_OFFSET:
        take_cfa(skim, step);
        break;
    case TRAIL_CFI_CFA_EXPRESSION:
        skim->cfa.by_expression = true;
        skim->by_pointer |= is_by_pointer(skim, step->expression);
        break;
    case TRAIL_CFI_SAVED:
        note_saved(skim, step);
        break;
    case TRAIL_CFI_SAVED_BY:
        skim->saves_any = true;
        break;
    case TRAIL_CFI_UNDEFINED:
        if (step->register_ == skim->fde->cie.return_register)
            skim->outermost = true;
        break;
    case TRAIL_CFI_REMEMBER:
        remember(skim);
        break;
    case TRAIL_CFI_RECALL:
        recall(skim);
        break;
    default:
        break;
    }
}

static void run(struct skim *skim, const uint8_t *program, size_t size, bool note)
{
    struct trail_cfi_step step;
    size_t at = 0;
    while (!skim->damaged &&
           trail_cfi_step(skim->cfi, skim->fde, program, size, &at, &step)) {
        take_step(skim, &step);
        if (note)
            note_cfa(skim);
    }
    if (at < size)
        skim->damaged = true;
}

/* Whether x29 is set to the frame record: "mov x29, sp" or "add x29, sp, #n". CFI does
 * not tell, since gcc goes on counting from sp. A64: ADD (immediate). */
static bool sets_record(const struct text_section *text, const struct trail_fde *fde)
{
    if (fde->start < text->start || fde->start - text->start >= text->code.size)
        return true; /* the code is elsewhere: what is saved has to do */
    uint64_t skip = fde->start - text->start, rest = text->code.size - skip;
    uint64_t size = fde->size < rest ? fde->size : rest;
    const uint8_t *at = (const uint8_t *)text->code.data + skip;
    for (uint64_t i = 0; i + 4 <= size && i < CODE_LIMIT; i += 4) {
        uint32_t word = (uint32_t)at[i] | (uint32_t)at[i + 1] << 8 |
                        (uint32_t)at[i + 2] << 16 | (uint32_t)at[i + 3] << 24;
        if ((word & 0xff8003ffu) == 0x910003fdu)
            return true;
    }
    return false;
}

static bool has_pointer(const struct text_section *text, const struct skim *skim)
{
    uint64_t width = skim->cfi->address_size;
    if (skim->by_pointer)
        return true;
    return skim->rule->chain == CHAIN_RECORD && skim->saves_pointer &&
           skim->saves_return &&
           (uint64_t)skim->return_at - (uint64_t)skim->pointer_at == width &&
           sets_record(text, skim->fde);
}

/* False: its instructions are not to be understood. */
static bool skim_entry(const struct text_section *text, const struct trail_cfi *cfi,
                       const struct chain_rule *rule, const struct trail_fde *fde,
                       struct cfi_facts *facts)
{
    struct skim skim = { .cfi = cfi, .fde = fde, .rule = rule };
    if (fde->cie.instruction_size > PROGRAM_LIMIT)
        return false;
    run(&skim, fde->cie.instructions, fde->cie.instruction_size, false);
    skim.initial = skim.cfa;
    skim.saves_any = skim.saves_pointer = skim.saves_return = false;
    run(&skim, fde->instructions, fde->instruction_size, true);
    if (skim.damaged)
        return false;
    if (skim.outermost || fde->cie.signal)
        return true;
    if (!skim.moves && !skim.saves_any) {
        facts->frameless++;
        return true;
    }
    facts->framed++;
    if (has_pointer(text, &skim))
        facts->with_pointer++;
    return true;
}

/* ---- all entries -------------------------------------------------------- */

/* What the linker made to reach other modules: no function keeps a frame in it. */
struct stubs {
    struct cfi_range at[STUB_LIMIT];
    size_t count;
};

static void find_stubs(const struct trail_elf *elf, struct stubs *stubs)
{
    for (uint32_t i = 0; i < elf->shnum && stubs->count < STUB_LIMIT; i++) {
        struct trail_elf_section section = trail_elf_section_at(elf, i);
        if ((section.name.size >= 4 && memcmp(section.name.data, ".plt", 4) == 0) ||
            trail_elf_name_is(section.name, ".iplt"))
            stubs->at[stubs->count++] =
                (struct cfi_range){ section.address, section.address + section.size };
    }
}

static bool is_stub(const struct stubs *stubs, uint64_t address)
{
    for (size_t i = 0; i < stubs->count; i++)
        if (address >= stubs->at[i].start && address < stubs->at[i].end)
            return true;
    return false;
}

static struct text_section text_of(const struct trail_elf *elf)
{
    struct trail_elf_section section;
    struct text_section text = { .start = 0 };
    if (trail_elf_section_named(elf, ".text", &section) &&
        trail_elf_contents(elf, &section, &text.code))
        text.start = section.address;
    return text;
}

static int by_start(const void *a, const void *b)
{
    const struct cfi_range *left = a, *right = b;
    return (left->start > right->start) - (left->start < right->start);
}

static void merge_ranges(struct cfi_facts *facts)
{
    struct cfi_range *at = facts->ranges;
    size_t kept = 0;
    if (facts->range_count == 0)
        return;
    qsort(at, facts->range_count, sizeof(*at), by_start);
    for (size_t i = 0; i < facts->range_count; i++) {
        if (kept && at[i].start <= at[kept - 1].end) {
            if (at[i].end > at[kept - 1].end)
                at[kept - 1].end = at[i].end;
        } else {
            at[kept++] = at[i];
        }
    }
    facts->range_count = kept;
}

static bool add_range(struct cfi_facts *facts, size_t *room, struct cfi_range range)
{
    if (facts->range_count == *room) {
        size_t wanted = *room ? *room * 2 : 256;
        struct cfi_range *grown =
            realloc(facts->ranges, wanted * sizeof(*facts->ranges));
        if (!grown)
            return false;
        facts->ranges = grown;
        *room = wanted;
    }
    facts->ranges[facts->range_count++] = range;
    return true;
}

bool cfi_facts_gather(const struct trail_elf *elf, const struct trail_cfi *cfi,
                      struct cfi_facts *facts_ret)
{
    const struct chain_rule *rule = chain_rule_of(elf);
    struct cfi_facts facts = { .chain = rule->chain };
    struct stubs stubs = { .count = 0 };
    struct trail_fde fde;
    uint64_t offset = 0;
    size_t room = 0;
    find_stubs(elf, &stubs);
    struct text_section text = text_of(elf);
    for (;;) {
        enum trail_cfi_found found = trail_cfi_next(cfi, &offset, &fde);
        if (found == TRAIL_CFI_END)
            break;
        if (found == TRAIL_CFI_DAMAGED)
            facts.damaged++;
        if (found != TRAIL_CFI_FDE || fde.size == 0 || fde.start == 0 ||
            fde.size > UINT64_MAX - fde.start)
            continue; /* the linker dropped the code: nothing is left at 0 */
        facts.count++;
        if (!is_stub(&stubs, fde.start) && !skim_entry(&text, cfi, rule, &fde, &facts))
            facts.damaged++;
        if (!add_range(&facts, &room,
                       (struct cfi_range){ fde.start, fde.start + fde.size })) {
            cfi_facts_deinit(&facts);
            return false;
        }
    }
    merge_ranges(&facts);
    *facts_ret = facts;
    return true;
}

void cfi_facts_deinit(struct cfi_facts *facts)
{
    free(facts->ranges);
    *facts = (struct cfi_facts){ .count = 0 };
}

bool cfi_facts_cover(const struct cfi_facts *facts, uint64_t address)
{
    size_t low = 0, high = facts->range_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (address < facts->ranges[middle].start)
            high = middle;
        else if (address >= facts->ranges[middle].end)
            low = middle + 1;
        else
            return true;
    }
    return false;
}
