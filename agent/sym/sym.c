/* sym.c -- the verb `sym`: what there is to know of one symbol. */
#include "agent/sym/sym.h"

#include <stdlib.h>

#include "agent/pipeline_open.h"
#include "agent/resolve/addresses.h"

#define ID_DIGITS 4 /* that a prefix of an id must have */

enum sym_key {
    KEY_FILE = 1,
    KEY_JSON,
    KEY_CODE,
    KEY_DISASSEMBLE,
    KEY_LINES,
    KEY_RETURN_ADDRESS,
    KEY_NO_DEMANGLE,
    KEY_PLUGIN,
};

static const struct option_row rows[] = {
    { 'e', "exe", "FILE", "look for ids and names in this file; may be repeated",
      KEY_FILE },
    { 'r', "return-address", NULL,
      "the address is where a call returns to: tell of the call", KEY_RETURN_ADDRESS },
    { 'x', "code", NULL, "print the symbol's bytes", KEY_CODE },
    { 'd', "disassemble", NULL, "print the symbol's instructions", KEY_DISASSEMBLE },
    { 'l', "lines", NULL, "print the instructions' source lines between them",
      KEY_LINES },
    { 0, "json", NULL, "print JSON, one object a line", KEY_JSON },
    { 0, "no-demangle", NULL, "print names as they are in the file", KEY_NO_DEMANGLE },
    { 0, "plugin", "NAME", "use this symbolizer alone", KEY_PLUGIN },
    ROW_SYMBOLS,
    ROW_CONFIG,
    ROW_PLUGIN_PATH,
    ROW_HELP,
    { 0 },
};

static bool take(void *arg, int key, const char *value)
{
    struct sym_options *options = arg;
    switch (key) {
    case KEY_FILE:
        if (options->file_count == LIST_LIMIT)
            return false;
        options->files[options->file_count++] = value;
        return true;
    case KEY_JSON:
        options->json = true;
        return true;
    case KEY_CODE:
        options->code = true;
        return true;
    case KEY_LINES:
        options->lines = options->disassemble = true;
        return true;
    case KEY_DISASSEMBLE:
        options->disassemble = true;
        return true;
    case KEY_RETURN_ADDRESS:
        options->return_address = true;
        return true;
    case KEY_NO_DEMANGLE:
        options->mangled = true;
        return true;
    case KEY_PLUGIN:
        options->plugin = value;
        return true;
    default:
        return false;
    }
}

/* ---- one question ------------------------------------------------------- */

