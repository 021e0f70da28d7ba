/* eh_frame.c -- the entries of .eh_frame and .debug_frame, over untrusted bytes. */
#include "core/trace/cfi_reader.h"

#define AUGMENTATION_LIMIT 16u /* letters; real ones have up to five */

/* The start of an entry: its length, and the field that tells a CIE from an FDE. */
struct entry {
    uint64_t offset;      /* of the entry */
    uint64_t id_offset;   /* of the field */
    uint64_t id, end;     /* end: offset behind the entry */
    bool is_cie, is_last; /* is_last: a terminator */
};

static bool read_entry(const struct trail_cfi *cfi, uint64_t offset,
                       struct entry *entry_ret, struct trail_cfi_reader *reader)
{
    *reader = (struct trail_cfi_reader){ .bytes = cfi->bytes,
                                         .at = (size_t)offset,
                                         .end = cfi->size,
                                         .little = cfi->little };
    struct entry entry = { .offset = offset };
    uint64_t length = trail_cfi_fixed(reader, 4);
    bool is_long = length == UINT32_MAX;
    if (is_long)
        length = trail_cfi_fixed(reader, 8);
    if (reader->bad || length > reader->end - reader->at)
        return false;
    entry.is_last = length == 0;
    entry.id_offset = reader->at;
    entry.end = reader->at + length;
    reader->end = (size_t)entry.end;
    if (!entry.is_last) {
        bool wide = is_long && cfi->debug_frame;
        entry.id = trail_cfi_fixed(reader, wide ? 8 : 4);
        entry.is_cie = entry.id == (!cfi->debug_frame ? 0
                                    : wide            ? UINT64_MAX
                                                      : UINT32_MAX);
    }
    *entry_ret = entry; /* a field that is cut off spoils the reader, not the entry */
    return true;
}

/* One letter of a 'z' augmentation. */
static void read_letter(const struct trail_cfi *cfi, char letter, struct trail_cie *cie,
                        struct trail_cfi_reader *reader)
{
    uint8_t personality;
    switch (letter) {
    case 'R':
        cie->encoding = trail_cfi_byte(reader);
        return;
    case 'L':
        cie->lsda = trail_cfi_byte(reader);
        return;
    case 'P':
        personality = trail_cfi_byte(reader);
        if (personality != TRAIL_CFI_POINTER_OMITTED)
            trail_cfi_read_pointer(cfi, personality, 0, reader);
        return;
    case 'S':
        cie->signal = true;
        return;
    case 'B': /* AArch64: return addresses are signed with the B key */
    case 'G': /* AArch64: stack is tagged */
        return;
    default:
        reader->bad = true;
    }
}

/* What follows the return register, as the augmentation's letters say. */
static void read_augmentation(const struct trail_cfi *cfi, const char *letters,
                              struct trail_cie *cie, struct trail_cfi_reader *reader)
{
    if (!letters[0])
        return;
    uint64_t size = trail_cfi_uleb(reader);
    if (letters[0] != 'z' || reader->bad || size > reader->end - reader->at) {
        reader->bad = true;
        return;
    }
    struct trail_cfi_reader inner = *reader;
    inner.end = reader->at + (size_t)size;
    cie->augmented = true;
    for (const char *letter = letters + 1; *letter && !inner.bad; letter++)
        read_letter(cfi, *letter, cie, &inner);
    reader->bad = inner.bad;
    reader->at += (size_t)size;
}

/* The augmentation string; false: it has no end, or is longer than any real one. */
static bool read_letters(struct trail_cfi_reader *reader,
                         char letters_ret[AUGMENTATION_LIMIT])
{
    for (size_t i = 0; i < AUGMENTATION_LIMIT; i++) {
        letters_ret[i] = (char)trail_cfi_byte(reader);
        if (!letters_ret[i])
            return !reader->bad;
    }
    return false;
}

