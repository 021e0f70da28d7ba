/* call_before.c -- does the instruction before an address make a call?
 *
 * Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2,
 * CALL and tables 2-2 and 2-3; Arm Architecture Reference Manual, C6.2.
 */
#include "core/resolve/call_before.h"

#include <stdbool.h>

#include "backtrail/symbolizer.h"

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

/* CALL r/m64 and its far form: FF /2 and FF /3. Prefixes before it do not matter. */
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

static enum trail_before before_x86_64(const uint8_t *code, size_t size)
{
    if (size < 2)
        return TRAIL_BEFORE_UNKNOWN;
    if (size >= 5 && code[size - 5] == 0xe8)
        return TRAIL_BEFORE_CALL;
    bool call = calls_operand(code, size) || calls_system(code + size);
    return call ? TRAIL_BEFORE_CALL : TRAIL_BEFORE_OTHER;
}

/* Instructions are little-endian, whatever the data is. */
static enum trail_before before_aarch64(const uint8_t *code, size_t size)
{
    static const struct {
        uint32_t mask, bits;
    } calls[] = {
        { 0xfc000000, 0x94000000 }, /* BL */
        { 0xfffffc1f, 0xd63f0000 }, /* BLR */
        { 0xfffff81f, 0xd63f081f }, /* BLRAAZ, BLRABZ */
        { 0xfffff800, 0xd73f0800 }, /* BLRAA, BLRAB */
        { 0xffe0001f, 0xd4000001 }, /* SVC */
    };
    if (size < 4)
        return TRAIL_BEFORE_UNKNOWN;
    const uint8_t *at = code + size - 4;
    uint32_t word =
        at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        if ((word & calls[i].mask) == calls[i].bits)
            return TRAIL_BEFORE_CALL;
    return TRAIL_BEFORE_OTHER;
}

enum trail_before trail_call_before(uint32_t arch, const uint8_t *code, size_t size)
{
    switch (arch) {
    case TRAIL_ARCH_X86_64:
        return before_x86_64(code, size);
    case TRAIL_ARCH_AARCH64:
        return before_aarch64(code, size);
    default:
        return TRAIL_BEFORE_UNKNOWN;
    }
}
