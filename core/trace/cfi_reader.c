/* cfi_reader.c -- integers and encoded pointers of call frame information. */
#include "core/trace/cfi_reader.h"

/* DW_EH_PE_*: LSB Core 5.0, 10.5.1. */
enum {
    PE_ABSOLUTE = 0x00,
    PE_ULEB = 0x01,
    PE_U2 = 0x02,
    PE_U4 = 0x03,
    PE_U8 = 0x04,
    PE_SIGNED = 0x08,
    PE_SLEB = 0x09,
    PE_S2 = 0x0a,
    PE_S4 = 0x0b,
    PE_S8 = 0x0c,
    PE_PCREL = 0x10,
    PE_TEXTREL = 0x20,
    PE_DATAREL = 0x30,
    PE_FUNCREL = 0x40,
    PE_ALIGNED = 0x50,
};

/* ---- integers ----------------------------------------------------------- */

/* Compilers make one load of it. */
static uint64_t little_word(const uint8_t *at)
{
    return at[0] | (uint64_t)at[1] << 8 | (uint64_t)at[2] << 16 | (uint64_t)at[3] << 24;
}

uint64_t trail_cfi_fixed(struct trail_cfi_reader *reader, size_t width)
{
    uint64_t value = 0;
    if (reader->bad || reader->at > reader->end || width > reader->end - reader->at) {
        reader->bad = true;
        return 0;
    }
    const uint8_t *at = reader->bytes + reader->at;
    if (width == 4 && reader->little) {
        reader->at += 4;
        return little_word(at);
    }
    for (size_t i = 0; i < width; i++)
        value = value << 8 | at[reader->little ? width - 1 - i : i];
    reader->at += width;
    return value;
}

static uint64_t extended(uint64_t value, size_t width)
{
    uint64_t sign = (uint64_t)1 << (8 * width - 1);
    return width < 8 ? (value ^ sign) - sign : value;
}

/* LEB128 of either sign; bits above the 64th are dropped, ten bytes at most. */
static uint64_t leb(struct trail_cfi_reader *reader, bool is_signed)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint64_t byte = trail_cfi_byte(reader);
        value |= (byte & 0x7f) << (shift < 64 ? shift : 63);
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift + 7 < 64)
            value |= UINT64_MAX << (shift + 7);
        return value;
    }
    reader->bad = true;
    return 0;
}

uint64_t trail_cfi_uleb(struct trail_cfi_reader *reader)
{
    if (!reader->bad && reader->at < reader->end &&
        reader->bytes[reader->at] < 0x80) /* nearly always */
        return reader->bytes[reader->at++];
    return leb(reader, false);
}

int64_t trail_cfi_sleb(struct trail_cfi_reader *reader)
{
    return (int64_t)leb(reader, true);
}

/* ---- pointers ----------------------------------------------------------- */

static uint64_t pointer_value(const struct trail_cfi *cfi, uint8_t encoding,
                              struct trail_cfi_reader *reader)
{
    switch (encoding & 0x0f) {
    case PE_ABSOLUTE:
        return trail_cfi_fixed(reader, cfi->address_size);
    case PE_SIGNED:
        return extended(trail_cfi_fixed(reader, cfi->address_size), cfi->address_size);
    case PE_ULEB:
        return trail_cfi_uleb(reader);
    case PE_SLEB:
        return (uint64_t)trail_cfi_sleb(reader);
    case PE_U2:
        return trail_cfi_fixed(reader, 2);
    case PE_S2:
        return extended(trail_cfi_fixed(reader, 2), 2);
    case PE_U4:
        return trail_cfi_fixed(reader, 4);
    case PE_S4:
        return extended(trail_cfi_fixed(reader, 4), 4);
    case PE_U8:
    case PE_S8:
        return trail_cfi_fixed(reader, 8);
    default:
        reader->bad = true;
        return 0;
    }
}

static uint64_t pointer_base(const struct trail_cfi *cfi, uint8_t encoding,
                             uint64_t function, struct trail_cfi_reader *reader)
{
    switch (encoding & 0x70) {
    case 0:
        return 0;
    case PE_PCREL:
        return cfi->address + reader->at;
    case PE_TEXTREL:
        return cfi->text;
    case PE_DATAREL:
        return cfi->data;
    case PE_FUNCREL:
        return function;
    case PE_ALIGNED: {
        uint64_t past = (cfi->address + reader->at) % cfi->address_size;
        trail_cfi_fixed(reader, past ? cfi->address_size - (size_t)past : 0);
        return 0;
    }
    default:
        reader->bad = true;
        return 0;
    }
}

uint64_t trail_cfi_read_pointer(const struct trail_cfi *cfi, uint8_t encoding,
                                uint64_t function, struct trail_cfi_reader *reader)
{
    if (encoding == TRAIL_CFI_POINTER_OMITTED) {
        reader->bad = true;
        return 0;
    }
    uint64_t base = pointer_base(cfi, encoding, function, reader);
    uint64_t value = base + pointer_value(cfi, encoding, reader);
    return cfi->address_size == 4 ? value & UINT32_MAX : value;
}

bool trail_cfi_pointer(const struct trail_cfi *cfi, uint8_t encoding, uint64_t function,
                       size_t *at, uint64_t *pointer_ret)
{
    struct trail_cfi_reader reader = {
        .bytes = cfi->bytes, .at = *at, .end = cfi->size, .little = cfi->little
    };
    uint64_t value = trail_cfi_read_pointer(cfi, encoding, function, &reader);
    if (reader.bad)
        return false;
    *at = reader.at;
    *pointer_ret = value;
    return true;
}
