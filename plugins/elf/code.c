/* code.c -- the map of executable sections or segments. */
#include "plugins/elf/code.h"

#include <gelf.h>

static bool add_sections(struct code *code, const struct binary *binary)
{
    struct binary_section section;
    for (Elf_Scn *at = NULL; binary_next(binary, &at, &section);) {
        if (!(section.flags & SHF_ALLOC) || !(section.flags & SHF_EXECINSTR))
            continue;
        uint64_t end = section.address + section.address_size;
        if (!spans_add(&code->spans, section.address, end, section.number,
                       section.number))
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

static bool add_segments(struct code *code, const struct binary *binary)
{
    size_t count = 0;
    if (elf_getphdrnum(binary->elf, &count))
        return true;
    for (size_t i = 0; i < count && i < 65536; i++) {
        GElf_Phdr held;
        const GElf_Phdr *header = gelf_getphdr(binary->elf, (int)i, &held);
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

bool code_add(struct code *code, const struct binary *binary)
{
    if (code->spans.count)
        return true;
    if (!add_sections(code, binary))
        return false;
    if (!code->spans.count && !add_segments(code, binary))
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
