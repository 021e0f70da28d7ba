/* section.c -- hand-made .eh_frame sections, for tests. */
#include "tests/unwind/section.h"

#include "test.h"
#include "backtrail/symbolizer.h"

void bytes_add(struct bytes *bytes, const void *more, size_t size)
{
    assert_true(size <= sizeof(bytes->at) - bytes->size);
    if (size > 0)
        memcpy(bytes->at + bytes->size, more, size);
    bytes->size += size;
}

void bytes_number(struct bytes *bytes, uint64_t value, size_t width)
{
    for (size_t i = 0; i < width; i++) {
        uint8_t byte = (uint8_t)(value >> 8 * i);
        bytes_add(bytes, &byte, 1);
    }
}

/* Put the length of the entry that starts at `start` in front of it. */
static void put_length(struct bytes *bytes, size_t start, bool wide)
{
    struct bytes length = { .size = 0 };
    if (wide)
        bytes_number(&length, UINT32_MAX, 4);
    bytes_number(&length, bytes->size - start - (wide ? 12 : 4), wide ? 8 : 4);
    memcpy(bytes->at + start, length.at, length.size);
}

/* Data of the augmentation's letters. */
static void add_letters(struct bytes *bytes, const char *letters,
                        const struct section_form *form)
{
    struct bytes data = { .size = 0 };
    for (; *letters; letters++)
        if (*letters == 'R')
            bytes_number(&data, form->encoding, 1);
        else if (*letters == 'L')
            bytes_number(&data, 0xff, 1);
        else if (*letters == 'P')
            bytes_add(&data, "\x03\x78\x56\x34\x12", 5);
    bytes_number(bytes, data.size, 1);
    bytes_add(bytes, data.at, data.size);
}

static void add_cie(struct bytes *bytes, const struct section_form *form)
{
    const char *letters = form->augmentation ? form->augmentation : "zR";
    uint8_t version = form->version ? form->version : 1;
    uint8_t address_size = form->address_size ? form->address_size : 8;
    size_t id_size = form->wide && form->debug_frame ? 8 : 4;
    bytes->size += form->wide ? 12 : 4;
    bytes_number(bytes, form->debug_frame ? UINT64_MAX : 0, id_size);
    bytes_number(bytes, version, 1);
    bytes_add(bytes, letters, strlen(letters) + 1);
    if (version == 4) {
        bytes_number(bytes, address_size, 1);
        bytes_number(bytes, 0, 1);
    }
    if (strcmp(letters, "eh") == 0)
        bytes_number(bytes, 0x1234, address_size);
    bytes_add(bytes, "\x01\x78", 2); /* factors: code 1, data -8 */
    bytes_number(bytes, form->return_column ? form->return_column : 16, 1);
    if (letters[0] == 'z')
        add_letters(bytes, letters, form);
    if (form->initial)
        bytes_add(bytes, form->initial, form->initial_size);
    else
        bytes_add(bytes, "\x0c\x07\x08\x90\x01", 5);
    put_length(bytes, 0, form->wide);
}

/* A code address, with `encoding` as wide as it says and relative to what it says. */
static void add_pointer(struct bytes *bytes, const struct section_form *form,
                        uint64_t value, bool relative)
{
    static const uint8_t widths[16] = {
        [2] = 2, [3] = 4, [4] = 8, [0x0a] = 2, [0x0b] = 4, [0x0c] = 8
    };
    uint8_t address_size = form->address_size ? form->address_size : 8;
    uint8_t width = widths[form->encoding & 0x0f];
    if (relative && (form->encoding & 0x70) == 0x10)
        value -= SECTION_ADDRESS + bytes->size;
    bytes_number(bytes, value, width ? width : address_size);
}

struct trail_cfi_table section_make(const struct section_form *form,
                                    const char *instructions, size_t size,
                                    struct bytes *bytes)
{
    uint32_t arch = form->address_size == 4 ? TRAIL_ARCH_X86 : TRAIL_ARCH_X86_64;
    bytes->size = 0;
    add_cie(bytes, form);
    size_t start = bytes->size;
    bytes->size += form->wide ? 12 : 4;
    size_t id_size = form->wide && form->debug_frame ? 8 : 4;
    bytes_number(bytes, form->debug_frame ? 0 : bytes->size, id_size);
    add_pointer(bytes, form, CODE_START, true);
    add_pointer(bytes, form, CODE_SIZE, false);
    if (!form->augmentation || form->augmentation[0] == 'z')
        bytes_number(bytes, 0, 1);
    bytes_add(bytes, instructions, size);
    put_length(bytes, start, form->wide);

    struct trail_cfi_table table = trail_cfi_table_of(trail_machine_of(arch));
    table.cfi.bytes = bytes->at;
    table.cfi.size = bytes->size;
    table.cfi.address = SECTION_ADDRESS;
    table.cfi.debug_frame = form->debug_frame;
    return table;
}
