/* file.c -- addresses of one file, as symbolizers on the command line take
 * them. */
#define _POSIX_C_SOURCE 200809L

#include <errno.h>
#include <sys/stat.h>

#include "agent/resolve/addresses.h"
#include "agent/resolve/style.h"
#include "core/trace/elf_tables.h"

struct session {
    struct trail_resolver *resolver;
    const struct resolve_options *options;
    struct trail_target target;
    uint8_t id[64];
    uint64_t section_start, section_size; /* of options->section */
    const struct style *style;
    struct style_output output;
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

/* The section that addresses count from. One that takes no memory holds none. */
static enum trail_status find_section(struct session *session,
                                      const struct trail_elf *elf,
                                      struct trail_error *err)
{
    const char *name = session->options->section;
    struct trail_elf_section section;
    if (!elf || !trail_elf_section_named(elf, name, &section))
        return trail_fail(err, TRAIL_BAD_INPUT, "%s: has no section %s",
                          session->options->file, name);
    session->section_start = section.address;
    session->section_size = section.flags & TRAIL_ELF_ALLOC ? section.size : 0;
    return TRAIL_OK;
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
        session->output.is32 = !elf.is64;
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
    else if (session->options->section)
        status = find_section(session, elf_good ? &elf : NULL, err);
    session->target.path = path;
    session->target.given = true;
    trail_os_file_close(&file);
    return status;
}

/* The address to look up for the one that was given; false: there is none. */
static bool lookup_address(const struct session *session, uint64_t asked,
                           uint64_t *address_ret)
{
    const struct resolve_options *options = session->options;
    uint64_t before = options->return_addresses ? 1 : 0;
    if (asked < before)
        return false;
    if (options->section && asked - before >= session->section_size)
        return false;
    *address_ret = session->section_start + asked - before;
    return true;
}

/* A file that cannot be used is told once; addresses without a name are answers. */
static int tell_gap(struct session *session, const struct trail_gap *gap)
{
    if (!gap->reason || strcmp(gap->reason, "no_symbol") == 0 ||
        strcmp(gap->reason, "no_line_info") == 0)
        return EXIT_DONE;
    if (session->told++ == 0)
        fprintf(stderr, "backtrail: %s: %s: %s; %s\n", session->options->file,
                gap->reason, gap->detail, gap->remedy);
    return EXIT_FAILED;
}

static int answer_one(struct session *session, uint64_t asked)
{
    struct trail_arena arena = { 0 };
    struct trail_answer answer = { 0 };
    struct trail_gap gap = { 0 };
    uint64_t address;
    enum trail_status status = TRAIL_OK;
    if (session->output.is32 && session->options->style == RESOLVE_STYLE_GNU)
        asked &= UINT32_MAX; /* as addr2line does */
    if (lookup_address(session, asked, &address))
        status = trail_resolver_lookup(session->resolver, &session->target, &address, 1,
                                       resolve_lookup_flags(session->options), &arena,
                                       &answer, &gap);
    if (!status)
        session->style->answer(&session->output, asked, &answer);
    int exit_code =
        status ? failure("resolve: out of memory") : tell_gap(session, &gap);
    trail_arena_deinit(&arena);
    return exit_code;
}

static bool is_lenient(const struct resolve_options *options)
{
    return options->style >= RESOLVE_STYLE_GNU;
}

static int answer_arguments(struct session *session, char **addresses, int count)
{
    int exit_code = EXIT_DONE;
    for (int i = 0; i < count; i++) {
        uint64_t address = 0;
        if (is_lenient(session->options))
            address = address_parse_anyhow(addresses[i]);
        else
            address_parse(addresses[i], &address);
        if (answer_one(session, address))
            exit_code = EXIT_FAILED;
    }
    return exit_code;
}

/* Whoever asks through a pipe or a terminal may be waiting for the answer. */
static bool is_awaited(FILE *stream)
{
    struct stat info;
    return fstat(fileno(stream), &info) || !S_ISREG(info.st_mode);
}

static int answer_input(struct session *session)
{
    struct address_input input = { .stream = stdin,
                                   .anyhow = is_lenient(session->options) };
    bool awaited = is_awaited(stdin);
    int exit_code = EXIT_DONE;
    enum address_next next;
    uint64_t address;
    while ((next = address_next(&input, &address)) != ADDRESS_END) {
        if (next == ADDRESS_WRONG)
            exit_code =
                failure("standard input:%zu: '%.64s' is not a hexadecimal address",
                        input.number, input.line);
        else if (answer_one(session, address))
            exit_code = EXIT_FAILED;
        if (awaited)
            fflush(stdout);
    }
    if (!feof(stdin))
        exit_code = failure("standard input: %s", strerror(errno));
    address_input_deinit(&input);
    return exit_code;
}

static int answer_all(struct session *session, char **addresses, int count)
{
    session->output.streamed = count == 0;
    if (session->style->begin)
        session->style->begin(&session->output);
    int exit_code =
        count ? answer_arguments(session, addresses, count) : answer_input(session);
    if (session->style->end)
        session->style->end(&session->output);
    return exit_code;
}

int resolve_file(struct trail_pipeline *pipeline, const struct resolve_options *options,
                 char **addresses, int count)
{
    struct trail_error err = { "" };
    struct session session = { .options = options, .style = style_of(options) };
    session.output.options = options;
    session.output.module = &session.target.module;
    for (int i = 0; i < count && !is_lenient(options); i++) {
        uint64_t address;
        if (!address_parse(addresses[i], &address))
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
    return answer_all(&session, addresses, count);
}
