/* style_json.c -- answers in the shape of llvm-symbolizer --output-style=JSON. */
#include "agent/resolve/style.h"

#include <inttypes.h>

#include <jansson.h>

#include "core/report/json_text.h"

static json_t *symbol_json(const struct trail_named *named)
{
    char start[24] = "", path[STYLE_PATH_SIZE];
    json_t *symbol = json_object();
    if (named->function_start)
        snprintf(start, sizeof(start), "0x%" PRIx64, named->function_start);
    style_join_path(named, path, sizeof(path));
    if (named->aka[0])
        json_object_set_new(symbol, "AlsoKnownAs", trail_json_names_of(named->aka));
    json_object_set_new(symbol, "Column", json_integer(named->column));
    json_object_set_new(symbol, "Discriminator", json_integer(named->discriminator));
    json_object_set_new(symbol, "FileName", trail_json_text_of(path));
    json_object_set_new(symbol, "FunctionName",
                        trail_json_text_of(style_own_name(named)));
    json_object_set_new(symbol, "Line", json_integer(named->line));
    json_object_set_new(symbol, "LinkageName",
                        trail_json_text_of(named->linkage[0] ? named->linkage
                                                             : style_own_name(named)));
    json_object_set_new(symbol, "StartAddress", json_string(start));
    json_object_set_new(symbol, "SymbolName", trail_json_text_of(named->symbol));
    return symbol;
}

/* An address of which nothing is known has one symbol that says nothing. */
static json_t *answer_json(const struct style_output *output, uint64_t asked,
                           const struct trail_answer *answer)
{
    static const struct trail_named nothing = { .function = "",
                                                .linkage = "",
                                                .file = "",
                                                .directory = "",
                                                .symbol = "",
                                                .aka = "" };
    char text[24];
    json_t *object = json_object(), *symbols = json_array();
    for (uint32_t i = 0; i < answer->frame_count; i++)
        json_array_append_new(symbols, symbol_json(&answer->frames[i]));
    if (answer->frame_count == 0)
        json_array_append_new(symbols, symbol_json(&nothing));
    snprintf(text, sizeof(text), "0x%" PRIx64, asked);
    json_object_set_new(object, "Address", json_string(text));
    json_object_set_new(object, "ModuleName",
                        trail_json_text_of(output->options->file));
    json_object_set_new(object, "Symbol", symbols);
    return object;
}

static void print_line(json_t *json)
{
    json_dumpf(json, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(json);
}

/* An array for addresses that came together, an object a line for others. */
static void begin(struct style_output *output)
{
    output->state = output->streamed ? NULL : json_array();
}

static void answer(struct style_output *output, uint64_t asked,
                   const struct trail_answer *known)
{
    json_t *object = answer_json(output, asked, known);
    if (output->state)
        json_array_append_new(output->state, object);
    else
        print_line(object);
}

static void end(struct style_output *output)
{
    if (output->state)
        print_line(output->state);
    output->state = NULL;
}

const struct style style_json = { .begin = begin, .answer = answer, .end = end };
