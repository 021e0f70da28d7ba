/* print.c -- what is known of a symbol, for people and for programs. */
#include "agent/sym/sym.h"

#include <inttypes.h>
#include <stdlib.h>

#include "agent/resolve/style.h"
#include "agent/terminal.h"
#include "core/report/json_text.h"
#include "core/resolve/demangle.h"

#define PLACE_SIZE (STYLE_PATH_SIZE + 32)

static const char *linkage_of(const struct trail_named *symbol)
{
    return symbol->linkage[0] ? symbol->linkage : symbol->function;
}

/* The frame of the symbol itself at its first address; NULL: nothing is known there. */
static const struct trail_named *first_of(const struct sym_answer *answer)
{
    return answer->first.frame_count
               ? &answer->first.frames[answer->first.frame_count - 1]
               : NULL;
}

static struct trail_text section_of(const struct sym_answer *answer)
{
    struct trail_elf_section section;
    if (answer->module->is_elf &&
        trail_elf_section_of(&answer->module->elf, answer->start, &section))
        return section.name;
    return (struct trail_text){ "", 0 };
}

/* ---- text --------------------------------------------------------------- */

static void print_row(const char *what, const char *text)
{
    if (!text[0])
        return;
    printf("  %-9s ", what);
    terminal_print(text);
    putchar('\n');
}

static void print_aliases(const char *aka)
{
    while (*aka) {
        char name[1024];
        size_t size = strcspn(aka, "\n");
        snprintf(name, sizeof(name), "%.*s", (int)(size < 1023 ? size : 1023), aka);
        char *plain = trail_demangle(name);
        print_row("alias", plain ? plain : name);
        free(plain);
        aka += size + (aka[size] == '\n');
    }
}

static void print_range(const struct sym_answer *answer)
{
    if (answer->size)
        printf("  %-9s 0x%" PRIx64 " to 0x%" PRIx64 ", %" PRIu64 " bytes\n", "range",
               answer->start, answer->start + answer->size, answer->size);
    else
        printf("  %-9s 0x%" PRIx64 ", its symbol has no size\n", "range",
               answer->start);
}

/* The address in the symbol, and the inlined calls that it lies in, innermost first. */
static void print_address(const struct sym_answer *answer)
{
    char place[PLACE_SIZE];
    const struct trail_answer *at = &answer->at;
    sym_place(&at->frames[0], place, sizeof(place));
    printf("  %-9s 0x%" PRIx64 " (+0x%" PRIx64 ")%s", "address", answer->address,
           answer->address - answer->start, place[0] ? " " : "");
    terminal_print(place);
    putchar('\n');
    for (uint32_t i = 0; i + 1 < at->frame_count; i++) {
        sym_place(&at->frames[i + 1], place, sizeof(place));
        printf("  %-9s ", "inlined");
        terminal_print(at->frames[i].function);
        printf("%s", place[0] ? ", called at " : "");
        terminal_print(place);
        putchar('\n');
    }
}

void sym_print_text(const struct sym_answer *answer)
{
    char text[PLACE_SIZE];
    const struct trail_named *first = first_of(answer);
    terminal_print(answer->symbol->function);
    putchar('\n');
    print_row("linkage", answer->symbol->linkage);
    if (strcmp(answer->symbol->symbol, linkage_of(answer->symbol)) != 0)
        print_row("symbol", answer->symbol->symbol);
    print_aliases(answer->symbol->aka);
    print_row("id", answer->id);
    print_range(answer);
    struct trail_text section = section_of(answer);
    snprintf(text, sizeof(text), "%.*s", (int)section.size, section.data);
    print_row("section", text);
    print_row("file", answer->module->path);
    if (first) {
        sym_place(first, text, sizeof(text));
        print_row("source", text);
    }
    print_address(answer);
    snprintf(text, sizeof(text), "%s, %s: %s", answer->at.plugin->name,
             trail_route_name(answer->at.route), answer->at.source);
    print_row("read by", text);
}

/* ---- JSON --------------------------------------------------------------- */

static json_t *hex_json(uint64_t number)
{
    char text[24];
    snprintf(text, sizeof(text), "0x%" PRIx64, number);
    return json_string(text);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(object, key, trail_json_text_of(text));
}

static void set_place(json_t *object, const struct trail_named *named)
{
    char path[STYLE_PATH_SIZE];
    style_join_path(named, path, sizeof(path));
    set_text(object, "file", path);
    if (named->line)
        json_object_set_new(object, "line", json_integer(named->line));
    if (named->column)
        json_object_set_new(object, "column", json_integer(named->column));
}

static json_t *symbol_json(const struct sym_answer *answer)
{
    json_t *object = json_object();
    const struct trail_named *symbol = answer->symbol, *first = first_of(answer);
    char section[256];
    struct trail_text name = section_of(answer);
    snprintf(section, sizeof(section), "%.*s", (int)(name.size < 255 ? name.size : 255),
             name.data);
    set_text(object, "id", answer->id);
    set_text(object, "build_id", answer->module->id_hex);
    json_object_set_new(object, "start", hex_json(answer->start));
    if (answer->size) {
        json_object_set_new(object, "size", json_integer((json_int_t)answer->size));
        json_object_set_new(object, "end", hex_json(answer->start + answer->size));
    }
    set_text(object, "name", symbol->function);
    set_text(object, "linkage", linkage_of(symbol));
    set_text(object, "symbol_name", symbol->symbol);
    if (symbol->aka[0])
        json_object_set_new(object, "aliases", trail_json_names_of(symbol->aka));
    set_text(object, "section", section);
    if (first && first->file[0]) {
        json_t *source = json_object();
        set_place(source, first);
        json_object_set_new(object, "source", source);
    }
    return object;
}

static json_t *address_json(const struct sym_answer *answer)
{
    json_t *object = json_object(), *frames = json_array();
    json_object_set_new(object, "asked", hex_json(answer->asked));
    json_object_set_new(object, "address", hex_json(answer->address));
    json_object_set_new(object, "offset", hex_json(answer->address - answer->start));
    for (uint32_t i = 0; i < answer->at.frame_count; i++) {
        const struct trail_named *named = &answer->at.frames[i];
        json_t *frame = json_object();
        set_text(frame, "function", named->function);
        set_place(frame, named);
        if (i + 1 < answer->at.frame_count)
            json_object_set_new(frame, "inlined", json_true());
        json_array_append_new(frames, frame);
    }
    json_object_set_new(object, "frames", frames);
    return object;
}

json_t *sym_print_json(const struct sym_answer *answer)
{
    json_t *object = json_object();
    json_object_set_new(object, "symbol", symbol_json(answer));
    json_object_set_new(object, "at", address_json(answer));
    set_text(object, "module", answer->module->path);
    set_text(object, "plugin", answer->at.plugin->name);
    set_text(object, "route", trail_route_name(answer->at.route));
    set_text(object, "read_from", answer->at.source);
    return object;
}