static int answer(const struct sym_session *session, const struct sym_module *module,
                  uint64_t address)
{
    struct sym_answer found;
    struct trail_error err = { "" };
    if (sym_answer_get(session, module, address, &found, &err))
        return failure("%s", err.text);
    json_t *object = session->options->json ? sym_print_json(&found) : NULL;
    if (!object)
        sym_print_text(&found);
    enum trail_status status = sym_code_print(session, &found, object, &err);
    if (object) {
        json_dumpf(object, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(object);
    }
    sym_answer_release(&found);
    return status ? failure("%s", err.text) : EXIT_DONE;
}

struct named {
    const struct sym_session *session;
    const struct sym_module *module;
    uint64_t offset; /* from the start of the function */
    int exit_code;
};

static bool answer_named(void *arg, uint64_t address)
{
    struct named *named = arg;
    int exit_code = answer(named->session, named->module, address + named->offset);
    if (exit_code)
        named->exit_code = exit_code;
    return true;
}

static int answer_name(const struct sym_session *session, const char *name,
                       uint64_t offset)
{
    const struct sym_options *options = session->options;
    struct sym_module module;
    struct trail_error err = { "" };
    for (size_t i = 0; i < options->file_count; i++) {
        const char *path = options->files[i];
        if (sym_module_open(path, &module, &err))
            return failure("%s", err.text);
        struct named named = { .session = session,
                               .module = &module,
                               .offset = offset };
        size_t found = sym_find_name(&module.file, name, answer_named, &named);
        sym_module_close(&module);
        if (found)
            return named.exit_code;
    }
    return failure("%s: no function is called so in the symbol tables of the -e files; "
                   "'backtrail sym FILE+OFF' takes an address",
                   name);
}

static bool is_hex(const char *text)
{
    size_t size = strlen(text);
    return size >= ID_DIGITS && strspn(text, "0123456789abcdefABCDEF") == size;
}

/* A file goes before an id that could be meant, and both before a name. */
static int answer_offset(const struct sym_session *session, const char *what,
                         uint64_t offset)
{
    struct sym_module module;
    struct trail_os_stat stat;
    struct trail_error err = { "" };
    enum trail_status status;
    bool exists = trail_os_stat_path(what, &stat, NULL) == TRAIL_OK;
    if (!exists && session->options->file_count && !is_hex(what))
        return answer_name(session, what, offset);
    if (!exists && is_hex(what))
        status = sym_find_id(session, what, &module, &err);
    else
        status = sym_module_open(what, &module, &err);
    if (status)
        return failure("%s", err.text);
    int exit_code = answer(session, &module, offset);
    sym_module_close(&module);
    return exit_code;
}

/* "WHAT+OFF" taken apart; false: there is no offset. */
static bool split(char *text, uint64_t *offset_ret)
{
    char *plus = strrchr(text, '+');
    if (!plus || plus == text || !address_parse(plus + 1, offset_ret))
        return false;
    *plus = 0;
    return true;
}

static int ask(const struct sym_session *session, const char *argument)
{
    uint64_t offset = 0;
    size_t size = strlen(argument) + 1;
    char *what = malloc(size);
    if (!what)
        return failure("sym: out of memory");
    memcpy(what, argument, size);
    int exit_code = split(what, &offset) ? answer_offset(session, what, offset)
                                         : answer_name(session, argument, 0);
    free(what);
    return exit_code;
}

/* ---- the verb ----------------------------------------------------------- */

static int check(const struct sym_options *options, int argc, char **argv, int first)
{
    uint64_t offset;
    if (first == argc)
        return usage_error("sym", "nothing to look up: give ID+OFF, FILE+OFF, or -e "
                                  "FILE and a function's name");
    for (int i = first; i < argc; i++) {
        const char *plus = strrchr(argv[i], '+');
        if (!options->file_count &&
            (!plus || plus == argv[i] || !address_parse(plus + 1, &offset)))
            return usage_error("sym",
                               "'%s' is no ID+OFF or FILE+OFF with a hexadecimal "
                               "offset; names need -e FILE",
                               argv[i]);
    }
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    struct sym_options options = { 0 };
    int exit_code = EXIT_DONE;
    int first = options_parse(&verb_sym, argc, argv, &options.shared, take, &options,
                              &exit_code);
    if (first < 0)
        return exit_code;
    if (check(&options, argc, argv, first))
        return EXIT_USAGE;
    struct trail_pipeline *pipeline =
        pipeline_open(&options.shared, options.plugin, true);
    if (!pipeline)
        return EXIT_FAILED;
    struct sym_session session = {
        .options = &options,
        .routes = trail_pipeline_routes(pipeline),
        .resolver = trail_pipeline_resolver(pipeline, NULL),
    };
    for (int i = first; i < argc; i++)
        if (ask(&session, argv[i]))
            exit_code = EXIT_FAILED;
    trail_pipeline_destroy(pipeline, 0);
    return exit_code;
}

static const struct help_line examples[] = {
    { "backtrail sym /usr/bin/nginx+0x3a1c0",
      "the function at this address, its place, size and source" },
    { "backtrail sym --symbols debug/ 214b18e9+0x401000",
      "the symbol of this id; the first digits of a build id will do" },
    { "backtrail sym -rd ./app+0x12fb", "the call before a return address" },
    { "backtrail sym -de ./app main", "the instructions of a function" },
    { 0 },
};

static const struct help_line environment[] = {
    ENVIRONMENT_CONFIG,
    ENVIRONMENT_PLUGIN_PATH,
    ENVIRONMENT_STATE,
    { 0 },
};

const struct verb verb_sym = {
    .name = "sym",
    .arguments = "ID+OFF | FILE+OFF | NAME",
    .summary = "tell of one symbol: name, id, range, source, code",
    .details =
        "OFF is a link-time address in hexadecimal digits, with or without 0x, as "
        "reports have it in\nMODULE+0xOFF. ID is a build id or its first four digits "
        "or "
        "more: the file is looked for\namong those of -e, in the symbol directories "
        "and "
        "in the system's. NAME is a function's\nname in a file given with -e, "
        "demangled "
        "or not, and may have +OFF too.\n\nThe id that is printed, BUILDID+0xSTART, "
        "stands for the symbol wherever that build runs;\ngiven back, it gives the "
        "same "
        "answer. In code, \">\" marks the instruction at OFF.",
    .rows = rows,
    .run = run,
    .examples = examples,
    .environment = environment,
    .see_also = "addr2line(1), objdump(1)",
    .group = GROUP_NAMES,
};