static bool read_cie(const struct trail_cfi *cfi, uint64_t offset,
                     struct trail_cie *cie_ret)
{
    char letters[AUGMENTATION_LIMIT];
    struct entry entry;
    struct trail_cfi_reader reader;
    if (!read_entry(cfi, offset, &entry, &reader) || !entry.is_cie)
        return false;
    struct trail_cie cie = { .offset = offset,
                             .version = trail_cfi_byte(&reader),
                             .lsda = TRAIL_CFI_POINTER_OMITTED,
                             .address_size = cfi->address_size };
    if (cie.version != 1 && cie.version != 3 && cie.version != 4)
        return false;
    if (!read_letters(&reader, letters))
        return false;
    if (cie.version == 4) {
        cie.address_size = trail_cfi_byte(&reader);
        if (trail_cfi_byte(&reader)) /* segment selectors: on nothing that runs today */
            return false;
    }
    if (cie.address_size != cfi->address_size)
        return false;
    if (letters[0] == 'e' && letters[1] == 'h') { /* of gcc 2: a pointer follows */
        trail_cfi_fixed(&reader, cie.address_size);
        memmove(letters, letters + 2, AUGMENTATION_LIMIT - 2);
    }
    cie.code_align = trail_cfi_uleb(&reader);
    cie.data_align = trail_cfi_sleb(&reader);
    cie.return_register =
        cie.version == 1 ? trail_cfi_byte(&reader) : trail_cfi_uleb(&reader);
    read_augmentation(cfi, letters, &cie, &reader);
    if (reader.bad)
        return false;
    cie.instructions = cfi->bytes + reader.at;
    cie.instruction_size = reader.end - reader.at;
    *cie_ret = cie;
    return true;
}

/* Where the CIE of an FDE is: .eh_frame counts back from the field itself. */
static bool cie_offset(const struct trail_cfi *cfi, const struct entry *entry,
                       uint64_t *offset_ret)
{
    if (!cfi->debug_frame && entry->id > entry->id_offset)
        return false;
    *offset_ret = cfi->debug_frame ? entry->id : entry->id_offset - entry->id;
    return *offset_ret < cfi->size;
}

static bool read_fde(const struct trail_cfi *cfi, const struct entry *entry,
                     struct trail_cfi_reader *reader, struct trail_fde *fde_ret)
{
    struct trail_fde fde = { .offset = entry->offset };
    uint64_t offset;
    if (!cie_offset(cfi, entry, &offset) || !read_cie(cfi, offset, &fde.cie))
        return false;
    fde.start = trail_cfi_read_pointer(cfi, fde.cie.encoding, 0, reader);
    /* The size is of the same width, and relative to nothing. */
    fde.size = trail_cfi_read_pointer(cfi, fde.cie.encoding & 0x0f, 0, reader);
    if (fde.cie.augmented) {
        uint64_t size = trail_cfi_uleb(reader);
        if (reader->bad || size > reader->end - reader->at)
            return false;
        reader->at += (size_t)size;
    }
    if (reader->bad)
        return false;
    fde.instructions = cfi->bytes + reader->at;
    fde.instruction_size = reader->end - reader->at;
    *fde_ret = fde;
    return true;
}

enum trail_cfi_found trail_cfi_next(const struct trail_cfi *cfi, uint64_t *offset,
                                    struct trail_fde *fde_ret)
{
    struct entry entry;
    struct trail_cfi_reader reader;
    if (*offset >= cfi->size || (cfi->address_size != 4 && cfi->address_size != 8))
        return TRAIL_CFI_END;
    if (!read_entry(cfi, *offset, &entry, &reader)) {
        *offset = cfi->size; /* nothing says where the next one is */
        return TRAIL_CFI_DAMAGED;
    }
    *offset = entry.end;
    if (entry.is_last && !cfi->debug_frame) {
        *offset = cfi->size;
        return TRAIL_CFI_END;
    }
    if (reader.bad)
        return TRAIL_CFI_DAMAGED;
    if (entry.is_last || entry.is_cie)
        return TRAIL_CFI_CIE;
    return read_fde(cfi, &entry, &reader, fde_ret) ? TRAIL_CFI_FDE : TRAIL_CFI_DAMAGED;
}
