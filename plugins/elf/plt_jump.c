/* plt_jump.c -- reads the instructions of linkage table entries, one machine each. */
#include "plugins/elf/plt_jump.h"

#include <elf.h>
#include <string.h>

#include "plugins/elf/word.h"

#define X86_ENTRY      16u
#define X86_JUMP       6u  /* ff 25 or ff a3, and four bytes */
#define X86_JUMP_AT    11u /* there is no jump behind this in any entry */
#define I386_PUSH_UNIT 8u  /* i386 pushes an offset into .rel.plt */

#define AARCH64_NOP       0xd503201fu
#define AARCH64_BTI_C     0xd503245fu
#define AARCH64_ENTRY_MAX 24u

/* `endbr; push index; jump to the first entry`, which comes before .plt.sec. */
static bool read_x86_push(const struct plt_jump_base *base, const uint8_t *at,
                          size_t size, struct plt_jump *jump)
{
    static const uint8_t endbr[] = { 0xf3, 0x0f, 0x1e };
    if (size < 9 || memcmp(at, endbr, sizeof(endbr)) != 0 || at[4] != 0x68)
        return false;
    uint32_t pushed = word_u32(at + 5, false);
    jump->index = base->machine == EM_386 ? pushed / I386_PUSH_UNIT : pushed;
    jump->has_slot = false;
    return true;
}

static bool read_x86(const struct plt_jump_base *base, uint64_t address,
                     const uint8_t *at, size_t size, struct plt_jump *jump)
{
    for (size_t i = 0; i < X86_JUMP_AT && i + X86_JUMP <= size; i++) {
        bool is_based = base->machine == EM_386 && at[i + 1] == 0xa3;
        if (at[i] != 0xff || (at[i + 1] != 0x25 && !is_based))
            continue;
        uint32_t number = word_u32(at + i + 2, false);
        jump->has_slot = true;
        if (base->machine == EM_386)
            jump->slot = (uint32_t)(is_based ? base->got + number : number);
        else
            jump->slot = address + i + X86_JUMP + (uint64_t)(int64_t)(int32_t)number;
        return true;
    }
    return read_x86_push(base, at, size, jump);
}

/* adrp x16, PAGE; ldr x17, [x16, OFFSET]; add; br x17; perhaps behind a `bti c`.
 * An entry that might have had one is filled up. */
static bool read_aarch64(uint64_t address, const uint8_t *at, size_t size,
                         struct plt_jump *jump)
{
    size_t skipped = size >= 4 && word_u32(at, false) == AARCH64_BTI_C ? 4 : 0;
    if (size < skipped + 8)
        return false;
    uint32_t adrp = word_u32(at + skipped, false);
    uint32_t ldr = word_u32(at + skipped + 4, false);
    if ((adrp & 0x9f00001fu) != 0x90000010u || (ldr & 0xffc003ffu) != 0xf9400211u)
        return false;
    uint64_t pages = (uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3);
    if (pages & 1u << 20)
        pages |= ~(uint64_t)0x1fffff;
    uint64_t page = (address + skipped) & ~(uint64_t)0xfff;
    jump->slot = page + (pages << 12) + (uint64_t)(ldr >> 10 & 0xfff) * 8;
    jump->has_slot = true;
    jump->size = skipped + 16;
    while (jump->size < AARCH64_ENTRY_MAX && size >= jump->size + 4 &&
           word_u32(at + jump->size, false) == AARCH64_NOP)
        jump->size += 4;
    return true;
}

/* add ip, pc, A; add ip, ip, B; ldr pc, [ip, C]! */
static bool read_arm(const struct plt_jump_base *base, uint64_t address,
                     const uint8_t *at, size_t size, struct plt_jump *jump)
{
    if (size < 12)
        return false;
    uint32_t high = word_u32(at, base->is_big_endian);
    uint32_t middle = word_u32(at + 4, base->is_big_endian);
    uint32_t load = word_u32(at + 8, base->is_big_endian);
    if ((high & 0xffffff00u) != 0xe28fc600u || (middle & 0xffffff00u) != 0xe28cca00u ||
        (load & 0xfffff000u) != 0xe5bcf000u)
        return false;
    jump->slot = (uint32_t)(address + 8 + ((high & 0xff) << 20) +
                            ((middle & 0xff) << 12) + (load & 0xfff));
    jump->has_slot = true;
    jump->size = 12;
    return true;
}

/* auipc t3, HIGH; l[wd] t3, LOW(t3); jalr t1, t3; nop */
static bool read_riscv(uint64_t address, const uint8_t *at, size_t size,
                       struct plt_jump *jump)
{
    if (size < 16)
        return false;
    uint32_t auipc = word_u32(at, false), load = word_u32(at + 4, false);
    if ((auipc & 0xfff) != 0xe17 || (load & 0xfefff) != 0xe2e03)
        return false;
    int64_t high = (int32_t)(auipc & 0xfffff000u);
    int64_t low = (int64_t)(load >> 20) - (load & 0x80000000u ? 0x1000 : 0);
    jump->slot = address + (uint64_t)(high + low);
    jump->has_slot = true;
    jump->size = 16;
    return true;
}

size_t plt_jump_step(const struct plt_jump_base *base,
                     const struct binary_section *section)
{
    if (base->machine != EM_X86_64 && base->machine != EM_386)
        return 4;
    return section->entry_size == 8 ? 8 : X86_ENTRY;
}

bool plt_jump_at(const struct plt_jump_base *base, const struct binary_section *section,
                 size_t offset, struct plt_jump *jump_ret)
{
    const uint8_t *at = section->bytes + offset;
    size_t left = section->size - offset, step = plt_jump_step(base, section);
    uint64_t address = section->address + offset;
    jump_ret->size = step;
    switch (base->machine) {
    case EM_X86_64:
    case EM_386:
        return read_x86(base, address, at, left < step ? left : step, jump_ret);
    case EM_AARCH64:
        return read_aarch64(address, at, left, jump_ret);
    case EM_ARM:
        return read_arm(base, address, at, left, jump_ret);
    case EM_RISCV:
        return read_riscv(address, at, left, jump_ret);
    default:
        return false;
    }
}
