/* abort_message.c -- what the C library said before it ended a program.
 *
 * Source: of glibc, struct abort_msg_s in include/stdlib.h, which __abort_msg points
 * to: the size of the mapping that it is in, 32 bits, and the text with its end.
 */
#include "agent/outside/abort_message.h"

#include "core/capture/target.h"
#include "core/trace/elf_tables.h"

static const char symbol_name[] = "__abort_msg";

/* In the symbol table of a program that has the C library in it. */
static bool find_linked(const struct trail_elf *elf, uint64_t *address_ret)
{
    struct trail_elf_symbols symbols;
    if (!trail_elf_symbols(elf, TRAIL_ELF_SYMTAB, &symbols))
        return false;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        if (symbol.section && trail_elf_name_is(symbol.name, symbol_name)) {
            *address_ret = symbol.value;
            return true;
        }
    }
    return false;
}

/* Only the program itself can have the C library in it, and that one has no loader. */
static bool find_pointer(const struct trail_target_image *image, uint64_t *address_ret)
{
    struct trail_elf elf;
    struct trail_elf_segment loader;
    uint64_t address, size;
    if (!image->bytes || !trail_elf_parse(image->bytes, image->size, &elf))
        return false;
    bool is_linked = elf.type == TRAIL_ELF_EXECUTABLE || elf.type == TRAIL_ELF_DYNAMIC;
    is_linked = is_linked && image->path && image->path[0] == '/' &&
                !trail_elf_segment_of(&elf, TRAIL_ELF_INTERPRETER, &loader);
    if (!trail_elf_exported(&elf, symbol_name, &address, &size) &&
        !(is_linked && find_linked(&elf, &address)))
        return false;
    *address_ret = image->bias + address;
    return true;
}

static bool read_message(const struct trail_target *target, uint64_t pointer,
                         char text_ret[OUTSIDE_MESSAGE_SIZE])
{
    const struct trail_machine *machine = target->machine;
    uint8_t word[8];
    size_t size = 0;
    if (trail_target_read(target, pointer, word, machine->address_size))
        return false;
    uint64_t message = trail_machine_word(machine, word);
    if (!message)
        return false;
    for (char byte = 1; size < OUTSIDE_MESSAGE_SIZE - 1; size++) {
        if (trail_target_read(target, message + 4 + size, &byte, 1))
            return false;
        if (!byte)
            break;
        text_ret[size] = byte;
    }
    while (size && text_ret[size - 1] == '\n')
        size--;
    text_ret[size] = 0;
    return size > 0;
}

bool outside_abort_message(const struct trail_target *target,
                           char text_ret[OUTSIDE_MESSAGE_SIZE])
{
    for (size_t i = 0; i < target->image_count; i++) {
        uint64_t pointer;
        trail_target_image_look(target, &target->images[i]);
        if (find_pointer(&target->images[i], &pointer))
            return read_message(target, pointer, text_ret);
    }
    return false;
}
