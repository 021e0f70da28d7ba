/* call_site.c -- what kind of call, if any, is the instruction before an address?
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * CALL and tables 2-2 and 2-3; Arm Architecture Reference Manual, C6.2 and F5.1; The
 * RISC-V Instruction Set Manual, volume I, chapters 2 and 16.
 */
#include "core/trace/call_site.h"

#include <stdbool.h>

#include "backtrail/symbolizer.h"

/* Instructions of all these are little-endian, whatever the data is. */
static uint32_t word_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t half_at(const uint8_t *at)
{
    return at[0] | (uint32_t)at[1] << 8;
}

/* The low `bits` bits of `value` as a signed number. */
static uint64_t extended(uint32_t value, unsigned bits)
{
    uint64_t sign = (uint64_t)1 << (bits - 1);
    uint64_t low = value & ((sign << 1) - 1);
    return (low ^ sign) - sign;
}

/* ---- x86 ---------------------------------------------------------------- */

/* How long the operand that begins with a ModRM byte is; at most 6 bytes. */
static size_t operand_size(const uint8_t *modrm, size_t room)
{
    uint8_t mode = modrm[0] >> 6, base = modrm[0] & 7;
    size_t size = 1;
    if (mode == 3)
        return size;
    bool has_scale = base == 4;
    if (has_scale) {
        base = room > 1 ? modrm[1] & 7 : 0;
        size++;
    }
    if (mode == 1)
        return size + 1;
    return size + (mode == 2 || base == 5 ? 4 : 0);
}

/* CALL r/m and its far form: FF /2 and FF /3. Prefixes before it do not matter. */
static bool calls_operand(const uint8_t *code, size_t size)
{
    for (size_t length = 2; length <= 7 && length <= size; length++) {
        const uint8_t *at = code + size - length;
        uint8_t operation = at[1] >> 3 & 7;
        if (at[0] == 0xff && (operation == 2 || operation == 3) &&
            operand_size(at + 1, length - 1) == length - 1)
            return true;
    }
    return false;
}

/* SYSCALL, SYSENTER, INT 0x80. */
static bool calls_system(const uint8_t *end)
{
    return (end[-2] == 0x0f && (end[-1] == 0x05 || end[-1] == 0x34)) ||
           (end[-2] == 0xcd && end[-1] == 0x80);
}

static enum trail_call_site site_x86(uint64_t address, const uint8_t *code, size_t size,
                                     uint64_t *target_ret)
{
    if (size < 2)
        return TRAIL_CALL_SITE_UNKNOWN;
    if (size >= 5 && code[size - 5] == 0xe8) {
        *target_ret = address + extended(word_at(code + size - 4), 32);
        return TRAIL_CALL_SITE_DIRECT;
    }
    if (calls_operand(code, size))
        return TRAIL_CALL_SITE_INDIRECT;
    return calls_system(code + size) ? TRAIL_CALL_SITE_SYSTEM : TRAIL_CALL_SITE_NONE;
}

/* ---- Arm ---------------------------------------------------------------- */

struct pattern {
    uint32_t mask, bits;
    enum trail_call_site site;
};

static enum trail_call_site match(const struct pattern *patterns, uint32_t word)
{
    while (patterns->mask && (word & patterns->mask) != patterns->bits)
        patterns++;
    return patterns->mask ? patterns->site : TRAIL_CALL_SITE_NONE;
}

static enum trail_call_site site_aarch64(uint64_t address, const uint8_t *code,
                                         size_t size, uint64_t *target_ret)
{
    static const struct pattern calls[] = {
        { 0xfc000000, 0x94000000, TRAIL_CALL_SITE_DIRECT },   /* BL */
        { 0xfffffc1f, 0xd63f0000, TRAIL_CALL_SITE_INDIRECT }, /* BLR */
        { 0xfffff81f, 0xd63f081f, TRAIL_CALL_SITE_INDIRECT }, /* BLRAAZ, BLRABZ */
        { 0xfffff800, 0xd73f0800, TRAIL_CALL_SITE_INDIRECT }, /* BLRAA, BLRAB */
        { 0xffe0001f, 0xd4000001, TRAIL_CALL_SITE_SYSTEM },   /* SVC */
        { 0, 0, TRAIL_CALL_SITE_NONE },
    };
    if (size < 4)
        return TRAIL_CALL_SITE_UNKNOWN;
    uint32_t word = word_at(code + size - 4);
    enum trail_call_site site = match(calls, word);
    if (site == TRAIL_CALL_SITE_DIRECT)
        *target_ret = address - 4 + extended(word << 2, 28);
    return site;
}

