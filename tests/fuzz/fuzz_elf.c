/* fuzz_elf.c -- any bytes as an ELF file: whatever is found lies inside of them. */
#include <stdlib.h>

#include "core/trace/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const sections[] = { "", ".text", ".gnu_debuglink", ".dynsym",
                                        ".note.gnu.build-id" };

static void check_inside(const uint8_t *data, size_t size, struct trail_text part)
{
    if (part.size == 0)
        return;
    const uint8_t *at = (const uint8_t *)part.data;
    if (at < data || at > data + size || part.size > (size_t)(data + size - at))
        abort();
}

static void check_notes(const uint8_t *data, size_t size)
{
    static const uint64_t aligns[] = { 0, 1, 4, 8, UINT64_MAX };
    struct trail_text desc;
    for (size_t i = 0; i < sizeof(aligns) / sizeof(aligns[0]); i++)
        for (int little = 0; little < 2; little++)
            if (trail_elf_notes_find(data, size, little != 0, aligns[i], "GNU", 3,
                                     &desc))
                check_inside(data, size, desc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trail_elf elf;
    struct trail_text text;
    uint64_t start, end;

    check_notes(data, size);
    if (!trail_elf_parse(data, size, &elf))
        return 0;
    if (elf.bytes != data || elf.size != size)
        abort();
    for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++)
        if (trail_elf_section(&elf, sections[i], &text))
            check_inside(data, size, text);
    if (trail_elf_build_id(&elf, &text)) {
        if (text.size == 0)
            abort();
        check_inside(data, size, text);
    }
    if (trail_elf_note(&elf, "Backtrail", 1, &text))
        check_inside(data, size, text);
    if (trail_elf_extent(&elf, &start, &end)) {
        if (start > end)
            abort();
        if (trail_elf_at(&elf, start, 16, &text))
            check_inside(data, size, text);
    }
    trail_elf_exported(&elf, "main", &start, &end);
    trail_elf_whole(&elf);
    trail_elf_arch(&elf);
    return 0;
}
