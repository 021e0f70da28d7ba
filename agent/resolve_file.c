/* resolve_file.c -- addresses of one file, as symbolizers on the command line take
 * them. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include <jansson.h>

#include "agent/lines.h"
#include "agent/resolve.h"
#include "backtrail/backtrail.h"
#include "core/report/json_text.h"
#include "core/trace/elf.h"

struct session {
    struct trail_resolver *resolver;
    const struct resolve_options *options;
    struct trail_target target;
    uint8_t id[64];
    unsigned told; /* mistakes of the file */
};

/* What the file is, by its first bytes. */
static uint32_t format_of(const uint8_t *bytes, size_t size)
{
    static const struct {
        const char *magic;
        size_t size;
        uint32_t format;
    } magics[] = { { "\x7f"
                     "ELF",
                     4, TRAIL_FORMAT_ELF },
                   { "\0asm", 4, TRAIL_FORMAT_WASM },
                   { "MZ", 2, TRAIL_FORMAT_PE },
                   { "\xcf\xfa\xed\xfe", 4, TRAIL_FORMAT_MACHO },
                   { "\xce\xfa\xed\xfe", 4, TRAIL_FORMAT_MACHO },
                   { "\xca\xfe\xba\xbe", 4, TRAIL_FORMAT_MACHO } };
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
        if (size >= magics[i].size &&
            memcmp(bytes, magics[i].magic, magics[i].size) == 0)
            return magics[i].format;
    return TRAIL_FORMAT_UNKNOWN;
}

static enum trail_status describe(struct session *session, struct trail_error *err)
{
    const char *path = session->options->file;
    struct trail_module *module = &session->target.module;
    struct trail_os_file file;
    struct trail_elf elf;
    struct trail_text id;

    enum trail_status status =
        trail_os_file_map(path, TRAIL_SYMBOL_FILE_LIMIT, &file, err);
    if (status)
        return status;
    *module = (struct trail_module){ .size = sizeof(*module),
                                     .format = format_of(file.bytes, file.size),
                                     .path = trail_text_of(path) };
    if (session->options->format)
        module->format = session->options->format;
    bool elf_good = trail_elf_parse(file.bytes, file.size, &elf);
    if (elf_good) {
        module->arch = trail_elf_arch(&elf);
        trail_elf_extent(&elf, &module->link_start, &module->link_end);
        if (trail_elf_build_id(&elf, &id) && id.size <= sizeof(session->id)) {
            memcpy(session->id, id.data, id.size);
            module->id = (struct trail_text){ (const char *)session->id, id.size };
            module->id_kind = TRAIL_ID_BUILD_ID;
        }
    }
    if (module->format == TRAIL_FORMAT_UNKNOWN)
        status = trail_fail(err, TRAIL_BAD_INPUT,
                            "%s: is no ELF, Mach-O, PE or WebAssembly file", path);
    else if (module->format == TRAIL_FORMAT_ELF && (!elf_good || elf.cut))
        status = trail_fail(err, TRAIL_BAD_INPUT,
                            "%s: is cut short or damaged; get a whole copy", path);
    session->target.path = path;
    session->target.given = true;
    trail_os_file_close(&file);
    return status;
}

/* ---- output ------------------------------------------------------------- */

/* The file as one path: a relative name is relative to the compilation directory. */
static void join_path(const struct trail_named *named, char *path_ret, size_t size)
{
    bool alone = named->file[0] == '/' || !named->file[0] || !named->directory[0];
    snprintf(path_ret, size, "%s%s%s", alone ? "" : named->directory, alone ? "" : "/",
             named->file);
}

static json_t *symbol_json(const struct trail_named *named)
{
    char start[24] = "", path[8192];
    json_t *symbol = json_object();
    if (named->function_start)
        snprintf(start, sizeof(start), "0x%" PRIx64, named->function_start);
    join_path(named, path, sizeof(path));
    if (named->aka[0])
        json_object_set_new(symbol, "AlsoKnownAs", trail_json_names_of(named->aka));
    json_object_set_new(symbol, "Column", json_integer(named->column));
    json_object_set_new(symbol, "Discriminator", json_integer(named->discriminator));
    json_object_set_new(symbol, "FileName", trail_json_text_of(path));
    json_object_set_new(symbol, "FunctionName", trail_json_text_of(named->function));
    json_object_set_new(symbol, "Line", json_integer(named->line));
    json_object_set_new(symbol, "LinkageName",
                        trail_json_text_of(named->linkage[0] ? named->linkage
                                                             : named->function));
    json_object_set_new(symbol, "StartAddress", json_string(start));
    json_object_set_new(symbol, "SymbolName", trail_json_text_of(named->symbol));
    return symbol;
}

/* The shape of llvm-symbolizer --output-style=JSON: an address of which nothing is
 * known has one symbol that says nothing. */
static json_t *answer_json(const struct session *session, uint64_t address,
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
    snprintf(text, sizeof(text), "0x%" PRIx64, address);
    json_object_set_new(object, "Address", json_string(text));
    json_object_set_new(object, "ModuleName",
                        trail_json_text_of(session->options->file));
    json_object_set_new(object, "Symbol", symbols);
    return object;
}

static void print_frame(const struct trail_frame *frame, uint32_t number, bool tracy,
                        bool group)
{
    size_t size = trail_frame_format(frame, NULL, 0);
    char *line = malloc(size + 1);
    if (!line)
        return;
    trail_frame_format(frame, line, size + 1);
    if (!tracy)
        printf("%3" PRIu32 ": %s\n", number, line);
    else if (group)
        printf("0. %s [inline %" PRIu32 "]\n", line, number);
    else
        printf("0. %s\n", line);
    free(line);
}

