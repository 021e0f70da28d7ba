/* code.c -- the map of executable sections or segments. */
#include "code.h"

#include <gelf.h>

static bool add_sections(struct code *code, Elf *elf)
{
    for (Elf_Scn *section = elf_nextscn(elf, NULL); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr held;
        const GElf_Shdr *header = gelf_getshdr(section, &held);
        if (!header || !(header->sh_flags & SHF_ALLOC) ||
            !(header->sh_flags & SHF_EXECINSTR))
            continue;
        uint32_t number = (uint32_t)elf_ndxscn(section);
        uint64_t end = header->sh_addr + header->sh_size;
        if (!spans_add(&code->spans, header->sh_addr, end, number, number))
            return false;
    }
    return true;
}

/* A segment may begin with the ELF header at address 0, where dropped functions seem
 * to be: the first bytes are never code. */
static uint64_t after_header(const GElf_Phdr *header)
{
    return header->p_vaddr == 0 && header->p_memsz > 64 ? 64 : header->p_vaddr;
}

static bool add_segments(struct code *code, Elf *elf)
{
    size_t count = 0;
    if (elf_getphdrnum(elf, &count))
        return true;
    for (size_t i = 0; i < count && i < 65536; i++) {
        GElf_Phdr held;
        const GElf_Phdr *header = gelf_getphdr(elf, (int)i, &held);
        if (!header)
            break;
        if (header->p_type != PT_LOAD || !(header->p_flags & PF_X))
            continue;
        uint64_t end = header->p_vaddr + header->p_memsz;
        if (!spans_add(&code->spans, after_header(header), end, (uint32_t)i,
                       (uint32_t)i))
            return false;
    }
    return true;
}

bool code_add(struct code *code, Elf *elf)
{
    if (code->spans.count)
        return true;
    if (!add_sections(code, elf))
        return false;
    if (!code->spans.count && !add_segments(code, elf))
        return false;
    return spans_flatten(&code->spans);
}

bool code_holds(const struct code *code, uint64_t address)
{
    return spans_find(&code->spans, address) != NULL;
}

bool code_holds_both(const struct code *code, uint64_t one, uint64_t other)
{
    const struct span *span = spans_find(&code->spans, one);
    return span && span->start <= other && other < span->end;
}

void code_deinit(struct code *code)
{
    spans_deinit(&code->spans);
}
