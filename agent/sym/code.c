/* code.c -- a symbol's code: its bytes, or its instructions. */
#include "agent/sym/sym.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agent/sym/disassemble.h"
#include "agent/resolve/style.h"
#include "agent/terminal.h"
#include "core/report/json_text.h"

#define CODE_LIMIT    ((uint64_t)16 << 20) /* bytes of one symbol */
#define BYTES_A_LINE  16
#define BYTES_PRINTED 8 /* of one instruction, unless it is longer */

static enum trail_status code_of(const struct sym_answer *answer,
                                 struct trail_text *code_ret, struct trail_error *err)
{
    uint64_t size = answer->extent < CODE_LIMIT ? answer->extent : CODE_LIMIT;
    if (size && module_file_code(answer->code, answer->start, size, code_ret))
        return TRAIL_OK;
    return trail_fail(err, TRAIL_NOT_FOUND,
                      "%s: has no code of the symbol, as debug files do not; give the "
                      "program itself with -e FILE",
                      answer->module->path);
}

/* ---- bytes -------------------------------------------------------------- */

static void print_bytes(struct trail_text code, uint64_t start)
{
    char hex[2 * BYTES_A_LINE + 1];
    for (size_t at = 0; at < code.size; at += BYTES_A_LINE) {
        size_t rest = code.size - at;
        struct trail_text line = { code.data + at,
                                   rest < BYTES_A_LINE ? rest : BYTES_A_LINE };
        trail_hex(line, hex, sizeof(hex));
        printf("  %8" PRIx64 ":", start + at);
        for (size_t i = 0; i < line.size; i++)
            printf(" %.2s", hex + 2 * i);
        printf("\n");
    }
}

static enum trail_status put_bytes(struct trail_text code, json_t *object,
                                   struct trail_error *err)
{
    char *hex = malloc(2 * code.size + 1);
    if (!hex)
        return trail_fail(err, TRAIL_NO_MEMORY, "no memory for the code");
    trail_hex(code, hex, 2 * code.size + 1);
    json_object_set_new(object, "code", json_string(hex));
    free(hex);
    return TRAIL_OK;
}

/* ---- instructions ------------------------------------------------------- */

struct listing {
    const struct sym_session *session;
    const struct sym_answer *answer;
    json_t *array;                    /* NULL: text */
    char place[STYLE_PATH_SIZE + 32]; /* printed last */
};

/* The nearest mapping symbol says which of its instruction sets ARM code is in: ELF for
 * the Arm Architecture, "Mapping symbols". */
static bool is_thumb(const struct module_file *module, uint64_t start)
{
    struct trail_elf_symbols symbols;
    uint64_t nearest = 0;
    bool thumb = false;
    if (!trail_elf_symbols(&module->elf, TRAIL_ELF_SYMTAB, &symbols))
        return false;
    for (size_t i = 0; i < symbols.count; i++) {
        struct trail_elf_symbol symbol = trail_elf_symbol_at(&symbols, i);
        if (symbol.name.size < 2 || symbol.name.data[0] != '$' ||
            symbol.value > start || symbol.value < nearest)
            continue;
        nearest = symbol.value;
        thumb = symbol.name.data[1] == 't';
    }
    return thumb;
}

/* Whether this is the instruction that was asked about: of a return address, the call
 * before it. */
static bool is_asked(const struct sym_answer *answer, const struct instruction *it)
{
    return answer->address >= it->address && answer->address - it->address < it->size;
}

static bool target_name(const struct listing *listing, const struct instruction *it,
                        char *name_ret, size_t size)
{
    const struct sym_answer *answer = listing->answer;
    return it->has_target &&
           sym_name_at(listing->session, answer->module, it->target, name_ret, size);
}

static void print_comment(const char *place)
{
    printf("  ; ");
    terminal_print(place);
    printf("\n");
}

static void print_place(struct listing *listing, uint64_t address)
{
    struct trail_arena arena = { 0 };
    struct trail_answer at;
    struct trail_gap gap;
    char place[sizeof(listing->place)] = "";
    if (!trail_resolver_lookup(listing->session->resolver,
                               &listing->answer->module->target, &address, 1, 0, &arena,
                               &at, &gap) &&
        at.frame_count)
        sym_place(&at.frames[0], place, sizeof(place));
    if (place[0] && strcmp(place, listing->place) != 0)
        print_comment(place);
    memcpy(listing->place, place, sizeof(place));
    trail_arena_deinit(&arena);
}

static bool print_instruction(void *arg, const struct instruction *it)
{
    struct listing *listing = arg;
    char hex[2 * 32 + 1], name[1024];
    trail_hex((struct trail_text){ (const char *)it->bytes, it->size }, hex,
              sizeof(hex));
    if (listing->session->options->lines)
        print_place(listing, it->address);
    printf("%s %8" PRIx64 ":  %-*s  %s", is_asked(listing->answer, it) ? " >" : "  ",
           it->address, 2 * BYTES_PRINTED, hex, it->text);
    if (target_name(listing, it, name, sizeof(name))) {
        printf(" <");
        terminal_print(name);
        printf(">");
    }
    printf("\n");
    return true;
}

static bool put_instruction(void *arg, const struct instruction *it)
{
    struct listing *listing = arg;
    char text[24], hex[2 * 32 + 1], name[1024];
    json_t *object = json_object();
    trail_hex((struct trail_text){ (const char *)it->bytes, it->size }, hex,
              sizeof(hex));
    snprintf(text, sizeof(text), "0x%" PRIx64, it->address);
    json_object_set_new(object, "address", json_string(text));
    json_object_set_new(object, "bytes", json_string(hex));
    json_object_set_new(object, "text", trail_json_text_of(it->text));
    if (it->has_target) {
        snprintf(text, sizeof(text), "0x%" PRIx64, it->target);
        json_object_set_new(object, "target", json_string(text));
    }
    if (target_name(listing, it, name, sizeof(name)))
        json_object_set_new(object, "target_name", trail_json_text_of(name));
    if (it->is_call)
        json_object_set_new(object, "call", json_true());
    if (is_asked(listing->answer, it))
        json_object_set_new(object, "asked", json_true());
    json_array_append_new(listing->array, object);
    return true;
}

static enum trail_status list(const struct sym_session *session,
                              const struct sym_answer *answer, struct trail_text code,
                              json_t *object, struct trail_error *err)
{
    const struct module_file *module = answer->module;
    struct listing listing = { .session = session, .answer = answer };
    const struct instruction_set set = {
        .arch = module->target.module.arch,
        .little = module->elf.little,
        .thumb = module->target.module.arch == TRAIL_ARCH_ARM &&
                 is_thumb(module, answer->start),
    };
    if (!object)
        return disassemble(&set, code, answer->start, print_instruction, &listing, err);
    listing.array = json_array();
    enum trail_status status =
        disassemble(&set, code, answer->start, put_instruction, &listing, err);
    json_object_set_new(object, "instructions", listing.array);
    return status;
}

enum trail_status sym_code_print(const struct sym_session *session,
                                 const struct sym_answer *answer, json_t *object,
                                 struct trail_error *err)
{
    const struct sym_options *options = session->options;
    struct trail_text code;
    if (!options->code && !options->disassemble)
        return TRAIL_OK;
    enum trail_status status = code_of(answer, &code, err);
    if (!status && options->code && object)
        status = put_bytes(code, object, err);
    else if (!status && options->code)
        print_bytes(code, answer->start);
    if (!status && options->disassemble)
        status = list(session, answer, code, object, err);
    return status;
}