/* What nobody can name still says where it lies, and in which build. */
static void print_floor(const struct session *session, uint64_t address)
{
    char hex[2 * sizeof(session->id) + 1];
    trail_hex(session->target.module.id, hex, sizeof(hex));
    printf("  0: %s+0x%" PRIx64 "%s%s%s\n", session->options->file, address,
           hex[0] ? " [" : "", hex, hex[0] ? "]" : "");
}

static void print_text(const struct session *session, uint64_t address,
                       const struct trail_answer *answer)
{
    bool tracy = session->options->style == TRAIL_STYLE_TRACY;
    struct trail_frame frame;
    printf("0x%" PRIx64 ":\n", address);
    trail_frame_init(&frame, address);
    for (uint32_t i = 0; i < answer->frame_count; i++) {
        const struct trail_named *named = &answer->frames[i];
        frame.function = named->function;
        frame.file = named->file;
        frame.line = named->line;
        frame.column = named->column;
        frame.inlined = !tracy && i + 1 < answer->frame_count;
        print_frame(&frame, i, tracy, answer->frame_count > 1);
    }
    if (answer->frame_count == 0)
        print_floor(session, address);
}

/* ---- input -------------------------------------------------------------- */

/* Hexadecimal, with or without 0x, as addr2line takes it. */
static bool parse_address(const char *text, uint64_t *address_ret)
{
    char *end = NULL;
    while (*text == ' ' || *text == '\t')
        text++;
    if (!strchr("0123456789abcdefABCDEF", *text) || !*text)
        return false;
    errno = 0;
    unsigned long long address = strtoull(text, &end, 16);
    if (end == text || errno)
        return false;
    end += strspn(end, " \t\r\n");
    *address_ret = address;
    return *end == 0;
}

static int answer_one(struct session *session, uint64_t address, json_t *array)
{
    struct trail_arena arena = { 0 };
    struct trail_answer answer;
    struct trail_gap gap;
    enum trail_status status =
        trail_resolver_lookup(session->resolver, &session->target, &address, 1,
                              resolve_lookup_flags(session->options), &arena, &answer,
                              &gap);
    if (!status && session->options->style == TRAIL_STYLE_JSON) {
        json_t *object = answer_json(session, address, &answer);
        if (array) {
            json_array_append_new(array, object);
        } else {
            json_dumpf(object, stdout, JSON_COMPACT);
            putchar('\n');
            json_decref(object);
        }
    } else if (!status) {
        print_text(session, address, &answer);
    }
    /* A file that cannot be used is told once; addresses without a name are answers. */
    bool broken = gap.reason && strcmp(gap.reason, "no_symbol") != 0 &&
                  strcmp(gap.reason, "no_line_info") != 0;
    if (broken && session->told++ == 0)
        fprintf(stderr, "backtrail: %s: %s: %s; %s\n", session->options->file,
                gap.reason, gap.detail, gap.remedy);
    trail_arena_deinit(&arena);
    if (status)
        return failure("resolve: out of memory");
    return broken ? EXIT_FAILED : EXIT_DONE;
}

static int answer_arguments(struct session *session, char **addresses, int count)
{
    bool json = session->options->style == TRAIL_STYLE_JSON;
    json_t *array = json ? json_array() : NULL;
    int exit_code = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        uint64_t address = 0;
        parse_address(addresses[i], &address);
        if (answer_one(session, address, array))
            exit_code = EXIT_FAILED;
    }
    if (array) {
        json_dumpf(array, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(array);
    }
    return exit_code;
}

static int answer_input(struct session *session)
{
    char *line = NULL;
    size_t room = 0, number = 0;
    int exit_code = EXIT_DONE;
    for (;;) {
        long size = line_read(&line, &room, stdin);
        if (size < 0)
            break;
        uint64_t address;
        number++;
        if (strspn(line, " \t\r\n") == (size_t)size)
            continue;
        bool text = strlen(line) == (size_t)size; /* no zero byte hides the rest */
        line[strcspn(line, "\r\n")] = 0;
        if (!text || !parse_address(line, &address)) {
            exit_code =
                failure("standard input:%zu: '%.64s' is not a hexadecimal address",
                        number, line);
            continue;
        }
        if (answer_one(session, address, NULL))
            exit_code = EXIT_FAILED;
        fflush(stdout); /* whoever asks may be waiting for the answer */
    }
    if (!feof(stdin))
        exit_code = failure("standard input: %s", strerror(errno));
    free(line);
    return exit_code;
}

int resolve_file(struct trail_pipeline *pipeline, const struct resolve_options *options,
                 char **addresses, int count)
{
    struct trail_error err = { "" };
    struct session session = { .options = options };
    for (int i = 0; i < count; i++) {
        uint64_t address;
        if (!parse_address(addresses[i], &address))
            return usage_error("resolve", "'%s' is not a hexadecimal address",
                               addresses[i]);
    }
    enum trail_status status = describe(&session, &err);
    if (!status) {
        session.resolver = trail_pipeline_resolver(pipeline, &err);
        status = session.resolver ? TRAIL_OK : TRAIL_BAD_INPUT;
    }
    if (status)
        return failure("%s", err.text);
    return count ? answer_arguments(&session, addresses, count)
                 : answer_input(&session);
}
