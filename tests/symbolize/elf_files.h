/* elf_files.h -- a fixture opened by plugins/elf. */
#ifndef TEST_ELF_FILES_H
#define TEST_ELF_FILES_H

#include "plugins/elf/symbols.h"
#include "read_file.h"

struct elf_files {
    uint8_t *bytes;
    size_t size;
    struct files files;
    struct code code;
    struct symbols symbols;
};

static inline struct elf_files *elf_files_open(const char *fixture)
{
    struct elf_files *opened = calloc(1, sizeof(*opened));
    const struct trail_call call = { .size = sizeof(call), .threads = 1 };
    const struct trail_module module = { .size = sizeof(module),
                                         .format = TRAIL_FORMAT_ELF };
    struct trail_error err = { "" };
    assert_non_null(opened);
    opened->bytes = read_fixture(fixture, &opened->size);
    const struct trail_source source = { .size = sizeof(source),
                                         .role = TRAIL_ROLE_IMAGE,
                                         .fd = -1,
                                         .bytes = opened->bytes,
                                         .bytes_size = opened->size };
    assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
    assert_ok_err(files_open(&call, &module, &source, 1, &opened->files, &err), err);
    assert_true(code_add(&opened->code, &opened->files.main));
    opened->symbols.files = &opened->files;
    opened->symbols.code = &opened->code;
    return opened;
}

static inline void elf_files_close(struct elf_files *opened)
{
    symbols_deinit(&opened->symbols);
    code_deinit(&opened->code);
    files_close(&opened->files);
    free(opened->bytes);
    free(opened);
}

#endif