/* BL and BLX of Thumb: two halves of 11 and 10 bits, and three bits of sign. */
static uint64_t thumb_offset(uint32_t first, uint32_t second)
{
    uint32_t sign = first >> 10 & 1;
    uint32_t high = !((second >> 13 & 1) ^ sign), low = !((second >> 11 & 1) ^ sign);
    uint32_t offset = sign << 24 | high << 23 | low << 22 | (first & 0x3ff) << 12 |
                      (second & 0x7ff) << 1;
    return extended(offset, 25);
}

/* Which of both instruction sets it is is not known. */
static enum trail_call_site site_arm(uint64_t address, const uint8_t *code, size_t size,
                                     uint64_t *target_ret)
{
    static const struct pattern calls[] = {
        { 0xfe000000, 0xfa000000, TRAIL_CALL_SITE_INDIRECT }, /* BLX to Thumb code */
        { 0x0f000000, 0x0b000000, TRAIL_CALL_SITE_DIRECT },   /* BL */
        { 0x0ffffff0, 0x012fff30, TRAIL_CALL_SITE_INDIRECT }, /* BLX register */
        { 0x0f000000, 0x0f000000, TRAIL_CALL_SITE_SYSTEM },   /* SVC */
        { 0, 0, TRAIL_CALL_SITE_NONE },
    };
    if (size < 4)
        return TRAIL_CALL_SITE_UNKNOWN;
    uint32_t first = half_at(code + size - 4), second = half_at(code + size - 2);
    if ((first & 0xf800) == 0xf000 && (second & 0xc000) == 0xc000) {
        uint64_t from = address & ~(uint64_t)(second & 0x1000 ? 0 : 3);
        *target_ret = from + thumb_offset(first, second);
        return TRAIL_CALL_SITE_DIRECT;
    }
    if ((second & 0xff87) == 0x4780) /* BLX register, in Thumb */
        return TRAIL_CALL_SITE_INDIRECT;
    uint32_t word = word_at(code + size - 4);
    enum trail_call_site site = match(calls, word);
    if (site == TRAIL_CALL_SITE_DIRECT)
        *target_ret = address + 4 + extended(word << 2, 26);
    if (site == TRAIL_CALL_SITE_NONE && (second & 0xff00) == 0xdf00)
        return TRAIL_CALL_SITE_SYSTEM;
    return site;
}

/* ---- RISC-V ------------------------------------------------------------- */

/* The offset of JAL, whose bits are shuffled. */
static uint64_t jump_offset(uint32_t word)
{
    uint32_t offset = (word >> 31 & 1) << 20 | (word >> 12 & 0xff) << 12 |
                      (word >> 20 & 1) << 11 | (word >> 21 & 0x3ff) << 1;
    return extended(offset, 21);
}

/* The link register is ra or, by convention, t0. */
static enum trail_call_site site_riscv(uint64_t address, const uint8_t *code,
                                       size_t size, uint64_t *target_ret)
{
    if (size < 2)
        return TRAIL_CALL_SITE_UNKNOWN;
    uint32_t half = half_at(code + size - 2);
    uint32_t word = size >= 4 ? word_at(code + size - 4) : 0;
    uint32_t link = word >> 7 & 31;
    bool links = link == 1 || link == 5;
    if ((word & 0x7f) == 0x6f && links) { /* JAL */
        *target_ret = address - 4 + jump_offset(word);
        return TRAIL_CALL_SITE_DIRECT;
    }
    if ((word & 0x707f) == 0x67 && links) /* JALR */
        return TRAIL_CALL_SITE_INDIRECT;
    if ((half & 0xf07f) == 0x9002 && half & 0x0f80) /* C.JALR */
        return TRAIL_CALL_SITE_INDIRECT;
    return word == 0x73 ? TRAIL_CALL_SITE_SYSTEM : TRAIL_CALL_SITE_NONE; /* ECALL */
}

enum trail_call_site trail_call_site(uint32_t arch, uint64_t address,
                                     const uint8_t *code, size_t size,
                                     uint64_t *target_ret)
{
    switch (arch) {
    case TRAIL_ARCH_X86_64:
    case TRAIL_ARCH_X86:
        return site_x86(address, code, size, target_ret);
    case TRAIL_ARCH_AARCH64:
        return site_aarch64(address, code, size, target_ret);
    case TRAIL_ARCH_ARM:
        return site_arm(address, code, size, target_ret);
    case TRAIL_ARCH_RISCV64:
        return site_riscv(address, code, size, target_ret);
    default:
        return TRAIL_CALL_SITE_UNKNOWN;
    }
}
