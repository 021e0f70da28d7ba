/* unwind.c -- whether a module's code can be unwound, and how. */
#include "agent/doctor/doctor.h"

#define GOOD_SHARE 95u /* percent */
#define POOR_SHARE 50u

static unsigned percent(size_t part, size_t whole)
{
    return whole ? (unsigned)((100.0 * (double)part) / (double)whole + 0.5) : 100;
}

/* 100 only if it is all, 0 only if it is none. */
static unsigned share(size_t part, size_t whole)
{
    unsigned rounded = percent(part, whole);
    if (rounded == 100 && part < whole)
        return 99;
    return rounded == 0 && part ? 1 : rounded;
}

/* ---- call frame information --------------------------------------------- */

static size_t covered_functions(const struct doctor_module *module,
                                const struct cfi_facts *facts)
{
    size_t covered = 0;
    for (size_t i = 0; i < module->functions.count; i++)
        covered += cfi_facts_cover(facts, module->functions.at[i]);
    return covered;
}

static const char no_cfi[] = "compile with -fasynchronous-unwind-tables";

static void check_covered(struct doctor_module *module, const struct cfi_facts *facts)
{
    size_t whole = module->functions.count, part = covered_functions(module, facts);
    unsigned part_share = share(part, whole);
    char damage[64] = "";
    if (facts->damaged)
        snprintf(damage, sizeof(damage), "; %zu entries cannot be read",
                 facts->damaged);
    enum doctor_level level = part_share >= GOOD_SHARE && !facts->damaged ? DOCTOR_OK
                              : part_share < POOR_SHARE                   ? DOCTOR_BAD
                                                                          : DOCTOR_WARN;
    const char *remedy = level ? "compile with -fasynchronous-unwind-tables, and write "
                                 ".cfi directives into assembler code"
                               : NULL;
    if (whole)
        doctor_note(module->report, level, "unwinding", remedy,
                    ".eh_frame covers %u %% of %zu functions%s", part_share, whole,
                    damage);
    else
        doctor_note(module->report, facts->damaged ? DOCTOR_WARN : DOCTOR_OK,
                    "unwinding", NULL, ".eh_frame has %zu entries%s", facts->count,
                    damage);
}

static void check_without_eh_frame(struct doctor_module *module)
{
    struct trail_elf_section section;
    const struct trail_elf *elf = &module->file.elf;
    if (trail_elf_section_named(elf, ".ARM.exidx", &section) && section.size > 8)
        doctor_note(module->report, DOCTOR_OK, "unwinding", NULL,
                    ".ARM.exidx has %llu entries",
                    (unsigned long long)section.size / 8);
    else if (trail_elf_section_named(elf, ".debug_frame", &section) ||
             trail_elf_section_named(elf, ".zdebug_frame", &section))
        doctor_note(module->report, DOCTOR_WARN, "unwinding", no_cfi,
                    "only .debug_frame, which is not there when the program runs");
    else
        doctor_note(module->report, DOCTOR_BAD, "unwinding", no_cfi,
                    "no .eh_frame: stacks end at its code, unless it keeps frame "
                    "pointers");
}

/* ---- frame pointers ----------------------------------------------------- */

static void check_chain(struct doctor_module *module, const struct cfi_facts *facts)
{
    static const char what[] = "frame pointers";
    static const char remedy[] =
        "compile with -fno-omit-frame-pointer, or unwind by CFI: perf record "
        "--call-graph dwarf";
    struct doctor_report *report = module->report;
    size_t without = facts->framed - facts->with_pointer;
    if (facts->chain == CHAIN_BACK)
        doctor_note(report, DOCTOR_OK, what, NULL,
                    "not needed: every frame of this architecture has a back chain");
    else if (facts->chain == CHAIN_OPTION)
        doctor_note(report, DOCTOR_WARN, what, "compile with -mbackchain",
                    "of no use on this architecture; walkers without CFI need a back "
                    "chain");
    else if (facts->chain == CHAIN_UNKNOWN || facts->framed == 0)
        doctor_note(report, DOCTOR_OK, what, NULL, "%s",
                    facts->framed ? "not known on this architecture"
                                  : "no function sets up a frame");
    else if (share(facts->with_pointer, facts->framed) >= GOOD_SHARE)
        doctor_note(
            report, DOCTOR_OK, what, NULL,
            "%u %% of functions with a frame (%zu of %zu; %zu leaf functions apart)",
            share(facts->with_pointer, facts->framed), facts->with_pointer,
            facts->framed, facts->frameless);
    else
        doctor_note(report, DOCTOR_WARN, what, remedy,
                    "no frame pointers: %u %% of functions with a frame (%zu of %zu; "
                    "%zu leaf functions apart); walkers by frame pointer, like perf's, "
                    "lose callers",
                    share(without, facts->framed), without, facts->framed,
                    facts->frameless);
}

void doctor_check_unwind(struct doctor_module *module)
{
    const struct trail_elf *elf = &module->file.elf;
    struct trail_cfi cfi;
    struct cfi_facts facts = { .count = 0 };
    bool has_eh_frame = cfi_of_eh_frame(elf, &cfi);
    bool gathered = (has_eh_frame || cfi_of_debug_frame(elf, &cfi)) &&
                    cfi_facts_gather(elf, &cfi, &facts);
    if (has_eh_frame && gathered && (facts.count || facts.damaged))
        check_covered(module, &facts);
    else
        check_without_eh_frame(module);
    if (gathered && facts.count)
        check_chain(module, &facts);
    else
        doctor_note(module->report, DOCTOR_WARN, "frame pointers", no_cfi,
                    "no call frame information tells whether it keeps them");
    cfi_facts_deinit(&facts);
}
